//! The definitions of the table alone, as the records describe them: for readers that need nothing else.

use super::table::KeptTable;
use super::{BatchHead, Record, RecordError, Records, TableRecord};
use crate::table::Entries;

/// The table's parameters and the versions of their definitions, without values, sessions and messages.
#[derive(Debug, Default)]
pub struct DefinitionLedger {
    table: KeptTable,
}

impl DefinitionLedger {
    /// What a snapshot describes.
    pub fn restore(snapshot: &[u8]) -> Result<Self, RecordError> {
        let mut ledger = Self::default();
        ledger.apply(BatchHead::default(), snapshot)?;
        Ok(ledger)
    }

    /// Applies the records of a batch. If a record cannot be read, the records before it are applied.
    pub fn apply(&mut self, batch: BatchHead, records: &[u8]) -> Result<(), RecordError> {
        let mut reading = Records::new(records);
        let mut at = 0;
        while let Some(record) = reading.next() {
            if let Record::Table(record) = record?
                && defines(&record)
            {
                let taken = self.table.take(&batch, &record, None);
                taken.map_err(|what| RecordError { at, what })?;
            }
            at = reading.next_at();
        }
        self.table.skip_values();
        Ok(())
    }

    /// The table; one without a number if there is none.
    pub fn table(&self) -> &Entries {
        &self.table.entries
    }
}

fn defines(record: &TableRecord<'_>) -> bool {
    match record {
        TableRecord::TableIs { .. }
        | TableRecord::Declared { .. }
        | TableRecord::Removed { .. }
        | TableRecord::DefinedAt { .. }
        | TableRecord::WasDefined { .. } => true,
        TableRecord::Framed { .. } | TableRecord::Sampled { .. } | TableRecord::ValuesAt { .. } => {
            false
        }
    }
}
