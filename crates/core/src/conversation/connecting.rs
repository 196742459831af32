//! CONNECT: what the client asks for, and what CONNACK offers it.

use slipring_wire::{
    ConnAck, Connect, Packet, PropertiesBuf, PropertyId, Reason, Value, Version, Will,
};

use super::{Action, Conversation, authenticating, check_user_properties};
use crate::replaying::asks_to_replay;
use crate::{Limit, Password, Proof, Stop, Terms, WillMessage, levels};

/// What a client asks for in CONNECT.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The client identifier; empty if the broker has to assign one.
    pub client_id: String,
    /// End an earlier session.
    pub clean_start: bool,
    /// After a silence of one and a half times this the client counts as gone; 0 is never.
    pub keep_alive_s: u16,
    /// Seconds to keep the session while the client is away.
    pub expiry_s: u32,
    /// What the client accepts.
    pub terms: Terms,
    /// The will.
    pub will: Option<WillMessage>,
    /// Whether the client says that it plays a recording again.
    pub replays: bool,
    /// The user name that the client claims or has proved.
    pub user_name: Option<String>,
    /// The proof of the user name.
    pub proof: Proof,
    /// What the client asked for; CONNACK says where the broker differs.
    asked_keep_alive_s: u16,
    asked_expiry_s: u32,
}

impl Opening {
    /// The limits that reduced what the client asked for.
    pub fn cut(&self) -> impl Iterator<Item = Limit> {
        let keep_alive = self.keep_alive_s != self.asked_keep_alive_s;
        let expiry = self.expiry_s != self.asked_expiry_s;
        let keep_alive = keep_alive.then_some(Limit::KeepAlive);
        keep_alive.into_iter().chain(expiry.then_some(Limit::SessionExpiry))
    }
}

/// Bytes of CONNACK without properties.
pub(super) const CONNACK_BYTES: usize = 5;
/// As long as an identifier that the broker assigns.
const LONGEST_ASSIGNED: &str = "0123456789abcdef0123456789abcdef";

