//! The table as the records tell it: its parameters, and which messages are samples of them.

use std::sync::Arc;

use super::{BatchHead, Ledger, Record};
use crate::table::{Change, Definition, Entries, Entry, Registry};

/// What a message of a batch carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// A frame: many samples.
    Frame,
    /// One sample of this parameter, as text.
    Sample(u32),
}

#[derive(Clone, Debug, Default)]
pub(super) struct KeptTable {
    pub entries: Entries,
    /// Messages of this batch, by offset.
    pub carried: Vec<(u64, Carried)>,
}

impl KeptTable {
    /// A batch begins.
    pub fn begin(&mut self) {
        self.carried.clear();
    }

    pub fn take(&mut self, batch: &BatchHead, record: &Record<'_>) -> Result<(), &'static str> {
        match *record {
            Record::TableIs { id, revision, end } => self.entries.begin(id, revision, end)?,
            Record::Framed { index } => self.carried.push((batch.offset(index)?, Carried::Frame)),
            Record::Sampled { index, parameter } => {
                self.carried.push((batch.offset(index)?, Carried::Sample(parameter)));
            }
            _ if self.entries.id() == 0 => return Err("it is of a table that is not known"),
            Record::Declared { parameter, name, definition } => {
                let definition = Definition::from_json(definition);
                let definition = definition.map_err(|_| "a definition is none")?;
                self.entries.put(parameter, name, Arc::new(definition))?;
            }
            Record::Removed { parameter } => drop(self.entries.remove(parameter)),
            Record::ValuesAt { .. } => {}
            _ => unreachable!("a record of a session"),
        }
        Ok(())
    }

    pub fn snapshot(&self, out: &mut Vec<u8>) {
        if self.entries.id() == 0 {
            return;
        }
        is(&self.entries).encode(out);
        for (parameter, entry) in self.entries.removed() {
            declare(parameter, entry, out);
            Record::Removed { parameter }.encode(out);
        }
        for (parameter, entry) in self.entries.iter_from(0) {
            declare(parameter, entry, out);
        }
    }
}

impl Ledger {
    /// The table's parameters, those that are there and those that were; None before the first.
    pub fn table(&self) -> Option<&Entries> {
        let entries = &self.table.entries;
        (entries.id() != 0).then_some(entries)
    }

    /// The messages of the batch applied last that are samples, by offset, in their order.
    pub fn carried(&self) -> &[(u64, Carried)] {
        &self.table.carried
    }
}

impl Registry {
    /// Appends the records of a change that was made.
    pub fn record(&self, change: &Change, out: &mut Vec<u8>) {
        is(self.entries()).encode(out);
        for parameter in change.removed.indices() {
            Record::Removed { parameter }.encode(out);
        }
        for set in [&change.added, &change.changed, &change.revived] {
            for parameter in set.indices() {
                if let Some(entry) = self.get(parameter) {
                    declare(parameter, entry, out);
                }
            }
        }
    }
}

fn is(entries: &Entries) -> Record<'static> {
    Record::TableIs { id: entries.id(), revision: entries.revision(), end: entries.end() }
}

fn declare(parameter: u32, entry: &Entry, out: &mut Vec<u8>) {
    let definition = entry.definition.to_json();
    Record::Declared { parameter, name: &entry.name, definition: &definition }.encode(out);
}
