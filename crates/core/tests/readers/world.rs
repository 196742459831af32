//! A table with readers, its clock, and the messages of the readers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use slipring_core::desk::{Desk, Requester};
use slipring_core::table::{
    CHANGED_MAX, ClockReading, Current, Names, PlainOutlet, PlainRoom, PlainTerms, ReaderId,
    Registry, Table, TableRequest, text,
};
use slipring_core::{Limits, ParameterIndex, Plan, Principal, SessionKey};
use slipring_wire::frame::{FrameBuf, Header, Kind, Qualities, Quality, Sample, ValueView};
use slipring_wire::shared;

pub const JET: SessionKey = SessionKey::new(1);
pub const READER: ReaderId = ReaderId::Client(SessionKey::new(2));
pub const PLENTY: PlainRoom = PlainRoom { every: 1 << 20, newest: 1 << 20 };
pub const TURN: usize = 1_024;
/// How many parameters one request declares.
pub const DECLARED: usize = 1_000;

/// A table of `p/0`, `p/1` and so on, its clock, and the messages of its readers.
pub struct World {
    pub table: Table,
    pub plan: Plan,
    pub at: ClockReading,
    pub got: Got,
}

#[derive(Default)]
pub struct Got {
    pub rooms: HashMap<ReaderId, PlainRoom>,
    /// By reader: parameter, value as text, identifiers.
    pub messages: BTreeMap<ReaderId, Vec<(u32, String, Vec<u32>)>>,
    /// Messages of the last turn.
    pub in_turn: usize,
}

impl PlainOutlet for Got {
    fn room(&mut self, reader: ReaderId) -> PlainRoom {
        self.rooms.get(&reader).copied().unwrap_or(PLENTY)
    }

    fn send(
        &mut self,
        reader: ReaderId,
        topic: &Arc<str>,
        sample: &Sample<'_>,
        names: &dyn Names,
        identifiers: &[u32],
    ) -> usize {
        assert_eq!(names.name(ParameterIndex::new(sample.index)), Some(&**topic));
        let mut payload = Vec::new();
        text(sample, names, &mut payload);
        let value = String::from_utf8(payload).unwrap();
        self.messages.entry(reader).or_default().push((sample.index, value, identifiers.to_vec()));
        self.in_turn += 1;
        100
    }
}

impl World {
    pub fn new(parameters: usize) -> Self {
        let plan = Plan::default();
        let at = ClockReading { now_ms: 1_000, now_ns: 1_000_000_000 };
        let table = Table::new(Registry::new(7), Current::default(), &plan);
        let mut world = Self { table, plan, at, got: Got::default() };
        for start in (0..parameters).step_by(DECLARED) {
            world.declare(start..parameters.min(start + DECLARED));
        }
        world
    }

    pub fn declare(&mut self, numbers: std::ops::Range<usize>) {
        let parameters: Vec<_> = numbers
            .map(|number| serde_json::json!({"name": format!("p/{number}"), "type": "u32"}))
            .collect();
        for some in parameters.chunks(CHANGED_MAX) {
            self.ask(&serde_json::json!({ "parameters": some }));
        }
    }

    pub fn ask(&mut self, declaration: &serde_json::Value) {
        let body = declaration.to_string();
        let requester = Requester {
            from: Principal { session: JET, client_id: "jet", ..Principal::broker() },
            bounds: Table::bounds(&Limits::default()),
            is_taken: &|_| false,
            answer_bytes_max: usize::MAX,
            policy: slipring_core::access::AccessPolicy::open(),
        };
        let outcome =
            self.table.answer(TableRequest::parse("declare", body.as_bytes()), &requester);
        assert_eq!(outcome.refused, None);
        self.table.changed(&outcome.change, self.at);
    }

    pub fn read(&mut self, reader: ReaderId, filter: &str, terms: PlainTerms) {
        let topics = shared(filter).map_or(filter, |shared| shared.unwrap().1);
        self.table.read(reader, filter, topics, terms, None, self.at);
    }

    /// Publishes a frame in which each of these parameters has this value.
    pub fn frame(&mut self, parameters: std::ops::Range<u32>, value: u32) {
        let mut buf = FrameBuf::new();
        let values = value.to_le_bytes().repeat(parameters.len());
        let qualities = Qualities::All(Quality::GOOD);
        buf.push_row(Kind::U32, &[parameters], self.at.now_ns, qualities, &values).unwrap();
        self.take(&mut buf);
    }

    /// Publishes the same in so many runs.
    pub fn frame_in_runs(&mut self, parameters: std::ops::Range<u32>, runs: u32, value: u32) {
        let mut buf = FrameBuf::new();
        let length = parameters.len() as u32 / runs;
        for start in parameters.step_by(length as usize) {
            let values = value.to_le_bytes().repeat(length as usize);
            let (time_ns, qualities) = (self.at.now_ns, Qualities::All(Quality::GOOD));
            let run = start..start + length;
            buf.push_row(Kind::U32, &[run], time_ns, qualities, &values).unwrap();
        }
        self.take(&mut buf);
    }

    /// Publishes a frame with several values of one parameter.
    pub fn frame_of_one(&mut self, index: u32, values: std::ops::Range<u32>) {
        let sample = |value| Sample {
            index,
            time_ns: self.at.now_ns,
            quality: Quality::GOOD,
            value: ValueView::U32(value),
        };
        let mut samples: Vec<_> = values.map(sample).collect();
        let mut buf = FrameBuf::new();
        buf.push_samples(Kind::U32, &mut samples).unwrap();
        self.take(&mut buf);
    }

    pub fn take(&mut self, buf: &mut FrameBuf) {
        let header = Header { table: 7, sequence: 0, sent_ns: self.at.now_ns, hops: None };
        let mut frame = Vec::new();
        buf.finish(&header, false, &mut frame);
        let mut inflated = Vec::new();
        let view = slipring_core::table::read_frame(&frame, &mut inflated).unwrap();
        self.table.take_frame(JET, &view, self.at, &self.plan).unwrap();
    }

    pub fn pass(&mut self, ms: u64) {
        self.at.now_ms += ms;
        self.at.now_ns += i64::try_from(ms).unwrap() * 1_000_000;
    }

    pub fn turn(&mut self) {
        self.got.in_turn = 0;
        self.table.serve_readers(TURN, self.at, &mut self.got);
    }

    /// Turns until nothing is due for longer than a second.
    pub fn settle(&mut self) {
        let until_ms = self.at.now_ms + 60_000;
        while let Some(due_ms) = self.table.readers.next_due_ms() {
            assert!(self.at.now_ms < until_ms, "readers never rest");
            self.pass(due_ms.saturating_sub(self.at.now_ms).max(1));
            self.turn();
        }
    }

    pub fn values(&self, reader: ReaderId, parameter: u32) -> Vec<&str> {
        let messages = self.got.messages.get(&reader).into_iter().flatten();
        let of_parameter = messages.filter(|(index, ..)| *index == parameter);
        of_parameter.map(|(_, value, _)| &**value).collect()
    }

    pub fn count(&self, reader: ReaderId) -> usize {
        self.got.messages.get(&reader).map_or(0, Vec::len)
    }
}
