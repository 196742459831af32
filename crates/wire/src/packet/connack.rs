//! CONNACK: the broker's answer to CONNECT.

use super::{PacketType, reason};
use crate::cursor::PacketCursor;
use crate::sink::Sink;
use crate::{Properties, Reason, Version, Violation};

/// Whether the client may connect, and what the broker supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnAck<'a> {
    /// Whether an earlier session is resumed.
    pub session_present: bool,
    /// Success, or the reason of the refusal.
    pub reason: Reason,
    /// MQTT 5 properties: what the broker supports.
    pub properties: Properties<'a>,
}

impl<'a> ConnAck<'a> {
    pub(super) fn read(cursor: &mut PacketCursor<'a>, version: Version) -> Result<Self, Violation> {
        let flags = cursor.u8()?;
        if flags > 1 {
            return Err(Violation::malformed("reserved CONNACK flags")); // MQTT-3.2.2-1
        }
        let code = cursor.u8()?;
        Ok(Self {
            session_present: flags == 1,
            reason: match version {
                Version::V5 => reason(code)?,
                Version::V31 | Version::V311 => Reason::from_connack_v311(code)
                    .ok_or(Violation::malformed("unknown CONNACK return code"))?,
            },
            properties: Properties::read(cursor, version, PacketType::ConnAck)?,
        })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        // MQTT 3.1 has no such flag: its byte is reserved.
        out.put_u8(u8::from(self.session_present && version != Version::V31));
        match version {
            Version::V31 | Version::V311 => out.put_u8(self.reason.connack_v311()),
            Version::V5 => {
                out.put_u8(self.reason.code());
                self.properties.write(out);
            }
        }
    }
}
