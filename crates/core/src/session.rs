//! What the broker remembers of a client between its connections, besides the messages for it.

use std::collections::{BTreeMap, HashSet};

use slipring_wire::{
    Packet, PacketId, Properties, PropertiesBuf, PropertyId, QoS, Reason, RetainHandling, SubAck,
    Subscribe, Subscription, UnsubAck, Unsubscribe, Value, Version, check_filter, shared,
};

use crate::ledger::KeptSession;
use crate::table::{Needs, PLAIN_RATE, SELECTIONS, SelectionFilter};
use crate::{Change, Choosing, Limit, Limits, Refused, Stop, Subscribed, levels};

const NO_LIST: &str = "there is no such selection; ask for it at $slipring/table/select, then \
                       subscribe with `deliver`";
const NO_NEEDS: &str = "$selection/ is for subscriptions with `deliver`, `rate` or another need";

/// The user property of a SUBACK that says how many samples of parameters a plain subscription gets in a
/// second, at most: where there are more, the newest values.
const NEWEST_PROPERTY: &str = "slipring-newest-above";

/// A session. It lives until it expires or its client asks for a clean start.
#[derive(Debug, Default)]
pub struct Session {
    /// By the filter as the client wrote it.
    subscriptions: BTreeMap<Box<str>, Options>,
    /// QoS 2 messages received and not released (MQTT-4.3.3-10).
    incoming: HashSet<PacketId>,
}

/// What a subscription asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The best quality to deliver at.
    pub qos: QoS,
    /// Leave out what the client published itself.
    pub no_local: bool,
    /// Keep the retain flag as the publisher set it.
    pub retain_as_published: bool,
    /// Told with every message; 0 is none.
    pub identifier: u32,
    /// What it needs of the parameters it chooses; without it, it is no selection.
    pub needs: Option<Needs>,
}

/// What all filters of a SUBSCRIBE have in common.
#[derive(Clone, Copy)]
struct Terms {
    identifier: u32,
    needs: Option<Needs>,
    unclear: bool,
}

impl Session {
    /// The session as its records tell it.
    pub fn restore(kept: &KeptSession) -> Self {
        let subscriptions = kept.subscriptions.iter();
        Self {
            subscriptions: subscriptions
                .map(|(filter, known)| (filter.clone(), known.options))
                .collect(),
            incoming: kept.incoming.iter().copied().collect(),
        }
    }

    /// The subscriptions that choose parameters or streams.
    pub fn selections(&self) -> impl Iterator<Item = (&str, Options)> {
        let chosen = self.subscriptions.iter().filter(|(_, options)| options.needs.is_some());
        chosen.map(|(filter, options)| (&**filter, *options))
    }

    /// The other subscriptions.
    pub fn plain(&self) -> impl Iterator<Item = (&str, Options)> {
        let plain = self.subscriptions.iter().filter(|(_, options)| options.needs.is_none());
        plain.map(|(filter, options)| (&**filter, *options))
    }

    /// Whether a filter is subscribed to, as it is written.
    pub fn has(&self, filter: &str) -> bool {
        self.subscriptions.contains_key(filter)
    }

    /// The filters subscribed to, in order.
    pub fn filters(&self) -> impl Iterator<Item = &str> {
        self.subscriptions.keys().map(|filter| &**filter)
    }

    /// Enters the filters of a SUBSCRIBE; each gets its own answer (MQTT-3.8.4-6).
    pub fn subscribe(
        &mut self,
        packet: &Subscribe<'_>,
        limits: &Limits,
        version: Version,
        table: &mut dyn Choosing,
        reply: &mut Vec<u8>,
    ) -> Subscribed {
        let identifier = packet.properties.number(PropertyId::SubscriptionIdentifier).unwrap_or(0);
        let mut subscribed = Subscribed::default();
        let mut reasons = Vec::with_capacity(packet.subscriptions.len());
        let mut properties = PropertiesBuf::new();
        let needs = Needs::parse(user_properties(packet.properties)).unwrap_or_else(|why| {
            subscribed.unclear = Some(why);
            None
        });
        for filter in packet.subscriptions.iter().map(|wanted| wanted.filter) {
            if let Some(why) = unaimed(filter, needs, table) {
                subscribed.unclear.get_or_insert_with(|| why.to_owned());
            }
        }
        for wanted in &packet.subscriptions {
            let terms = Terms { identifier, needs, unclear: subscribed.unclear.is_some() };
            match self.subscribe_one(wanted, terms, limits, table) {
                Ok(change) => {
                    reasons.push(granted(change.options.qos));
                    subscribed.changes.push(change);
                }
                Err(refused) => {
                    reasons.push(refused.reason);
                    subscribed.refused.push(refused);
                }
            }
        }
        let mut entered = subscribed.changes.iter().map(|change| &*change.filter);
        if version == Version::V5 && needs.is_none() && entered.any(|filter| table.is_read(filter))
        {
            let rate = PLAIN_RATE.to_string();
            properties.push(PropertyId::UserProperty, Value::Pair(NEWEST_PROPERTY, &rate));
        }
        if let Some(why) = subscribed.why() {
            properties.push(PropertyId::ReasonString, Value::Text(why));
        }
        let properties = properties.borrow();
        Packet::SubAck(SubAck { packet_id: packet.packet_id, properties, reasons })
            .encode(version, reply);
        subscribed
    }

