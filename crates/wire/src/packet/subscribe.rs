//! SUBSCRIBE: the topic filters that a client wants to receive.

use super::{PacketId, PacketType, QoS};
use crate::cursor::PacketCursor;
use crate::sink::Sink;
use crate::{Properties, Version, Violation};

/// A list of subscriptions. Decoding does not check the filters: SUBACK answers each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribe<'a> {
    /// The identifier that SUBACK repeats.
    pub packet_id: PacketId,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
    /// At least one (MQTT-3.8.3-2).
    pub subscriptions: Vec<Subscription<'a>>,
}

/// One filter with its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscription<'a> {
    /// The topic filter.
    pub filter: &'a str,
    /// The highest QoS to deliver with.
    pub qos: QoS,
    /// Do not deliver what this client published itself.
    pub no_local: bool,
    /// Keep the retain flag as the publisher set it.
    pub retain_as_published: bool,
    /// When to send retained messages.
    pub retain_handling: RetainHandling,
}

/// When to send retained messages to a new subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RetainHandling {
    /// At every SUBSCRIBE.
    Send = 0,
    /// Only if the subscription is new.
    SendIfNew = 1,
    /// Never.
    DoNotSend = 2,
}

impl<'a> Subscription<'a> {
    /// A QoS 0 subscription with the protocol's defaults.
    pub fn new(filter: &'a str) -> Self {
        Self {
            filter,
            qos: QoS::AtMostOnce,
            no_local: false,
            retain_as_published: false,
            retain_handling: RetainHandling::Send,
        }
    }

    fn read(cursor: &mut PacketCursor<'a>, version: Version) -> Result<Self, Violation> {
        let filter = cursor.text()?;
        let options = cursor.u8()?;
        let reserved = if version == Version::V5 { 0xc0 } else { 0xfc };
        if options & reserved != 0 {
            return Err(Violation::malformed("reserved subscription options")); // MQTT-3.8.3-5
        }
        Ok(Self {
            filter,
            qos: QoS::from_bits(options & 3)?,
            no_local: options & 4 != 0,
            retain_as_published: options & 8 != 0,
            retain_handling: match (options >> 4) & 3 {
                0 => RetainHandling::Send,
                1 => RetainHandling::SendIfNew,
                2 => RetainHandling::DoNotSend,
                _ => return Err(Violation::protocol("retain handling 3")),
            },
        })
    }

    fn write(&self, version: Version, out: &mut Vec<u8>) {
        out.put_text(self.filter);
        let mut options = self.qos as u8;
        if version == Version::V5 {
            options |= (u8::from(self.no_local) << 2) | (u8::from(self.retain_as_published) << 3);
            options |= (self.retain_handling as u8) << 4;
        }
        out.put_u8(options);
    }
}

impl<'a> Subscribe<'a> {
    pub(super) fn read(cursor: &mut PacketCursor<'a>, version: Version) -> Result<Self, Violation> {
        let packet_id = PacketId::read(cursor)?;
        let properties = Properties::read(cursor, version, PacketType::Subscribe)?;
        let mut subscriptions = Vec::new();
        while !cursor.is_empty() {
            subscriptions.push(Subscription::read(cursor, version)?);
        }
        if subscriptions.is_empty() {
            return Err(Violation::protocol("SUBSCRIBE without a filter"));
        }
        Ok(Self { packet_id, properties, subscriptions })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        out.put_u16(self.packet_id.get());
        if version == Version::V5 {
            self.properties.write(out);
        }
        for subscription in &self.subscriptions {
            subscription.write(version, out);
        }
    }
}
