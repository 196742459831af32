//! PUBLISH: one message. Its code is on the hot path.

use super::{PacketId, PacketType, QoS};
use crate::cursor::PacketCursor;
use crate::sink::{Sink, varint_length};
use crate::{Properties, PropertyId, Reason, Version, Violation, check_topic};

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publish<'a> {
    /// It was sent before (QoS 1 and 2).
    pub dup: bool,
    /// Quality of service.
    pub qos: QoS,
    /// Inbound: the broker is to retain it. Outbound: it is a retained message.
    pub retain: bool,
    /// The topic. Empty only if a topic alias replaces it.
    pub topic: &'a str,
    /// Present with QoS 1 and 2.
    pub packet_id: Option<PacketId>,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
    /// The payload.
    pub payload: &'a [u8],
}

impl<'a> Publish<'a> {
    /// A QoS 0 message without properties.
    pub fn new(topic: &'a str, payload: &'a [u8]) -> Self {
        Self {
            dup: false,
            qos: QoS::AtMostOnce,
            retain: false,
            topic,
            packet_id: None,
            properties: Properties::NONE,
            payload,
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a PUBLISH stays in registers")]
    pub(super) fn read(flags: u8, body: &'a [u8], version: Version) -> Result<Self, Violation> {
        let mut cursor = PacketCursor::new(body);
        let qos = QoS::from_bits((flags >> 1) & 3)?;
        let dup = flags & 8 != 0;
        if dup && qos == QoS::AtMostOnce {
            return Err(Violation::malformed("DUP set at QoS 0")); // MQTT-3.3.1-2
        }
        let topic = cursor.text()?;
        let packet_id = match qos {
            QoS::AtMostOnce => None,
            _ => Some(PacketId::read(&mut cursor)?),
        };
        let properties = Properties::read(&mut cursor, version, PacketType::Publish)?;
        check_name(topic, properties)?;
        let retain = flags & 1 != 0;
        Ok(Self { dup, qos, retain, topic, packet_id, properties, payload: cursor.rest() })
    }

    #[inline]
    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        out.reserve(self.payload.len());
        self.encode_head(self.payload.len(), version, out);
        out.extend_from_slice(self.payload);
    }

    /// Appends everything before a payload of so many bytes. Ignores `self.payload`.
    pub fn encode_head(&self, payload_bytes: usize, version: Version, out: &mut Vec<u8>) {
        let properties = self.properties.encoded().len();
        let mut length = 2 + self.topic.len() + payload_bytes;
        if self.packet_id.is_some() {
            length += 2;
        }
        if version == Version::V5 {
            length += varint_length(properties as u32) + properties;
        }
        out.reserve(length - payload_bytes + 5);
        let flags = (u8::from(self.dup) << 3) | ((self.qos as u8) << 1) | u8::from(self.retain);
        out.put_u8(0x30 | flags);
        out.put_varint(length as u32);
        out.put_text(self.topic);
        if let Some(packet_id) = self.packet_id {
            out.put_u16(packet_id.get());
        }
        if version == Version::V5 {
            self.properties.write(out);
        }
    }
}

fn check_name(topic: &str, properties: Properties<'_>) -> Result<(), Violation> {
    if topic.is_empty() && properties.get(PropertyId::TopicAlias).is_some() {
        return Ok(());
    }
    check_topic(topic).map_err(|_| Violation {
        reason: Reason::TopicNameInvalid,
        what: "a message's topic is empty or holds a wildcard",
    })
}
