//! The domain as one broker sees it: a machine without I/O. Its driver hands it bytes and the time, sends what
//! [`Domain::poll_transmit`] gives, does what [`Domain::poll_event`] says, and calls [`Domain::handle_timeout`] when
//! [`Domain::next_timeout_ms`] has come. Never touches the payload of a message.

mod announcement;
mod announcing;
mod carrying;
mod receiving;
#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use crate::bounds::LINKS_MAX;
use crate::neighbour::Neighbour;
use crate::record::ChangedParts;
#[cfg(test)]
use crate::tests::planted_bug::{PlantedBug, is_planted};
use crate::waiting_subscriptions::WaitingSubscriptions;
use crate::{
    Arrivals, BrokerDescription, BrokerId, BrokerRecord, DomainEvent, DomainSettings, Interest,
    KnownBrokers, Load, Routing, SubscriptionToken, Topology, WantedRate,
};

use announcement::Announcement;
pub use carrying::{Forwarding, PublishedMessage};
pub use receiving::ReceiveError;

/// Events that nobody fetches; the oldest is dropped for a new one, and counted.
const EVENTS_MAX: usize = 4_096;

/// Why a link cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// The neighbour has this broker's identity: it is this broker, or a copy of its data folder.
    #[error("the neighbour has this broker's own identity: it is a copy, or the link leads back")]
    Itself,
    /// There are [`LINKS_MAX`] links.
    #[error("this broker has as many links as it can have")]
    TooMany,
}

/// A broker's view of its domain.
#[derive(Debug)]
pub struct Domain {
    settings: DomainSettings,
    known: KnownBrokers,
    routing: Routing,
    neighbours: BTreeMap<BrokerId, Neighbour>,
    interest: Interest,
    announcement: Announcement,
    waiting: WaitingSubscriptions,
    /// The newest version of this broker's record that each other one acknowledged.
    acknowledged: BTreeMap<BrokerId, u64>,
    /// The neighbour that was the first to tell of a broker's newest record: acknowledgements go back to it.
    tellers: BTreeMap<BrokerId, BrokerId>,
    arrivals: Arrivals,
    next_number: u64,
    events: VecDeque<DomainEvent>,
    dropped_events: u64,
    now_ms: u64,
}

impl Domain {
    /// A broker without links, in this start of it.
    pub fn new(
        id: BrokerId,
        start: u64,
        description: BrokerDescription,
        settings: DomainSettings,
    ) -> Self {
        let own = BrokerRecord::first(id, start, description);
        let routing =
            Routing::new(Topology::of(id, std::iter::once(&own)), settings.foreign_bytes_max);
        Self {
            known: KnownBrokers::new(own),
            routing,
            neighbours: BTreeMap::new(),
            interest: Interest::default(),
            announcement: Announcement::default(),
            waiting: WaitingSubscriptions::default(),
            acknowledged: BTreeMap::new(),
            tellers: BTreeMap::new(),
            arrivals: Arrivals::new(settings.arrival_window),
            next_number: 0,
            events: VecDeque::new(),
            dropped_events: 0,
            now_ms: 0,
            settings,
        }
    }

    /// Which broker it is.
    pub fn id(&self) -> BrokerId {
        self.known.own().id()
    }

    /// What is known of all brokers.
    pub fn known(&self) -> &KnownBrokers {
        &self.known
    }

    /// The links of the domain, and who is in reach.
    pub fn topology(&self) -> &Topology {
        self.routing.topology()
    }

    /// How many events were dropped because nobody fetched them.
    pub fn dropped_events(&self) -> u64 {
        self.dropped_events
    }

    /// A link to a neighbour is there. One that was there before has ended by it.
    pub fn link_up(
        &mut self,
        neighbour: BrokerId,
        cost: u32,
        now_ms: u64,
    ) -> Result<(), LinkError> {
        if neighbour == self.id() {
            return Err(LinkError::Itself);
        }
        if self.neighbours.len() >= LINKS_MAX && !self.neighbours.contains_key(&neighbour) {
            return Err(LinkError::TooMany);
        }
        self.pass(now_ms);
        self.neighbours.insert(neighbour, Neighbour::new(cost));
        self.announce_links();
        Ok(())
    }

    /// The link to a neighbour has ended.
    pub fn link_down(&mut self, neighbour: BrokerId, now_ms: u64) {
        self.pass(now_ms);
        self.neighbours.remove(&neighbour);
        self.announce_links();
    }

