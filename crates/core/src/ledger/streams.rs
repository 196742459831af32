//! The streams as the records describe them: definitions and indices, without chunks.

use slipring_wire::frame::RangeSet;

use super::{Ledger, OwnerWriter, StreamRecord};
use crate::streams::{Catalog, StreamDefinition};
use crate::{Owner, StreamIndex};

#[derive(Debug, Default)]
pub(super) struct KeptStreams {
    catalog: Catalog,
    /// Streams that were removed or have another media type. Sessions that declared them do not own them
    /// any more.
    pub gone: RangeSet,
}

impl KeptStreams {
    pub(super) fn take(
        &mut self,
        record: &StreamRecord<'_>,
        owner: Option<&Owner>,
    ) -> Result<(), &'static str> {
        match *record {
            StreamRecord::Declared { stream, name, definition } => {
                let definition = StreamDefinition::from_json(definition);
                let definition =
                    definition.map_err(|_| "the definition of a stream is malformed")?;
                let known = self.catalog.get(stream);
                if known.is_some_and(|known| known.definition.media != definition.media) {
                    self.forget(stream);
                }
                self.catalog.put(stream, name, definition)?;
                self.catalog.own(stream, owner);
            }
            StreamRecord::Removed { stream } => {
                self.catalog.remove(stream);
                self.forget(stream);
            }
        }
        Ok(())
    }

    fn forget(&mut self, stream: StreamIndex) {
        self.gone.extend([stream.get()]);
    }

    pub(super) fn snapshot(&self, out: &mut Vec<u8>) {
        let mut owners = OwnerWriter::default();
        for (stream, entry) in self.catalog.iter_from(StreamIndex::new(0)) {
            owners.write(entry.owner.as_ref(), out);
            entry.record(stream, out);
        }
        // The highest index is never used again, even if its stream was removed.
        let last = self.catalog.end().get().checked_sub(1).map(StreamIndex::new);
        if let Some(stream) = last.filter(|last| self.catalog.get(*last).is_none()) {
            StreamRecord::Removed { stream }.encode(out);
        }
    }
}

impl Ledger {
    /// The streams.
    pub fn streams(&self) -> &Catalog {
        &self.streams.catalog
    }
}
