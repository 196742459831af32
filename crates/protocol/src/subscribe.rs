//! SUBSCRIBE and UNSUBSCRIBE, their answers, and making subscriptions again after a reconnection.

use slipring_wire::{
    Packet, PacketId, Properties, QoS, Reason, SubAck, Subscribe, Subscription, UnsubAck,
    Unsubscribe, Violation, check_filter,
};

use super::pending::PendingRequest;
use super::properties::reason_string;
use super::subscription_kind::{SubscriptionKind, next_identifier};
use super::{
    ClientEvent, ClientProtocol, Phase, ProtocolEvent, RefusedFilter, SendError, SubscriptionId,
};

/// Subscriptions at once. Together with pending requests and messages in flight they need fewer
/// packet identifiers than there are.
pub(super) const SUBSCRIPTIONS_MAX: usize = 32_768;

impl ClientProtocol {
    /// Subscribes to the messages that match any of these filters.
    ///
    /// With user properties, which the broker may understand, no other subscription here may use the
    /// same filters, and only the messages that the broker marks for this one belong to it.
    pub fn subscribe(
        &mut self,
        filters: &[&str],
        qos: QoS,
        user: &[(&str, &str)],
    ) -> Result<SubscriptionId, SendError> {
        self.check_open()?;
        check_filters(filters)?;
        let kind = SubscriptionKind::of(user, next_identifier(self.newest_identifier))?;
        if let Some(taken) =
            filters.iter().find(|filter| self.subscriptions.is_taken(filter, &kind))
        {
            return Err(SendError::Taken((*taken).to_owned()));
        }
        let filter_bytes: usize = filters.iter().map(|filter| filter.len() + 3).sum();
        self.check_size(filter_bytes + kind.properties(true).borrow().encoded().len())?;
        if self.pending.is_full() {
            return Err(SendError::Unanswered);
        }
        if self.subscriptions.len() >= SUBSCRIPTIONS_MAX {
            return Err(SendError::TooMany);
        }
        let id = SubscriptionId(self.newest_id + 1);
        let owned: Vec<String> = filters.iter().map(ToString::to_string).collect();
        let packet_id = self.free_id();
        self.append_subscribe(packet_id, filters, qos, &kind)?;
        self.pending.add(packet_id, PendingRequest::Subscribe { id, filters: owned.clone() });
        self.newest_id += 1;
        self.newest_identifier = kind.identifier().unwrap_or(self.newest_identifier);
        // Retained messages may come before SUBACK (MQTT 5, 3.8.4), so it is entered now.
        self.subscriptions.add(id, owned, qos, kind);
        self.qos_asked = self.qos_asked.max(qos);
        Ok(id)
    }

    /// Listens for answers to requests that name one of these topics, up to this QoS. Nothing is sent.
    pub fn listen(&mut self, topics: &[&str], qos: QoS) -> SubscriptionId {
        self.newest_id += 1;
        let id = SubscriptionId(self.newest_id);
        let topics = topics.iter().map(ToString::to_string).collect();
        self.subscriptions.add(id, topics, qos, SubscriptionKind::AnswersOnly);
        self.qos_asked = self.qos_asked.max(qos);
        id
    }

    /// Ends a subscription; messages that still arrive for it are dropped.
    pub fn unsubscribe(&mut self, id: SubscriptionId) {
        let filters = self.subscriptions.remove(id);
        self.leave(filters);
    }

    /// Ends a subscription at the broker, and delivers what still comes for it. An `Unsubscribed` event
    /// says that nothing more will come; then [`Self::detach`] forgets it.
    pub fn retire(&mut self, id: SubscriptionId) {
        let filters = self.subscriptions.retire(id);
        if !filters.is_empty() {
            let _ = self.ask(PendingRequest::Unsubscribe { filters, retired: Some(id) });
        }
    }

    /// Stops reading a subscription, which stays with the session at the broker.
    pub fn detach(&mut self, id: SubscriptionId) {
        self.subscriptions.remove(id);
    }

    /// Unsubscribes from filters that an earlier program of this session left at the broker, except
    /// those that a subscription here uses.
    pub fn give_up(&mut self, filters: &[&str]) -> Result<(), SendError> {
        self.check_open()?;
        check_filters(filters)?;
        self.check_size(filters.iter().map(|filter| filter.len() + 2).sum())?;
        let unused = filters.iter().filter(|filter| self.subscriptions.qos(filter).is_none());
        let unused = unused.map(ToString::to_string).collect();
        self.leave(unused);
        Ok(())
    }

    fn leave(&mut self, filters: Vec<String>) {
        self.subscriptions.give_up(&filters);
        if !filters.is_empty() {
            // If the request is too large for the broker now, the subscription stays there; its messages are
            // dropped here.
            let _ = self.ask(PendingRequest::Unsubscribe { filters, retired: None });
        }
    }

