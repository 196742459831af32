//! One type for each packet, serving every protocol version.

mod ack;
mod connack;
mod connect;
mod disconnect;
mod publish;
mod suback;
mod subscribe;
mod unsubscribe;

pub use ack::Ack;
pub use connack::ConnAck;
pub use connect::{Connect, Will};
pub use disconnect::{Auth, Disconnect};
pub use publish::Publish;
pub use suback::{SubAck, UnsubAck};
pub use subscribe::{RetainHandling, Subscribe, Subscription};
pub use unsubscribe::Unsubscribe;

use crate::cursor::PacketCursor;
use crate::sink::Sink;
use crate::{RawPacket, Reason, Version, Violation};

/// The packets that have properties; a will has properties of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketType {
    Connect,
    ConnAck,
    Publish,
    PubAck,
    PubRec,
    PubRel,
    PubComp,
    Subscribe,
    SubAck,
    Unsubscribe,
    UnsubAck,
    Disconnect,
    Auth,
    Will,
}

/// A packet identifier, never zero (MQTT-2.2.1-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PacketId(std::num::NonZeroU16);

impl PacketId {
    /// The identifier with this number; `None` for zero.
    pub fn new(number: u16) -> Option<Self> {
        std::num::NonZeroU16::new(number).map(Self)
    }

    /// The number on the wire.
    pub fn get(self) -> u16 {
        self.0.get()
    }

    fn read(cursor: &mut PacketCursor<'_>) -> Result<Self, Violation> {
        Self::new(cursor.u16()?).ok_or(Violation::protocol("packet identifier 0"))
    }
}

/// Quality of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum QoS {
    /// Sent once, never acknowledged.
    AtMostOnce = 0,
    /// Sent again until acknowledged.
    AtLeastOnce = 1,
    /// Delivered once.
    ExactlyOnce = 2,
}

impl QoS {
    /// The quality with this number, 0 to 2 (MQTT-3.3.1-4).
    pub fn from_bits(bits: u8) -> Result<Self, Violation> {
        match bits {
            0 => Ok(Self::AtMostOnce),
            1 => Ok(Self::AtLeastOnce),
            2 => Ok(Self::ExactlyOnce),
            _ => Err(Violation::malformed("QoS 3")),
        }
    }
}

