//! The versions of the parameters' definitions for readers of the journal: from the broker's table, or from the files.
//! Only reads.

use std::path::Path;

use slipring_core::ledger::{BatchHead, DefinitionLedger};
use slipring_core::table::definitions_json;
use slipring_core::{Offset, ParameterIndex};
use slipring_journal::{
    DefinitionsEdition, Followed, JournalPosition, JournalReader, ReadError, StateBatch,
};

use crate::history::Flaws;
use crate::table::SharedTable;

/// Versions that are copied under the table's lock at a time.
const COPIED_AT_ONCE: usize = 1_024;
/// How often a journal is read again if its broker removes segments at the same time.
const TRIES: usize = 8;

/// Some versions of the definitions, as JSON.
pub(crate) struct DefinitionPage {
    /// The table and its revision when the page was begun.
    pub table: (u32, u64),
    /// The JSON objects, with commas between them.
    pub rows: String,
    /// The index and the offset of the first version that the page has no room for, and the bytes that it takes.
    pub next: Option<(ParameterIndex, Offset, usize)>,
}

/// The versions from an index and an offset on, of parameters whose names pass, as many as there is room for.
pub(crate) fn page(
    table: &SharedTable,
    mut from: (ParameterIndex, Offset),
    bytes_max: usize,
    is_seen: &dyn Fn(&str) -> bool,
) -> DefinitionPage {
    let mut page = DefinitionPage {
        table: table.lock().table.registry.entries().versions_of(),
        rows: String::new(),
        next: None,
    };
    loop {
        // Under the lock they are only copied: publishers of samples wait for it.
        let copied = table.lock().table.registry.entries().versions_from(from, COPIED_AT_ONCE + 1);
        for one in copied.iter().take(COPIED_AT_ONCE).filter(|one| is_seen(&one.name)) {
            let row = one.to_json();
            let between = if page.rows.is_empty() { "" } else { "," };
            if page.rows.len() + between.len() + row.len() > bytes_max {
                page.next = Some((one.index, one.version.since, row.len()));
                return page;
            }
            page.rows.push_str(between);
            page.rows.push_str(&row);
        }
        let Some(next) = copied.get(COPIED_AT_ONCE) else { return page };
        from = (next.index, next.version.since);
    }
}

/// The definitions that a journal's files describe. They can be read on from where they were read to before.
#[derive(Default)]
pub struct JournalDefinitions {
    ledger: DefinitionLedger,
    /// The position of the snapshot that they began with.
    begun: Option<JournalPosition>,
    /// Where to read on; None before the first reading.
    position: Option<JournalPosition>,
    epoch: u64,
    flaws: Flaws,
}

impl JournalDefinitions {
    /// The definitions in a journal's folder. A broker may be writing to it at the same time.
    pub fn of(folder: &Path) -> Result<Self, ReadError> {
        let mut definitions = Self::default();
        definitions.follow(&mut JournalReader::open(folder)?)?;
        Ok(definitions)
    }

    /// Reads what the journal has by now. Always give a reader of the same journal.
    pub fn follow(&mut self, reader: &mut JournalReader) -> Result<(), ReadError> {
        reader.end_offset()?;
        for _ in 0..TRIES {
            // After a crash other records may be where these were.
            if self.position.is_none() || self.epoch != reader.epoch() {
                *self = Self::from_snapshot(reader);
                self.epoch = reader.epoch();
            }
            let is_whole = self.read_on(reader)?;
            // A broker that has written a snapshot since may have removed the segments before it.
            if is_whole || snapshot_position(reader) == self.begun {
                break;
            }
            self.position = None;
        }
        Ok(())
    }

    fn from_snapshot(reader: &JournalReader) -> Self {
        let mut new = Self::default();
        match reader.snapshot() {
            Ok(None) => {}
            Ok(Some((position, bytes))) => match DefinitionLedger::restore(&bytes) {
                Ok(ledger) => {
                    (new.ledger, new.position) = (ledger, Some(position));
                    new.begun = new.position;
                }
                Err(error) => new.flaws.tell(|| format!("the snapshot of the table: {error}")),
            },
            Err(error) => new.flaws.tell(|| error.to_string()),
        }
        new
    }

    /// Returns whether everything could be read.
    fn read_on(&mut self, reader: &mut JournalReader) -> Result<bool, ReadError> {
        let Self { ledger, position, flaws, .. } = self;
        let Followed { end, damage } = reader.follow(*position, &mut |batch| {
            let StateBatch { base_offset, count: messages, receive_ns, records, .. } = batch;
            let base_offset = Offset::new(base_offset);
            let head = BatchHead { base_offset, messages, receive_ns };
            if let Err(error) = ledger.apply(head, records) {
                flaws.tell(|| format!("records at offset {base_offset}: {error}"));
            }
        })?;
        for one in &damage {
            flaws.tell(|| one.to_string());
        }
        *position = Some(end);
        Ok(flaws.is_empty())
    }

    /// Which definitions these are.
    pub fn edition(&self) -> DefinitionsEdition {
        let (table, revision) = self.ledger.table().versions_of();
        DefinitionsEdition { table, revision, epoch: self.epoch }
    }

    /// The versions as JSON, and what could not be read.
    pub fn to_json(&self) -> String {
        let table = self.ledger.table();
        definitions_json(table.versions_of(), self.epoch, &table.versions_rows(), self.flaws.all())
    }
}

fn snapshot_position(reader: &JournalReader) -> Option<JournalPosition> {
    reader.snapshot().ok().flatten().map(|(position, _)| position)
}

#[cfg(test)]
#[path = "definitions_tests.rs"]
mod tests;
