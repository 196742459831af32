//! The bytes before a frame in its PUBLISH packet: fixed header, topic and properties. They are each subscriber's
//! own, and are written right in front of the shared frame when it is sent.

use slipring_wire::frame::CONTENT_TYPE;
use slipring_wire::{Packet, PropertiesBuf, PropertyId, Publish, Value, Version};

use super::Choice;
use super::packets::{FRAME_BYTES_MAX, QueuedFrame};
use crate::table::Deliver;

/// The most runs, in bytes, of a frame that is turned into text later.
const TEXT_BODY_MAX: usize = 16 * 1024;
/// A frame's header with hops.
pub(super) const HEADER_BYTES: usize = 48;
/// The first byte of a PUBLISH at QoS 0 and its longest length.
const FIXED_BYTES: usize = 5;

/// The topic of the frames for a filter: one that the filter matches.
pub fn frame_topic(filter: &str) -> String {
    let topic = match filter {
        "#" => "*",
        "/#" => "/",
        _ => filter.strip_suffix("/#").unwrap_or(filter),
    };
    topic.replace('+', "*")
}

/// One subscriber's packet head and frame sequence.
#[derive(Debug, Default)]
pub(super) struct PublishHead {
    /// Topic and properties of a frame's packet; empty if the subscriber gets no frames.
    pub bytes: Vec<u8>,
    pub packet_bytes_max: usize,
    /// The number of its next frame. Frames are counted for each subscriber from 0 when it joins, so that a
    /// gap always means that a frame was lost on the way to it.
    pub sequence: u32,
}

impl PublishHead {
    pub fn new(choice: &Choice) -> Self {
        let bytes = match choice.needs.deliver {
            Deliver::Frame => encode(&frame_topic(&choice.filter), choice.identifier),
            _ => Vec::new(),
        };
        Self { bytes, packet_bytes_max: choice.packet_bytes_max, sequence: 0 }
    }

    /// The most bytes of runs in one frame. Most subscribers have the same limit, whatever their heads.
    pub fn body_max(&self) -> usize {
        if self.bytes.is_empty() {
            return TEXT_BODY_MAX;
        }
        let most = self.packet_bytes_max.saturating_sub(FIXED_BYTES + self.bytes.len());
        most.min(FRAME_BYTES_MAX).saturating_sub(HEADER_BYTES)
    }

    /// Writes the head right in front of a frame; returns where the packet begins.
    pub fn put(&self, frame: &QueuedFrame, packets: &mut [u8]) -> usize {
        let start = frame.at - bytes_before(self.bytes.len(), frame.length);
        let head_at = frame.at - self.bytes.len();
        packets[head_at..frame.at].copy_from_slice(&self.bytes);
        packets[start] = 0x30;
        put_varint((self.bytes.len() + frame.length) as u32, &mut packets[start + 1..head_at]);
        start
    }
}

/// The bytes between the fixed header of a packet and its frame.
fn encode(topic: &str, identifier: u32) -> Vec<u8> {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::ContentType, Value::Text(CONTENT_TYPE));
    if identifier > 0 {
        properties.push(PropertyId::SubscriptionIdentifier, Value::Varint(identifier));
    }
    let mut packet = Vec::new();
    let publish = Publish { properties: properties.borrow(), ..Publish::new(topic, &[]) };
    Packet::Publish(publish).encode(Version::V5, &mut packet);
    let length = packet[1..].iter().position(|byte| *byte < 0x80).expect("a length ends");
    packet.split_off(length + 2)
}

/// How many bytes of a packet come before its frame, for a head and a frame of these lengths.
pub(super) fn bytes_before(head: usize, frame: usize) -> usize {
    1 + varint_bytes(head + frame) + head
}

fn varint_bytes(value: usize) -> usize {
    match value {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        _ => 4,
    }
}

/// Writes a number that needs exactly these bytes.
fn put_varint(mut value: u32, out: &mut [u8]) {
    let last = out.len() - 1;
    for byte in &mut out[..last] {
        *byte = value as u8 | 0x80;
        value >>= 7;
    }
    out[last] = value as u8;
}
