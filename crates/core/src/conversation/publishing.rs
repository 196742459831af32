//! PUBLISH from a client: checks, topic aliases, and the acknowledgement.

use slipring_wire::{
    Ack, Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS, Reason, Value,
    Version, check_topic,
};

use super::{Conversation, check_user_properties, protocol};
use crate::{Limit, Limits, Stop, levels};

/// Checks the messages of one connection, and knows its topic aliases.
#[derive(Debug, Default)]
pub struct Incoming {
    aliases: Vec<Option<Box<str>>>,
    /// Scratch buffer: the properties of a message without its alias.
    unaliased: PropertiesBuf,
}

impl Incoming {
    /// Checks a message; returns it with its topic and without an alias.
    #[inline]
    pub fn admit<'s, 'a: 's>(
        &'s mut self,
        publish: Publish<'a>,
        limits: &Limits,
    ) -> Result<Publish<'s>, Stop> {
        if publish.properties.is_empty() {
            check_name(publish.topic, limits)?;
            return Ok(publish);
        }
        check_properties(publish.properties, limits)?;
        match publish.properties.number(PropertyId::TopicAlias) {
            Some(alias) => self.resolve(publish, alias as u16, limits),
            None => check_name(publish.topic, limits).map(|()| publish),
        }
    }

    /// Replaces an alias by its topic, or sets it if the message has a topic, too.
    fn resolve<'s, 'a: 's>(
        &'s mut self,
        publish: Publish<'a>,
        alias: u16,
        limits: &Limits,
    ) -> Result<Publish<'s>, Stop> {
        if alias > limits.topic_aliases {
            let what = "a topic alias above the maximum";
            return Err(Stop::at(Limit::TopicAliases, Reason::TopicAliasInvalid, what)); // MQTT-3.3.2-9
        }
        let at = usize::from(alias) - 1;
        if !publish.topic.is_empty() {
            check_name(publish.topic, limits)?;
            if self.aliases.len() <= at {
                self.aliases.resize(at + 1, None);
            }
            self.aliases[at] = Some(publish.topic.into());
        }
        let Some(topic) = self.aliases.get(at).and_then(Option::as_deref) else {
            return Err(protocol("a topic alias that stands for nothing"));
        };
        self.unaliased.clear();
        for (id, piece) in publish.properties.pieces() {
            if id != PropertyId::TopicAlias {
                self.unaliased.push_piece(piece);
            }
        }
        Ok(Publish { topic, properties: self.unaliased.borrow(), ..publish })
    }
}

impl Conversation {
    /// Appends PUBACK or PUBREC; nothing at QoS 0. MQTT 3.1.1 has no reason codes.
    #[inline]
    pub fn acknowledge(&self, qos: QoS, id: Option<PacketId>, reason: Reason, reply: &mut Vec<u8>) {
        let Some(packet_id) = id else { return };
        self.acknowledge_with(qos, Ack { packet_id, reason, properties: Properties::NONE }, reply);
    }

    /// The same with a reason string for a refusal, which MQTT 3.1.1 does not have.
    #[cold]
    pub fn refuse_publish(
        &self,
        qos: QoS,
        id: Option<PacketId>,
        reason: Reason,
        why: &str,
        reply: &mut Vec<u8>,
    ) {
        let Some(packet_id) = id else { return };
        let mut properties = PropertiesBuf::new();
        if self.version() == Version::V5 {
            properties.push(PropertyId::ReasonString, Value::Text(why));
        }
        self.acknowledge_with(
            qos,
            Ack { packet_id, reason, properties: properties.borrow() },
            reply,
        );
    }

    fn acknowledge_with(&self, qos: QoS, ack: Ack<'_>, reply: &mut Vec<u8>) {
        match qos {
            QoS::AtMostOnce => {}
            QoS::AtLeastOnce => Packet::PubAck(ack).encode(self.version(), reply),
            QoS::ExactlyOnce => Packet::PubRec(ack).encode(self.version(), reply),
        }
    }
}

fn check_properties(properties: Properties<'_>, limits: &Limits) -> Result<(), Stop> {
    check_user_properties(properties, limits)?;
    if properties.get(PropertyId::SubscriptionIdentifier).is_some() {
        return Err(protocol("a client sends no subscription identifier")); // MQTT-3.3.4-6
    }
    if let Some(topic) = properties.text(PropertyId::ResponseTopic) {
        check_topic(topic).map_err(|_| protocol("a response topic is empty or has a wildcard"))?; // MQTT-3.3.2-14
    }
    Ok(())
}

#[inline]
fn check_name(topic: &str, limits: &Limits) -> Result<(), Stop> {
    if topic.len() > limits.topic_bytes {
        let what = "the topic is too long";
        return Err(Stop::at(Limit::TopicBytes, Reason::TopicNameInvalid, what));
    }
    // Counts levels only if there can be too many: a topic has at most one more level than bytes.
    if topic.len() >= limits.topic_levels && levels(topic) > limits.topic_levels {
        let what = "the topic has too many levels";
        return Err(Stop::at(Limit::TopicLevels, Reason::TopicNameInvalid, what));
    }
    Ok(())
}
