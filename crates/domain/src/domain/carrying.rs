//! Messages of clients: their numbers, and the neighbours that get them.

use super::Domain;
use crate::{BrokerId, MessageArrival, MessageOrigin, NextHop};

/// A message that entered here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedMessage {
    /// Where it entered, and its number.
    pub message: MessageOrigin,
    /// The neighbours that get it.
    pub next_hops: Vec<NextHop>,
}

/// What becomes of a message that a neighbour sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// It is new: subscribers here get it, and these neighbours.
    Taken(Vec<NextHop>),
    /// It was taken before, or entered here.
    Repeated,
    /// So much has come from its origin since that nobody knows whether it was taken.
    TooLate,
    /// No link leads to the neighbour, or nobody has heard of the origin.
    Unknown,
}

impl Domain {
    /// A message enters the domain here.
    pub fn publish(&mut self, topic: &str) -> PublishedMessage {
        let (broker, start) = (self.id(), self.known.own().version().start());
        let message = MessageOrigin { broker, start, number: self.next_number };
        self.next_number += 1;
        PublishedMessage { message, next_hops: self.next_hops(broker, topic, None) }
    }

    /// A neighbour sent a message.
    pub fn forward(&mut self, from: BrokerId, message: MessageOrigin, topic: &str) -> Forwarding {
        if message.broker == self.id() {
            return Forwarding::Repeated;
        }
        if !self.neighbours.contains_key(&from) || self.known.get(message.broker).is_none() {
            return Forwarding::Unknown;
        }
        match self.arrivals.take(message) {
            MessageArrival::New => {
                Forwarding::Taken(self.next_hops(message.broker, topic, Some(from)))
            }
            MessageArrival::Repeated => Forwarding::Repeated,
            MessageArrival::TooLate => Forwarding::TooLate,
            MessageArrival::NoRoom => Forwarding::Unknown,
        }
    }

    /// Where messages of an origin go from here. The answer holds until [`generation`](Self::generation) changes.
    pub fn next_hops(
        &mut self,
        origin: BrokerId,
        topic: &str,
        came_from: Option<BrokerId>,
    ) -> Vec<NextHop> {
        self.routing.next_hops(origin, topic, came_from)
    }

    /// Changes whenever messages may go elsewhere.
    pub fn generation(&self) -> u64 {
        self.routing.generation()
    }
}