/// A packet of any type. It borrows from the bytes it was decoded from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "each variant is documented at its type")]
pub enum Packet<'a> {
    Connect(Box<Connect<'a>>),
    ConnAck(ConnAck<'a>),
    Publish(Publish<'a>),
    PubAck(Ack<'a>),
    PubRec(Ack<'a>),
    PubRel(Ack<'a>),
    PubComp(Ack<'a>),
    Subscribe(Subscribe<'a>),
    SubAck(SubAck<'a>),
    Unsubscribe(Unsubscribe<'a>),
    UnsubAck(UnsubAck<'a>),
    PingReq,
    PingResp,
    Disconnect(Disconnect<'a>),
    Auth(Auth<'a>),
}

impl<'a> Packet<'a> {
    /// Decodes one packet. CONNECT holds its own version; all others are decoded as of `version`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a PUBLISH stays in registers")]
    pub fn decode(raw: &RawPacket<'a>, version: Version) -> Result<Self, Violation> {
        if raw.first >> 4 == 3 {
            return Publish::read(raw.first & 0x0f, raw.body, version).map(Self::Publish);
        }
        Self::decode_control(raw, version)
    }

    fn decode_control(raw: &RawPacket<'a>, version: Version) -> Result<Self, Violation> {
        let kind = raw.first >> 4;
        let flags = raw.first & 0x0f;
        // MQTT-2.1.3-1, MQTT-3.6.1-1, MQTT-3.8.1-1, MQTT-3.10.1-1. In MQTT 3.1 these packets are QoS 1
        // themselves, and have the DUP flag when they are sent again.
        let expected = if matches!(kind, 6 | 8 | 10) { 2 } else { 0 };
        let again = if version == Version::V31 && expected == 2 { 0x08 } else { 0 };
        if flags & !again != expected {
            return Err(Violation::malformed("reserved flags of the fixed header"));
        }
        let mut cursor = PacketCursor::new(raw.body);
        let body = &mut cursor;
        let packet = match kind {
            1 => Self::Connect(Box::new(Connect::read(body)?)),
            2 => Self::ConnAck(ConnAck::read(body, version)?),
            4 => Self::PubAck(Ack::read(body, version, PacketType::PubAck)?),
            5 => Self::PubRec(Ack::read(body, version, PacketType::PubRec)?),
            6 => Self::PubRel(Ack::read(body, version, PacketType::PubRel)?),
            7 => Self::PubComp(Ack::read(body, version, PacketType::PubComp)?),
            8 => Self::Subscribe(Subscribe::read(body, version)?),
            9 => Self::SubAck(SubAck::read(body, version)?),
            10 => Self::Unsubscribe(Unsubscribe::read(body, version)?),
            11 => Self::UnsubAck(UnsubAck::read(body, version)?),
            12 => Self::PingReq,
            13 => Self::PingResp,
            14 => Self::Disconnect(Disconnect::read(body, version)?),
            15 if version == Version::V5 => Self::Auth(Auth::read(body)?),
            _ => return Err(Violation::malformed("unknown packet type")),
        };
        if !cursor.is_empty() {
            return Err(Violation::malformed("bytes after the end of the packet's fields"));
        }
        Ok(packet)
    }

    /// Appends the packet's bytes.
    pub fn encode(&self, version: Version, out: &mut Vec<u8>) {
        match self {
            Self::Connect(connect) => body(out, 0x10, |out| connect.write(out)),
            Self::ConnAck(connack) => body(out, 0x20, |out| connack.write(version, out)),
            Self::Publish(publish) => publish.write(version, out),
            Self::PubAck(ack) => ack.write(0x40, version, out),
            Self::PubRec(ack) => ack.write(0x50, version, out),
            Self::PubRel(ack) => ack.write(0x62, version, out),
            Self::PubComp(ack) => ack.write(0x70, version, out),
            Self::Subscribe(subscribe) => body(out, 0x82, |out| subscribe.write(version, out)),
            Self::SubAck(suback) => body(out, 0x90, |out| suback.write(version, out)),
            Self::Unsubscribe(packet) => body(out, 0xa2, |out| packet.write(version, out)),
            Self::UnsubAck(unsuback) => body(out, 0xb0, |out| unsuback.write(version, out)),
            Self::PingReq => out.extend_from_slice(&[0xc0, 0]),
            Self::PingResp => out.extend_from_slice(&[0xd0, 0]),
            Self::Disconnect(disconnect) => body(out, 0xe0, |out| disconnect.write(version, out)),
            Self::Auth(auth) => body(out, 0xf0, |out| auth.write(out)),
        }
    }
}

/// Writes a fixed header, then what `write` appends.
fn body(out: &mut Vec<u8>, first: u8, write: impl FnOnce(&mut Vec<u8>)) {
    let mut fields = Vec::new();
    write(&mut fields);
    out.put_u8(first);
    out.put_varint(fields.len() as u32);
    out.extend_from_slice(&fields);
}

fn reason(code: u8) -> Result<Reason, Violation> {
    Reason::from_code(code).ok_or(Violation::protocol("unknown reason code"))
}

/// The reason in a packet that allows only some codes (MQTT-3.4.2-1, MQTT-3.14.2-1 and others).
fn reason_of(code: u8, kind: PacketType) -> Result<Reason, Violation> {
    let known = match kind {
        PacketType::PubAck | PacketType::PubRec => {
            matches!(code, 0x00 | 0x10 | 0x80 | 0x83 | 0x87 | 0x90 | 0x91 | 0x97 | 0x99)
        }
        PacketType::PubRel | PacketType::PubComp => matches!(code, 0x00 | 0x92),
        PacketType::Auth => matches!(code, 0x00 | 0x18 | 0x19),
        _ => !matches!(code, 0x01 | 0x02 | 0x10 | 0x11 | 0x18 | 0x19 | 0x84..=0x86 | 0x88 | 0x8c),
    };
    if !known {
        return Err(Violation::protocol("a reason code that this packet does not have"));
    }
    reason(code)
}
