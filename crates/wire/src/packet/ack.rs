//! PUBACK, PUBREC, PUBREL and PUBCOMP: four packets with the same fields.

use super::{PacketId, PacketType, body, reason_of};
use crate::cursor::PacketCursor;
use crate::sink::Sink;
use crate::{Properties, Reason, Version, Violation};

/// The acknowledgement of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack<'a> {
    /// Which message.
    pub packet_id: PacketId,
    /// Success, or the reason of a failure (MQTT 5).
    pub reason: Reason,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
}

impl<'a> Ack<'a> {
    pub(super) fn read(
        cursor: &mut PacketCursor<'a>,
        version: Version,
        kind: PacketType,
    ) -> Result<Self, Violation> {
        let packet_id = PacketId::read(cursor)?;
        // MQTT 5, 3.4.2.1: the reason may be left out for success, the properties when there are none.
        let short = version != Version::V5 || cursor.is_empty();
        let reason = if short { Reason::Success } else { reason_of(cursor.u8()?, kind)? };
        let none = short || cursor.is_empty();
        let properties =
            if none { Properties::NONE } else { Properties::read(cursor, version, kind)? };
        Ok(Self { packet_id, reason, properties })
    }

    pub(super) fn write(&self, first: u8, version: Version, out: &mut Vec<u8>) {
        let [high, low] = self.packet_id.get().to_be_bytes();
        let plain = self.reason == Reason::Success && self.properties.is_empty();
        if version != Version::V5 || plain {
            return out.extend_from_slice(&[first, 2, high, low]);
        }
        if self.properties.is_empty() {
            return out.extend_from_slice(&[first, 3, high, low, self.reason.code()]);
        }
        body(out, first, |out| {
            out.put_u16(self.packet_id.get());
            out.put_u8(self.reason.code());
            self.properties.write(out);
        });
    }
}
