//! SUBACK and UNSUBACK: one reason code for each filter.

use super::{PacketId, PacketType, QoS, reason};
use crate::cursor::PacketCursor;
use crate::sink::Sink;
use crate::{Properties, Reason, Version, Violation};

/// The answer to SUBSCRIBE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAck<'a> {
    /// The identifier of the SUBSCRIBE.
    pub packet_id: PacketId,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
    /// The granted QoS or the refusal, in the order of the filters.
    pub reasons: Vec<Reason>,
}

/// The answer to UNSUBSCRIBE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsubAck<'a> {
    /// The identifier of the UNSUBSCRIBE.
    pub packet_id: PacketId,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
    /// One for each filter; MQTT 3.1.1 has none.
    pub reasons: Vec<Reason>,
}

impl<'a> SubAck<'a> {
    pub(super) fn read(cursor: &mut PacketCursor<'a>, version: Version) -> Result<Self, Violation> {
        let packet_id = PacketId::read(cursor)?;
        let properties = Properties::read(cursor, version, PacketType::SubAck)?;
        let reasons = read_reasons(cursor)?;
        if version != Version::V5 && !reasons.iter().copied().all(is_v311) {
            return Err(Violation::malformed("a return code that MQTT 3.1.1 reserves")); // MQTT-3.9.3-2
        }
        Ok(Self { packet_id, properties, reasons })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        out.put_u16(self.packet_id.get());
        if version == Version::V5 {
            self.properties.write(out);
        }
        for reason in &self.reasons {
            out.put_u8(match version {
                Version::V311 if reason.is_error() => Reason::UnspecifiedError.code(),
                // MQTT 3.1 has no code for a failure: the client is told QoS 0, and gets nothing.
                Version::V31 if reason.is_error() => QoS::AtMostOnce as u8,
                _ => reason.code(),
            });
        }
    }
}

impl<'a> UnsubAck<'a> {
    pub(super) fn read(cursor: &mut PacketCursor<'a>, version: Version) -> Result<Self, Violation> {
        let packet_id = PacketId::read(cursor)?;
        if version != Version::V5 {
            return Ok(Self { packet_id, properties: Properties::NONE, reasons: Vec::new() });
        }
        let properties = Properties::read(cursor, version, PacketType::UnsubAck)?;
        Ok(Self { packet_id, properties, reasons: read_reasons(cursor)? })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        out.put_u16(self.packet_id.get());
        if version == Version::V5 {
            self.properties.write(out);
            out.extend(self.reasons.iter().map(|reason| reason.code()));
        }
    }
}

/// Whether MQTT 3.1.1 has this code: a granted QoS, or failure.
fn is_v311(reason: Reason) -> bool {
    matches!(reason.code(), 0..=2 | 0x80)
}

fn read_reasons(cursor: &mut PacketCursor<'_>) -> Result<Vec<Reason>, Violation> {
    let mut reasons = Vec::new();
    while !cursor.is_empty() {
        reasons.push(reason(cursor.u8()?)?);
    }
    Ok(reasons)
}
