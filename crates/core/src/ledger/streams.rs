//! The streams as the records tell them: definitions and indices. Chunks are not among them.

use slipring_wire::frame::RangeSet;

use super::{Ledger, OwnerWriter, Record};
use crate::Owner;
use crate::streams::{Catalog, Definition};

#[derive(Debug, Default)]
pub(super) struct KeptStreams {
    catalog: Catalog,
    /// Streams that are gone or are others now, and may still be somebody's.
    pub gone: RangeSet,
}

impl KeptStreams {
    pub fn take(&mut self, record: &Record<'_>, owner: Option<&Owner>) -> Result<(), &'static str> {
        match *record {
            Record::StreamDeclared { stream, name, definition } => {
                let definition = Definition::from_json(definition);
                let definition = definition.map_err(|_| "the definition of a stream is none")?;
                let known = self.catalog.get(stream);
                if known.is_some_and(|known| known.definition.media != definition.media) {
                    self.forget(stream);
                }
                self.catalog.put(stream, name, definition)?;
                self.catalog.own(stream, owner);
                Ok(())
            }
            Record::StreamRemoved { stream } => {
                self.catalog.remove(stream);
                self.forget(stream);
                Ok(())
            }
            _ => unreachable!("a record of something else"),
        }
    }

    fn forget(&mut self, stream: u32) {
        self.gone.insert(stream..stream.saturating_add(1));
    }

    pub fn snapshot(&self, out: &mut Vec<u8>) {
        let mut owners = OwnerWriter::default();
        for (stream, entry) in self.catalog.iter_from(0) {
            owners.write(entry.owner.as_ref(), out);
            entry.record(stream, out);
        }
        // Its index is not given again, though it is gone.
        if let Some(last) =
            self.catalog.end().checked_sub(1).filter(|last| self.catalog.get(*last).is_none())
        {
            Record::StreamRemoved { stream: last }.encode(out);
        }
    }
}

impl Ledger {
    /// The streams that are there.
    pub fn streams(&self) -> &Catalog {
        &self.streams.catalog
    }
}
