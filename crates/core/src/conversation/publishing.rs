//! PUBLISH from a client: what is checked, which topic an alias means, how it is answered.

use slipring_wire::{
    Ack, Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS, Reason, Value,
    Version, check_topic,
};

use super::{Conversation, check_user_properties, protocol};
use crate::{Limit, Limits, Stop, levels};

/// Messages from one connection, and what its topic aliases stand for.
#[derive(Debug, Default)]
pub struct Incoming {
    aliases: Vec<Option<Box<str>>>,
    /// The properties of a message without its alias.
    unaliased: PropertiesBuf,
}

impl Incoming {
    /// The message with its topic and without an alias, if it may pass.
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

    /// The topic an alias stands for, or stands for from now on; the alias itself goes no further.
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
        for (id, value) in publish.properties.iter() {
            if id != PropertyId::TopicAlias {
                self.unaliased.push(id, value);
            }
        }
        Ok(Publish { topic, properties: self.unaliased.borrow(), ..publish })
    }
}

impl Conversation {
    /// PUBACK or PUBREC; QoS 0 has none. MQTT 3.1.1 has no reasons.
    #[inline]
    pub fn acknowledge(&self, qos: QoS, id: Option<PacketId>, reason: Reason, reply: &mut Vec<u8>) {
        let Some(packet_id) = id else { return };
        self.acknowledge_with(qos, Ack { packet_id, reason, properties: Properties::NONE }, reply);
    }

    /// The same with the words for a refusal, which MQTT 3.1.1 does not know.
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
        let named = check_topic(topic);
        named.map_err(|_| protocol("a response topic is empty or holds a wildcard"))?; // MQTT-3.3.2-14
    }
    Ok(())
}

#[inline]
fn check_name(topic: &str, limits: &Limits) -> Result<(), Stop> {
    if topic.len() > limits.topic_bytes {
        let what = "the topic is too long";
        return Err(Stop::at(Limit::TopicBytes, Reason::TopicNameInvalid, what));
    }
    // A topic has at most one level more than it has bytes.
    if topic.len() >= limits.topic_levels && levels(topic) > limits.topic_levels {
        let what = "the topic has too many levels";
        return Err(Stop::at(Limit::TopicLevels, Reason::TopicNameInvalid, what));
    }
    Ok(())
}