    /// Sends a request, or keeps it for the next connection. Returns the request if it is larger than the
    /// packets that the broker takes now; an earlier connection may have allowed more.
    fn ask(&mut self, request: PendingRequest) -> Result<(), PendingRequest> {
        let packet_id = self.free_id();
        let is_open = matches!(self.phase, Phase::Open);
        if is_open && self.append_request(packet_id, &request).is_err() {
            return Err(request);
        }
        self.pending.add(packet_id, request);
        Ok(())
    }

    fn append_request(
        &mut self,
        packet_id: PacketId,
        request: &PendingRequest,
    ) -> Result<(), SendError> {
        match request {
            PendingRequest::Subscribe { id, filters } => {
                let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
                let kind = self.subscriptions.kind(*id).cloned().unwrap_or(SubscriptionKind::Plain);
                self.append_subscribe(packet_id, &filters, QoS::AtMostOnce, &kind)
            }
            PendingRequest::Unsubscribe { filters, .. } => {
                let filters = filters.iter().map(String::as_str).collect();
                let properties = Properties::NONE;
                self.append(&Packet::Unsubscribe(Unsubscribe { packet_id, properties, filters }))
            }
        }
    }

    /// Makes subscriptions again on another connection: in a new session all; in the same session
    /// those that were not answered, and those with properties, so that they begin again with the
    /// newest values.
    pub(super) fn resubscribe(&mut self, same_session: bool, events: &mut Vec<ProtocolEvent>) {
        let mut requests = self.pending.take_all();
        let again = self.subscriptions.to_repeat(same_session);
        requests.retain(|request| match request {
            PendingRequest::Subscribe { id, .. } => {
                same_session
                    && self.subscriptions.kind(*id).is_some()
                    && !again.iter().any(|(selected, _)| selected == id)
            }
            PendingRequest::Unsubscribe { retired, .. } => {
                if !same_session {
                    told_unsubscribed(*retired, events);
                }
                same_session
            }
        });
        let again = again.into_iter();
        requests.extend(again.map(|(id, filters)| PendingRequest::Subscribe { id, filters }));
        for request in requests {
            if let Err(PendingRequest::Subscribe { id, filters }) = self.ask(request) {
                let reason = Reason::PacketTooLarge;
                let refuse = |filter| RefusedFilter { filter, reason, text: None };
                self.answer(id, filters.into_iter().map(refuse).collect(), events);
            }
        }
    }

    fn answer(
        &mut self,
        id: SubscriptionId,
        refused: Vec<RefusedFilter>,
        events: &mut Vec<ProtocolEvent>,
    ) {
        for refusal in &refused {
            self.subscriptions.refuse(id, &refusal.filter);
        }
        events.push(ProtocolEvent::Client(ClientEvent::Subscribed { id, refused }));
    }

    /// A filter has one QoS at the broker: the highest that any subscription here asks for.
    fn append_subscribe(
        &mut self,
        packet_id: PacketId,
        filters: &[&str],
        qos: QoS,
        kind: &SubscriptionKind,
    ) -> Result<(), SendError> {
        let properties = kind.properties(self.granted.identifiers_available);
        let subscriptions = filters.iter().map(|filter| {
            let qos = self.subscriptions.qos(filter).map_or(qos, |used| used.max(qos));
            Subscription { qos, ..Subscription::new(filter) }
        });
        let (subscriptions, properties) = (subscriptions.collect(), properties.borrow());
        self.append(&Packet::Subscribe(Subscribe { packet_id, properties, subscriptions }))
    }

    pub(super) fn receive_unsuback(
        &mut self,
        unsuback: &UnsubAck<'_>,
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), Violation> {
        let Some(PendingRequest::Unsubscribe { retired, .. }) =
            self.pending.take(unsuback.packet_id)
        else {
            return Err(Violation::protocol("UNSUBACK without UNSUBSCRIBE"));
        };
        told_unsubscribed(retired, events);
        Ok(())
    }

    pub(super) fn receive_suback(
        &mut self,
        suback: &SubAck<'_>,
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), Violation> {
        let Some(PendingRequest::Subscribe { id, filters }) = self.pending.take(suback.packet_id)
        else {
            return Err(Violation::protocol("SUBACK without SUBSCRIBE"));
        };
        if suback.reasons.len() != filters.len() {
            return Err(Violation::protocol("SUBACK without an answer for each filter"));
        }
        let answers = filters.into_iter().zip(&suback.reasons);
        let refused = answers.filter(|(_, reason)| reason.is_error());
        let text = reason_string(suback.properties);
        let refuse = |(filter, &reason)| RefusedFilter { filter, reason, text: text.clone() };
        let refused = refused.map(refuse).collect();
        self.answer(id, refused, events);
        Ok(())
    }
}

fn told_unsubscribed(retired: Option<SubscriptionId>, events: &mut Vec<ProtocolEvent>) {
    events.extend(retired.map(|id| ProtocolEvent::Client(ClientEvent::Unsubscribed(id))));
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
