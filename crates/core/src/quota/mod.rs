//! Quotas: how much of each limit one owner may hold, and the reserve for owners that hold little.
//!
//! Pure. Each store keeps its [`Shares`] under its own lock, so that the count always equals what it holds.

mod owner;
mod rate;
mod rules;
mod shares;
#[cfg(test)]
mod tests;

pub use owner::Owner;
pub use rate::RateBucket;
pub use rules::{OwnerQuotas, QuotaRules};
pub use shares::Shares;

use crate::{Limit, Limits};

/// The reserve is for this many newcomers.
const NEWCOMERS: usize = 100;

/// How one limit is divided among the owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// What all owners may hold together, and the limit to name when it is reached.
    pub all: (usize, Limit),
    /// What one owner may hold, in percent of that, and the limit to name.
    pub one: (u8, Limit),
    /// The reserve for newcomers, in percent.
    pub reserve_percent: u8,
    /// What this owner may hold whatever the others do, and the quota to name.
    pub own: Option<(usize, Limit)>,
}

/// An owner that asks for something, and its quotas of the N things that are counted.
#[derive(Clone, Copy, Debug)]
pub struct Holder<'a, const N: usize> {
    /// The owner.
    pub owner: &'a Owner,
    /// Its quotas.
    pub quotas: [Quota; N],
}

impl Quota {
    /// What one owner may hold. The part of the others is rounded down, so that one owner may have all of a limit
    /// of 1.
    pub fn of_one(&self) -> usize {
        let share = self.all.0 - percent(self.all.0, 100u8.saturating_sub(self.one.0));
        self.own.map_or(share, |(most, _)| share.min(most))
    }

    /// The reserve for newcomers.
    pub fn reserve(&self) -> usize {
        percent(self.all.0, self.reserve_percent)
    }

    /// What an owner may hold and still count as a newcomer.
    pub fn of_newcomer(&self) -> usize {
        (self.reserve() / NEWCOMERS).max(1)
    }

    /// Checks that an owner may hold so much more. The error is the limit that prevents it.
    ///
    /// Example: of a limit of 1,000 with 75 % for one owner and a reserve of 5 %, one owner may hold 750. When all
    /// hold 950, only an owner that holds nothing gets one more.
    pub fn check(&self, shares: &Shares, owner: &Owner, more: usize) -> Result<(), Limit> {
        if more == 0 {
            return Ok(());
        }
        let all = shares.total() + more;
        if all > self.all.0 {
            return Err(self.all.1);
        }
        let room = self.room_for(shares, owner, more)?;
        if all > room { Err(Limit::ReservePercent) } else { Ok(()) }
    }

    /// What all may hold together if this owner gets so much more: with the reserve if it is a newcomer, else without.
    /// The error is the limit for one owner, if it would hold more than that.
    pub fn room_for(&self, shares: &Shares, owner: &Owner, more: usize) -> Result<usize, Limit> {
        rules::check_own(self.own, shares, owner, more)?;
        let (one, most) = (shares.held(owner) + more, self.of_one());
        if one > most && most < self.all.0 {
            return Err(self.one.1);
        }
        let is_newcomer = one <= self.of_newcomer();
        Ok(if is_newcomer { self.all.0 } else { self.all.0.saturating_sub(self.reserve()) })
    }
}

/// A quota of one owner.
fn own(most: Option<usize>, limit: Limit) -> Option<(usize, Limit)> {
    most.map(|most| (most, limit))
}

fn percent(of: usize, percent: u8) -> usize {
    // Not `of * percent`, which overflows for the largest limits.
    of / 100 * usize::from(percent) + of % 100 * usize::from(percent) / 100
}

impl Limits {
    /// The same limits without quotas for messages: a restart drops no stored message because of a quota.
    #[must_use]
    pub fn undivided(self) -> Self {
        Self { owner_retained_percent: 100, owner_waiting_percent: 100, reserve_percent: 0, ..self }
    }

    fn quota(&self, all: (usize, Limit), one: (u8, Limit)) -> Quota {
        Quota { all, one, reserve_percent: self.reserve_percent, own: None }
    }

    /// How connections are divided.
    pub fn connections_quota(&self) -> Quota {
        let one = (self.owner_connections_percent, Limit::OwnerConnections);
        let quota = self.quota((self.connections, Limit::Connections), one);
        Quota { own: own(self.own.connections, Limit::QuotaConnections), ..quota }
    }

    /// How kept sessions are divided.
    pub fn sessions_quota(&self) -> Quota {
        let one = (self.owner_sessions_percent, Limit::OwnerSessions);
        self.quota((self.sessions, Limit::Sessions), one)
    }

    /// How retained messages and their bytes are divided.
    pub fn retained_quotas(&self) -> [Quota; 2] {
        let one = (self.owner_retained_percent, Limit::OwnerRetained);
        let messages = self.quota((self.retained_messages, Limit::RetainedMessages), one);
        let bytes = self.quota((self.retained_bytes, Limit::RetainedBytes), one);
        [messages, Quota { own: own(self.own.stored_bytes, Limit::QuotaStored), ..bytes }]
    }

    /// How messages that wait for their first subscriber and their bytes are divided.
    pub fn waiting_quotas(&self) -> [Quota; 2] {
        let one = (self.owner_waiting_percent, Limit::OwnerWaiting);
        let messages = self.quota((self.waiting_messages, Limit::WaitingMessages), one);
        let bytes = self.quota((self.waiting_bytes, Limit::WaitingBytes), one);
        [messages, Quota { own: own(self.own.stored_bytes, Limit::QuotaStored), ..bytes }]
    }

    /// How requests are divided.
    pub fn requests_quota(&self) -> Quota {
        let one = (self.owner_requests_percent, Limit::OwnerRequests);
        let quota = self.quota((self.requests, Limit::Requests), one);
        Quota { own: own(self.own.requests, Limit::QuotaRequests), ..quota }
    }

    /// How parameters are divided.
    pub fn parameters_quota(&self) -> Quota {
        let one = (self.owner_parameters_percent, Limit::OwnerParameters);
        let quota = self.quota((self.parameters, Limit::Parameters), one);
        Quota { own: own(self.own.parameters, Limit::QuotaParameters), ..quota }
    }

    /// How the memory of selections is divided.
    pub fn selections_quota(&self) -> Quota {
        let one = (self.owner_selections_percent, Limit::OwnerSelections);
        self.quota((self.selection_bytes, Limit::SelectionBytes), one)
    }

    /// How streams, and the bytes of their buffers, are divided.
    pub fn streams_quotas(&self, buffers_bytes: usize) -> [Quota; 2] {
        let one = (self.owner_streams_percent, Limit::OwnerStreams);
        let streams = (self.streams, Limit::Streams);
        [streams, (buffers_bytes, Limit::Streams)].map(|all| self.quota(all, one))
    }
}
