//! How a client connects, and the CONNECT packet that says so.

use std::time::Duration;

use slipring_wire::{Connect, Packet, PropertyId, VARINT_MAX, Value, Version};

use super::inbound::RECEIVE_MAX;
use super::{ClientProtocol, ClientWill, Credentials, NonceSeed, ProofMethod};

/// Says that the client plays a recording again.
const REPLAY_PROPERTY: &str = "slipring-replay";

/// How a client connects, and connects again.
#[derive(Clone, Debug)]
pub struct ConnectOptions {
    /// Empty asks the broker to assign one.
    pub client_id: String,
    /// What the client authenticates with.
    pub credentials: Credentials,
    /// Random bytes for this client alone, if the credentials ask for SCRAM.
    pub nonce_seed: NonceSeed,
    /// What the broker publishes if the client goes without DISCONNECT.
    pub will: Option<ClientWill>,
    /// Whether the client says that it plays a recording again: it then needs the right `replay` to publish.
    pub replaying: bool,
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
            nonce_seed: NonceSeed::default(),
            will: None,
            replaying: false,
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
        let mut properties = self.begin_proof().unwrap_or_default();
        let options = &self.options;
        properties.push(PropertyId::MaximumPacketSize, Value::Four(packet_bytes_max));
        properties.push(PropertyId::ReceiveMaximum, Value::Two(RECEIVE_MAX));
        if options.session_expiry_s > 0 {
            let expiry = Value::Four(options.session_expiry_s);
            properties.push(PropertyId::SessionExpiryInterval, expiry);
        }
        if options.replaying {
            properties.push(PropertyId::UserProperty, Value::Pair(REPLAY_PROPERTY, "1"));
        }
        let will_properties = options.will.as_ref().map(ClientWill::properties);
        let will = options.will.as_ref().zip(will_properties.as_ref());
        let sends_password = options.credentials.method == ProofMethod::Password;
        let password = sends_password.then_some(options.credentials.password.as_ref()).flatten();
        let connect = Connect {
            version: Version::V5,
            clean_start: self.asks_clean_start(),
            keep_alive_s: options.keep_alive_s,
            client_id: &self.granted.client_id,
            properties: properties.borrow(),
            will: will.map(|(will, properties)| will.packet(properties)),
            user_name: options.credentials.user.as_deref(),
            password: password.map(|password| password.as_slice()),
        };
        Packet::Connect(Box::new(connect)).encode(Version::V5, &mut self.output);
    }
}
