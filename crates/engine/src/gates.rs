//! Gates: an acknowledgement, or a delivery at QoS 2, goes only when the journal has come far enough for it.
//!
//! Example: three publishers send a message at QoS 1 each, and each batch has 100 bytes. Marks count the bytes
//! that were appended, so the batches end at the marks 100, 200 and 300. The durability of the first topic is
//! `memory`, of the second `process`, of the third `disk`. The PUBACK of the first goes at once. The second
//! waits at the gate `process` 200, the third at the gate `disk` 300. The journal writes all 300 bytes with one
//! call: `written` is 300, and the second PUBACK goes. Then it syncs: `synced` is 300, and the third goes. If
//! the sync fails, the third publisher gets no PUBACK: its connection ends, and it sends the message again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use slipring_core::Durability;
use slipring_core::memory::{self, Counted};
use slipring_journal::{CommitProgress, JournalMark};
use slipring_wire::Reason;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::acknowledged::Acknowledgements;
use crate::connection_handle::ConnectionHandle;
use crate::locks::lock;

/// How far the journal must be written, or synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub level: Durability,
    pub mark: JournalMark,
}

impl Gate {
    /// A gate that is always open.
    pub const OPEN: Self = Self { level: Durability::Memory, mark: 0 };
}

/// How far the journal has come, and the connections to wake when it comes further.
#[derive(Debug, Default)]
pub(crate) struct Gates {
    /// Bytes that the journal was given; those that are not written wait in memory.
    appended: AtomicU64,
    written: AtomicU64,
    synced: AtomicU64,
    failed: AtomicBool,
    full: AtomicBool,
    // A lock: taken once for each read that has something to acknowledge, and after each write and
    // sync of the journal. Taken last.
    waiting: Mutex<Vec<(Gate, Arc<ConnectionHandle>)>>,
    /// Notified of every progress.
    pub moved: Notify,
    /// How many messages were acknowledged.
    pub acknowledged: Acknowledgements,
}

impl Gates {
    /// Whether the journal has come as far as this gate needs.
    pub fn is_open(&self, gate: Gate) -> bool {
        match gate.level {
            Durability::Memory => true,
            Durability::Process => self.written.load(Ordering::Acquire) >= gate.mark,
            Durability::Disk => self.synced.load(Ordering::Acquire) >= gate.mark,
        }
    }

    /// Whether the journal has failed, so that no gate opens any more.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Whether there is no room on the disk now.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// The reason code that refuses a message of this durability now, if the journal is full or has failed.
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

    /// Wakes the connection when the gate opens, or at once if it is open.
    pub fn wait(&self, gate: Gate, connection: &Arc<ConnectionHandle>) {
        lock(&self.waiting).push((gate, Arc::clone(connection)));
        if self.is_open(gate) || self.has_failed() {
            connection.waker.wake(); // it opened meanwhile
        }
    }

    /// Waits until the gate opens; false if it never will.
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

    /// Counts bytes that wait for the journal.
    pub fn append(&self, bytes: usize) {
        self.appended.fetch_add(bytes as u64, Ordering::Relaxed);
        memory::take(bytes);
    }

    /// Notes how far the journal has come, and opens gates. The journal's thread calls this.
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
        let mut waiting = lock(&self.waiting);
        waiting.retain(|(gate, connection)| {
            let open = all || self.is_open(*gate);
            if open {
                connection.waker.wake();
            }
            !open
        });
    }

    /// Bytes that wait for the journal.
    pub fn pending(&self) -> usize {
        let appended = self.appended.load(Ordering::Relaxed);
        appended.saturating_sub(self.written.load(Ordering::Relaxed)) as usize
    }

    /// How far the journal is written.
    pub fn written(&self) -> JournalMark {
        self.written.load(Ordering::Acquire)
    }
}

/// Waits for progress, and counts the bytes that the caller holds in memory meanwhile.
pub(crate) async fn wait_holding(bytes: usize, moved: Notified<'_>) {
    let _counted = Counted::new(bytes);
    moved.await;
}

impl Drop for Gates {
    /// The journal is closed: bytes that it did not write are counted no longer.
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
