//! The table as the records describe it: its parameters, which messages are samples of them, and the
//! newest values that follow from those.

use std::sync::Arc;

use slipring_wire::Properties;
use slipring_wire::frame::{self, FrameError, FrameView, Header, RangeSet};

use super::{BatchHead, Ledger, OwnerWriter, TableRecord};
use crate::table::{
    ClockReading, Current, Definition, Entries, Entry, PlainError, Registry, TableChange,
    plain_sample,
};
use crate::{Millis, Offset, Owner, ParameterIndex};

/// A frame in the journal was within the broker's limits when it was accepted.
const BOUNDS: frame::FrameBounds =
    frame::FrameBounds { samples_max: usize::MAX, raw_bytes_max: 256 << 20 };
/// The approximate size of a frame in a snapshot.
const FRAME_BYTES: usize = 256 << 10;

/// What a message of a batch carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// A frame: many samples.
    Frame,
    /// One sample of this parameter, as text.
    Sample(ParameterIndex),
}

#[derive(Debug, Default)]
pub(super) struct KeptTable {
    entries: Entries,
    current: Current,
    /// Parameters that changed and are not applied to `current` yet.
    undefined: Vec<ParameterIndex>,
    /// Parameters that were removed. Sessions that declared them do not own them any more.
    pub gone: RangeSet,
    /// The messages of this batch that carry samples, with their offsets.
    carried: Vec<(Offset, Carried)>,
    /// Scratch buffer for inflated frames.
    scratch: Vec<u8>,
}

impl KeptTable {
    /// Begins a batch.
    pub(super) fn begin(&mut self) {
        self.carried.clear();
    }

    pub(super) fn take(
        &mut self,
        batch: &BatchHead,
        record: &TableRecord<'_>,
        owner: Option<&Owner>,
    ) -> Result<(), &'static str> {
        match *record {
            TableRecord::TableIs { id, revision, end } => {
                if id != self.entries.id() {
                    self.current = Current::default();
                    self.undefined.clear();
                    self.gone = std::iter::once(0..u32::MAX).collect();
                }
                self.entries.begin(id, revision, end)?;
            }
            TableRecord::Framed { index } => {
                self.carried.push((batch.offset(index)?, Carried::Frame));
            }
            TableRecord::Sampled { index, parameter } => {
                self.carried.push((batch.offset(index)?, Carried::Sample(parameter)));
            }
            _ if self.entries.id() == 0 => {
                return Err("no record says before it which table this is");
            }
            TableRecord::Declared { parameter, name, definition } => {
                let definition = Definition::from_json(definition);
                let definition =
                    definition.map_err(|_| "the definition of a parameter is malformed")?;
                let earlier = self.entries.put(parameter, name, Arc::new(definition))?;
                self.entries.own(parameter, owner);
                self.undefined.extend(earlier.into_iter().chain([parameter]));
                if let Some(earlier) = earlier {
                    self.forget(earlier);
                }
            }
            TableRecord::Removed { parameter } => {
                if self.entries.remove(parameter) {
                    self.undefined.push(parameter);
                }
                self.forget(parameter);
            }
            TableRecord::ValuesAt { receive_ns, frame } => {
                self.frame(receive_ns, frame).map_err(|_| "the newest values are not a frame")?;
            }
        }
        Ok(())
    }

    fn forget(&mut self, parameter: ParameterIndex) {
        self.gone.extend([parameter.get()]);
    }

    /// Applies changed parameters to `current`; at the end of a batch, and before samples.
    pub(super) fn define(&mut self) {
        if self.undefined.is_empty() {
            return;
        }
        self.undefined.sort_unstable();
        let parameters: RangeSet = self.undefined.drain(..).map(u32::from).collect();
        self.current.define(&parameters, &self.entries);
    }

    /// Applies the newest samples of a frame; those of unknown parameters are ignored.
    fn frame(&mut self, receive_ns: i64, payload: &[u8]) -> Result<(), FrameError> {
        self.define();
        let frame = FrameView::decode(payload, &mut self.scratch, &BOUNDS)?;
        if frame.header.table != self.entries.id() {
            return Ok(());
        }
        let arrival = ClockReading { now_ms: 0, now_ns: receive_ns };
        for run in frame.runs() {
            if self.current.check(&run).is_ok() {
                self.current.apply(&run, arrival);
            } else {
                run.visit_newest(|sample| {
                    self.current.set(&sample, arrival);
                });
            }
        }
        Ok(())
    }

    pub(super) fn snapshot(&self, newest_ns: i64, out: &mut Vec<u8>) {
        if self.entries.id() == 0 {
            return;
        }
        table_is(&self.entries).encode(out);
        for (parameter, entry) in self.entries.removed() {
            write_declared(parameter, entry, out);
            TableRecord::Removed { parameter }.encode(out);
        }
        let mut owners = OwnerWriter::default();
        for (parameter, entry) in self.entries.iter_from(ParameterIndex::new(0)) {
            owners.write(self.entries.owner(parameter), out);
            write_declared(parameter, entry, out);
        }
        self.current.snapshot(&self.header(), FRAME_BYTES, |frame| {
            TableRecord::ValuesAt { receive_ns: newest_ns, frame }.encode(out);
        });
    }

    fn header(&self) -> Header {
        Header { table: self.entries.id(), ..Header::default() }
    }

    /// The values as they are after a restart: stale until a client publishes them.
    fn restored(&self, arrival: ClockReading, text_bytes_max: usize) -> Current {
        let mut current = Current::default();
        let all: RangeSet = std::iter::once(0..self.entries.end().get()).collect();
        current.define(&all, &self.entries);
        let mut scratch = Vec::new();
        self.current.snapshot(&self.header(), FRAME_BYTES, |frame| {
            let frame = FrameView::decode(frame, &mut scratch, &BOUNDS).expect("our own frame");
            frame.runs().for_each(|run| current.restore(&run, arrival, text_bytes_max));
        });
        current
    }
}

