//! Framing and packets of both versions, from a stream that arrives in any pieces.

use slipring_wire::{Packet, PacketSplit, Properties, RawPacket, Version, Violation, split_packet};

/// Small, so that inputs near the limit are short.
const LENGTH_MAX: usize = 4096;

/// The first byte says how many bytes arrive at once; the rest is the stream.
pub fn wire(data: &[u8]) {
    let Some((&piece, stream)) = data.split_first() else { return };
    let (whole, ended) = frames(stream, stream.len());
    let (pieces, ended_in_pieces) = frames(stream, usize::from(piece).max(1));
    assert_eq!(whole, pieces, "other frames when the stream arrives in pieces");
    assert_eq!(ended, ended_in_pieces, "another end when the stream arrives in pieces");
    for found in &whole {
        for version in [Version::V31, Version::V311, Version::V5] {
            check_packet(found, version);
        }
    }
}

/// The frames of a stream that arrives `step` bytes at a time, and how it ended.
fn frames(stream: &[u8], step: usize) -> (Vec<RawPacket<'_>>, Result<(), Violation>) {
    let (mut start, mut end, mut found) = (0, 0, Vec::new());
    while end < stream.len() {
        end = stream.len().min(end + step);
        loop {
            match split_packet(&stream[start..end], LENGTH_MAX) {
                Ok(PacketSplit::Whole(one)) => {
                    start += one.length;
                    found.push(one);
                }
                Ok(PacketSplit::Incomplete(needed)) => {
                    assert!(needed > end - start, "needs what it has");
                    assert!(needed <= LENGTH_MAX, "waits for more than the limit");
                    break;
                }
                Err(violation) => return (found, Err(violation)),
            }
        }
    }
    (found, Ok(()))
}

fn check_packet(found: &RawPacket<'_>, version: Version) {
    let Ok(packet) = Packet::decode(found, version) else { return };
    read_properties(&packet);
    let mut bytes = Vec::new();
    packet.encode(version, &mut bytes);
    let again = match split_packet(&bytes, usize::MAX) {
        Ok(PacketSplit::Whole(again)) => again,
        other => panic!("{packet:?} is encoded as {other:?}"),
    };
    assert_eq!(again.length, bytes.len(), "bytes behind {packet:?}");
    assert_eq!(Packet::decode(&again, version).as_ref(), Ok(&packet));
}

/// Accepted properties can be read.
fn read_properties(packet: &Packet<'_>) {
    for list in lists(packet) {
        for (id, _) in list.iter() {
            assert!(list.get(id).is_some());
        }
    }
}

/// Every list of properties a packet carries.
pub(crate) fn lists<'a>(packet: &Packet<'a>) -> Vec<Properties<'a>> {
    match packet {
        Packet::Connect(connect) => {
            let will = connect.will.as_ref().map(|will| will.properties);
            std::iter::once(connect.properties).chain(will).collect()
        }
        Packet::ConnAck(connack) => vec![connack.properties],
        Packet::Publish(publish) => vec![publish.properties],
        Packet::PubAck(ack) | Packet::PubRec(ack) | Packet::PubRel(ack) | Packet::PubComp(ack) => {
            vec![ack.properties]
        }
        Packet::Subscribe(subscribe) => vec![subscribe.properties],
        Packet::SubAck(suback) => vec![suback.properties],
        Packet::Unsubscribe(unsubscribe) => vec![unsubscribe.properties],
        Packet::UnsubAck(unsuback) => vec![unsuback.properties],
        Packet::Disconnect(disconnect) => vec![disconnect.properties],
        Packet::Auth(auth) => vec![auth.properties],
        Packet::PingReq | Packet::PingResp => Vec::new(),
    }
}
