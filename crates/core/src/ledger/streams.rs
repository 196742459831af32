//! The streams as the records tell them: definitions and indices. Chunks are not among them.

use super::{Ledger, Record};
use crate::streams::{Catalog, Definition};

#[derive(Debug, Default)]
pub(super) struct KeptStreams(Catalog);

impl KeptStreams {
    pub fn take(&mut self, record: &Record<'_>) -> Result<(), &'static str> {
        match *record {
            Record::StreamDeclared { stream, name, definition } => {
                let definition = Definition::from_json(definition);
                let definition = definition.map_err(|_| "the definition of a stream is none")?;
                self.0.put(stream, name, definition)
            }
            Record::StreamRemoved { stream } => {
                self.0.remove(stream);
                Ok(())
            }
            _ => unreachable!("a record of something else"),
        }
    }

    pub fn snapshot(&self, out: &mut Vec<u8>) {
        for (stream, entry) in self.0.iter_from(0) {
            entry.record(stream, out);
        }
        // Its index is not given again, though it is gone.
        if let Some(last) = self.0.end().checked_sub(1).filter(|last| self.0.get(*last).is_none()) {
            Record::StreamRemoved { stream: last }.encode(out);
        }
    }
}

impl Ledger {
    /// The streams that are there.
    pub fn streams(&self) -> &Catalog {
        &self.streams.0
    }
}
