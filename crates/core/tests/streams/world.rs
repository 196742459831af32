//! Streams with publishers and readers, and packets taken apart again.

use slipring_core::desk::{DeclaredEntry, Desk, DeskBounds, Requester};
use slipring_core::streams::{Catalog, ChunkBudget, ServedChunks, StreamDefinition, Streams};
use slipring_core::table::{Deliver, Needs, Selection};
use slipring_core::{Limits, Principal, SessionKey, StreamIndex};
use slipring_wire::{
    Packet, PacketSplit, PropertiesBuf, PropertyId, Publish, RawPacket, Value, Version,
    split_packet,
};

pub const PUBLISHER: SessionKey = SessionKey::new(1);
pub const ANY_BYTES: usize = usize::MAX / 2;

/// A requester; a parameter has the name `rpm`.
pub fn requester(session: SessionKey) -> Requester<'static> {
    Requester {
        from: Principal { session, ..Principal::broker() },
        bounds: DeskBounds {
            entries: 100,
            name_bytes: 100,
            name_levels: 8,
            ..Streams::bounds(&Limits::default())
        },
        is_taken: &|name| name == "rpm",
        answer_bytes_max: ANY_BYTES,
        policy: slipring_core::access::AccessPolicy::open(),
    }
}

pub fn streams() -> Streams {
    Streams::new(Catalog::default(), 7)
}

pub fn asked(name: &str, buffer_bytes: usize) -> DeclaredEntry<StreamDefinition> {
    DeclaredEntry::new(
        0,
        name,
        StreamDefinition { buffer_bytes, ..StreamDefinition::new("audio/pcm") },
    )
}

pub fn declare(streams: &mut Streams, name: &str, buffer_bytes: usize) -> StreamIndex {
    let declared = streams.declare(&[asked(name, buffer_bytes)], &requester(PUBLISHER));
    declared.unwrap().0[0]
}

/// Publishes a chunk whose time is its number.
pub fn push(streams: &mut Streams, stream: StreamIndex, number: u64, bytes: usize) {
    let name = streams.catalog().get(stream).unwrap().name.clone();
    let (mut properties, payload) = (PropertiesBuf::new(), vec![number as u8; bytes]);
    let time = number.to_string();
    properties.push(PropertyId::UserProperty, Value::Pair("time", &time));
    let publish = Publish { properties: properties.borrow(), ..Publish::new(&name, &payload) };
    streams.push(PUBLISHER, stream, &publish, 0).unwrap();
}

pub fn follow(streams: &mut Streams, session: u64, filter: &str, newest: bool) {
    let identifier = session as u32;
    let selection = selection(filter, identifier, newest, ANY_BYTES);
    streams.follow(SessionKey::new(session), &selection);
}

/// A subscription that selects streams.
pub fn selection(
    filter: &str,
    identifier: u32,
    newest: bool,
    packet_bytes_max: usize,
) -> Selection<'_> {
    let needs = Needs { deliver: Deliver::Stream { newest }, ..Needs::default() };
    Selection { filter, identifier, needs, packet_bytes_max, rights: None }
}

/// A chunk as a reader gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Got {
    pub topic: String,
    pub sequence: u64,
    pub time: u64,
    pub bytes: usize,
    pub identifier: Option<u32>,
}

pub fn take(streams: &mut Streams, session: u64, bytes: usize) -> (ServedChunks, Vec<Got>) {
    take_at_most(streams, session, ChunkBudget { bytes, most: ANY_BYTES })
}

pub fn take_at_most(
    streams: &mut Streams,
    session: u64,
    budget: ChunkBudget,
) -> (ServedChunks, Vec<Got>) {
    let mut packets = Vec::new();
    let served = streams.take(SessionKey::new(session), budget, &mut packets);
    (served, taken_apart(&packets))
}

fn taken_apart(mut packets: &[u8]) -> Vec<Got> {
    let mut all = Vec::new();
    while !packets.is_empty() {
        let Ok(PacketSplit::Whole(raw)) = split_packet(packets, ANY_BYTES) else {
            panic!("no packet")
        };
        all.push(got(&raw));
        packets = &packets[raw.length..];
    }
    all
}

fn got(raw: &RawPacket<'_>) -> Got {
    let Ok(Packet::Publish(publish)) = Packet::decode(raw, Version::V5) else {
        panic!("no PUBLISH")
    };
    assert_eq!(publish.properties.text(PropertyId::ContentType), Some("audio/pcm"));
    let said = |wanted: &str| {
        let mut pairs = publish.properties.iter().filter_map(|(_, value)| match value {
            Value::Pair(name, text) if name == wanted => text.parse().ok(),
            _ => None,
        });
        pairs.next()
    };
    Got {
        topic: publish.topic.to_owned(),
        sequence: said("seq").unwrap(),
        time: said("time").unwrap(),
        bytes: publish.payload.len(),
        identifier: publish.properties.number(PropertyId::SubscriptionIdentifier),
    }
}