impl Ledger {
    /// The table's parameters, with those that were removed; None if there was never a table.
    pub fn table(&self) -> Option<&Entries> {
        Some(&self.table.entries).filter(|entries| entries.id() != 0)
    }

    /// The same as `table`, without the rest of the ledger.
    pub fn into_table(self) -> Option<Entries> {
        Some(self.table.entries).filter(|entries| entries.id() != 0)
    }

    /// The messages of the last batch that carry samples, with their offsets.
    pub fn carried(&self) -> &[(Offset, Carried)] {
        &self.table.carried
    }

    /// Applies the frame of a message. Apply the records of its batch first.
    pub fn frame(&mut self, receive_ns: i64, payload: &[u8]) -> Result<(), FrameError> {
        self.newest_ns = self.newest_ns.max(receive_ns);
        self.table.frame(receive_ns, payload)
    }

    /// Applies the sample of a message. Apply the records of its batch first.
    pub fn sample(
        &mut self,
        receive_ns: i64,
        parameter: ParameterIndex,
        properties: Properties<'_>,
        payload: &[u8],
    ) -> Result<(), PlainError> {
        self.newest_ns = self.newest_ns.max(receive_ns);
        let table = &mut self.table;
        table.define();
        let Some(entry) = table.entries.get(parameter) else { return Ok(()) };
        let sample = plain_sample(entry, properties, payload, receive_ns)?;
        table.current.set(&sample.of(parameter), ClockReading { now_ms: 0, now_ns: receive_ns });
        Ok(())
    }

    /// The newest values at the end of the records, without their receive times.
    pub fn values(&self) -> &Current {
        &self.table.current
    }

    /// The newest values for a broker that starts now: stale until a client publishes them. Texts are restored while
    /// there is room, the lowest indices first.
    pub fn restored_values(&self, now_ms: Millis, text_bytes_max: usize) -> Current {
        self.table.restored(ClockReading { now_ms, now_ns: self.newest_ns }, text_bytes_max)
    }
}

impl Registry {
    /// Appends the records of a change, behind `TableIs`.
    pub fn record(&self, change: &TableChange, out: &mut Vec<u8>) {
        table_is(self.entries()).encode(out);
        for parameter in change.removed.indices().map(ParameterIndex::new) {
            TableRecord::Removed { parameter }.encode(out);
        }
        let mut owners = OwnerWriter::default();
        for set in [&change.added, &change.changed, &change.revived] {
            for parameter in set.indices().map(ParameterIndex::new) {
                if let Some(entry) = self.entries().get(parameter) {
                    owners.write(self.entries().owner(parameter), out);
                    write_declared(parameter, entry, out);
                }
            }
        }
    }
}

fn table_is(entries: &Entries) -> TableRecord<'static> {
    TableRecord::TableIs { id: entries.id(), revision: entries.revision(), end: entries.end() }
}

fn write_declared(parameter: ParameterIndex, entry: &Entry, out: &mut Vec<u8>) {
    let definition = entry.definition.to_json();
    TableRecord::Declared { parameter, name: &entry.name, definition: &definition }.encode(out);
}
