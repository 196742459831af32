//! The broker's side of the journal: it appends batches, and gives a gate for each. Without a journal it drops the
//! batches, and every gate is open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use slipring_core::ledger::SessionRecord;
use slipring_core::{Durability, Offset, Plan};
use slipring_journal::{AppendError, Backlog, Batch, Journal, JournalFailure};

use crate::clock::Clock;
use crate::gates::{Gate, Gates};
use crate::jumps::Jumps;
use crate::reading::Reading;
use crate::status::JournalStatus;
use crate::stored::StoredReader;
use crate::upkeep::Upkeep;

/// Batches that wait for the journal may take the budget for memory divided by this.
const PENDING_SHARE: usize = 8;

/// The journal, if there is one, and everything that works with it. The locks are those of its parts; they are
/// taken after a client's own.
pub(crate) struct BrokerJournal {
    journal: Option<Journal>,
    pub clock: Clock,
    /// How far the journal has come, and the connections that wait for it.
    pub gates: Arc<Gates>,
    pub stored: StoredReader,
    pub upkeep: Upkeep,
    pub jumps: Jumps,
    /// For readers on other machines.
    pub reading: Reading,
    /// Messages that a failed journal did not take.
    pub not_journaled: AtomicU64,
}

/// Where in the journal some records are.
pub(crate) struct AppendedRecords {
    /// The offset that the next message gets.
    pub offset: Offset,
    pub receive_ns: i64,
    /// For what depends on the records.
    pub gate: Gate,
}

impl BrokerJournal {
    pub fn new(journal: Option<Journal>, gates: Arc<Gates>, clock: Clock) -> Self {
        Self {
            journal,
            gates,
            stored: StoredReader::default(),
            upkeep: Upkeep::default(),
            jumps: Jumps::new(clock.clone()),
            clock,
            reading: Reading::default(),
            not_journaled: AtomicU64::new(0),
        }
    }

    /// Whether anything is journaled.
    #[inline]
    pub fn exists(&self) -> bool {
        self.journal.is_some()
    }

    /// The journal itself, for its readers and its upkeep.
    pub fn get(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    /// Gives the journal the bounds of a plan.
    pub fn follow(&self, plan: &Plan) {
        let Some(journal) = &self.journal else { return };
        journal.set_bytes_max(plan.journal_bytes_max);
        let budget = plan.limits.memory_bytes;
        journal.lower_pending_bytes_max((budget > 0).then_some(budget / PENDING_SHARE));
    }

    /// Waits until everything that was appended is on the disk.
    pub fn sync(&self) -> Result<(), JournalFailure> {
        self.journal.as_ref().map_or(Ok(()), Journal::sync)
    }

    pub fn close(&self) -> Result<(), JournalFailure> {
        self.journal.as_ref().map_or(Ok(()), Journal::close)
    }

    pub fn status(&self) -> Option<JournalStatus> {
        let status = self.journal.as_ref()?.status();
        Some(JournalStatus {
            first_offset: status.first_offset,
            next_offset: status.next_offset,
            synced_offset: status.synced,
            bytes: status.bytes,
            bytes_max: status.bytes_max,
            segments: status.segments,
            not_journaled: self.not_journaled.load(Ordering::Relaxed),
            held_by: self.upkeep.held_by(),
            no_space: status.no_space,
            failure: status.failure.map(|failure| failure.to_string()),
        })
    }

    /// Appends a batch. Returns the offset of its first message, and the gate for what depends on it.
    pub fn append(
        &self,
        batch: &mut Batch,
        level: Durability,
    ) -> Result<(Offset, Gate), AppendError> {
        self.append_shared(batch, level, &mut Backlog::default())
    }

    /// The same for a publisher, which may use its share of the journal's pending buffer.
    pub fn append_shared(
        &self,
        batch: &mut Batch,
        level: Durability,
        backlog: &mut Backlog,
    ) -> Result<(Offset, Gate), AppendError> {
        let Some(journal) = &self.journal else {
            batch.clear();
            return Ok((Offset::default(), Gate::OPEN));
        };
        let bytes = if batch.is_empty() { 0 } else { batch.bytes() };
        let appended = journal.append_shared(batch, level == Durability::Disk, backlog)?;
        self.gates.append(bytes);
        Ok((Offset::new(appended.offsets.start), Gate { level, mark: appended.mark }))
    }

    /// Appends records as one batch; None if the journal accepts nothing now.
    fn append_records(&self, records: &[u8], level: Durability) -> Option<AppendedRecords> {
        let mut batch = Batch::new();
        let receive_ns = self.clock.now_ns();
        batch.at(receive_ns);
        batch.records().extend_from_slice(records);
        let (offset, gate) = self.append(&mut batch, level).ok()?;
        Some(AppendedRecords { offset, receive_ns, gate })
    }

    /// Appends records that must not be lost; what depends on them waits for the gate. None if the journal accepts
    /// nothing now.
    pub fn write_down(&self, records: &[u8]) -> Option<AppendedRecords> {
        self.append_records(records, Durability::Disk)
    }

    /// Appends records; what depends on them waits for the gate. None if they had to be safe and the journal
    /// accepted nothing.
    pub fn record_all(&self, records: &mut Vec<u8>, level: Durability) -> Option<Gate> {
        if records.is_empty() {
            return Some(Gate::OPEN);
        }
        let gate = self.append_records(records, level).map(|appended| appended.gate);
        records.clear();
        gate.or((level == Durability::Memory).then_some(Gate::OPEN))
    }

    /// Appends one record; what depends on it waits for the gate.
    pub fn record_one(&self, record: &SessionRecord<'_>, level: Durability) -> Gate {
        let mut records = Vec::new();
        record.encode(&mut records);
        // A journal that accepts no record has failed; its gates never open.
        let never = Gate { level, mark: u64::MAX };
        self.record_all(&mut records, level).unwrap_or(never)
    }

    /// Appends records that nobody waits for.
    pub fn note_all(&self, records: &mut Vec<u8>) {
        self.record_all(records, Durability::Memory); // a failed journal reports itself
    }
}
