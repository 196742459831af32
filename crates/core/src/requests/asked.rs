//! What comes into the book of requests, and what goes out to services.

use std::sync::Arc;

use slipring_wire::QoS;

use super::{Balance, RequestKey, ServiceCandidate};
use crate::{Identifiers, Message, Millis, Owner, Priority};

/// A message that has become a request.
#[derive(Clone, Debug)]
pub struct NewRequest<C> {
    /// Its key.
    pub key: RequestKey,
    /// Who asks.
    pub asker: Arc<C>,
    /// Whose quota counts it.
    pub owner: Owner,
    /// The message as its service gets it.
    pub message: Arc<Message>,
    /// Where the asker gets the answer.
    pub answer_topic: Arc<str>,
    /// The Correlation Data, by which the asker recognises its request.
    pub correlation: Option<Arc<[u8]>>,
    /// Milliseconds until it times out.
    pub timeout_ms: Millis,
    /// Whether it waits if there is no service.
    pub waits: bool,
    /// Its priority.
    pub priority: Priority,
    /// How often it may go to another service.
    pub retries: u8,
    /// How its service is chosen.
    pub balance: Balance,
    /// Whether the journal knows of it.
    pub is_recorded: bool,
}

/// A request as the journal describes it.
#[derive(Clone, Debug)]
pub struct RestoredRequest<C> {
    /// As it was asked; its time-out is what is left of it.
    pub request: NewRequest<C>,
    /// When it was asked.
    pub asked_ns: i64,
    /// Whether a service had it.
    pub is_delivered: bool,
    /// That service, if its session is still there.
    pub service: Option<Arc<C>>,
}

/// What the book needs to know of the world.
pub struct Surroundings<'a, C> {
    /// The time by the clock that never jumps.
    pub now_ms: Millis,
    /// The time in nanoseconds since 1970.
    pub now_ns: i64,
    /// Counts changes of the subscriptions.
    pub generation: u64,
    /// The subscribers that can serve a topic.
    pub find: &'a dyn Fn(&str) -> Vec<ServiceCandidate<C>>,
}

/// A request that goes to a service now.
#[derive(Clone, Debug)]
pub struct Handing<C> {
    /// The request.
    pub key: RequestKey,
    /// The service.
    pub client: Arc<C>,
    /// The message for it.
    pub message: Arc<Message>,
    /// The QoS to deliver with.
    pub qos: QoS,
    /// The identifiers of its subscriptions.
    pub identifiers: Identifiers,
    /// The priority to deliver with.
    pub priority: Priority,
    /// Whether the service gets it on a topic with its key.
    pub by_topic: bool,
    /// Whether the journal knows of the request.
    pub is_recorded: bool,
    /// Whether the service must not get it before the journal knows that it does: it may be computed only once.
    pub is_single: bool,
}

/// What became of a new request, or of one that was given back.
#[derive(Clone, Debug)]
pub enum Asked<C> {
    /// A service gets it.
    Handed(Handing<C>),
    /// It waits for a service.
    Stored,
    /// There is no service, and it does not wait: end it so.
    NoService,
}
