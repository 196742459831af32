//! Asking the broker for messages, and giving them up again.

use slipring_wire::{
    Packet, PacketId, Properties, QoS, SubAck, Subscribe, Subscription, Unsubscribe, Violation,
    check_filter,
};

use super::answers::Request;
use super::{Event, Machine, Notice, Refusal, SendError, SubscriptionId};

/// Subscriptions at once; with the requests that may wait and the messages that may be on their
/// way, fewer than there are packet identifiers.
pub(super) const SUBSCRIPTIONS_MAX: usize = 32_768;

impl Machine {
    /// Asks for the messages that match any of these filters.
    pub fn subscribe(&mut self, filters: &[&str], qos: QoS) -> Result<SubscriptionId, SendError> {
        self.check_open()?;
        check_filters(filters)?;
        self.check_size(filters.iter().map(|filter| filter.len() + 3).sum())?;
        if self.answers.is_full() {
            return Err(SendError::Unanswered);
        }
        if self.routes.len() >= SUBSCRIPTIONS_MAX {
            return Err(SendError::TooMany);
        }
        self.newest_id += 1;
        let id = SubscriptionId(self.newest_id);
        let owned: Vec<String> = filters.iter().map(ToString::to_string).collect();
        let packet_id = self.free_id();
        self.append(&self.subscription(packet_id, filters, qos))?;
        self.answers.expect(packet_id, Request::Subscribe { id, filters: owned.clone() });
        // Retained messages may come before the answer (MQTT 5, 3.8.4), so the route comes first.
        self.routes.add(id, owned, qos);
        self.qos_asked = self.qos_asked.max(qos);
        Ok(id)
    }

    /// Gives a subscription up; its messages stop here at once.
    pub fn unsubscribe(&mut self, id: SubscriptionId) {
        let filters = self.routes.remove(id);
        if filters.is_empty() || self.check_open().is_err() {
            return;
        }
        let packet_id = self.free_id();
        self.answers.expect(packet_id, Request::Unsubscribe);
        let filters = filters.iter().map(String::as_str).collect();
        let properties = Properties::NONE;
        let packet = Packet::Unsubscribe(Unsubscribe { packet_id, properties, filters });
        self.append(&packet).expect("not larger than the SUBSCRIBE it undoes");
    }

    /// A filter has one quality at the broker: the best that any subscription here wants.
    fn subscription<'a>(&self, packet_id: PacketId, filters: &[&'a str], qos: QoS) -> Packet<'a> {
        let subscriptions = filters.iter().map(|filter| {
            let qos = self.routes.quality(filter).map_or(qos, |used| used.max(qos));
            Subscription { qos, ..Subscription::new(filter) }
        });
        let subscriptions = subscriptions.collect();
        Packet::Subscribe(Subscribe { packet_id, properties: Properties::NONE, subscriptions })
    }

    pub(super) fn receive_suback(
        &mut self,
        suback: &SubAck<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let Some(Request::Subscribe { id, filters }) = self.answers.take(suback.packet_id) else {
            return Err(Violation::protocol("SUBACK without SUBSCRIBE"));
        };
        if suback.reasons.len() != filters.len() {
            return Err(Violation::protocol("SUBACK without an answer for each filter"));
        }
        let answers = filters.into_iter().zip(&suback.reasons);
        let refused = answers.filter(|(_, reason)| reason.is_error());
        let refused: Vec<_> = refused.map(|(filter, &reason)| Refusal { filter, reason }).collect();
        for refusal in &refused {
            self.routes.refuse(id, &refusal.filter);
        }
        events.push(Event::Notice(Notice::Subscribed { id, refused }));
        Ok(())
    }
}

fn check_filters(filters: &[&str]) -> Result<(), SendError> {
    if filters.is_empty() {
        return Err(SendError::NoFilter);
    }
    for filter in filters {
        check_filter(filter).map_err(|error| SendError::Filter((*filter).to_owned(), error))?;
    }
    Ok(())
}
