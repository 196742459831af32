//! What the broker writes to the journal besides messages: records of sessions.

use std::ops::Range;

use slipring_core::Durability;
use slipring_core::ledger::Record;
use slipring_journal::{AppendError, Batch};

use crate::broker::Broker;
use crate::event::now_ns;
use crate::gates::Gate;

impl Broker {
    /// Appends a batch; what depends on it waits for the gate.
    pub fn append(
        &self,
        batch: &mut Batch,
        level: Durability,
    ) -> Result<(Range<u64>, Gate), AppendError> {
        let Some(journal) = &self.journal else {
            batch.clear();
            return Ok((0..0, Gate::OPEN));
        };
        let appended = journal.append(batch, level == Durability::Disk)?;
        Ok((appended.offsets, Gate { level, mark: appended.mark }))
    }

    /// Appends records that must not be lost; what depends on them waits for the gate. False if the
    /// journal takes nothing now: then they stay where they are.
    pub fn write_down(&self, records: &mut Vec<u8>, gate: &mut Gate) -> bool {
        if records.is_empty() {
            return true;
        }
        let mut batch = Batch::new();
        batch.at(now_ns());
        batch.records().append(records);
        match self.append(&mut batch, Durability::Disk) {
            Ok((_, opens)) => *gate = opens,
            Err(_) => records.append(batch.records()),
        }
        records.is_empty()
    }

    /// Appends a record that nobody waits for. The journal always has room for these.
    pub fn note(&self, record: &Record<'_>) {
        let mut records = Vec::new();
        record.encode(&mut records);
        self.note_all(&mut records);
    }

    /// Appends records that nobody waits for.
    pub fn note_all(&self, records: &mut Vec<u8>) {
        if records.is_empty() {
            return;
        }
        let mut batch = Batch::new();
        batch.at(now_ns());
        batch.records().append(records);
        let _ = self.append(&mut batch, Durability::Memory); // a failed journal tells of itself
    }
}
