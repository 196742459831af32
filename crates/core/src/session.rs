//! A session: what the broker keeps of a client between its connections, besides the messages for it.

use std::collections::{BTreeMap, HashSet};

use slipring_wire::{
    Packet, PacketId, Properties, PropertiesBuf, PropertyId, QoS, Reason, RetainHandling, SubAck,
    Subscribe, Subscription, UnsubAck, Unsubscribe, Value, Version, check_filter, shared,
};

use crate::ledger::KeptSession;
use crate::subscribed::service_of;
use crate::table::{Needs, PLAIN_RATE, SELECTIONS, SelectionFilter};
use crate::{
    Limit, Limits, Priority, RefusedSubscription, Stop, SubscribeOutcome, SubscriptionChange,
    SubscriptionChecks, levels,
};

const NO_LIST: &str = "there is no such selection; ask for it at $slipring/table/select, then \
                       subscribe with `deliver`";
const NO_NEEDS: &str = "$selection/ is for subscriptions with `deliver`, `rate` or another need";

/// The user property of a SUBSCRIBE by which a client is a service: how many requests it computes at once.
const SERVE_PROPERTY: &str = "slipring-serve";
const NO_SERVICE: &str = "`slipring-serve` is how many requests are computed at once: 1 to 65535";

/// The user property of a SUBACK with the most samples that a plain subscription to parameters gets in a second. If
/// more come, it gets only the newest value of each parameter.
const NEWEST_PROPERTY: &str = "slipring-newest-above";

/// A session. It ends when it expires, or when its client asks for a clean start.
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
    /// The highest QoS to deliver with.
    pub qos: QoS,
    /// Leave out messages that the client published itself.
    pub no_local: bool,
    /// Keep the retain flag as the publisher set it.
    pub retain_as_published: bool,
    /// The subscription identifier, sent with every message; 0 is none.
    pub identifier: u32,
    /// The needs of a selection; None for a plain subscription.
    pub needs: Option<Needs>,
    /// Requests that the client computes at once; 0 if it does not say that it is a service.
    pub serve: u16,
    /// The priority of messages that name none.
    pub priority: Option<Priority>,
}

/// What all filters of a SUBSCRIBE have in common.
#[derive(Clone, Copy)]
struct PacketOptions {
    identifier: u32,
    needs: Option<Needs>,
    serve: u16,
    priority: Option<Priority>,
    is_unclear: bool,
}

impl Session {
    /// The session as the records describe it.
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

    /// The plain subscriptions: those that are no selections.
    pub fn plain(&self) -> impl Iterator<Item = (&str, Options)> {
        let plain = self.subscriptions.iter().filter(|(_, options)| options.needs.is_none());
        plain.map(|(filter, options)| (&**filter, *options))
    }

    /// Whether there is a subscription with this filter, as the client wrote it.
    pub fn has(&self, filter: &str) -> bool {
        self.subscriptions.contains_key(filter)
    }

    /// The filters of all subscriptions, in order.
    pub fn filters(&self) -> impl Iterator<Item = &str> {
        self.subscriptions.keys().map(|filter| &**filter)
    }

