//! Streams: any requests and any chunks of a few clients, and readers that come and go.

use arbitrary::{Arbitrary, Unstructured};
use slipring_core::desk::{Desk, DeskBounds, Requester};
use slipring_core::ledger::{BatchHead, Ledger};
use slipring_core::streams::{Catalog, ChunkBudget, Streams, StreamsRequest};
use slipring_core::table::{ClockReading, Deliver, Needs, Selection};
use slipring_core::{Limits, Principal, SessionKey};
use slipring_wire::{
    Packet, PacketSplit, PropertiesBuf, PropertyId, Publish, Value, Version, check_filter,
    split_packet,
};

const STEPS_MAX: usize = 60;
const STREAMS_MAX: usize = 6;
const PACKET_BYTES: usize = 300;

#[derive(Arbitrary, Debug)]
enum Step<'a> {
    Ask(u8, u8, &'a [u8]),
    Declare(u8, u8, u8, u16),
    Remove(u8, u8),
    Push(u8, u8, Option<&'a str>, &'a [u8]),
    Follow(u8, &'a str, bool),
    FollowAll(u8, bool),
    Unfollow(u8, &'a str),
    Take(u8, u16, u16),
    Leave(u8, bool),
    End(u8),
}

struct FuzzedStreams {
    streams: Streams,
    ledger: Ledger,
}

pub fn streams(data: &[u8]) {
    let mut rest = Unstructured::new(data);
    let streams = Streams::new(Catalog::default(), 1);
    let mut fuzzed = FuzzedStreams { streams, ledger: Ledger::default() };
    for _ in 0..STEPS_MAX {
        let Ok(step) = Step::arbitrary(&mut rest) else { break };
        fuzzed.step(&step);
        assert!(fuzzed.streams.catalog().len() <= STREAMS_MAX);
        assert!(fuzzed.streams.bytes() <= fuzzed.streams.catalog().buffer_bytes());
    }
    assert_eq!(fuzzed.ledger.streams(), fuzzed.streams.catalog());
}

impl FuzzedStreams {
    fn step(&mut self, step: &Step<'_>) {
        let session = |one: &u8| SessionKey::new(u64::from(one % 3));
        match step {
            Step::Ask(one, name, body) => {
                let name = ["declare", "list", "remove", "other"][usize::from(name % 4)];
                self.ask(session(one), name, body);
            }
            Step::Declare(one, name, media, bytes) => {
                let (name, media) = (name % 8, media % 2);
                let body = format!(
                    "{{\"streams\":[{{\"name\":\"s{name}\",\"media\":\"a/{media}\",\"buffer_bytes\":{bytes}}}]}}"
                );
                self.ask(session(one), "declare", body.as_bytes());
            }
            Step::Remove(one, name) => {
                let body = format!("{{\"names\":[\"s{}\"]}}", name % 8);
                self.ask(session(one), "remove", body.as_bytes());
            }
            Step::Push(one, name, time, payload) => {
                self.push(session(one), &format!("s{}", name % 8), *time, payload);
            }
            Step::Follow(one, filter, newest) => self.follow(session(one), filter, *newest),
            Step::FollowAll(one, newest) => self.follow(session(one), "#", *newest),
            Step::Unfollow(one, filter) => drop(self.streams.unfollow(session(one), filter)),
            Step::Take(one, bytes, most) => {
                let (bytes, most) = (usize::from(*bytes), usize::from(*most));
                self.take(session(one), ChunkBudget { bytes, most });
            }
            Step::Leave(one, is_kept) => {
                are_json(&self.streams.leave(session(one), *is_kept, ClockReading::default()));
            }
            Step::End(one) => self.streams.end(session(one)),
        }
    }

    fn ask(&mut self, session: SessionKey, name: &str, body: &[u8]) {
        let before = self.streams.revision();
        let bounds = DeskBounds {
            entries: STREAMS_MAX,
            name_bytes: 40,
            name_levels: 5,
            ..Streams::bounds(&Limits::default())
        };
        let requester = Requester {
            from: Principal { session, client_id: "", ..Principal::broker() },
            bounds,
            is_taken: &|name| name.ends_with('~'),
            answer_bytes_max: 1 << 12,
            policy: slipring_core::access::AccessPolicy::open(),
        };
        let outcome = self.streams.answer(StreamsRequest::parse(name, body), &requester);
        serde_json::from_slice::<serde_json::Value>(&outcome.answer).expect("answers are JSON");
        assert!(outcome.refused.is_some() || outcome.answer.len() <= 1 << 12);
        assert!(outcome.refused.is_none() || outcome.change.is_empty());
        assert_eq!(self.streams.revision() != before, outcome.change.is_recorded());
        let told = self.streams.changed(&outcome.change, ClockReading::default());
        are_json(&told.unwrap_or_default());
        let mut records = Vec::new();
        self.streams.record(&outcome.change, None, &mut records);
        self.ledger.apply(BatchHead::default(), &records).expect("our own records");
    }

    fn push(&mut self, session: SessionKey, name: &str, time: Option<&str>, payload: &[u8]) {
        let Some(stream) = self.streams.catalog().index_of(name) else { return };
        let mut properties = PropertiesBuf::new();
        if let Some(time) = time.filter(|time| !time.contains('\0') && time.len() < 1 << 16) {
            properties.push(PropertyId::UserProperty, Value::Pair("time", time));
        }
        let publish = Publish { properties: properties.borrow(), ..Publish::new(name, payload) };
        if let Ok(arrived) = self.streams.push(session, stream, &publish, 7) {
            are_json(&arrived.messages);
            let ring = self.streams.ring(stream).expect("it is there");
            assert!(ring.bytes() <= ring.bytes_max());
            assert_eq!(ring.newest().map(|chunk| &*chunk.payload), Some(payload));
        }
    }

    fn follow(&mut self, session: SessionKey, filter: &str, newest: bool) {
        if check_filter(filter).is_ok() {
            let packet_bytes_max = PACKET_BYTES;
            let needs = Needs { deliver: Deliver::Stream { newest }, ..Needs::default() };
            let selection =
                Selection { filter, identifier: 1, needs, packet_bytes_max, rights: None };
            self.streams.follow(session, &selection);
        }
    }

    /// Only valid packets of existing streams are sent, none larger than the reader takes.
    fn take(&mut self, session: SessionKey, room: ChunkBudget) {
        let mut out = Vec::new();
        let served = self.streams.take(session, room, &mut out);
        assert!(out.len() <= room.most);
        let (mut rest, mut chunks) = (&out[..], 0);
        while !rest.is_empty() {
            let Ok(PacketSplit::Whole(raw)) = split_packet(rest, PACKET_BYTES) else {
                panic!("no packet")
            };
            let decoded = Packet::decode(&raw, Version::V5);
            let Ok(Packet::Publish(publish)) = decoded else { panic!("no chunk") };
            assert!(self.streams.catalog().index_of(publish.topic).is_some());
            rest = &rest[raw.length..];
            chunks += 1;
        }
        assert_eq!(served.chunks, chunks);
    }
}

fn are_json(messages: &[Vec<u8>]) {
    for one in messages {
        serde_json::from_slice::<serde_json::Value>(one).expect("messages are JSON");
    }
}
