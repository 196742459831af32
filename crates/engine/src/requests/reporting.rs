//! The events of requests for the log. Each is made only while its kind is wanted.

use std::fmt::Display;

use slipring_core::requests::{Handing, RequestKey, RequestState};

use crate::broker::Broker;
use crate::client::Client;
use crate::event::{EventKind, Report};

impl Broker {
    /// Reports what happened to a request, and by which client.
    #[inline]
    pub fn tell_request(
        &self,
        kind: EventKind,
        key: RequestKey,
        client: &str,
        topic: &str,
        detail: &dyn Display,
    ) {
        if self.monitor.events.wants(kind) {
            let key = key.to_string();
            let report = Report { request: &key, ..Report::new(kind, client) };
            self.monitor.tell(&report.topic(topic).detail(detail));
        }
    }

    /// Reports requests that waited, and go to their services now.
    pub fn tell_handed(&self, handings: &[Handing<Client>]) {
        for Handing { key, client, message, .. } in handings {
            let kind = EventKind::RequestRestored;
            self.tell_request(kind, *key, &client.name, message.topic(), &"");
        }
    }
}

/// The event of an end.
pub(crate) fn end_kind(state: RequestState) -> EventKind {
    match state {
        RequestState::TimedOut => EventKind::RequestTimedOut,
        RequestState::Failed => EventKind::RequestFailed,
        RequestState::RequestNotDelivered => EventKind::RequestNotDelivered,
        RequestState::AnswerNotDelivered => EventKind::AnswerNotDelivered,
        RequestState::Dropped => EventKind::RequestDropped,
        RequestState::Cancelled => EventKind::RequestCancelled,
        RequestState::AnswerStored => EventKind::AnswerStored,
        _ => EventKind::AnswerDelivered,
    }
}
