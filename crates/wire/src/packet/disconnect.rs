//! DISCONNECT and AUTH: a reason, and properties that may be omitted.

use super::{PacketType, reason_of};
use crate::cursor::PacketCursor;
use crate::sink::Sink;
use crate::{Properties, Reason, Version, Violation};

/// The last packet of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disconnect<'a> {
    /// The reason.
    pub reason: Reason,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
}

/// A step of an enhanced authentication (MQTT 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth<'a> {
    /// Success, continue or re-authenticate.
    pub reason: Reason,
    /// The authentication method and its data.
    pub properties: Properties<'a>,
}

impl<'a> Disconnect<'a> {
    pub(super) fn read(cursor: &mut PacketCursor<'a>, version: Version) -> Result<Self, Violation> {
        if version != Version::V5 {
            return Ok(Self { reason: Reason::Success, properties: Properties::NONE });
        }
        let (reason, properties) = read_short(cursor, PacketType::Disconnect)?;
        Ok(Self { reason, properties })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        if version == Version::V5 {
            write_short(self.reason, self.properties, out);
        }
    }
}

impl<'a> Auth<'a> {
    pub(super) fn read(cursor: &mut PacketCursor<'a>) -> Result<Self, Violation> {
        let (reason, properties) = read_short(cursor, PacketType::Auth)?;
        Ok(Self { reason, properties })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_short(self.reason, self.properties, out);
    }
}

/// MQTT 5, 3.14.2.1 and 3.15.2.1: reason 0x00 without properties may be omitted.
fn read_short<'a>(
    cursor: &mut PacketCursor<'a>,
    kind: PacketType,
) -> Result<(Reason, Properties<'a>), Violation> {
    if cursor.is_empty() {
        return Ok((Reason::Success, Properties::NONE));
    }
    let reason = reason_of(cursor.u8()?, kind)?;
    if cursor.is_empty() {
        return Ok((reason, Properties::NONE));
    }
    Ok((reason, Properties::read(cursor, Version::V5, kind)?))
}

fn write_short(reason: Reason, properties: Properties<'_>, out: &mut Vec<u8>) {
    if reason != Reason::Success || !properties.is_empty() {
        out.put_u8(reason.code());
        properties.write(out);
    }
}
