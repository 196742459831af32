//! The table as the records tell it: its parameters, which messages are samples of them, and the
//! newest values that these lead to.

use std::sync::Arc;

use slipring_wire::Properties;
use slipring_wire::frame::{self, FrameError, FrameView, Header, RangeSet};

use super::{BatchHead, Ledger, OwnerWriter, Record};
use crate::table::{
    Arrival, Change, Current, Definition, Entries, Entry, PlainError, Registry, plain_sample,
};
use crate::{Millis, Owner};

/// A frame in the journal was checked when it was accepted; what it takes was known then.
const BOUNDS: frame::Bounds = frame::Bounds { samples_max: usize::MAX, raw_bytes_max: 256 << 20 };
/// Bytes of a frame in a snapshot, about.
const FRAME_BYTES: usize = 256 << 10;

/// What a message of a batch carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carried {
    /// A frame: many samples.
    Frame,
    /// One sample of this parameter, as text.
    Sample(u32),
}

#[derive(Debug, Default)]
pub(super) struct KeptTable {
    entries: Entries,
    current: Current,
    /// Parameters that the values do not know as they are now.
    undefined: Vec<u32>,
    /// Parameters that are gone, and may still be somebody's.
    pub gone: RangeSet,
    /// Messages of this batch, by offset.
    carried: Vec<(u64, Carried)>,
    /// Where bodies are inflated.
    scratch: Vec<u8>,
}

impl KeptTable {
    /// A batch begins.
    pub fn begin(&mut self) {
        self.carried.clear();
    }

