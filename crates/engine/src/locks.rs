//! Takes locks. When a task panics while it holds one, the task ends and the broker goes on with the state behind the
//! lock, so poisoning is ignored.

use std::sync::{Mutex, MutexGuard, PoisonError};

#[inline]
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
