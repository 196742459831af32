//! The end of a conversation: the client's DISCONNECT, or the broker's DISCONNECT or CONNACK with a reason.

use slipring_wire::{
    ConnAck, Disconnect, Packet, PropertiesBuf, PropertyId, Reason, Value, Version,
};

use super::connecting::CONNACK_BYTES;
use super::{Action, Conversation, Goodbye, protocol};
use crate::Stop;

/// The most bytes of such a packet besides its reason string.
const BYTES_AROUND: usize = 16;

impl Conversation {
    pub(super) fn disconnect<'s>(&self, disconnect: Disconnect<'_>) -> Result<Action<'s>, Stop> {
        let expiry_s = disconnect.properties.number(PropertyId::SessionExpiryInterval);
        if self.expiry_s == 0 && expiry_s.is_some_and(|seconds| seconds > 0) {
            return Err(protocol("a session that ends with its connection cannot be kept")); // MQTT-3.14.2-2
        }
        Ok(Action::Close(Goodbye {
            with_will: disconnect.reason != Reason::Success, // MQTT-3.1.2-8, MQTT-3.14.4-3
            expiry_s: expiry_s.map(|seconds| seconds.min(self.limits.session_expiry_s)),
        }))
    }

    /// Appends the last packet to a client whose connection the broker ends, if its version of MQTT has one.
    pub fn farewell(&self, reason: Reason, why: &str, reply: &mut Vec<u8>) {
        match self.version {
            Some(Version::V5) if self.open => {
                let properties = self.explained(why);
                let farewell = Disconnect { reason, properties: properties.borrow() };
                Packet::Disconnect(farewell).encode(Version::V5, reply);
            }
            Some(_) if !self.open => self.refuse(reason, why, None, reply),
            None if reason == Reason::UnsupportedProtocolVersion => {
                refusal(reason, &PropertiesBuf::new(), Version::V311, reply); // MQTT-3.1.2-2 of 3.1.1
            }
            _ => {}
        }
    }

    /// Appends CONNACK for a client that is not let in; `server` is another broker that it can try.
    pub fn refuse(&self, reason: Reason, why: &str, server: Option<&str>, reply: &mut Vec<u8>) {
        if (self.packet_bytes as usize) < CONNACK_BYTES {
            return; // MQTT-3.1.2-24
        }
        let mut properties = self.explained(why);
        if let Some(server) = server {
            properties.push(PropertyId::ServerReference, Value::Text(server));
        }
        refusal(reason, &properties, self.version(), reply);
    }

    /// The reason as text, if the client wants reason strings.
    fn explained(&self, why: &str) -> PropertiesBuf {
        let mut properties = PropertiesBuf::new();
        // MQTT-3.2.2-19, MQTT-3.14.2-3: without it if the packet would be too large for the client.
        let fits = why.len() + BYTES_AROUND <= self.packet_bytes as usize;
        if self.explain && fits && !why.is_empty() {
            properties.push(PropertyId::ReasonString, Value::Text(why));
        }
        properties
    }
}

fn refusal(reason: Reason, properties: &PropertiesBuf, version: Version, reply: &mut Vec<u8>) {
    let properties = properties.borrow();
    Packet::ConnAck(ConnAck { session_present: false, reason, properties }).encode(version, reply);
}