    pub fn take(
        &mut self,
        batch: &BatchHead,
        record: &Record<'_>,
        owner: Option<&Owner>,
    ) -> Result<(), &'static str> {
        match *record {
            Record::TableIs { id, revision, end } => {
                if id != self.entries.id() {
                    self.current = Current::default();
                    self.undefined.clear();
                    self.gone = std::iter::once(0..u32::MAX).collect();
                }
                self.entries.begin(id, revision, end)?;
            }
            Record::Framed { index } => self.carried.push((batch.offset(index)?, Carried::Frame)),
            Record::Sampled { index, parameter } => {
                self.carried.push((batch.offset(index)?, Carried::Sample(parameter)));
            }
            _ if self.entries.id() == 0 => return Err("it is of a table that is not known"),
            Record::Declared { parameter, name, definition } => {
                let definition = Definition::from_json(definition);
                let definition = definition.map_err(|_| "a definition is none")?;
                let earlier = self.entries.put(parameter, name, Arc::new(definition))?;
                self.entries.own(parameter, owner);
                self.undefined.extend(earlier.into_iter().chain([parameter]));
                if let Some(earlier) = earlier {
                    self.forget(earlier);
                }
            }
            Record::Removed { parameter } => {
                if self.entries.remove(parameter) {
                    self.undefined.push(parameter);
                }
                self.forget(parameter);
            }
            Record::ValuesAt { receive_ns, frame } => {
                self.frame(receive_ns, frame).map_err(|_| "the newest values are no frame")?;
            }
            _ => unreachable!("a record of a session"),
        }
        Ok(())
    }

    fn forget(&mut self, parameter: u32) {
        self.gone.insert(parameter..parameter.saturating_add(1));
    }

    /// Tells the values what the parameters are now; a batch ends so.
    pub fn define(&mut self) {
        if self.undefined.is_empty() {
            return;
        }
        self.undefined.sort_unstable();
        let parameters: RangeSet = self.undefined.drain(..).collect();
        self.current.define(&parameters, &self.entries);
    }

    /// Takes the newest samples of a frame over, as far as their parameters are there.
    fn frame(&mut self, receive_ns: i64, payload: &[u8]) -> Result<(), FrameError> {
        self.define();
        let frame = FrameView::decode(payload, &mut self.scratch, &BOUNDS)?;
        if frame.header.table != self.entries.id() {
            return Ok(());
        }
        let arrival = Arrival { now_ms: 0, now_ns: receive_ns };
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

    fn sample(
        &mut self,
        receive_ns: i64,
        parameter: u32,
        properties: Properties<'_>,
        payload: &[u8],
    ) -> Result<(), PlainError> {
        self.define();
        let Some(entry) = self.entries.get(parameter) else { return Ok(()) };
        let sample = plain_sample(entry, properties, payload, receive_ns)?;
        self.current.set(&sample.of(parameter), Arrival { now_ms: 0, now_ns: receive_ns });
        Ok(())
    }

    pub fn snapshot(&self, newest_ns: i64, out: &mut Vec<u8>) {
        if self.entries.id() == 0 {
            return;
        }
        is(&self.entries).encode(out);
        for (parameter, entry) in self.entries.removed() {
            declare(parameter, entry, out);
            Record::Removed { parameter }.encode(out);
        }
        let mut owners = OwnerWriter::default();
        for (parameter, entry) in self.entries.iter_from(0) {
            owners.write(self.entries.owner(parameter), out);
            declare(parameter, entry, out);
        }
        self.current.snapshot(&self.header(), FRAME_BYTES, |frame| {
            Record::ValuesAt { receive_ns: newest_ns, frame }.encode(out);
        });
    }

    fn header(&self) -> Header {
        Header { table: self.entries.id(), ..Header::default() }
    }

    /// The values as they are after a restart: stale, until somebody publishes them.
    fn restored(&self, arrival: Arrival, text_bytes_max: usize) -> Current {
        let mut current = Current::default();
        let all: RangeSet = std::iter::once(0..self.entries.end()).collect();
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
    /// The table's parameters, those that are there and those that were; None before the first.
    pub fn table(&self) -> Option<&Entries> {
        let entries = &self.table.entries;
        (entries.id() != 0).then_some(entries)
    }

    /// The same, without the rest.
    pub fn into_table(self) -> Option<Entries> {
        let entries = self.table.entries;
        (entries.id() != 0).then_some(entries)
    }

    /// The messages of the batch applied last that carry samples, by offset, in their order.
    pub fn carried(&self) -> &[(u64, Carried)] {
        &self.table.carried
    }

    /// Takes in the frame of a message; its batch's records come first.
    pub fn frame(&mut self, receive_ns: i64, payload: &[u8]) -> Result<(), FrameError> {
        self.newest_ns = self.newest_ns.max(receive_ns);
        self.table.frame(receive_ns, payload)
    }

    /// Takes in the sample of a message; its batch's records come first.
    pub fn sample(
        &mut self,
        receive_ns: i64,
        parameter: u32,
        properties: Properties<'_>,
        payload: &[u8],
    ) -> Result<(), PlainError> {
        self.newest_ns = self.newest_ns.max(receive_ns);
        self.table.sample(receive_ns, parameter, properties, payload)
    }

    /// The newest values as they were when the records end. When each was received is not kept.
    pub fn values(&self) -> &Current {
        &self.table.current
    }

    /// The newest values for a broker that begins now: stale, until somebody publishes them. Of texts,
    /// those that there is room for, the lowest indices first.
    pub fn restored_values(&self, now_ms: Millis, text_bytes_max: usize) -> Current {
        self.table.restored(Arrival { now_ms, now_ns: self.newest_ns }, text_bytes_max)
    }
}

impl Registry {
    /// Appends the records of a change that was made; of none, which table it is.
    pub fn record(&self, change: &Change, out: &mut Vec<u8>) {
        is(self.entries()).encode(out);
        for parameter in change.removed.indices() {
            Record::Removed { parameter }.encode(out);
        }
        let mut owners = OwnerWriter::default();
        for set in [&change.added, &change.changed, &change.revived] {
            for parameter in set.indices() {
                if let Some(entry) = self.get(parameter) {
                    owners.write(self.entries().owner(parameter), out);
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
