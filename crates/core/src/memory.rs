//! The memory of all that waits for others, counted for the whole process against one budget.
//!
//! Threads gather what they add and release, and tell the shared counter only after 64 KiB: counting costs an
//! addition in memory that the thread owns. The count is therefore off by at most 64 KiB for each thread.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

/// A thread tells what it has gathered beyond so many bytes.
const GRAIN_BYTES: isize = 64 << 10;

static USED: AtomicIsize = AtomicIsize::new(0);
/// What may be used; 0 is no bound.
static BUDGET: AtomicUsize = AtomicUsize::new(0);
/// Whether more is used than the budget allows. Apart from the counter, because everybody reads it.
static SHORT: AtomicBool = AtomicBool::new(false);

/// Whether an eighth more is used than that: what could be dropped is gone, and it did not do.
static EXHAUSTED: AtomicBool = AtomicBool::new(false);

thread_local! {
    static GATHERED: Gathered = const { Gathered(Cell::new(0)) };
}

/// What one thread has added and not told. Told when the thread ends.
struct Gathered(Cell<isize>);

impl Drop for Gathered {
    fn drop(&mut self) {
        tell(self.0.get());
    }
}

/// Sets how many bytes all that waits may take; 0 is no bound.
pub fn set_budget(bytes: usize) {
    BUDGET.store(bytes, Relaxed);
    tell(0);
}

/// The budget; 0 is no bound.
pub fn budget() -> usize {
    BUDGET.load(Relaxed)
}

/// Bytes that wait for others in this process.
pub fn used() -> usize {
    usize::try_from(USED.load(Relaxed)).unwrap_or(0)
}

/// Whether the budget is used up: what can be dropped goes, and nobody may keep more.
#[inline]
pub fn is_short() -> bool {
    SHORT.load(Relaxed)
}

/// Whether dropping what can be dropped was not enough: nobody new is let in, and no large packet is taken.
#[inline]
pub fn is_exhausted() -> bool {
    EXHAUSTED.load(Relaxed)
}

/// Counts bytes of which no single thing is the owner.
#[inline]
pub fn take(bytes: usize) {
    add(signed(bytes));
}

/// Bytes that were taken are free again.
#[inline]
pub fn give(bytes: usize) {
    add(-signed(bytes));
}

#[inline]
fn add(bytes: isize) {
    // A thread that ends has no place of its own any more.
    let gathered = GATHERED.try_with(|gathered| {
        let sum = gathered.0.get() + bytes;
        let is_told = sum.abs() >= GRAIN_BYTES;
        gathered.0.set(if is_told { 0 } else { sum });
        if is_told { sum } else { 0 }
    });
    match gathered {
        Ok(0) => {}
        Ok(sum) => tell(sum),
        Err(_) => tell(bytes),
    }
}

#[cold]
fn tell(bytes: isize) {
    let mut used = USED.fetch_add(bytes, SeqCst) + bytes;
    let budget = BUDGET.load(Relaxed);
    loop {
        for (flag, most) in [(&SHORT, budget), (&EXHAUSTED, budget + budget / 8)] {
            let is_over = budget > 0 && used > signed(most);
            if flag.load(SeqCst) != is_over {
                flag.store(is_over, SeqCst);
            }
        }
        // Another thread may have told meanwhile, and its word been overwritten by this older one.
        let now = USED.load(SeqCst);
        if now == used {
            return;
        }
        used = now;
    }
}

fn signed(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

/// Bytes that are counted as long as this lives.
#[derive(Debug, Default)]
pub struct Counted(usize);

impl Counted {
    /// Counts nothing yet.
    pub const fn none() -> Self {
        Self(0)
    }

    /// Counts so many bytes.
    pub fn new(bytes: usize) -> Self {
        let mut counted = Self::default();
        counted.set(bytes);
        counted
    }

    /// Counts so many bytes from now on.
    #[inline]
    pub fn set(&mut self, bytes: usize) {
        if bytes != self.0 {
            add(signed(bytes) - signed(self.0));
            self.0 = bytes;
        }
    }

    /// How many bytes are counted.
    pub fn bytes(&self) -> usize {
        self.0
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl Clone for Counted {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

/// Counting is no part of what a thing is.
impl PartialEq for Counted {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Counted {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_counted_once_and_released_once() {
        // In a thread of its own: what it has gathered is told when it ends.
        let count = |bytes: usize| {
            std::thread::spawn(move || {
                let mut counted = Counted::new(bytes);
                let copy = counted.clone();
                counted.set(bytes / 2);
                let sum = GATHERED.with(|gathered| gathered.0.get());
                drop((counted, copy));
                (sum, GATHERED.with(|gathered| gathered.0.get()))
            })
            .join()
            .unwrap()
        };
        assert_eq!(count(1_000), (1_500, 0));
        assert_eq!(count(0), (0, 0));
    }
}
