//! SUBACK and UNSUBACK: one answer for each filter.

use super::{Kind, PacketId, QoS, reason};
use crate::cursor::Cursor;
use crate::sink::Sink;
use crate::{Properties, Reason, Version, Violation};

/// The answer to SUBSCRIBE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAck<'a> {
    /// That of the SUBSCRIBE.
    pub packet_id: PacketId,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
    /// The granted QoS or the refusal, in the order of the filters.
    pub reasons: Vec<Reason>,
}

/// The answer to UNSUBSCRIBE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsubAck<'a> {
    /// That of the UNSUBSCRIBE.
    pub packet_id: PacketId,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
    /// One for each filter; MQTT 3.1.1 has none.
    pub reasons: Vec<Reason>,
}

impl<'a> SubAck<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>, version: Version) -> Result<Self, Violation> {
        let packet_id = PacketId::read(cursor)?;
        let properties = match version {
            Version::V31 | Version::V311 => Properties::NONE,
            Version::V5 => Properties::read(cursor, Kind::SubAck)?,
        };
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
                // MQTT 3.1 has no word for it: SUBACK is positive, and nothing comes.
                Version::V31 if reason.is_error() => QoS::AtMostOnce as u8,
                _ => reason.code(),
            });
        }
    }
}

impl<'a> UnsubAck<'a> {
    pub(super) fn read(cursor: &mut Cursor<'a>, version: Version) -> Result<Self, Violation> {
        let packet_id = PacketId::read(cursor)?;
        if version != Version::V5 {
            return Ok(Self { packet_id, properties: Properties::NONE, reasons: Vec::new() });
        }
        let properties = Properties::read(cursor, Kind::UnsubAck)?;
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

/// The granted QoS, or failure.
fn is_v311(reason: Reason) -> bool {
    matches!(reason.code(), 0..=2 | 0x80)
}

fn read_reasons(cursor: &mut Cursor<'_>) -> Result<Vec<Reason>, Violation> {
    let mut reasons = Vec::new();
    while !cursor.is_empty() {
        reasons.push(reason(cursor.u8()?)?);
    }
    Ok(reasons)
}
