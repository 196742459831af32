//! Principals: who acts on the broker, and by which way.
//!
//! [`Plan::allows`](crate::Plan::allows) says what a principal may do. The engine asks when it makes a publisher's route to
//! a topic, takes a subscription, gets a request to `$slipring/`, and reads the journal for a client.

use crate::access::{Identity, Right, Subject};
use crate::{Owner, SessionKey};

/// The way by which a principal acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The client's own packets.
    Client,
    /// The packets of a client that plays a recording again.
    Replay,
    /// The will that a client left.
    Will,
    /// The broker itself: changes of its tables, `$SYS` topics, requests of the control plane.
    Broker,
    /// A link from another broker. There are none yet; rights will differ by it.
    Link,
}

/// Somebody who publishes, subscribes, requests or reads.
#[derive(Clone, Copy, Debug)]
pub struct Principal<'a> {
    /// The principal's session; [`SessionKey::BROKER`] for the broker.
    pub session: SessionKey,
    /// The client identifier; empty for the broker.
    pub client_id: &'a str,
    /// Who the client has proved to be.
    pub identity: &'a Identity,
    /// Whose quotas count the principal's messages and declarations.
    pub owner: &'a Owner,
    /// The way by which it acts.
    pub way: Way,
    /// Whether the journal keeps the packet identifiers of its QoS 2 messages.
    pub is_durable: bool,
}

impl Principal<'static> {
    /// The broker itself.
    pub fn broker() -> Self {
        Self {
            session: SessionKey::BROKER,
            client_id: "",
            identity: Identity::anonymous(),
            owner: Owner::broker(),
            way: Way::Broker,
            is_durable: false,
        }
    }
}

impl Way {
    /// Whether these are the packets of a client, which gets answers.
    pub fn is_client(self) -> bool {
        matches!(self, Self::Client | Self::Replay)
    }

    /// The right to publish messages and samples by this way.
    pub fn publishing(self) -> Right {
        if self == Self::Replay { Right::Replay } else { Right::Publish }
    }
}

impl<'a> Principal<'a> {
    /// The principal as rules see it.
    pub fn subject(&self) -> Subject<'a> {
        Subject { identity: self.identity, client_id: self.client_id }
    }
}
