//! The terms that the broker granted in CONNACK, with the standard's defaults for what it left out.

use slipring_wire::{ConnAck, PropertyId, QoS, VARINT_MAX};

use super::ConnectOptions;

/// The terms of this connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrantedTerms {
    /// Ours, or the one the broker assigned.
    pub client_id: String,
    /// Whether the broker had kept a session of this client, which this connection continues.
    pub session_present: bool,
    /// Seconds that the broker keeps the session without a connection.
    pub session_expiry_s: u32,
    /// Ours, or the broker's where it set one (MQTT-3.2.2-21).
    pub keep_alive_s: u16,
    /// No larger packet may be sent (MQTT-3.2.2-15).
    pub packet_bytes_max: usize,
    /// No higher QoS may be used (MQTT-3.2.2-11).
    pub qos_max: QoS,
    /// How many messages may be without an acknowledgement at once (MQTT-3.3.4-9).
    pub receive_max: u16,
    /// Whether a message may be retained (MQTT-3.2.2-14).
    pub retain_available: bool,
    /// Whether subscriptions may have identifiers (MQTT 5, 3.2.2.3.12).
    pub identifiers_available: bool,
}

impl GrantedTerms {
    pub(super) fn asked(options: &ConnectOptions) -> Self {
        Self {
            client_id: options.client_id.clone(),
            session_present: false,
            session_expiry_s: options.session_expiry_s,
            keep_alive_s: options.keep_alive_s,
            packet_bytes_max: VARINT_MAX as usize,
            qos_max: QoS::ExactlyOnce,
            receive_max: u16::MAX,
            retain_available: true,
            identifiers_available: true,
        }
    }

    pub(super) fn grant(&mut self, connack: &ConnAck<'_>) {
        let given = connack.properties;
        self.session_present = connack.session_present;
        if let Some(seconds) = given.number(PropertyId::SessionExpiryInterval) {
            self.session_expiry_s = seconds;
        }
        if let Some(assigned) = given.text(PropertyId::AssignedClientIdentifier) {
            assigned.clone_into(&mut self.client_id);
        }
        if let Some(seconds) = given.number(PropertyId::ServerKeepAlive) {
            self.keep_alive_s = seconds as u16;
        }
        if let Some(bytes) = given.number(PropertyId::MaximumPacketSize) {
            self.packet_bytes_max = self.packet_bytes_max.min(bytes as usize);
        }
        if let Some(level) = given.number(PropertyId::MaximumQoS) {
            self.qos_max = if level == 0 { QoS::AtMostOnce } else { QoS::AtLeastOnce };
        }
        if let Some(most) = given.number(PropertyId::ReceiveMaximum) {
            self.receive_max = most as u16;
        }
        self.retain_available = given.number(PropertyId::RetainAvailable) != Some(0);
        self.identifiers_available =
            given.number(PropertyId::SubscriptionIdentifierAvailable) != Some(0);
    }
}
