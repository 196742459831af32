//! CONNECT: the identity of the client, and what it wants.

use super::{PacketType, QoS};
use crate::cursor::PacketCursor;
use crate::sink::Sink;
use crate::{Properties, Reason, Version, Violation, check_topic};

/// A client's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect<'a> {
    /// The protocol version of the connection.
    pub version: Version,
    /// Whether to discard an earlier session (3.1.1 calls it clean session).
    pub clean_start: bool,
    /// The most seconds between two packets of the client; 0 for no limit.
    pub keep_alive_s: u16,
    /// The client identifier; if empty, the broker assigns one.
    pub client_id: &'a str,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
    /// The message to publish when the connection is lost.
    pub will: Option<Will<'a>>,
    /// The user name.
    pub user_name: Option<&'a str>,
    /// The password.
    pub password: Option<&'a [u8]>,
}

/// The message to publish when a client's connection is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Will<'a> {
    /// The topic.
    pub topic: &'a str,
    /// The payload.
    pub payload: &'a [u8],
    /// Its quality of service.
    pub qos: QoS,
    /// Whether to retain it.
    pub retain: bool,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
}

const CLEAN_START: u8 = 0x02;
const WILL: u8 = 0x04;
const WILL_RETAIN: u8 = 0x20;
const PASSWORD: u8 = 0x40;
const USER_NAME: u8 = 0x80;

impl<'a> Connect<'a> {
    pub(super) fn read(cursor: &mut PacketCursor<'a>) -> Result<Self, Violation> {
        let version = read_version(cursor)?;
        let flags = cursor.u8()?;
        check_flags(flags, version)?;
        let keep_alive_s = cursor.u16()?;
        let properties = Properties::read(cursor, version, PacketType::Connect)?;
        // MQTT 3.1: the remaining length takes precedence over the flags of user name and password.
        let has = |cursor: &PacketCursor<'_>, flag| {
            flags & flag != 0 && !(version == Version::V31 && cursor.is_empty())
        };
        Ok(Self {
            version,
            clean_start: flags & CLEAN_START != 0,
            keep_alive_s,
            properties,
            client_id: cursor.text()?,
            will: if flags & WILL == 0 { None } else { Some(Will::read(cursor, flags, version)?) },
            user_name: if has(cursor, USER_NAME) { Some(cursor.text()?) } else { None },
            password: if has(cursor, PASSWORD) { Some(cursor.binary()?) } else { None },
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (name, level) = match self.version {
            Version::V31 => ("MQIsdp", 3),
            Version::V311 => ("MQTT", 4),
            Version::V5 => ("MQTT", 5),
        };
        out.put_text(name);
        out.put_u8(level);
        out.put_u8(self.flags());
        out.put_u16(self.keep_alive_s);
        if self.version == Version::V5 {
            self.properties.write(out);
        }
        out.put_text(self.client_id);
        if let Some(will) = &self.will {
            will.write(self.version, out);
        }
        if let Some(user_name) = self.user_name {
            out.put_text(user_name);
        }
        if let Some(password) = self.password {
            out.put_binary(password);
        }
    }

    fn flags(&self) -> u8 {
        let mut flags = if self.clean_start { CLEAN_START } else { 0 };
        if let Some(will) = &self.will {
            flags |= WILL | ((will.qos as u8) << 3) | if will.retain { WILL_RETAIN } else { 0 };
        }
        flags |= if self.user_name.is_some() { USER_NAME } else { 0 };
        flags | if self.password.is_some() { PASSWORD } else { 0 }
    }
}

fn read_version(cursor: &mut PacketCursor<'_>) -> Result<Version, Violation> {
    let unsupported = Violation {
        reason: Reason::UnsupportedProtocolVersion,
        what: "this broker speaks MQTT 3.1, 3.1.1 and 5",
    };
    match (cursor.text()?, cursor.u8()?) {
        ("MQIsdp", 3) => Ok(Version::V31),
        ("MQTT", 4) => Ok(Version::V311),
        ("MQTT", 5) => Ok(Version::V5),
        ("MQTT" | "MQIsdp", _) => Err(unsupported),
        _ => Err(Violation::malformed("the protocol name is not MQTT")),
    }
}

fn check_flags(flags: u8, version: Version) -> Result<(), Violation> {
    let is_lax = version == Version::V31; // its unused bits are not reserved
    if flags & 1 != 0 && !is_lax {
        return Err(Violation::malformed("reserved connect flag")); // MQTT-3.1.2-3
    }
    if flags & WILL == 0 && flags & (0x18 | WILL_RETAIN) != 0 && !is_lax {
        return Err(Violation::malformed("will QoS or retain without a will")); // MQTT-3.1.2-11, -13
    }
    if version != Version::V5 && flags & PASSWORD != 0 && flags & USER_NAME == 0 {
        return Err(Violation::malformed("a password without a user name")); // MQTT-3.1.2-22
    }
    Ok(())
}

impl<'a> Will<'a> {
    fn read(cursor: &mut PacketCursor<'a>, flags: u8, version: Version) -> Result<Self, Violation> {
        let properties = Properties::read(cursor, version, PacketType::Will)?;
        let topic = cursor.text()?;
        check_topic(topic).map_err(|_| Violation {
            reason: Reason::TopicNameInvalid,
            what: "the will's topic is not a topic to publish to",
        })?;
        Ok(Self {
            properties,
            topic,
            payload: cursor.binary()?,
            qos: QoS::from_bits((flags >> 3) & 3)?,
            retain: flags & WILL_RETAIN != 0,
        })
    }

    fn write(&self, version: Version, out: &mut Vec<u8>) {
        if version == Version::V5 {
            self.properties.write(out);
        }
        out.put_text(self.topic);
        out.put_binary(self.payload);
    }
}
