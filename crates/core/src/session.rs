//! What the broker remembers of a client between its connections, besides the messages for it.

use std::collections::{BTreeMap, HashSet};

use slipring_wire::{
    Packet, PacketId, Properties, PropertiesBuf, PropertyId, QoS, Reason, RetainHandling, SubAck,
    Subscribe, Subscription, UnsubAck, Unsubscribe, Value, Version, check_filter, shared,
};

use crate::ledger::Kept;
use crate::table::{Aim, Needs, PLAIN_RATE, SELECTIONS};
use crate::{Limit, Limits, Stop, levels};

const NO_LIST: &str = "there is no such selection; ask for it at $slipring/table/select, then \
                       subscribe with `deliver`";
const NO_ROOM: &str = "there is no room to remember what selections with `change` or `deadband` were \
                       sent (limits.selection_bytes); choose fewer parameters, or leave `change` \
                       and `deadband` out";
const NO_QUOTA: &str = "this user or address has selections with `change` or `deadband` that remember as \
                        much as one may (limits.owner_selections_percent); give some up first";
const NO_RESERVE: &str = "the last room for selections with `change` or `deadband` is kept for users and \
                          addresses that have few (limits.reserve_percent)";
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

/// A subscription that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The filter as the client wrote it.
    pub filter: Box<str>,
    /// What it asks for.
    pub options: Options,
    /// Whether retained messages are to be sent.
    pub replay: bool,
}

/// A subscription that was not entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The filter as the client wrote it.
    pub filter: Box<str>,
    /// What the client is told.
    pub reason: Reason,
    /// The limit that was reached.
    pub limit: Option<Limit>,
}

/// What is to be known of the table before parameters are chosen.
pub trait Choosing {
    /// Whether a filter names a list that is there. It stays for the session.
    fn is_list(&mut self, filter: &str) -> bool;

    /// Whether a filter matches parameters: a plain subscription reads them.
    fn is_read(&mut self, filter: &str) -> bool;

    /// Whether there is room to serve a selection, with those that found room before in the same packet;
    /// the limit in its way.
    fn check_room(&mut self, filter: &str, identifier: u32, needs: Needs) -> Result<(), Limit>;
}

/// What a SUBSCRIBE changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscribed {
    /// Entered, new or replaced.
    pub changes: Vec<Change>,
    /// Refused, each for its own reason.
    pub refused: Vec<Refused>,
    /// What could not be understood of its needs; then all are refused.
    pub unclear: Option<String>,
}

impl Subscribed {
    /// Why filters were refused, where a code does not say it.
    pub fn why(&self) -> Option<&str> {
        let no_room = self.refused.iter().find_map(|refused| match refused.limit? {
            Limit::SelectionBytes => Some(NO_ROOM),
            Limit::OwnerSelections => Some(NO_QUOTA),
            Limit::ReservePercent => Some(NO_RESERVE),
            _ => None,
        });
        self.unclear.as_deref().or(no_room)
    }
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
    pub fn restore(kept: &Kept) -> Self {
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
    let is_there = match Aim::parse(filter) {
        Some(Aim::Filter(_)) => true,
        Some(Aim::List(_)) => !needs.is_stream() && table.is_list(filter),
        None => false,
    };
    (!is_there).then_some(NO_LIST)
}

fn check(filter: &str, limits: &Limits) -> Result<(), (Reason, Option<Limit>)> {
    let topics = match shared(filter) {
        Some(Err(_)) => return Err((Reason::TopicFilterInvalid, None)), // MQTT-4.8.2-1, -2
        Some(Ok((_, topics))) => topics,
        None => Aim::parse(filter).and_then(Aim::filter).unwrap_or(filter),
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
