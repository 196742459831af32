//! SUBSCRIBE and UNSUBSCRIBE: each filter gets its own answer.

use slipring_wire::{
    Packet, Properties, PropertyId, Reason, SubAck, Subscribe, Subscription, UnsubAck, Unsubscribe,
    Violation, check_filter,
};

use super::{Action, Session, levels};

/// A subscription added or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The topic filter.
    pub filter: Box<str>,
    /// Leave out what the client published itself.
    pub no_local: bool,
    /// The option of the subscription that this one replaces.
    pub replaces: Option<bool>,
}

impl Session {
    pub(super) fn subscribe<'a>(
        &mut self,
        subscribe: &Subscribe<'_>,
        reply: &mut Vec<u8>,
    ) -> Result<Action<'a>, Violation> {
        if subscribe.properties.get(PropertyId::SubscriptionIdentifier).is_some() {
            return Err(Violation {
                reason: Reason::SubscriptionIdentifiersNotSupported,
                what: "no subscription identifiers here",
            });
        }
        let mut changes = Vec::new();
        let answer = |subscription| match self.subscribe_one(subscription) {
            Ok(change) => {
                changes.push(change);
                Reason::Success // QoS 0 is granted, whatever was asked for
            }
            Err(reason) => reason,
        };
        let reasons = subscribe.subscriptions.iter().map(answer).collect();
        let properties = Properties::NONE;
        Packet::SubAck(SubAck { packet_id: subscribe.packet_id, properties, reasons })
            .encode(self.version(), reply);
        Ok(Action::Subscribe(changes))
    }

    fn subscribe_one(&mut self, wanted: &Subscription<'_>) -> Result<Change, Reason> {
        if check_filter(wanted.filter).is_err() || levels(wanted.filter) > self.limits.topic_levels
        {
            return Err(Reason::TopicFilterInvalid);
        }
        if wanted.filter.starts_with("$share/") {
            return Err(Reason::SharedSubscriptionsNotSupported);
        }
        let known = self.subscriptions.contains_key(wanted.filter);
        if !known && self.subscriptions.len() >= self.limits.subscriptions {
            return Err(Reason::QuotaExceeded);
        }
        let filter: Box<str> = wanted.filter.into();
        let replaces = self.subscriptions.insert(filter.clone(), wanted.no_local);
        Ok(Change { filter, no_local: wanted.no_local, replaces })
    }

    pub(super) fn unsubscribe<'a>(
        &mut self,
        packet: &Unsubscribe<'_>,
        reply: &mut Vec<u8>,
    ) -> Action<'a> {
        let mut changes = Vec::new();
        let answer = |filter: &&str| match self.subscriptions.remove_entry(*filter) {
            Some((filter, no_local)) => {
                changes.push(Change { filter, no_local, replaces: None });
                Reason::Success
            }
            None => Reason::NoSubscriptionExisted,
        };
        let reasons = packet.filters.iter().map(answer).collect();
        let properties = Properties::NONE;
        Packet::UnsubAck(UnsubAck { packet_id: packet.packet_id, properties, reasons })
            .encode(self.version(), reply);
        Action::Unsubscribe(changes)
    }
}
