//! Laws of the protocol: however the bytes arrive, the events are the same, and no bytes panic.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use slipring_protocol::{ClientProtocol, ConnectOptions, ProtocolEvent};
use slipring_wire::{
    ConnAck, Disconnect, Packet, PacketId, Properties, Publish, QoS, Reason, SubAck, Version,
};

fn protocol(now: Instant) -> ClientProtocol {
    let timeout = Duration::from_secs(5);
    let options = ConnectOptions { keep_alive_s: 10, timeout, ..ConnectOptions::default() };
    ClientProtocol::new(options, 1 << 16, now)
}

fn connack() -> Vec<u8> {
    let (session_present, properties) = (false, Properties::NONE);
    encode(&Packet::ConnAck(ConnAck { session_present, reason: Reason::Success, properties }))
}

fn encode(packet: &Packet<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    packet.encode(Version::V5, &mut bytes);
    bytes
}

/// A packet a broker may send to a protocol that subscribed once and pinged.
fn packet() -> impl Strategy<Value = Vec<u8>> {
    let properties = Properties::NONE;
    let publish = ("[ab]/[a-c]{1,2}", prop::collection::vec(any::<u8>(), 0..40))
        .prop_map(|(topic, payload)| encode(&Packet::Publish(Publish::new(&topic, &payload))));
    let acknowledged =
        (1u16..500, prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(id, payload)| {
            let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(id));
            encode(&Packet::Publish(Publish { qos, packet_id, ..Publish::new("a/x", &payload) }))
        });
    let packet_id = PacketId::new(1).unwrap();
    let reasons = vec![Reason::Success, Reason::NotAuthorized];
    let suback = encode(&Packet::SubAck(SubAck { packet_id, properties, reasons }));
    let reason = Reason::ServerBusy;
    let goodbye = encode(&Packet::Disconnect(Disconnect { reason, properties }));
    prop_oneof![
        200 => publish,
        30 => acknowledged,
        5 => Just(suback),
        5 => Just(encode(&Packet::PingResp)),
        1 => Just(goodbye),
        1 => Just(vec![0x00, 0x00]),
    ]
}

/// Everything the protocol says and does about bytes that arrive in these pieces.
fn told(pieces: &[&[u8]]) -> (Vec<ProtocolEvent>, String, Vec<u8>) {
    let now = Instant::now();
    let (mut protocol, mut events, mut rest) = (protocol(now), Vec::new(), Vec::new());
    protocol.receive(&connack(), now, &mut events);
    protocol.subscribe(&["a/#", "b/a"], QoS::AtLeastOnce, &[]).unwrap();
    protocol.ping(now).unwrap();
    for piece in pieces {
        rest.extend_from_slice(piece);
        loop {
            let used = protocol.receive(&rest, now, &mut events);
            rest.drain(..used);
            if used == 0 {
                break;
            }
        }
    }
    (events, format!("{:?}", protocol.loss()), protocol.output().to_vec())
}

proptest! {
    #[test]
    fn any_split_of_the_input_gives_the_same_events(
        packets in prop::collection::vec(packet(), 0..200),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let bytes = packets.concat();
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        let mut start = 0;
        let pieces: Vec<&[u8]> =
            ends.iter().map(|&end| &bytes[std::mem::replace(&mut start, end)..end]).collect();
        prop_assert_eq!(told(&pieces), told(&[&bytes]));
    }

    #[test]
    fn no_bytes_make_the_protocol_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        told(&[&bytes]);
        let now = Instant::now();
        protocol(now).receive(&bytes, now, &mut Vec::new());
    }
}
