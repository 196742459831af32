//! Principals: who acts on the broker, by which way, and with what rights.
//!
//! The engine asks for a right when it makes a publisher's route to a topic, takes a subscription,
//! gets a request to `$slipring/`, and reads the journal for a client. A new right is a variant of [`Right`] and
//! the place that asks for it.

use crate::{Owner, SessionKey};

/// The way by which a principal acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The client's own packets.
    Client,
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
    /// The user name that the client has proved.
    pub user: Option<&'a str>,
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
            user: None,
            owner: Owner::broker(),
            way: Way::Broker,
            is_durable: false,
        }
    }
}

/// Something that a principal wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right<'a> {
    /// Publish to this topic.
    Publish(&'a str),
    /// Subscribe to this filter, as the client wrote it.
    Subscribe(&'a str),
    /// Send the request with this name, which is its topic behind `$slipring/`.
    Ask(&'a str),
    /// Read the journal.
    Read,
    /// Do what an operator does, such as changing the memory budget.
    Operate,
}

/// The rights of all principals. So far everybody has every right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    denied: Vec<Right<'static>>,
}

impl Rights {
    /// Every right but these, for everybody: with it a test shows that each place asks.
    pub fn all_but(denied: Vec<Right<'static>>) -> Self {
        Self { denied }
    }

    /// Whether a principal may do this.
    pub fn allow(&self, who: &Principal<'_>, right: Right<'_>) -> bool {
        who.way == Way::Broker || !self.denied.contains(&right)
    }
}
