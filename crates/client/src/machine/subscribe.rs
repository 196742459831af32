//! Asking the broker for messages, and giving them up again.

use slipring_wire::{
    Packet, PacketId, Properties, PropertyId, QoS, Reason, SubAck, Subscribe, Subscription,
    Unsubscribe, Violation, check_filter,
};

use super::answers::Request;
use super::manner::{Manner, next_identifier};
use super::{Event, Machine, Notice, Phase, Refusal, SendError, SubscriptionId};

/// Subscriptions at once; with the requests that may wait and the messages that may be on their
/// way, fewer than there are packet identifiers.
pub(super) const SUBSCRIPTIONS_MAX: usize = 32_768;

impl Machine {
    /// Asks for the messages that match any of these filters.
    ///
    /// With user properties, which the broker may understand, the subscription has its filters for
    /// itself, and gets what the broker sends for it alone.
    pub fn subscribe(
        &mut self,
        filters: &[&str],
        qos: QoS,
        user: &[(&str, &str)],
    ) -> Result<SubscriptionId, SendError> {
        self.check_open()?;
        check_filters(filters)?;
        let manner = Manner::of(user, next_identifier(self.newest_identifier))?;
        if let Some(taken) = filters.iter().find(|filter| self.routes.is_taken(filter, &manner)) {
            return Err(SendError::Taken((*taken).to_owned()));
        }
        let filter_bytes: usize = filters.iter().map(|filter| filter.len() + 3).sum();
        self.check_size(filter_bytes + manner.properties(true).borrow().encoded().len())?;
        if self.answers.is_full() {
            return Err(SendError::Unanswered);
        }
        if self.routes.len() >= SUBSCRIPTIONS_MAX {
            return Err(SendError::TooMany);
        }
        let id = SubscriptionId(self.newest_id + 1);
        let owned: Vec<String> = filters.iter().map(ToString::to_string).collect();
        let packet_id = self.free_id();
        self.append_subscribe(packet_id, filters, qos, &manner)?;
        self.answers.expect(packet_id, Request::Subscribe { id, filters: owned.clone() });
        self.newest_id += 1;
        self.newest_identifier = manner.identifier().unwrap_or(self.newest_identifier);
        // Retained messages may come before the answer (MQTT 5, 3.8.4), so the route comes first.
        self.routes.add(id, owned, qos, manner);
        self.qos_asked = self.qos_asked.max(qos);
        Ok(id)
    }

    /// Takes what the broker sends on these topics without being asked for it: its answers to
    /// requests that name one of them.
    pub fn listen(&mut self, topics: &[&str]) -> SubscriptionId {
        self.newest_id += 1;
        let id = SubscriptionId(self.newest_id);
        let topics = topics.iter().map(ToString::to_string).collect();
        self.routes.add(id, topics, QoS::AtMostOnce, Manner::Unasked);
        id
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
        let fits = !open || self.append_request(packet_id, &request).is_ok();
        if fits {
            self.answers.expect(packet_id, request);
        }
        fits
    }

    fn append_request(&mut self, packet_id: PacketId, request: &Request) -> Result<(), SendError> {
        match request {
            Request::Subscribe { id, filters } => {
                let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
                let manner = self.routes.manner(*id).cloned().unwrap_or(Manner::Shared);
                self.append_subscribe(packet_id, &filters, QoS::AtMostOnce, &manner)
            }
            Request::Unsubscribe { filters } => {
                let filters = filters.iter().map(String::as_str).collect();
                let properties = Properties::NONE;
                self.append(&Packet::Unsubscribe(Unsubscribe { packet_id, properties, filters }))
            }
        }
    }

    /// Makes subscriptions again on another connection: in a new session all, in the same one those
    /// that were not answered, and those with properties, so that they begin again with what is
    /// newest.
    pub(super) fn resubscribe(&mut self, same_session: bool, events: &mut Vec<Event>) {
        let mut requests = self.answers.take_all();
        let again = self.routes.again(same_session);
        requests.retain(|request| match request {
            Request::Subscribe { id, .. } => {
                same_session
                    && self.routes.has(*id)
                    && !again.iter().any(|(selected, _)| selected == id)
            }
            Request::Unsubscribe { .. } => same_session,
        });
        let again = again.into_iter();
        requests.extend(again.map(|(id, filters)| Request::Subscribe { id, filters }));
        for request in requests {
            let again = request.clone();
            if let (false, Request::Subscribe { id, filters }) = (self.ask(request), again) {
                let reason = Reason::PacketTooLarge;
                let refuse = |filter| Refusal { filter, reason, text: None };
                let refused = filters.into_iter().map(refuse);
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
    fn append_subscribe(
        &mut self,
        packet_id: PacketId,
        filters: &[&str],
        qos: QoS,
        manner: &Manner,
    ) -> Result<(), SendError> {
        let properties = manner.properties(self.session.identifiers_available);
        let subscriptions = filters.iter().map(|filter| {
            let qos = self.routes.quality(filter).map_or(qos, |used| used.max(qos));
            Subscription { qos, ..Subscription::new(filter) }
        });
        let (subscriptions, properties) = (subscriptions.collect(), properties.borrow());
        self.append(&Packet::Subscribe(Subscribe { packet_id, properties, subscriptions }))
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
        let text = suback.properties.text(PropertyId::ReasonString).map(str::to_owned);
        let refuse = |(filter, &reason)| Refusal { filter, reason, text: text.clone() };
        let refused = refused.map(refuse).collect();
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
