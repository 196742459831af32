//! What the journal has made safe, and who waits for it.
//!
//! An acknowledgement, or a QoS 2 delivery, leaves only when the journal has come far enough for it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use slipring_core::Durability;
use slipring_core::memory::{self, Counted};
use slipring_journal::{CommitProgress, JournalMark};
use slipring_wire::Reason;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::acknowledged::Acknowledgements;
use crate::connection_handle::ConnectionHandle;

/// How far the journal must have come, and in which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub level: Durability,
    pub mark: JournalMark,
}

impl Gate {
    /// Nothing has to be waited for.
    pub const OPEN: Self = Self { level: Durability::Memory, mark: 0 };
}

/// How far the journal has come, and the connections to wake when it comes further.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// Bytes that the journal was given; what of them is not written waits in memory.
    appended: AtomicU64,
    written: AtomicU64,
    synced: AtomicU64,
    failed: AtomicBool,
    full: AtomicBool,
    // A lock: taken once for each read that has something to acknowledge, and after each write and
    // sync of the journal. Taken last.
    waiting: Mutex<Vec<(Gate, Arc<ConnectionHandle>)>>,
    /// Told of every progress.
    pub moved: Notify,
    /// What went through them.
    pub acknowledged: Acknowledgements,
}

impl Gates {
    /// Whether the journal has come so far.
    pub fn is_open(&self, gate: Gate) -> bool {
        match gate.level {
            Durability::Memory => true,
            Durability::Process => self.written.load(Ordering::Acquire) >= gate.mark,
            Durability::Disk => self.synced.load(Ordering::Acquire) >= gate.mark,
        }
    }

    /// Whether no gate opens any more.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Whether there is no room on the disk now.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Why a message that must be this safe cannot be taken now.
    #[inline]
    pub fn refusal(&self, level: Durability) -> Option<Reason> {
        if level == Durability::Memory {
            return None;
        }
        if self.failed.load(Ordering::Relaxed) {
            return Some(Reason::UnspecifiedError);
        }
        self.is_full().then_some(Reason::QuotaExceeded)
    }

    /// A mark that the next write reaches.
    pub fn next_write(&self) -> JournalMark {
        self.written.load(Ordering::Acquire) + 1
    }

    /// Wakes the connection when the gate opens, or at once when it has.
    pub fn wait(&self, gate: Gate, connection: &Arc<ConnectionHandle>) {
        self.waiting().push((gate, Arc::clone(connection)));
        if self.is_open(gate) || self.has_failed() {
            connection.waker.wake(); // it opened meanwhile
        }
    }

    /// Returns when the gate is open; false when it never opens.
    pub async fn passed(&self, gate: Gate) -> bool {
        loop {
            let moved = self.moved.notified();
            if self.is_open(gate) {
                return true;
            }
            if self.has_failed() {
                return false;
            }
            moved.await;
        }
    }

    /// So many more bytes wait for the journal.
    pub fn append(&self, bytes: usize) {
        self.appended.fetch_add(bytes as u64, Ordering::Relaxed);
        memory::take(bytes);
    }

    /// The journal has come further. Called from its thread.
    pub fn progress(&self, progress: &CommitProgress) {
        let before = self.written.swap(progress.written, Ordering::AcqRel);
        memory::give(progress.written.saturating_sub(before) as usize);
        self.synced.store(progress.synced, Ordering::Release);
        self.full.store(progress.no_space.is_some(), Ordering::Relaxed);
        self.failed.store(progress.failed.is_some(), Ordering::Release);
        self.wake();
        self.moved.notify_waiters();
    }

    fn wake(&self) {
        let all = self.has_failed();
        let mut waiting = self.waiting();
        waiting.retain(|(gate, connection)| {
            let open = all || self.is_open(*gate);
            if open {
                connection.waker.wake();
            }
            !open
        });
    }

    /// How far the journal is written.
    pub fn written(&self) -> JournalMark {
        self.written.load(Ordering::Acquire)
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<(Gate, Arc<ConnectionHandle>)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for progress; so many bytes are held in memory meanwhile.
pub(crate) async fn wait_holding(bytes: usize, moved: Notified<'_>) {
    let _counted = Counted::new(bytes);
    moved.await;
}

impl Drop for Gates {
    /// The journal is closed: what it did not write is gone.
    fn drop(&mut self) {
        let unwritten = self.appended.get_mut().saturating_sub(*self.written.get_mut());
        memory::give(unwritten as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(level: Durability, mark: JournalMark) -> Gate {
        Gate { level, mark }
    }

    #[test]
    fn what_is_written_opens_process_gates_and_what_is_synced_opens_disk_gates() {
        let gates = Gates::default();
        gates.progress(&CommitProgress { written: 10, synced: 5, ..CommitProgress::default() });
        assert!(gates.is_open(gate(Durability::Process, 10)));
        assert!(!gates.is_open(gate(Durability::Process, 11)));
        assert!(gates.is_open(gate(Durability::Disk, 5)));
        assert!(!gates.is_open(gate(Durability::Disk, 6)));
        assert!(gates.is_open(Gate::OPEN));
    }

    #[test]
    fn a_full_disk_refuses_what_must_be_safe_and_nothing_else() {
        let gates = Gates::default();
        let no_space = Some("no space left on device".to_owned());
        gates.progress(&CommitProgress { no_space, ..CommitProgress::default() });
        assert_eq!(gates.refusal(Durability::Disk), Some(Reason::QuotaExceeded));
        assert_eq!(gates.refusal(Durability::Memory), None);
        gates.progress(&CommitProgress::default());
        assert_eq!(gates.refusal(Durability::Disk), None, "it heals by itself");
    }
}
