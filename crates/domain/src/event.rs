//! What the domain tells the engine.

use crate::{BrokerId, LostRange, SubscriptionToken};

/// Something that happened in the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DomainEvent {
    /// All brokers in reach know of this subscription: what is published at them from now on arrives.
    InterestKnown {
        /// The subscription.
        token: SubscriptionToken,
    },
    /// Time is up, and these brokers in reach have not said that they know of it.
    InterestUnanswered {
        /// The subscription.
        token: SubscriptionToken,
        /// Who has not answered.
        missing: Vec<BrokerId>,
    },
    /// This broker's name and addresses are known, or are others than before: whoever wants a link to it can make one.
    Described(BrokerId),
    /// A way leads to this broker now.
    Reachable(BrokerId),
    /// No way leads to this broker any more.
    Unreachable(BrokerId),
    /// Another broker has this identity, too: a data folder was copied. What it says is not taken.
    IdentityClash(BrokerId),
    /// The start of a broker grew by more than it can: a neighbour, or somebody behind it, may have forged the record. If
    /// so, nobody takes what the broker itself says until it starts with a greater number.
    ImplausibleStart {
        /// Whose record it is.
        of: BrokerId,
        /// The neighbour that was the first to send it.
        from: BrokerId,
        /// The start that the record claims.
        start: u64,
    },
    /// There are as many brokers as a domain can have: this one is not known.
    DomainFull(BrokerId),
    /// Whether this broker's interest matches more than its subscriptions do, because they are too many.
    InterestWidened(bool),
    /// Whether this broker sends everything to another one, because there is no room for the other's filters here.
    ForeignInterestWidened {
        /// The other broker.
        of: BrokerId,
        /// Whether it is so from now on.
        is_widened: bool,
    },
    /// Numbers of an origin that did not arrive.
    Lost(LostRange),
}