impl Conversation {
    pub(super) fn connect<'a>(&mut self, connect: &Connect<'a>) -> Result<Action<'a>, Stop> {
        self.version = Some(connect.version);
        let number = |id| connect.properties.number(id);
        self.explain = number(PropertyId::RequestProblemInformation) != Some(0);
        self.packet_bytes = number(PropertyId::MaximumPacketSize).unwrap_or(u32::MAX);
        self.method = authenticating::method_of(connect.properties)?;
        self.check_connect(connect)?;
        let opening = Box::new(self.opening(connect));
        self.check_welcome(&opening)?;
        Ok(match self.method {
            Some(_) => self.begin(Some(opening), connect.properties),
            None => Action::Open(opening),
        })
    }

    fn opening(&mut self, connect: &Connect<'_>) -> Opening {
        let number = |id| connect.properties.number(id);
        let asked_expiry_s = match connect.version {
            Version::V5 => number(PropertyId::SessionExpiryInterval).unwrap_or(0),
            Version::V31 | Version::V311 if connect.clean_start => 0,
            Version::V31 | Version::V311 => self.limits.session_expiry_s,
        };
        let keep_alive_s = match (connect.version, connect.keep_alive_s) {
            (Version::V5, 0) => self.limits.keep_alive_s,
            (Version::V5, asked) => asked.min(self.limits.keep_alive_s),
            // CONNACK of earlier versions cannot change it, and 0 is never (MQTT-3.1.2-24 of 3.1.1).
            (_, asked) => asked,
        };
        self.expiry_s = asked_expiry_s.min(self.limits.session_expiry_s);
        let terms = Terms {
            version: connect.version,
            receive_max: number(PropertyId::ReceiveMaximum).map_or(u16::MAX, |most| most as u16),
            packet_bytes: self.packet_bytes,
            topic_aliases: number(PropertyId::TopicAliasMaximum).map_or(0, |most| most as u16),
        };
        Opening {
            client_id: connect.client_id.into(),
            clean_start: connect.clean_start,
            keep_alive_s,
            expiry_s: self.expiry_s,
            terms,
            will: connect.will.map(WillMessage::from),
            replays: asks_to_replay(connect.properties),
            user_name: connect.user_name.map(Into::into),
            proof: connect
                .password
                .map_or(Proof::Nothing, |password| Proof::Password(Password::from(password))),
            asked_keep_alive_s: connect.keep_alive_s,
            asked_expiry_s,
        }
    }

    /// MQTT-3.1.2-24: a client that accepts no packet as large as our CONNACK cannot be let in.
    fn check_welcome(&self, opening: &Opening) -> Result<(), Stop> {
        let offer = self.offer(opening, LONGEST_ASSIGNED);
        if offer.borrow().encoded().len() + CONNACK_BYTES > self.packet_bytes as usize {
            let what = "the client accepts no packet as large as CONNACK";
            return Err(Stop::new(Reason::PacketTooLarge, what));
        }
        Ok(())
    }

    fn check_connect(&self, connect: &Connect<'_>) -> Result<(), Stop> {
        if connect.client_id.len() > self.limits.client_id_bytes {
            let what = "the client identifier is too long";
            return Err(Stop::at(Limit::ClientIdBytes, Reason::ClientIdentifierNotValid, what));
        }
        if connect.client_id.is_empty() {
            let why = match connect.version {
                Version::V31 => Some("MQTT 3.1 wants a client identifier"),
                // MQTT-3.1.3-8 of 3.1.1: a session to keep needs a name.
                Version::V311 if !connect.clean_start => Some("a kept session without a client id"),
                Version::V311 | Version::V5 => None,
            };
            if let Some(why) = why {
                return Err(Stop::new(Reason::ClientIdentifierNotValid, why));
            }
        }
        check_user_properties(connect.properties, &self.limits)?;
        connect.will.as_ref().map_or(Ok(()), |will| self.check_will(will))
    }

    fn check_will(&self, will: &Will<'_>) -> Result<(), Stop> {
        let invalid = Reason::TopicNameInvalid;
        if levels(will.topic) > self.limits.topic_levels {
            let what = "the will's topic has too many levels";
            return Err(Stop::at(Limit::TopicLevels, invalid, what));
        }
        if will.topic.len() > self.limits.topic_bytes {
            let what = "the will's topic is too long";
            return Err(Stop::at(Limit::TopicBytes, invalid, what));
        }
        if will.topic.starts_with('$') {
            return Err(Stop::new(Reason::NotAuthorized, "a will to a topic of the broker's own"));
        }
        check_user_properties(will.properties, &self.limits)
    }

    /// Appends CONNACK for a client that is let in with this identifier.
    pub fn accept(
        &mut self,
        opening: &Opening,
        client_id: &str,
        session_present: bool,
        reply: &mut Vec<u8>,
    ) {
        self.open = true;
        let offer = self.offer(opening, client_id);
        let reason = Reason::Success;
        Packet::ConnAck(ConnAck { session_present, reason, properties: offer.borrow() })
            .encode(self.version(), reply);
    }

    /// The properties of CONNACK.
    fn offer(&self, opening: &Opening, client_id: &str) -> PropertiesBuf {
        let mut offer = PropertiesBuf::new();
        if self.version() != Version::V5 {
            return offer;
        }
        offer
            .push(PropertyId::ReceiveMaximum, Value::Two(self.limits.receive_max))
            .push(PropertyId::MaximumPacketSize, Value::Four(self.limits.packet_bytes as u32));
        if self.limits.topic_aliases > 0 {
            offer.push(PropertyId::TopicAliasMaximum, Value::Two(self.limits.topic_aliases));
        }
        if opening.client_id.is_empty() {
            offer.push(PropertyId::AssignedClientIdentifier, Value::Text(client_id)); // MQTT-3.2.2-16
        }
        if opening.keep_alive_s != opening.asked_keep_alive_s {
            offer.push(PropertyId::ServerKeepAlive, Value::Two(opening.keep_alive_s));
        }
        if opening.expiry_s != opening.asked_expiry_s {
            offer.push(PropertyId::SessionExpiryInterval, Value::Four(opening.expiry_s));
        }
        if let Proof::Exchanged(method, answer) = &opening.proof {
            authenticating::push_data(&mut offer, method, answer);
        }
        offer
    }
}
