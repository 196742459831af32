//! One client's conversation with the broker: packets in, answers and actions out.
//!
//! It owns no socket and no table; what it cannot decide alone leaves it as an [`Action`].

mod connecting;
mod subscribing;
mod will;

pub use connecting::Identity;
pub use subscribing::Change;
pub use will::WillMessage;

use std::collections::HashMap;

use slipring_wire::{
    ConnAck, Disconnect, Packet, Properties, PropertyId, Publish, QoS, Reason, Version, Violation,
};

use crate::Limits;

/// The state of one connection.
#[derive(Debug)]
pub struct Session {
    limits: Limits,
    /// None until CONNECT was read.
    version: Option<Version>,
    open: bool,
    /// The identifier for a client that brings none.
    assigned_id: String,
    /// Filters with their no-local option.
    subscriptions: HashMap<Box<str>, bool>,
    will: Option<WillMessage>,
}

/// What the engine has to do for a packet.
#[derive(Debug, PartialEq, Eq)]
pub enum Action<'a> {
    /// Nothing beyond sending the answer.
    Nothing,
    /// The client is let in: register it, then send the answer.
    Open(Identity),
    /// Bring this message to its subscribers.
    Publish(Publish<'a>),
    /// Add these subscriptions.
    Subscribe(Vec<Change>),
    /// Remove these subscriptions.
    Unsubscribe(Vec<Change>),
    /// The client said goodbye.
    Close,
}

impl Session {
    /// A connection that has not sent anything yet.
    pub fn new(limits: Limits, assigned_id: String) -> Self {
        Self {
            limits,
            version: None,
            open: false,
            assigned_id,
            subscriptions: HashMap::new(),
            will: None,
        }
    }

    /// The version to decode the next packet with; CONNECT brings its own.
    pub fn version(&self) -> Version {
        self.version.unwrap_or(Version::V5)
    }

    /// The largest packet accepted now: small until the client is known.
    pub fn packet_bytes_max(&self) -> usize {
        if self.open { self.limits.packet_bytes } else { self.limits.connect_bytes }
    }

    /// The filters subscribed to, with their no-local option.
    pub fn subscriptions(&self) -> impl Iterator<Item = (&str, bool)> {
        self.subscriptions.iter().map(|(filter, no_local)| (&**filter, *no_local))
    }

    /// The will, if the connection ends now without a goodbye.
    pub fn take_will(&mut self) -> Option<WillMessage> {
        self.will.take()
    }

    /// Takes one packet; appends what to answer to `reply`.
    pub fn receive<'a>(
        &mut self,
        packet: Packet<'a>,
        reply: &mut Vec<u8>,
    ) -> Result<Action<'a>, Violation> {
        match packet {
            Packet::Publish(publish) if self.open => self.publish(publish),
            Packet::Connect(connect) if self.version.is_none() => self.connect(&connect, reply),
            _ if !self.open => Err(Violation::protocol("the first packet is not CONNECT")), // MQTT-3.1.0-1
            Packet::Subscribe(subscribe) => self.subscribe(&subscribe, reply),
            Packet::Unsubscribe(unsubscribe) => Ok(self.unsubscribe(&unsubscribe, reply)),
            Packet::PingReq => {
                Packet::PingResp.encode(self.version(), reply);
                Ok(Action::Nothing)
            }
            Packet::Disconnect(disconnect) => Ok(self.disconnect(disconnect)),
            Packet::Connect(_) => Err(Violation::protocol("a second CONNECT")), // MQTT-3.1.0-2
            _ => Err(Violation::protocol("a packet that a client does not send here")),
        }
    }

    /// Takes back an [`Action::Open`] that the engine has no room for.
    pub fn reject(&mut self, reason: Reason, reply: &mut Vec<u8>) {
        self.open = false;
        self.will = None;
        reply.clear();
        self.farewell(reason, reply);
    }

    /// The last words to a peer that broke a rule, or that has to go: none where the standard has none.
    pub fn farewell(&self, reason: Reason, reply: &mut Vec<u8>) {
        match self.version {
            Some(Version::V5) if self.open => {
                let farewell = Disconnect { reason, properties: Properties::NONE };
                Packet::Disconnect(farewell).encode(Version::V5, reply);
            }
            Some(version) if !self.open => refuse(reason, version, reply),
            None if reason == Reason::UnsupportedProtocolVersion => {
                refuse(reason, Version::V311, reply); // MQTT-3.1.2-2 of 3.1.1
            }
            _ => {}
        }
    }

    fn publish<'a>(&self, publish: Publish<'a>) -> Result<Action<'a>, Violation> {
        if publish.qos > QoS::AtMostOnce {
            return Err(Violation {
                reason: Reason::QoSNotSupported,
                what: "this broker carries QoS 0",
            });
        }
        if publish.retain && self.version == Some(Version::V5) {
            return Err(Violation {
                reason: Reason::RetainNotSupported,
                what: "this broker retains nothing",
            });
        }
        if levels(publish.topic) > self.limits.topic_levels {
            return Err(Violation {
                reason: Reason::TopicNameInvalid,
                what: "the topic has too many levels",
            });
        }
        if !publish.properties.is_empty() {
            check_publish_properties(publish.properties)?;
        }
        Ok(Action::Publish(Publish { retain: false, ..publish }))
    }

    fn disconnect<'a>(&mut self, disconnect: Disconnect<'_>) -> Action<'a> {
        if disconnect.reason != Reason::DisconnectWithWill {
            self.will = None; // MQTT-3.14.4-3
        }
        Action::Close
    }
}

fn check_publish_properties(properties: Properties<'_>) -> Result<(), Violation> {
    if properties.get(PropertyId::TopicAlias).is_some() {
        let what = "no topic aliases were offered";
        return Err(Violation { reason: Reason::TopicAliasInvalid, what }); // MQTT-3.3.2-9
    }
    if properties.get(PropertyId::SubscriptionIdentifier).is_some() {
        return Err(Violation::protocol("a client sends no subscription identifier")); // MQTT-3.3.4-6
    }
    Ok(())
}

fn refuse(reason: Reason, version: Version, reply: &mut Vec<u8>) {
    let properties = Properties::NONE;
    Packet::ConnAck(ConnAck { session_present: false, reason, properties }).encode(version, reply);
}

fn levels(topic: &str) -> usize {
    1 + topic.bytes().filter(|byte| *byte == b'/').count()
}
