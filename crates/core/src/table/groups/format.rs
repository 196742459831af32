//! How a group's packets are made: their form and size limits, and the header fields of their frames.

use slipring_wire::frame::{Header, Hops, RangeSet};

use super::TableState;
use super::key::GroupKey;
use super::text_backlog::TextTerms;
use crate::ParameterIndex;
use crate::table::Deliver;

/// The most bytes of one sample in a frame, with its share of the rest, without its text.
const FRAMED_BYTES: usize = 64;
/// The most bytes of a message with one sample, without topic and text.
const PLAIN_BYTES: usize = 512;
/// How many times longer a text can be in JSON.
const ESCAPED: usize = 6;

/// The form of a group's packets.
#[derive(Debug)]
pub(super) struct PacketFormat {
    pub deliver: Deliver,
    pub identifier: u32,
    pub packet_bytes_max: usize,
    /// The longest head of its subscribers: this much room is left before each frame.
    pub head_bytes: usize,
    /// The most bytes of runs in one frame.
    pub body_max: usize,
}

/// What the frames made in one call have in common: the table's number, the hops and the time.
#[derive(Clone, Copy)]
pub(super) struct FrameContext<'a> {
    pub table: u32,
    pub newest_hops: Option<SampleHops>,
    pub state: TableState<'a>,
}

impl FrameContext<'_> {
    pub fn header(&self) -> Header {
        let hops = self.newest_hops.map(|newest| newest.hops);
        Header { table: self.table, sequence: 0, sent_ns: self.state.now_ns, hops }
    }
}

/// The hops of a sample, with its source time. A frame carries the hops of its newest sample, so that the
/// age of that sample is right even if the frame has samples of several publishers.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleHops {
    pub time_ns: i64,
    pub hops: Hops,
}

impl SampleHops {
    /// The hops of the newer sample; of two with the same time, `now`.
    pub fn newer(before: Option<Self>, now: Option<Self>) -> Option<Self> {
        let is_older = |now: &Self| before.is_some_and(|before| before.time_ns > now.time_ns);
        now.filter(|now| !is_older(now)).or(before)
    }
}

impl PacketFormat {
    pub fn new(key: &GroupKey) -> Self {
        let GroupKey { identifier, packet_bytes_max, body_max, needs, .. } = *key;
        Self { deliver: needs.deliver, identifier, packet_bytes_max, head_bytes: 0, body_max }
    }

    /// How messages are written if they are text.
    pub fn text_terms(&self, group: u64) -> Option<TextTerms> {
        let Self { deliver, identifier, packet_bytes_max, .. } = *self;
        let terms = TextTerms { group, deliver, identifier, packet_bytes_max };
        (deliver != Deliver::Frame).then_some(terms)
    }

    /// The first of these parameters whose newest samples surely fit in `room` bytes; at least one.
    pub fn portion(&self, parameters: &RangeSet, room: usize, state: &TableState<'_>) -> RangeSet {
        let Some(first) = parameters.indices().next() else { return RangeSet::new() };
        let end = self.first_beyond(parameters, room, state).map_or(u32::MAX, u32::from);
        parameters.intersect(&std::iter::once(0..end.max(first + 1)).collect())
    }

    /// The first of these parameters whose newest sample may not fit in `room` bytes; None if all fit.
    pub fn first_beyond(
        &self,
        chosen: &RangeSet,
        room: usize,
        state: &TableState<'_>,
    ) -> Option<ParameterIndex> {
        let mut bytes = 0;
        let has_value = |index: &u32| state.current.columns.has(*index as usize);
        let known = chosen.indices().filter(has_value);
        known.map(ParameterIndex::new).find(|index| {
            bytes += self.bytes_at_most(*index, state);
            bytes > room
        })
    }

    fn bytes_at_most(&self, index: ParameterIndex, state: &TableState<'_>) -> usize {
        let value = state.current.columns.text(index.get() as usize).len();
        if self.deliver == Deliver::Frame {
            return FRAMED_BYTES + value;
        }
        let name = state.names.name(index).map_or(0, str::len);
        PLAIN_BYTES + name + ESCAPED * value
    }
}
