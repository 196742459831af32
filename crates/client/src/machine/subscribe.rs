//! Asking the broker for messages, and giving them up again.

use slipring_wire::{
    Packet, PacketId, Properties, QoS, Reason, SubAck, Subscribe, Subscription, Unsubscribe,
    Violation, check_filter,
};

use super::answers::Request;
use super::{Event, Machine, Notice, Phase, Refusal, SendError, SubscriptionId};

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
        self.leave(filters);
    }

    /// Ends the reading of a subscription, which stays at the broker: for the session's next one.
    pub fn detach(&mut self, id: SubscriptionId) {
        self.routes.remove(id);
    }

    /// Gives filters up at the broker, except those that a subscription here uses.
    pub fn give_up(&mut self, filters: &[&str]) -> Result<(), SendError> {
        self.check_open()?;
        check_filters(filters)?;
        self.check_size(filters.iter().map(|filter| filter.len() + 2).sum())?;
        let unused = filters.iter().filter(|filter| self.routes.quality(filter).is_none());
        let unused = unused.map(ToString::to_string).collect();
        self.leave(unused);
        Ok(())
    }

    fn leave(&mut self, filters: Vec<String>) {
        self.routes.give_up(&filters);
        if !filters.is_empty() {
            self.ask(Request::Unsubscribe { filters });
        }
    }

    /// Sends a request, or keeps it for the next connection; false if the broker takes no packets
    /// of its size, though it did when the request was made first.
    fn ask(&mut self, request: Request) -> bool {
        let packet_id = self.free_id();
        let open = matches!(self.phase, Phase::Open);
        let fits = !open || self.append(&self.packet(packet_id, &request)).is_ok();
        if fits {
            self.answers.expect(packet_id, request);
        }
        fits
    }

    fn packet<'a>(&self, packet_id: PacketId, request: &'a Request) -> Packet<'a> {
        match request {
            Request::Subscribe { filters, .. } => {
                let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
                self.subscription(packet_id, &filters, QoS::AtMostOnce)
            }
            Request::Unsubscribe { filters } => {
                let filters = filters.iter().map(String::as_str).collect();
                let properties = Properties::NONE;
                Packet::Unsubscribe(Unsubscribe { packet_id, properties, filters })
            }
        }
    }

    /// Makes subscriptions again on another connection: in the same session those that were not
    /// answered, in a new one all.
    pub(super) fn resubscribe(&mut self, same_session: bool, events: &mut Vec<Event>) {
        let mut requests = self.answers.take_all();
        if same_session {
            requests.retain(|request| match request {
                Request::Subscribe { id, .. } => self.routes.has(*id),
                Request::Unsubscribe { .. } => true,
            });
        } else {
            let all = self.routes.all().into_iter();
            requests = all.map(|(id, filters)| Request::Subscribe { id, filters }).collect();
        }
        for request in requests {
            let again = request.clone();
            if let (false, Request::Subscribe { id, filters }) = (self.ask(request), again) {
                let reason = Reason::PacketTooLarge;
                let refused = filters.into_iter().map(|filter| Refusal { filter, reason });
                self.answer(id, refused.collect(), events);
            }
        }
    }

    fn answer(&mut self, id: SubscriptionId, refused: Vec<Refusal>, events: &mut Vec<Event>) {
        for refusal in &refused {
            self.routes.refuse(id, &refusal.filter);
        }
        events.push(Event::Notice(Notice::Subscribed { id, refused }));
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
        self.answer(id, refused, events);
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