    /// Makes the subscriptions of a SUBSCRIBE; SUBACK has a reason code for each (MQTT-3.8.4-6).
    pub fn subscribe(
        &mut self,
        packet: &Subscribe<'_>,
        limits: &Limits,
        version: Version,
        checks: &mut dyn SubscriptionChecks,
        reply: &mut Vec<u8>,
    ) -> SubscribeOutcome {
        let identifier = packet.properties.number(PropertyId::SubscriptionIdentifier).unwrap_or(0);
        let mut subscribed = SubscribeOutcome::default();
        let mut reasons = Vec::with_capacity(packet.subscriptions.len());
        let mut properties = PropertiesBuf::new();
        let needs = Needs::parse(user_properties(packet.properties)).unwrap_or_else(|why| {
            subscribed.unclear = Some(why);
            None
        });
        let serve = serve(packet.properties).unwrap_or_else(|why| {
            subscribed.unclear.get_or_insert_with(|| why.to_owned());
            0
        });
        let priority = Priority::checked(packet.properties).unwrap_or_else(|why| {
            subscribed.unclear.get_or_insert_with(|| why.to_string());
            None
        });
        for filter in packet.subscriptions.iter().map(|wanted| wanted.filter) {
            if let Some(why) = selection_problem(filter, needs, checks) {
                subscribed.unclear.get_or_insert_with(|| why.to_owned());
            }
        }
        for wanted in &packet.subscriptions {
            let is_unclear = subscribed.unclear.is_some();
            let options = PacketOptions { identifier, needs, serve, priority, is_unclear };
            match self.subscribe_one(wanted, options, limits, checks) {
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
        let mut made = subscribed.changes.iter().map(|change| &*change.filter);
        if version == Version::V5 && needs.is_none() && made.any(|filter| checks.is_read(filter)) {
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
        packet: PacketOptions,
        limits: &Limits,
        checks: &mut dyn SubscriptionChecks,
    ) -> Result<SubscriptionChange, RefusedSubscription> {
        let known = self.subscriptions.contains_key(wanted.filter);
        let refuse = |reason, limit| {
            Err(RefusedSubscription { filter: wanted.filter.into(), reason, limit, why: None })
        };
        let service = service_of(wanted.filter)?;
        // A shared selection would have to split frames between its members, and requests are no samples.
        let is_plain = shared(wanted.filter).is_none() && service.is_none();
        if packet.is_unclear || (packet.needs.is_some() && !is_plain) {
            return refuse(Reason::ImplementationSpecificError, None);
        }
        let served = service.map(|(_, topics)| topics);
        if let Err(limit) = check(served.unwrap_or(wanted.filter), limits) {
            return refuse(Reason::TopicFilterInvalid, limit);
        }
        let is_allowed = match served {
            Some(topics) => checks.may_serve(topics),
            None => checks.may_subscribe(wanted.filter, packet.needs.is_some()),
        };
        if !is_allowed {
            return refuse(Reason::NotAuthorized, None);
        }
        if !known && self.subscriptions.len() >= limits.subscriptions {
            return refuse(Reason::QuotaExceeded, Some(Limit::Subscriptions));
        }
        if !known && !checks.has_memory_for(wanted.filter) {
            return refuse(Reason::QuotaExceeded, Some(Limit::MemoryBytes));
        }
        let PacketOptions { identifier, needs, serve, priority, .. } = packet;
        let room =
            needs.map_or(Ok(()), |needs| checks.check_room(wanted.filter, identifier, needs));
        if let Err(limit) = room {
            return refuse(Reason::QuotaExceeded, Some(limit));
        }
        if !known && !checks.has_quota() {
            return refuse(Reason::QuotaExceeded, Some(Limit::QuotaSubscriptions));
        }
        let options = Options {
            // A selection sends newer values soon, so that none needs an acknowledgement.
            qos: if needs.is_some() { QoS::AtMostOnce } else { wanted.qos },
            no_local: wanted.no_local,
            retain_as_published: wanted.retain_as_published,
            identifier,
            needs,
            serve: service.map_or(serve, |(count, _)| count),
            priority,
        };
        let filter: Box<str> = wanted.filter.into();
        self.subscriptions.insert(filter.clone(), options);
        let replay = match wanted.retain_handling {
            RetainHandling::Send => true,        // MQTT-3.3.1-9
            RetainHandling::SendIfNew => !known, // MQTT-3.3.1-10
            RetainHandling::DoNotSend => false,  // MQTT-3.3.1-11
        };
        let replay = replay && is_plain && needs.is_none();
        Ok(SubscriptionChange { filter, options, replay })
    }

    /// Removes the subscriptions of an UNSUBSCRIBE, and returns the filters of those that existed.
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

    /// A QoS 2 message arrives; returns false if it came before and only needs another PUBREC (MQTT-4.3.3-10).
    ///
    /// MQTT 3.1.1 has no receive maximum; there the number of packet identifiers is the bound.
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

    /// The client sent PUBREL, or the broker refused the message: frees the identifier; false if it was free.
    pub fn release(&mut self, id: PacketId) -> bool {
        self.incoming.remove(&id)
    }

    /// The number of QoS 2 messages received and not released.
    pub fn unreleased(&self) -> usize {
        self.incoming.len()
    }
}

/// Whether a SUBSCRIBE with these properties is about selections of parameters.
pub fn selects(properties: Properties<'_>) -> bool {
    let needs = Needs::parse(user_properties(properties));
    needs.is_ok_and(|needs| needs.is_some_and(|needs| !needs.is_stream()))
}

fn user_properties(properties: Properties<'_>) -> impl Iterator<Item = (&str, &str)> {
    properties.iter().filter_map(|(_, value)| match value {
        Value::Pair(name, text) => Some((name, text)),
        _ => None,
    })
}

/// How many requests a service computes at once; 0 if the client does not say that it is one.
fn serve(properties: Properties<'_>) -> Result<u16, &'static str> {
    let mut said = user_properties(properties).filter(|(name, _)| *name == SERVE_PROPERTY);
    let Some((_, text)) = said.next() else { return Ok(0) };
    text.parse().ok().filter(|count| *count > 0).ok_or(NO_SERVICE)
}

/// Why a filter that begins with `$selection/` chooses nothing; None if it does, and for all other filters.
fn selection_problem(
    filter: &str,
    needs: Option<Needs>,
    checks: &mut dyn SubscriptionChecks,
) -> Option<&'static str> {
    if !filter.starts_with(SELECTIONS) {
        return None;
    }
    let Some(needs) = needs else { return Some(NO_NEEDS) };
    let is_there = match SelectionFilter::parse(filter) {
        Some(SelectionFilter::Filter(_)) => true,
        Some(SelectionFilter::List(_)) => !needs.is_stream() && checks.is_list(filter),
        None => false,
    };
    (!is_there).then_some(NO_LIST)
}

/// Checks that a filter is valid; the error is the limit that it exceeds, if any.
fn check(filter: &str, limits: &Limits) -> Result<(), Option<Limit>> {
    let topics = match shared(filter) {
        Some(Err(_)) => return Err(None), // MQTT-4.8.2-1, -2
        Some(Ok((_, topics))) => topics,
        None => SelectionFilter::parse(filter).and_then(SelectionFilter::filter).unwrap_or(filter),
    };
    check_filter(topics).map_err(|_| None)?;
    if levels(topics) > limits.topic_levels {
        return Err(Some(Limit::TopicLevels));
    }
    if topics.len() > limits.topic_bytes {
        return Err(Some(Limit::TopicBytes));
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