    fn subscribe_one(
        &mut self,
        wanted: &Subscription<'_>,
        terms: Terms,
        limits: &Limits,
        table: &mut dyn Choosing,
    ) -> Result<Change, Refused> {
        let filter: Box<str> = wanted.filter.into();
        let known = self.subscriptions.contains_key(&filter);
        // A shared selection would have to split frames between its members.
        if terms.unclear || (terms.needs.is_some() && shared(wanted.filter).is_some()) {
            let reason = Reason::ImplementationSpecificError;
            return Err(Refused { filter, reason, limit: None });
        }
        if let Err((reason, limit)) = check(wanted.filter, limits) {
            return Err(Refused { filter, reason, limit });
        }
        if !table.may_subscribe(&filter) {
            return Err(Refused { filter, reason: Reason::NotAuthorized, limit: None });
        }
        if !known && self.subscriptions.len() >= limits.subscriptions {
            let limit = Some(Limit::Subscriptions);
            return Err(Refused { filter, reason: Reason::QuotaExceeded, limit });
        }
        let Terms { identifier, needs, .. } = terms;
        let room = needs.map_or(Ok(()), |needs| table.check_room(&filter, identifier, needs));
        if let Err(limit) = room {
            return Err(Refused { filter, reason: Reason::QuotaExceeded, limit: Some(limit) });
        }
        let options = Options {
            // The newest value is sent again and again; it is not worth an acknowledgement.
            qos: if needs.is_some() { QoS::AtMostOnce } else { wanted.qos },
            no_local: wanted.no_local,
            retain_as_published: wanted.retain_as_published,
            identifier,
            needs,
        };
        self.subscriptions.insert(filter.clone(), options);
        let replay = match wanted.retain_handling {
            RetainHandling::Send => true,        // MQTT-3.3.1-9
            RetainHandling::SendIfNew => !known, // MQTT-3.3.1-10
            RetainHandling::DoNotSend => false,  // MQTT-3.3.1-11
        };
        let replay = replay && shared(wanted.filter).is_none() && needs.is_none();
        Ok(Change { filter, options, replay })
    }

    /// Removes the filters of an UNSUBSCRIBE; gives those that were there.
    pub fn unsubscribe(
        &mut self,
        packet: &Unsubscribe<'_>,
        version: Version,
        reply: &mut Vec<u8>,
    ) -> Vec<Box<str>> {
        let mut gone = Vec::new();
        let answer = |filter: &&str| match self.subscriptions.remove_entry(*filter) {
            Some((filter, _)) => {
                gone.push(filter);
                Reason::Success
            }
            None => Reason::NoSubscriptionExisted,
        };
        let reasons = packet.filters.iter().map(answer).collect();
        let properties = Properties::NONE;
        Packet::UnsubAck(UnsubAck { packet_id: packet.packet_id, properties, reasons })
            .encode(version, reply);
        gone
    }

    /// A QoS 2 message arrives; false if it came before and is only answered again (MQTT-4.3.3-10).
    ///
    /// MQTT 3.1.1 knows no receive maximum; there the number of identifiers is the bound.
    pub fn receive(
        &mut self,
        id: PacketId,
        limits: &Limits,
        version: Version,
    ) -> Result<bool, Stop> {
        if self.incoming.contains(&id) {
            return Ok(false);
        }
        if version == Version::V5 && self.incoming.len() >= usize::from(limits.receive_max) {
            let what = "more unfinished QoS 2 messages than the broker allows";
            return Err(Stop::at(Limit::ReceiveMax, Reason::ReceiveMaximumExceeded, what));
        }
        Ok(self.incoming.insert(id))
    }

    /// PUBREL, or a refusal of ours: the identifier is free again; false if it was already.
    pub fn release(&mut self, id: PacketId) -> bool {
        self.incoming.remove(&id)
    }

    /// QoS 2 messages received and not released.
    pub fn unreleased(&self) -> usize {
        self.incoming.len()
    }
}

fn user_properties(properties: Properties<'_>) -> impl Iterator<Item = (&str, &str)> {
    properties.iter().filter_map(|(_, value)| match value {
        Value::Pair(name, text) => Some((name, text)),
        _ => None,
    })
}

/// Why a filter cannot choose what it says; None for any that does not begin as selections do.
fn unaimed(filter: &str, needs: Option<Needs>, table: &mut dyn Choosing) -> Option<&'static str> {
    if !filter.starts_with(SELECTIONS) {
        return None;
    }
    let Some(needs) = needs else { return Some(NO_NEEDS) };
    let is_there = match SelectionFilter::parse(filter) {
        Some(SelectionFilter::Filter(_)) => true,
        Some(SelectionFilter::List(_)) => !needs.is_stream() && table.is_list(filter),
        None => false,
    };
    (!is_there).then_some(NO_LIST)
}

fn check(filter: &str, limits: &Limits) -> Result<(), (Reason, Option<Limit>)> {
    let topics = match shared(filter) {
        Some(Err(_)) => return Err((Reason::TopicFilterInvalid, None)), // MQTT-4.8.2-1, -2
        Some(Ok((_, topics))) => topics,
        None => SelectionFilter::parse(filter).and_then(SelectionFilter::filter).unwrap_or(filter),
    };
    if check_filter(topics).is_err() {
        return Err((Reason::TopicFilterInvalid, None));
    }
    if levels(topics) > limits.topic_levels {
        return Err((Reason::TopicFilterInvalid, Some(Limit::TopicLevels)));
    }
    if topics.len() > limits.topic_bytes {
        return Err((Reason::TopicFilterInvalid, Some(Limit::TopicBytes)));
    }
    Ok(())
}

fn granted(qos: QoS) -> Reason {
    match qos {
        QoS::AtMostOnce => Reason::Success,
        QoS::AtLeastOnce => Reason::GrantedQoS1,
        QoS::ExactlyOnce => Reason::GrantedQoS2,
    }
}
