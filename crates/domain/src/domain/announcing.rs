//! How this broker's own record changes, and what follows when any record does.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Domain;
use crate::{AnnouncedInterest, BrokerId, BrokerRecord, DomainEvent, Topology};

impl Domain {
    /// Announces the interest again as it is, if a broker in reach has not acknowledged it.
    pub(super) fn repeat_announcement(&mut self) {
        let counter = self.announcement.interest_counter();
        if counter.is_some() && !self.not_knowing(counter).is_empty() {
            self.known.change_own(|_| {});
            self.spread(self.id());
        }
    }

    /// Announces the interest and the load, as far as they have changed.
    pub(super) fn announce(&mut self) {
        let (is_interest_changed, load) = self.announcement.begin(self.now_ms);
        let own = self.known.own();
        let load = load.filter(|load| *load != own.load());
        let interest = is_interest_changed.then(|| self.interest.announce(self.settings.interest));
        let interest = interest.filter(|interest| interest != own.interest());
        if let Some(interest) = &interest {
            let is_widened = interest.is_widened();
            if is_widened != own.interest().is_widened() {
                self.tell(DomainEvent::InterestWidened(is_widened));
            }
        }
        let is_new_interest = interest.is_some();
        if is_new_interest || load.is_some() {
            self.known.change_own(|own| {
                own.load = load.unwrap_or(own.load);
                if let Some(interest) = interest {
                    own.interest = interest;
                }
            });
            self.spread(self.id());
        }
        if is_new_interest {
            let own = self.known.own();
            let bytes = own.interest().filters().iter().map(|(filter, _)| filter.len()).sum();
            let counter = own.version().counter();
            self.announcement.interest_announced(counter, bytes, self.now_ms);
        }
        if let Some(counter) = self.announcement.interest_counter() {
            self.waiting.announced(counter);
        }
    }

    /// Announces the links over which both ends have said hello, at once: until then messages go to where nobody is.
    pub(super) fn announce_links(&mut self) {
        let greeted = self.neighbours.iter().filter(|(_, one)| one.has_greeted());
        let links = greeted.map(|(id, one)| (*id, one.cost)).collect();
        if *self.known.own().links() != links {
            self.known.change_own(|own| own.links = links);
            self.spread(self.id());
            self.links_changed();
        }
    }

    /// Sends a broker's newest record to all neighbours.
    pub(super) fn spread(&mut self, record_of: BrokerId) {
        self.neighbours.values_mut().for_each(|neighbour| neighbour.tell(record_of));
    }

    /// A broker's record replaces an earlier one.
    pub(super) fn record_changed(&mut self, before: Option<&BrokerRecord>, after: &BrokerRecord) {
        let none = AnnouncedInterest::default();
        let interest = before.map_or(&none, |before| before.interest());
        self.routing.set_interest(after.id(), interest, after.interest());
        if before.is_none_or(|before| before.links() != after.links()) {
            self.links_changed();
        } else if before.is_some_and(|before| before.version().next() != after.version()) {
            // A link may have gone and come back in the versions between.
            self.announcement.links_changed(self.now_ms);
        }
    }

    /// A broker is not known any more.
    pub(super) fn forget(&mut self, record: &Arc<BrokerRecord>) {
        let id = record.id();
        self.routing.set_interest(id, record.interest(), &AnnouncedInterest::default());
        self.acknowledged.remove(&id);
        self.tellers.remove(&id);
        self.arrivals.forget(id);
    }

    fn links_changed(&mut self) {
        let records = self.known.records().map(|record| &**record);
        let topology = Topology::of(self.id(), records);
        let now_reachable = topology.reachable().clone();
        let before = self.topology().reachable().clone();
        self.routing.set_topology(topology);
        self.announcement.links_changed(self.now_ms);
        self.known.reach(|id| now_reachable.contains(&id), self.now_ms);
        self.ask_for_unknown(&now_reachable);
        for id in now_reachable.difference(&before) {
            self.tell(DomainEvent::Reachable(*id));
        }
        for id in before.difference(&now_reachable) {
            self.tell(DomainEvent::Unreachable(*id));
        }
    }

    /// A broker that was forgotten here, and that others remember, may come back without a new record: a broker in reach
    /// names it as its neighbour. Whoever told of that one has the record; if that link is gone, anybody may.
    fn ask_for_unknown(&mut self, reachable: &BTreeSet<BrokerId>) {
        for id in reachable {
            let Some(record) = self.known.get(*id) else { continue };
            let is_unknown = |id: &&BrokerId| self.known.get(**id).is_none();
            let teller = self.tellers.get(id).filter(|teller| self.neighbours.contains_key(teller));
            for unknown in record.links().keys().filter(is_unknown) {
                for (neighbour, link) in &mut self.neighbours {
                    if teller.is_none_or(|teller| teller == neighbour) {
                        link.ask(*unknown);
                    }
                }
            }
        }
    }
}
