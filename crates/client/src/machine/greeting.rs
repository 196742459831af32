//! What the client says of itself when it connects.

use std::time::Duration;

use slipring_wire::{Connect, Packet, PropertiesBuf, PropertyId, VARINT_MAX, Value, Version};

use super::held::RECEIVE_MAX;
use crate::Credentials;

/// What the client says in CONNECT.
#[derive(Clone, Debug)]
pub struct Greeting {
    /// Empty asks the broker for one.
    pub client_id: String,
    /// What the client proves itself with.
    pub credentials: Credentials,
    /// Seconds of silence before a ping; 0 is never.
    pub keep_alive_s: u16,
    /// The broker must answer within this time.
    pub timeout: Duration,
    /// The largest packet this client takes.
    pub packet_bytes_max: usize,
    /// Seconds that the broker shall keep the session without a connection.
    pub session_expiry_s: u32,
    /// Whether a session that the broker has kept is forgotten first.
    pub clean_start: bool,
    /// How long a lost connection is tried to be made again; nothing is never.
    pub reconnect: Duration,
}

impl Greeting {
    /// Whether the session is meant to outlive its connection.
    pub(super) fn is_durable(&self) -> bool {
        self.session_expiry_s > 0 || !self.clean_start
    }

    /// CONNECT, under the name that this client has now.
    pub(super) fn write(&self, client_id: &str, clean_start: bool, output: &mut Vec<u8>) {
        let packet_bytes_max = u32::try_from(self.packet_bytes_max).unwrap_or(VARINT_MAX);
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::MaximumPacketSize, Value::Four(packet_bytes_max));
        properties.push(PropertyId::ReceiveMaximum, Value::Two(RECEIVE_MAX));
        if self.session_expiry_s > 0 {
            properties.push(PropertyId::SessionExpiryInterval, Value::Four(self.session_expiry_s));
        }
        let connect = Connect {
            version: Version::V5,
            clean_start,
            keep_alive_s: self.keep_alive_s,
            client_id,
            properties: properties.borrow(),
            will: None,
            user_name: self.credentials.user.as_deref(),
            password: self.credentials.password.as_deref(),
        };
        Packet::Connect(Box::new(connect)).encode(Version::V5, output);
    }
}
