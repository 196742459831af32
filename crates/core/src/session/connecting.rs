//! CONNECT: who is let in, and what it is offered.

use slipring_wire::{
    ConnAck, Connect, Packet, PropertiesBuf, PropertyId, QoS, Reason, Value, Version, Violation,
};

use super::{Action, Session, WillMessage, levels};

/// Who connected, and how it wants to be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its own or an assigned identifier.
    pub client_id: String,
    /// The version it speaks.
    pub version: Version,
    /// Seconds of silence before it counts as gone are one and a half of this.
    pub keep_alive_s: u16,
}

impl Session {
    pub(super) fn connect<'a>(
        &mut self,
        connect: &Connect<'_>,
        reply: &mut Vec<u8>,
    ) -> Result<Action<'a>, Violation> {
        self.version = Some(connect.version);
        self.check_connect(connect)?;
        let assigned = connect.client_id.is_empty();
        let client_id = if assigned { &self.assigned_id } else { connect.client_id };
        let keep_alive_s = match connect.keep_alive_s {
            0 => self.limits.keep_alive_s,
            asked => asked.min(self.limits.keep_alive_s),
        };
        let identity =
            Identity { client_id: client_id.into(), version: connect.version, keep_alive_s };
        let offer = self.offer(connect, &identity, assigned);
        Packet::ConnAck(ConnAck {
            session_present: false,
            reason: Reason::Success,
            properties: offer.borrow(),
        })
        .encode(connect.version, reply);
        self.will = connect.will.map(WillMessage::from);
        self.open = true;
        Ok(Action::Open(identity))
    }

    fn check_connect(&self, connect: &Connect<'_>) -> Result<(), Violation> {
        let refused = |reason, what| Err(Violation { reason, what });
        if connect.properties.get(PropertyId::AuthenticationMethod).is_some() {
            return refused(Reason::BadAuthenticationMethod, "no enhanced authentication here");
        }
        if connect.client_id.len() > self.limits.client_id_bytes {
            return refused(Reason::ClientIdentifierNotValid, "the client identifier is too long");
        }
        // MQTT-3.1.3-8 of 3.1.1: a session to keep needs a name.
        if connect.client_id.is_empty() && !connect.clean_start && connect.version == Version::V311
        {
            return refused(Reason::ClientIdentifierNotValid, "a kept session without a client id");
        }
        if let Some(will) = &connect.will {
            if connect.version == Version::V5 && will.qos > QoS::AtMostOnce {
                return refused(Reason::QoSNotSupported, "this broker carries QoS 0"); // MQTT-3.2.2-12
            }
            if connect.version == Version::V5 && will.retain {
                return refused(Reason::RetainNotSupported, "this broker retains nothing"); // MQTT-3.2.2-13
            }
            if levels(will.topic) > self.limits.topic_levels {
                return refused(Reason::TopicNameInvalid, "the will's topic has too many levels");
            }
        }
        Ok(())
    }

    /// What an MQTT 5 client is told about this broker.
    fn offer(&self, connect: &Connect<'_>, identity: &Identity, assigned: bool) -> PropertiesBuf {
        let mut offer = PropertiesBuf::new();
        if connect.properties.number(PropertyId::SessionExpiryInterval).unwrap_or(0) > 0 {
            offer.push(PropertyId::SessionExpiryInterval, Value::Four(0));
        }
        offer
            .push(PropertyId::MaximumQoS, Value::Byte(0))
            .push(PropertyId::RetainAvailable, Value::Byte(0))
            .push(PropertyId::MaximumPacketSize, Value::Four(self.limits.packet_bytes as u32))
            .push(PropertyId::SubscriptionIdentifierAvailable, Value::Byte(0))
            .push(PropertyId::SharedSubscriptionAvailable, Value::Byte(0));
        if assigned {
            offer.push(PropertyId::AssignedClientIdentifier, Value::Text(&identity.client_id));
        }
        if identity.keep_alive_s != connect.keep_alive_s {
            offer.push(PropertyId::ServerKeepAlive, Value::Two(identity.keep_alive_s));
        }
        offer
    }
}