    /// Counts a subscription of a client. An event tells when all brokers in reach know of it; without a token too many
    /// wait already, and the client gets its answer at once.
    pub fn subscribe(
        &mut self,
        filter: &str,
        rate: WantedRate,
        now_ms: u64,
    ) -> Option<SubscriptionToken> {
        self.pass(now_ms);
        if self.interest.subscribe(filter, rate) {
            self.announcement.interest_changed(now_ms);
        }
        let deadline_ms = self.now_ms.saturating_add(self.settings.answer_ms);
        self.waiting.push(self.announcement.interest_counter(), deadline_ms)
    }

    /// Takes back a subscription.
    pub fn unsubscribe(&mut self, filter: &str, rate: WantedRate, now_ms: u64) {
        self.pass(now_ms);
        if self.interest.unsubscribe(filter, rate) {
            self.announcement.interest_changed(now_ms);
        }
    }

    /// Says how many clients there are. Others learn of it within a second, or with the next thing they learn.
    pub fn set_load(&mut self, load: Load, now_ms: u64) {
        self.pass(now_ms);
        self.announcement.load_changed(load, now_ms);
    }

    /// Says what people call this broker, and where it listens for links.
    pub fn set_description(&mut self, description: BrokerDescription, now_ms: u64) {
        self.pass(now_ms);
        if *self.known.own().description() != description {
            let parts = ChangedParts { description: Some(description), ..ChangedParts::default() };
            self.known.change_own(&parts);
            self.spread(self.id());
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) has something to do; it may have come already.
    pub fn next_timeout_ms(&self) -> Option<u64> {
        let deadline = self.waiting.first().map(|first| first.deadline_ms);
        let forgotten = self.known.next_forgotten_ms(self.settings.forget_ms);
        [self.announcement.due_ms(), deadline, forgotten].into_iter().flatten().min()
    }

    /// Does what was to be done at this time or before. The driver calls it at the end of each turn: what changed in the
    /// turn is announced together.
    pub fn handle_timeout(&mut self, now_ms: u64) {
        self.pass(now_ms);
        self.announce();
        if self.announcement.begin_repeat(self.now_ms) {
            self.repeat_announcement();
        }
        let forgotten = self.known.forget(self.settings.forget_ms, self.now_ms);
        for record in forgotten {
            self.forget(&record);
        }
    }

    /// The neighbours for whom there is something to send.
    pub fn to_send(&self) -> impl Iterator<Item = BrokerId> {
        let waiting = self.neighbours.iter().filter(|(_, one)| one.has_something_to_send());
        waiting.map(|(id, _)| *id)
    }

    /// The next bytes for a neighbour. What its link has no room for waits here, where the newer replaces the older.
    pub fn poll_transmit(&mut self, neighbour: BrokerId) -> Option<Vec<u8>> {
        self.neighbours.get_mut(&neighbour)?.next_message(&self.known)
    }

    /// The next thing that happened.
    pub fn poll_event(&mut self) -> Option<DomainEvent> {
        self.events
            .pop_front()
            .or_else(|| self.next_answer())
            .or_else(|| self.arrivals.poll_lost().map(DomainEvent::Lost))
    }

    fn pass(&mut self, now_ms: u64) {
        self.now_ms = now_ms.max(self.now_ms);
    }

    fn tell(&mut self, event: DomainEvent) {
        if self.events.len() >= EVENTS_MAX {
            self.events.pop_front();
            self.dropped_events += 1;
        }
        self.events.push_back(event);
    }

    /// The answer to the subscription that has waited longest, if there is one.
    fn next_answer(&mut self) -> Option<DomainEvent> {
        let first = self.waiting.first()?;
        let missing = self.not_knowing(first.counter);
        let token = first.token;
        let event = if missing.is_empty() && first.counter.is_some() {
            DomainEvent::InterestKnown { token }
        } else if first.deadline_ms <= self.now_ms {
            DomainEvent::InterestUnanswered { token, missing }
        } else {
            return None;
        };
        self.waiting.pop();
        Some(event)
    }

    /// The brokers in reach that have not acknowledged this version of this broker's record; all of them if it is not
    /// announced yet.
    fn not_knowing(&self, counter: Option<u64>) -> Vec<BrokerId> {
        let has_taken = |id: &BrokerId| {
            let acknowledged = self.acknowledged.get(id);
            counter.is_some_and(|counter| acknowledged.is_some_and(|newest| *newest >= counter))
        };
        #[cfg(test)]
        if is_planted(PlantedBug::NeighboursSuffice) {
            let links = self.known.own().links().keys();
            return links.filter(|id| !has_taken(id)).copied().collect();
        }
        let others = self.topology().reachable().iter().filter(|id| **id != self.id());
        others.filter(|id| !has_taken(id)).copied().collect()
    }
}
