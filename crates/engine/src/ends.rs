//! Ends of sessions that are not on the disk yet: a crash could bring the sessions back. Never does I/O.

use std::collections::HashMap;

use crate::gates::{Gate, Gates};

/// From this number on, ends that are safe by now are removed.
const SWEEP_MIN: usize = 64;

/// The unsafe ends by client identifier: at most the sessions that ended since the last sync, and a few more.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    unsafe_ends: HashMap<Box<str>, End>,
    sweep_at: usize,
}

/// An end that a crash could take back until its gate is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    pub gate: Gate,
    /// Whether the crash would bring the session back. It brings back neither a session that ends with its
    /// connection, nor one whose client only left.
    pub is_kept_session: bool,
}

impl Ends {
    /// Adds the end of a session of this client, or its DISCONNECT.
    pub fn add(&mut self, client_id: &str, mut end: End, gates: &Gates) {
        if gates.is_open(end.gate) {
            return;
        }
        if self.unsafe_ends.len() >= self.sweep_at {
            self.unsafe_ends.retain(|_, end| !gates.is_open(end.gate));
            self.sweep_at = SWEEP_MIN.max(2 * self.unsafe_ends.len());
        }
        if self.is_unsafe(client_id, gates) {
            end.is_kept_session = true; // an earlier session was; the later gate covers both
        }
        self.unsafe_ends.insert(client_id.into(), end);
    }

    /// Whether a crash could bring back a session of this client that has ended.
    pub fn is_unsafe(&self, client_id: &str, gates: &Gates) -> bool {
        let end = self.unsafe_ends.get(client_id);
        end.is_some_and(|end| end.is_kept_session && !gates.is_open(end.gate))
    }

    /// The gate of the last end of this client's sessions; an open gate if there is none. It must be open before the
    /// client may learn that its session has ended or that its DISCONNECT was taken.
    pub fn gate(&self, client_id: &str) -> Gate {
        self.unsafe_ends.get(client_id).map_or(Gate::OPEN, |end| end.gate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_core::Durability;
    use slipring_journal::CommitProgress;

    fn end(mark: u64) -> End {
        End { gate: Gate { level: Durability::Disk, mark }, is_kept_session: true }
    }

    #[test]
    fn an_end_is_unsafe_until_it_is_synced() {
        let (mut ends, gates) = (Ends::default(), Gates::default());
        ends.add("a", end(10), &gates);
        gates.progress(&CommitProgress { written: 10, synced: 9, ..CommitProgress::default() });
        assert!(ends.is_unsafe("a", &gates));
        assert!(!ends.is_unsafe("b", &gates), "another client has nothing to wait for");
        ends.add("c", End { is_kept_session: false, ..end(10) }, &gates);
        assert!(!ends.is_unsafe("c", &gates), "only a will could be sent again");
        gates.progress(&CommitProgress { written: 10, synced: 10, ..CommitProgress::default() });
        assert!(!ends.is_unsafe("a", &gates));
    }

    #[test]
    fn the_end_of_a_session_that_is_not_kept_does_not_hide_one_that_was() {
        let (mut ends, gates) = (Ends::default(), Gates::default());
        ends.add("a", end(10), &gates);
        ends.add("a", End { is_kept_session: false, ..end(12) }, &gates);
        assert!(ends.is_unsafe("a", &gates));
        gates.progress(&CommitProgress { written: 12, synced: 12, ..CommitProgress::default() });
        assert!(!ends.is_unsafe("a", &gates));
    }

    #[test]
    fn what_is_safe_does_not_gather() {
        let (mut ends, gates) = (Ends::default(), Gates::default());
        for mark in 1..10_000 {
            ends.add(&mark.to_string(), end(mark), &gates);
            let synced = mark.saturating_sub(5);
            gates.progress(&CommitProgress { written: mark, synced, ..CommitProgress::default() });
        }
        assert!(ends.unsafe_ends.len() <= SWEEP_MIN, "{}", ends.unsafe_ends.len());
    }
}
