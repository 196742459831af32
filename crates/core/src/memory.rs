//! The memory of everything that waits to be sent, counted for the whole process against one budget.
//!
//! Each thread sums up what it adds and frees, and reports to the shared counter only after 64 KiB, so that counting
//! costs one addition in the thread's own memory. The shared count is therefore off by at most 64 KiB for each thread.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicBool, AtomicIsize, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};

/// A thread reports its sum when it is this large, in either direction.
const REPORT_BYTES: isize = 64 << 10;

static USED: AtomicIsize = AtomicIsize::new(0);
/// The bytes that may be used; 0 is no bound.
static BUDGET: AtomicUsize = AtomicUsize::new(0);
/// Whether more is used than the budget. Apart from the counter, because every thread reads it often.
static SHORT: AtomicBool = AtomicBool::new(false);

/// Whether more is used than the budget and an eighth of it: dropping messages was not enough.
static EXHAUSTED: AtomicBool = AtomicBool::new(false);

/// Bytes that are taken for one client at a time. While they are written they cannot be dropped.
const SLICE_BYTES_MAX: usize = 256 << 10;
const SLICE_BYTES_MIN: usize = 16 << 10;
/// The part of the budget that the slices of all clients may take, if all of them stop reading.
const SLICES_SHARE: usize = 8;

static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
static SLICE_BYTES: AtomicUsize = AtomicUsize::new(SLICE_BYTES_MAX);

thread_local! {
    static UNREPORTED: Unreported = const { Unreported(Cell::new(0)) };
}

/// What one thread has added and not reported. It is reported when the thread ends.
struct Unreported(Cell<isize>);

impl Drop for Unreported {
    fn drop(&mut self) {
        report(self.0.get());
    }
}

/// Sets the budget in bytes; 0 is no bound.
pub fn set_budget(bytes: usize) {
    BUDGET.store(bytes, Relaxed);
    cut_slices();
    report(0);
}

/// Notes how many clients are connected: the more there are, the smaller the slice of each.
pub fn set_connections(count: usize) {
    CONNECTIONS.store(count, Relaxed);
    cut_slices();
}

fn cut_slices() {
    let clients = CONNECTIONS.load(Relaxed).max(1);
    let each = match budget() {
        0 => SLICE_BYTES_MAX,
        budget => (budget / SLICES_SHARE / clients).clamp(SLICE_BYTES_MIN, SLICE_BYTES_MAX),
    };
    SLICE_BYTES.store(each, Relaxed);
}

/// Bytes that are taken for one client at a time, unless one message alone is larger.
#[inline]
pub fn slice_bytes() -> usize {
    SLICE_BYTES.load(Relaxed)
}

/// The budget; 0 is no bound.
pub fn budget() -> usize {
    BUDGET.load(Relaxed)
}

/// The bytes that are counted in this process.
pub fn used() -> usize {
    usize::try_from(USED.load(Relaxed)).unwrap_or(0)
}

/// What may be kept for subscribers to come: so much that an eighth of the budget is free for what goes through.
/// Messages are dropped until no more than this is used.
pub fn enough() -> usize {
    budget() / 8 * 7
}

/// The part of the budget that one kind of thing may take; any amount if there is no budget.
pub fn part(share: usize) -> usize {
    match budget() {
        0 => usize::MAX,
        budget => budget / share,
    }
}

/// Whether so many bytes more may be kept for subscribers to come.
pub fn has_room(bytes: usize) -> bool {
    budget() == 0 || used().saturating_add(bytes) <= enough()
}

/// Whether the budget is used up: messages that may be dropped are dropped, and no client may queue more.
#[inline]
pub fn is_short() -> bool {
    SHORT.load(Relaxed)
}

/// Whether dropping was not enough: no new client is let in, and no large packet is taken.
#[inline]
pub fn is_exhausted() -> bool {
    EXHAUSTED.load(Relaxed)
}

/// Counts bytes that no [`Counted`] stands for.
#[inline]
pub fn take(bytes: usize) {
    add(signed(bytes));
}

/// Ends the counting of bytes that were taken.
#[inline]
pub fn give(bytes: usize) {
    add(-signed(bytes));
}

#[inline]
fn add(bytes: isize) {
    let unreported = UNREPORTED.try_with(|unreported| {
        let sum = unreported.0.get() + bytes;
        let is_reported = sum.abs() >= REPORT_BYTES;
        unreported.0.set(if is_reported { 0 } else { sum });
        if is_reported { sum } else { 0 }
    });
    match unreported {
        Ok(0) => {}
        Ok(sum) => report(sum),
        Err(_) => report(bytes), // the thread ends, and its variable is gone
    }
}

#[cold]
fn report(bytes: isize) {
    let mut used = USED.fetch_add(bytes, SeqCst) + bytes;
    let budget = BUDGET.load(Relaxed);
    loop {
        for (flag, most) in [(&SHORT, budget), (&EXHAUSTED, budget + budget / 8)] {
            let is_over = budget > 0 && used > signed(most);
            if flag.load(SeqCst) != is_over {
                flag.store(is_over, SeqCst);
            }
        }
        // Another thread may have reported meanwhile, and set flags that this older count has overwritten.
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

/// Bytes that are counted until this value is dropped.
#[derive(Debug, Default)]
pub struct Counted(usize);

impl Counted {
    /// Counts nothing yet.
    pub const fn none() -> Self {
        Self(0)
    }

    /// Counts these bytes.
    pub fn new(bytes: usize) -> Self {
        let mut counted = Self::default();
        counted.set(bytes);
        counted
    }

    /// Counts these bytes instead of the earlier ones.
    #[inline]
    pub fn set(&mut self, bytes: usize) {
        if bytes != self.0 {
            add(signed(bytes) - signed(self.0));
            self.0 = bytes;
        }
    }

    /// The bytes that it counts.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_once_and_released_once() {
        // In its own thread, so that no other test adds to the same sum.
        let count = |bytes: usize| {
            std::thread::spawn(move || {
                let mut counted = Counted::new(bytes);
                let copy = counted.clone();
                counted.set(bytes / 2);
                let sum = UNREPORTED.with(|unreported| unreported.0.get());
                drop((counted, copy));
                (sum, UNREPORTED.with(|unreported| unreported.0.get()))
            })
            .join()
            .unwrap()
        };
        assert_eq!(count(1_000), (1_500, 0));
        assert_eq!(count(0), (0, 0));
    }
}
