//! How a client connects, and the CONNECT packet that says so.

use std::time::Duration;

use slipring_wire::{Connect, Packet, PropertiesBuf, PropertyId, VARINT_MAX, Value, Version};

use super::inbound::RECEIVE_MAX;
use super::{ClientProtocol, Credentials};

/// How a client connects, and connects again.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Empty asks the broker to assign one.
    pub client_id: String,
    /// What the client authenticates with.
    pub credentials: Credentials,
    /// Seconds of silence before a ping; 0 is never.
    pub keep_alive_s: u16,
    /// The broker must answer CONNECT within this time.
    pub timeout: Duration,
    /// Seconds that the broker shall keep the session without a connection.
    pub session_expiry_s: u32,
    /// Whether the broker shall discard an earlier session of this client id first.
    pub clean_start: bool,
    /// For how long a lost connection is retried; zero is not at all.
    pub reconnect: Duration,
}

impl Default for ConnectOptions {
    fn default() -> Self {
        Self {
            client_id: String::new(),
            credentials: Credentials::default(),
            keep_alive_s: 30,
            timeout: Duration::from_secs(10),
            session_expiry_s: 0,
            clean_start: true,
            reconnect: Duration::ZERO,
        }
    }
}

impl ConnectOptions {
    /// Whether the session is meant to outlive its connection.
    pub(super) fn is_durable(&self) -> bool {
        self.session_expiry_s > 0 || !self.clean_start
    }
}

impl ClientProtocol {
    /// CONNECT, under the client id that this client has now.
    pub(super) fn write_connect(&mut self) {
        let packet_bytes_max = u32::try_from(self.packet_bytes_max).unwrap_or(VARINT_MAX);
        let options = &self.options;
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::MaximumPacketSize, Value::Four(packet_bytes_max));
        properties.push(PropertyId::ReceiveMaximum, Value::Two(RECEIVE_MAX));
        if options.session_expiry_s > 0 {
            let expiry = Value::Four(options.session_expiry_s);
            properties.push(PropertyId::SessionExpiryInterval, expiry);
        }
        let connect = Connect {
            version: Version::V5,
            clean_start: self.asks_clean_start(),
            keep_alive_s: options.keep_alive_s,
            client_id: &self.granted.client_id,
            properties: properties.borrow(),
            will: None,
            user_name: options.credentials.user.as_deref(),
            password: options.credentials.password.as_deref(),
        };
        Packet::Connect(Box::new(connect)).encode(Version::V5, &mut self.output);
    }
}
