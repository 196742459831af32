//! Streams with publishers and readers, and packets taken apart again.

use slipring_core::desk::{Desk, DeskBounds, Requester};
use slipring_core::streams::{
    Catalog, Definition, Following, Portion, Serving, StreamDeclaration, Streams,
};
use slipring_core::{Limits, Principal, SessionKey, StreamIndex};
use slipring_wire::{
    Packet, PacketSplit, PropertiesBuf, PropertyId, Publish, RawPacket, Value, Version,
    split_packet,
};

pub const PUBLISHER: SessionKey = SessionKey::new(1);
pub const ANY_BYTES: usize = usize::MAX / 2;

/// The name `rpm` is a parameter's.
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
    }
}

pub fn streams() -> Streams {
    Streams::new(Catalog::default(), 7)
}

pub fn asked(name: &str, buffer_bytes: usize) -> StreamDeclaration {
    StreamDeclaration::new(0, name, Definition { buffer_bytes, ..Definition::new("audio/pcm") })
}

pub fn declare(streams: &mut Streams, name: &str, buffer_bytes: usize) -> StreamIndex {
    let declared = streams.declare(&[asked(name, buffer_bytes)], &requester(PUBLISHER));
    declared.unwrap().0[0]
}

/// A chunk whose time says which it is.
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
    let following = Following { filter, identifier, newest, packet_bytes_max: ANY_BYTES };
    streams.follow(SessionKey::new(session), &following);
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

pub fn take(streams: &mut Streams, session: u64, bytes: usize) -> (Serving, Vec<Got>) {
    take_at_most(streams, session, Portion { bytes, most: ANY_BYTES })
}

pub fn take_at_most(streams: &mut Streams, session: u64, room: Portion) -> (Serving, Vec<Got>) {
    let mut packets = Vec::new();
    let serving = streams.take(SessionKey::new(session), room, &mut packets);
    (serving, taken_apart(&packets))
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
