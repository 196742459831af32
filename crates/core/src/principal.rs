//! Who acts on the broker, by which way, and what it may do.
//!
//! Rights are asked at four places: when a publisher's route to a topic is made, when a subscription is taken, when
//! a request to `$slipring/` comes, and when the journal is read. A new right is a variant of [`Right`] and the
//! place that asks for it.

use crate::{Owner, SessionKey};

/// By which way somebody acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A client's own packets.
    Client,
    /// The will of a client that is gone.
    Will,
    /// The broker itself: what it tells of its tables, `$SYS`, questions of the control plane.
    Broker,
}

/// Who publishes, subscribes, asks or reads.
#[derive(Clone, Copy, Debug)]
pub struct Principal<'a> {
    /// The session it acts in; the broker's own is [`SessionKey::BROKER`].
    pub session: SessionKey,
    /// Its client identifier; empty for the broker.
    pub client_id: &'a str,
    /// The name that it has proved.
    pub user: Option<&'a str>,
    /// Whose quotas its messages and declarations are counted for.
    pub owner: &'a Owner,
    /// By which way it acts.
    pub way: Way,
    /// Whether the journal keeps the identifiers of its QoS 2 messages.
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

/// What a principal wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right<'a> {
    /// To publish to this topic.
    Publish(&'a str),
    /// To subscribe to this filter, as the client wrote it.
    Subscribe(&'a str),
    /// To ask the broker for this, named by the topic behind `$slipring/`.
    Ask(&'a str),
    /// To read the journal.
    Read,
}

/// Who may do what. So far everybody may do everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rights {
    denied: Vec<Right<'static>>,
}

impl Rights {
    /// Everything but this, for everybody: shows that each place asks.
    pub fn all_but(denied: Vec<Right<'static>>) -> Self {
        Self { denied }
    }

    /// Whether a principal may do this.
    pub fn allow(&self, who: &Principal<'_>, right: Right<'_>) -> bool {
        who.way == Way::Broker || !self.denied.contains(&right)
    }
}
