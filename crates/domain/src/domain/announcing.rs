//! How this broker's own record changes, and what follows when any record does.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Domain;
use crate::interest::{InterestDifference, InterestUpdate};
use crate::record::ChangedParts;
use crate::{AnnouncedInterest, BrokerId, BrokerRecord, DomainEvent, Routing, Topology};

impl Domain {
    /// Announces the interest again as it is, if a broker in reach has not acknowledged it.
    pub(super) fn repeat_announcement(&mut self) {
        let counter = self.announcement.interest_counter();
        if counter.is_some() && !self.not_knowing(counter).is_empty() {
            self.known.change_own(&ChangedParts::default());
            self.spread(self.id());
        }
    }

    /// Announces the interest and the load, as far as they have changed.
    pub(super) fn announce(&mut self) {
        let (is_interest_changed, load) = self.announcement.begin(self.now_ms);
        let load = load.filter(|load| *load != self.known.own().load());
        let interest = is_interest_changed.then(|| self.update_interest()).flatten();
        let is_new_interest = interest.is_some();
        let parts = ChangedParts { load, interest, ..ChangedParts::default() };
        if !parts.is_empty() {
            self.known.change_own(&parts);
            self.spread(self.id());
        }
        if is_new_interest {
            self.announcement.interest_announced(self.known.own().version().counter());
        }
        if let Some(counter) = self.announcement.interest_counter() {
            self.waiting.announced(counter);
        }
    }

    /// What differs from the announced interest, if anything does.
    fn update_interest(&mut self) -> Option<InterestDifference> {
        let announced = self.known.own().interest();
        let update = self.interest.update(announced, self.settings.interest);
        let InterestUpdate { difference, looked_at_bytes } = update;
        self.announcement.pause_interest(looked_at_bytes, self.now_ms);
        if difference.is_none(announced) {
            return None;
        }
        let is_widened = difference.is_widened;
        if is_widened != announced.is_widened() {
            self.tell(DomainEvent::InterestWidened(is_widened));
        }
        Some(difference)
    }

    /// Announces the links over which both ends have said hello, at once: until then messages go to where nobody is.
    pub(super) fn announce_links(&mut self) {
        let greeted = self.neighbours.iter().filter(|(_, one)| one.has_greeted());
        let links = greeted.map(|(id, one)| (*id, one.cost)).collect();
        if *self.known.own().links() != links {
            let parts = ChangedParts { links: Some(links), ..ChangedParts::default() };
            self.known.change_own(&parts);
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
        self.with_routing(after.id(), |routing| {
            routing.set_interest(after.id(), interest, after.interest());
        });
        if before.is_none_or(|before| before.links() != after.links()) {
            self.links_changed();
        } else if before.is_some_and(|before| before.version().next() != after.version()) {
            // A link may have gone and come back in the versions between.
            self.announcement.links_changed(self.now_ms);
        }
    }

    /// Parts of a broker's record are others than before, in the next version or in a later one.
    pub(super) fn parts_changed(&mut self, id: BrokerId, is_next: bool, parts: &ChangedParts) {
        if let Some(difference) = &parts.interest
            && let Some(record) = self.known.get(id).cloned()
        {
            self.with_routing(id, |routing| {
                routing.change_interest(id, difference, record.interest());
            });
        }
        if parts.links.is_some() {
            self.links_changed();
        } else if !is_next {
            self.announcement.links_changed(self.now_ms);
        }
        if parts.description.is_some() {
            self.tell(DomainEvent::Described(id));
        }
    }

    /// A broker is not known any more.
    pub(super) fn forget(&mut self, record: &Arc<BrokerRecord>) {
        let id = record.id();
        self.with_routing(id, |routing| {
            routing.set_interest(id, record.interest(), &AnnouncedInterest::default());
        });
        for widened in self.routing.widened().clone() {
            if let Some(record) = self.known.get(widened).cloned() {
                self.with_routing(widened, |routing| routing.narrow(widened, record.interest()));
            }
        }
        self.acknowledged.remove(&id);
        self.tellers.remove(&id);
        self.arrivals.forget(id);
        self.neighbours.values_mut().for_each(|neighbour| neighbour.forget(id));
    }

    /// Changes where messages for a broker go, and tells if it gets everything from now on, or no more.
    fn with_routing(&mut self, id: BrokerId, change: impl FnOnce(&mut Routing)) {
        let was_widened = self.routing.is_widened(id);
        change(&mut self.routing);
        let is_widened = self.routing.is_widened(id);
        if is_widened != was_widened {
            self.tell(DomainEvent::ForeignInterestWidened { of: id, is_widened });
        }
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
