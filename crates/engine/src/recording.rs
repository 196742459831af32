//! What the broker writes to the journal besides messages: records of sessions.

use std::ops::Range;

use slipring_core::Durability;
use slipring_core::ledger::Record;
use slipring_journal::{AppendError, Backlog, Batch};

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
        self.append_shared(batch, level, &mut Backlog::default())
    }

    /// The same for a publisher, which gets its share of the room for what waits.
    pub fn append_shared(
        &self,
        batch: &mut Batch,
        level: Durability,
        backlog: &mut Backlog,
    ) -> Result<(Range<u64>, Gate), AppendError> {
        let Some(journal) = &self.journal else {
            batch.clear();
            return Ok((0..0, Gate::OPEN));
        };
        let bytes = if batch.is_empty() { 0 } else { batch.bytes() };
        let appended = journal.append_shared(batch, level == Durability::Disk, backlog)?;
        self.gates.append(bytes);
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

    /// Appends records as one batch; what depends on them waits for the gate. None if the journal takes
    /// nothing and they must be safe: then nothing depends on them.
    pub fn record_all(&self, records: &mut Vec<u8>, level: Durability) -> Option<Gate> {
        if records.is_empty() {
            return Some(Gate::OPEN);
        }
        let mut batch = Batch::new();
        batch.at(now_ns());
        batch.records().append(records);
        match self.append(&mut batch, level) {
            Ok((_, gate)) => Some(gate),
            Err(_) => (level == Durability::Memory).then_some(Gate::OPEN),
        }
    }

    /// Appends one record; what depends on it waits for the gate.
    pub fn record_one(&self, record: &Record<'_>, level: Durability) -> Gate {
        let mut records = Vec::new();
        record.encode(&mut records);
        // A journal that takes nothing has failed; its gates never open.
        let never = Gate { level, mark: u64::MAX };
        self.record_all(&mut records, level).unwrap_or(never)
    }

    /// Appends a record that nobody waits for. The journal always has room for these.
    pub fn note(&self, record: &Record<'_>) {
        self.record_one(record, Durability::Memory);
    }

    /// Appends records that nobody waits for.
    pub fn note_all(&self, records: &mut Vec<u8>) {
        self.record_all(records, Durability::Memory); // a failed journal tells of itself
    }
}
