//! Events, kept for the control plane until it fetches them; bounded.

use std::collections::VecDeque;
use std::sync::Mutex;

use slipring_core::shortened;

use crate::locks::lock;

/// Events kept. If nobody fetches them, the oldest are dropped and counted.
const EVENTS_MAX: usize = 10_000;
/// Longer texts, such as client identifiers and topics, are cut to this.
const TEXT_BYTES_MAX: usize = 1_024;

/// Something that happened in the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since 1970.
    pub at_ns: i64,
    /// What happened.
    pub kind: EventKind,
    /// The client identifier, or the address of a client that has not sent it.
    pub client: String,
    /// Details: an address, a filter, a reason.
    pub detail: String,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A client connected.
    Connected,
    /// A client disconnected, with the reason.
    Disconnected,
    /// A connection ended before its client was let in.
    Refused,
    /// A filter was subscribed to.
    Subscribed,
    /// A filter was unsubscribed.
    Unsubscribed,
    /// A filter was not granted, with the reason.
    SubscriptionRefused,
    /// Samples, frames or chunks of a client were refused, with the reason.
    PublishRefused,
    /// Messages for a slow subscriber were dropped.
    Dropped,
    /// The session of a client that did not come back has expired.
    Expired,
    /// An operator ended a session.
    Ended,
    /// A client sent a notice to the broker.
    Notice,
    /// A snapshot failed, or the journal could not take a batch.
    JournalTrouble,
    /// A task of the broker panicked and was started again.
    Restarted,
    /// A task that serves one client panicked and ended.
    Panicked,
}

impl EventKind {
    /// The kind in one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
            Self::Refused => "refused",
            Self::Subscribed => "subscribed",
            Self::Unsubscribed => "unsubscribed",
            Self::SubscriptionRefused => "subscription refused",
            Self::PublishRefused => "publish refused",
            Self::Dropped => "dropped",
            Self::Expired => "expired",
            Self::Ended => "ended",
            Self::Notice => "notice",
            Self::JournalTrouble => "trouble",
            Self::Restarted => "restarted",
            Self::Panicked => "panicked",
        }
    }
}

/// The events not fetched yet.
#[derive(Debug, Default)]
pub(crate) struct Events {
    // A lock: connections report rarely, the control plane fetches a few times a second.
    waiting: Mutex<(VecDeque<Event>, u64)>,
}

impl Events {
    pub fn report(&self, at_ns: i64, kind: EventKind, client: &str, detail: impl AsRef<str>) {
        let mut waiting = lock(&self.waiting);
        if waiting.0.len() >= EVENTS_MAX {
            waiting.0.pop_front();
            waiting.1 += 1;
        }
        let [client, detail] =
            [client, detail.as_ref()].map(|text| shortened(text, TEXT_BYTES_MAX));
        waiting.0.push_back(Event { at_ns, kind, client, detail });
    }

    pub fn take(&self) -> (Vec<Event>, u64) {
        let mut waiting = lock(&self.waiting);
        let (events, lost) = std::mem::take(&mut *waiting);
        (events.into(), lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_nobody_fetches_are_bounded_and_the_lost_ones_counted() {
        let events = Events::default();
        for number in 0..EVENTS_MAX + 3 {
            events.report(1, EventKind::Connected, "client", number.to_string());
        }
        let (kept, lost) = events.take();
        assert_eq!((kept.len(), lost, kept[0].detail.as_str()), (EVENTS_MAX, 3, "3"));
        assert_eq!(events.take(), (vec![], 0));
    }

    #[test]
    fn a_long_name_is_cut_in_an_event() {
        let events = Events::default();
        let long = "ä".repeat(TEXT_BYTES_MAX);
        events.report(1, EventKind::Subscribed, &long, format!("a{long}"));
        let (told, _) = events.take();
        assert_eq!(told[0].client, format!("{}...", "ä".repeat(TEXT_BYTES_MAX / 2)));
        assert_eq!(told[0].detail, format!("a{}...", "ä".repeat(TEXT_BYTES_MAX / 2 - 1)));
        assert!(told[0].detail.capacity() < 2 * TEXT_BYTES_MAX);
    }
}
