//! What happens in the broker, for its log: the kinds of events, and the fields of one.

use std::fmt::Display;

use slipring_core::access::Right;

use crate::connection_handle::ConnectionHandle;

/// Something that happened in the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Nanoseconds since 1970.
    pub at_ns: i64,
    /// What happened.
    pub kind: EventKind,
    /// The client identifier, or the address of a client that has not sent it.
    pub client: String,
    /// The topic or the filter; empty if it is about none.
    pub topic: String,
    /// The request, as its key is written; empty if it is about none.
    pub request: String,
    /// Details: an address, a reason, a size.
    pub detail: String,
}

/// An event as it is reported. Its texts are copied only if it is kept.
#[derive(Clone, Copy)]
pub(crate) struct Report<'a> {
    pub kind: EventKind,
    pub client: &'a str,
    pub topic: &'a str,
    pub request: &'a str,
    pub detail: &'a dyn Display,
    /// The connection of whoever did it, for the audit.
    pub by: Option<&'a ConnectionHandle>,
    /// The right that it took, for the audit.
    pub right: Option<Right>,
}

impl<'a> Report<'a> {
    /// What happened to a client, without details.
    pub fn new(kind: EventKind, client: &'a str) -> Self {
        Self { kind, client, topic: "", request: "", detail: &"", by: None, right: None }
    }

    pub fn topic(self, topic: &'a str) -> Self {
        Self { topic, ..self }
    }

    pub fn by(self, by: &'a ConnectionHandle) -> Self {
        Self { by: Some(by), ..self }
    }

    pub fn right(self, right: Right) -> Self {
        Self { right: Some(right), ..self }
    }

    pub fn detail(self, detail: &'a dyn Display) -> Self {
        Self { detail, ..self }
    }
}

/// Defines the kinds with their names, and a list of all.
macro_rules! kinds {
    ($($(#[$meaning:meta])* $kind:ident = $name:literal,)*) => {
        /// The kinds of events.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EventKind {
            $($(#[$meaning])* $kind,)*
        }

        impl EventKind {
            /// Every kind.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$kind),*];

            /// The kind in a few words.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

kinds! {
    /// A client connected.
    Connected = "connected",
    /// A client disconnected, with the reason.
    Disconnected = "disconnected",
    /// A connection ended before its client was let in.
    Refused = "refused",
    /// A client proved who it is.
    Authenticated = "authenticated",
    /// A client did not prove who it is, with the reason.
    AuthenticationRefused = "authentication refused",
    /// A client did something that it has no right to.
    Unauthorized = "unauthorized",
    /// A filter was subscribed to.
    Subscribed = "subscribed",
    /// A filter was unsubscribed.
    Unsubscribed = "unsubscribed",
    /// A filter was not granted, with the reason.
    SubscriptionRefused = "subscription refused",
    /// A filter that was not subscribed to cannot be unsubscribed.
    NotSubscribed = "not subscribed",
    /// Samples, frames or chunks of a client were refused, with the reason.
    PublishRefused = "publish refused",
    /// Messages for a slow subscriber were dropped.
    Dropped = "dropped",
    /// Stored messages that a client published were dropped.
    Victims = "victims",
    /// Somebody changed the memory budget.
    Budget = "budget",
    /// The session of a client that did not come back has expired.
    Expired = "expired",
    /// An operator ended a session.
    Ended = "ended",
    /// A client sent a notice to the broker.
    Notice = "notice",
    /// A snapshot failed, or the journal could not take a batch.
    JournalTrouble = "trouble",
    /// A task of the broker panicked and was started again.
    Restarted = "restarted",
    /// A task that serves one client panicked and ended.
    Panicked = "panicked",
    /// A user or an address reached a quota.
    QuotaReached = "quota",
    /// A message came from its publisher.
    MessageReceived = "message received",
    /// A message is kept: it waits for a subscriber, or for one that is away.
    MessageStored = "message stored",
    /// A message that was kept goes on to its subscriber, or was found in the journal at the start.
    MessageRestored = "message restored",
    /// A subscriber has a message: it was given to its connection at QoS 0, or acknowledged by it.
    MessageDelivered = "message delivered",
    /// A message that waited was not delivered: it expired, or the journal has it no longer.
    MessageNotDelivered = "message not delivered",
    /// A message that waited for its first subscriber was discarded: a limit was reached.
    MessageDiscarded = "message discarded",
    /// A request came from its asker.
    RequestReceived = "request received",
    /// A request was refused, with the reason.
    RequestRefused = "request refused",
    /// A request waits for a service.
    RequestStored = "request stored",
    /// A request that waited goes on, or was found in the journal at the start.
    RequestRestored = "request restored",
    /// A request was given to a service.
    RequestDelivered = "request delivered",
    /// A request goes to another service, because the first one has gone.
    RequestRetried = "request retried",
    /// A part of an answer came from the service.
    PartReceived = "part received",
    /// An answer came from the service.
    AnswerReceived = "answer received",
    /// An answer waits for its asker, which is away.
    AnswerStored = "answer stored",
    /// An answer that waited goes on, or was found in the journal at the start.
    AnswerRestored = "answer restored",
    /// The asker has the answer.
    AnswerDelivered = "answer delivered",
    /// An answer came to nothing: late, twice, or by a client that was not asked.
    AnswerDiscarded = "answer discarded",
    /// The asker took its request back, or its session ended.
    RequestCancelled = "request cancelled",
    /// No answer came in time.
    RequestTimedOut = "request timed out",
    /// The service could not answer, or has gone.
    RequestFailed = "request failed",
    /// There was no service.
    RequestNotDelivered = "request not delivered",
    /// The asker cannot get the answer.
    AnswerNotDelivered = "answer not delivered",
    /// A request or its answer was discarded: memory was short.
    RequestDropped = "request dropped",
    /// A client read the journal, or asked for values.
    Read = "read",
}

impl EventKind {
    /// The kind with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether it can happen for each message or request. Such an event is made only while the control plane wants
    /// its kind.
    pub fn is_frequent(self) -> bool {
        self as u8 >= Self::MessageReceived as u8
    }

    /// Its bit in a set of kinds.
    pub(crate) const fn bit(self) -> u64 {
        1 << self as u8
    }
}

const _: () = assert!(EventKind::ALL.len() <= 64, "a set of kinds is 64 bits");
