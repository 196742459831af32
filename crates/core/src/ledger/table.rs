//! The table as the records describe it: its parameters, which messages are samples of them, and the
//! newest values that follow from those.

use std::sync::Arc;

use slipring_wire::Properties;
use slipring_wire::frame::{self, FrameError, FrameView, Header, RangeSet};

use super::{BatchHead, Ledger, OwnerWriter, Record, Records, TableRecord};
use crate::table::{
    ClockReading, Current, Definition, DefinitionVersion, Entries, Entry, PlainError, Registry,
    TableChange, plain_sample,
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
    pub entries: Entries,
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
                self.entries.versions.revision = self.entries.revision();
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
                let earlier = self.entries.put(parameter, name, read_definition(definition)?)?;
                self.entries.own(parameter, owner);
                self.entries.declared_at(parameter, batch.base_offset, batch.receive_ns);
                self.undefined.extend(earlier.into_iter().chain([parameter]));
                if let Some(earlier) = earlier {
                    self.entries.versions.removed(earlier, batch.base_offset);
                    self.forget(earlier);
                }
            }
            TableRecord::Removed { parameter } => {
                if self.entries.remove(parameter) {
                    self.undefined.push(parameter);
                    self.entries.versions.removed(parameter, batch.base_offset);
                }
                self.forget(parameter);
            }
            TableRecord::ValuesAt { receive_ns, frame } => {
                self.frame(receive_ns, frame).map_err(|_| "the newest values are not a frame")?;
            }
            TableRecord::DefinedAt { parameter, since, since_ns, until } => {
                self.entries.versions.place(parameter, since, since_ns, until);
            }
            TableRecord::WasDefined { parameter, since, since_ns, until, definition } => {
                let (until, definition) = (Some(until), read_definition(definition)?);
                let version = DefinitionVersion { since, since_ns, until, definition };
                if self.entries.known(parameter).is_some() {
                    self.entries.versions.supersede(parameter, version);
                }
            }
        }
        Ok(())
    }

    fn forget(&mut self, parameter: ParameterIndex) {
        self.gone.extend([parameter.get()]);
    }

    /// Forgets what changed parameters mean for values and sessions.
    pub(super) fn skip_values(&mut self) {
        self.undefined.clear();
        self.gone = RangeSet::new();
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
            self.write_place(parameter, out);
        }
        let mut owners = OwnerWriter::default();
        for (parameter, entry) in self.entries.iter_from(ParameterIndex::new(0)) {
            owners.write(self.entries.owner(parameter), out);
            write_declared(parameter, entry, out);
            self.write_place(parameter, out);
        }
        for (parameter, version) in self.entries.versions.superseded() {
            let DefinitionVersion { since, since_ns, until, ref definition } = *version;
            let (until, definition) = (until.unwrap_or(since), definition.to_json());
            let definition = &definition;
            TableRecord::WasDefined { parameter, since, since_ns, until, definition }.encode(out);
        }
        self.current.snapshot(&self.header(), FRAME_BYTES, |frame| {
            TableRecord::ValuesAt { receive_ns: newest_ns, frame }.encode(out);
        });
    }

    fn write_place(&self, parameter: ParameterIndex, out: &mut Vec<u8>) {
        let Some(last) = self.entries.versions.last(parameter) else { return };
        let DefinitionVersion { since, since_ns, until, .. } = *last;
        TableRecord::DefinedAt { parameter, since, since_ns, until }.encode(out);
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

    /// Notes that the journal has these records of changes, at this offset and time.
    pub fn journaled(&mut self, records: &[u8], offset: Offset, receive_ns: i64) {
        for record in Records::new(records).flatten() {
            let Record::Table(record) = record else { continue };
            match record {
                TableRecord::TableIs { revision, .. } => {
                    let versions = &mut self.entries.versions;
                    versions.revision = versions.revision.max(revision);
                }
                TableRecord::Declared { parameter, .. } => {
                    self.entries.declared_at(parameter, offset, receive_ns);
                }
                TableRecord::Removed { parameter } => {
                    self.entries.versions.removed(parameter, offset);
                }
                _ => {}
            }
        }
    }
}

fn read_definition(json: &str) -> Result<Arc<Definition>, &'static str> {
    let definition = Definition::from_json(json);
    definition.map(Arc::new).map_err(|_| "the definition of a parameter is malformed")
}

fn table_is(entries: &Entries) -> TableRecord<'static> {
    TableRecord::TableIs { id: entries.id(), revision: entries.revision(), end: entries.end() }
}

fn write_declared(parameter: ParameterIndex, entry: &Entry, out: &mut Vec<u8>) {
    let definition = entry.definition.to_json();
    TableRecord::Declared { parameter, name: &entry.name, definition: &definition }.encode(out);
}
