//! Which neighbours get a message. Never looks at who is not interested: the work for a topic is proportional to the
//! filters that match it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slipring_core::{Leaf, Tree};

use crate::interest::InterestDifference;
use crate::topology::{OriginTree, Topology};
use crate::{AnnouncedInterest, BrokerId, WantedRate};

/// Where messages go, from this broker.
#[derive(Debug)]
pub struct Routing {
    filters: Tree<InterestedBroker>,
    /// How much memory the tree of filters may take.
    bytes_max: usize,
    /// Brokers whose filters found no room in the tree.
    widened: BTreeSet<BrokerId>,
    /// Brokers that want all topics which begin with `$`.
    dollar_topics: BTreeMap<BrokerId, WantedRate>,
    topology: Topology,
    /// Trees of origins that were asked for since the topology changed.
    trees: BTreeMap<BrokerId, Arc<OriginTree>>,
    generation: u64,
}

/// A neighbour that gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The neighbour.
    pub neighbour: BrokerId,
    /// The highest rate that somebody at or behind the neighbour wants.
    pub rate: WantedRate,
}

#[derive(Clone, Copy, Debug)]
struct InterestedBroker {
    id: BrokerId,
    rate: WantedRate,
}

impl Leaf for InterestedBroker {
    type Key = BrokerId;

    fn key(&self) -> BrokerId {
        self.id
    }
}

impl Routing {
    /// Nobody is interested yet. The filters of all brokers may take so much memory.
    pub fn new(topology: Topology, bytes_max: usize) -> Self {
        Self {
            filters: Tree::default(),
            bytes_max,
            widened: BTreeSet::new(),
            dollar_topics: BTreeMap::new(),
            topology,
            trees: BTreeMap::new(),
            generation: 0,
        }
    }

    /// Which state it is: an answer holds until this number changes.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The links of the domain.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Goes by other links from now on.
    pub fn set_topology(&mut self, topology: Topology) {
        self.topology = topology;
        self.trees.clear();
        self.generation += 1;
    }

    /// Replaces the interest of a broker. Only what differs is changed.
    pub fn set_interest(
        &mut self,
        broker: BrokerId,
        before: &AnnouncedInterest,
        after: &AnnouncedInterest,
    ) {
        if before == after {
            return;
        }
        self.change_interest(broker, &InterestDifference::between(before, after), after);
    }

    /// Changes the interest of a broker where it differs from the one before. If its filters find no room, or found
    /// none before, it wants everything.
    pub(crate) fn change_interest(
        &mut self,
        broker: BrokerId,
        difference: &InterestDifference,
        after: &AnnouncedInterest,
    ) {
        let before = match difference.dollar_topics {
            Some(rate) => self.dollar_topics.insert(broker, rate),
            None => self.dollar_topics.remove(&broker),
        };
        let is_changed = !difference.filters.is_empty() || before != difference.dollar_topics;
        self.generation += u64::from(is_changed);
        if self.is_widened(broker) {
            self.narrow(broker, after);
            return;
        }
        for (filter, _) in difference.filters.iter().filter(|(_, rate)| rate.is_none()) {
            self.filters.remove(filter, &broker);
        }
        let wanted = difference.filters.iter();
        let new = wanted.filter_map(|(filter, rate)| rate.map(|rate| (&**filter, rate)));
        if !self.insert(broker, new) {
            for filter in after.filters().keys() {
                self.filters.remove(filter, &broker);
            }
            self.widened.insert(broker);
        }
    }

    /// Inserts filters of a broker; returns false as soon as there is no room for one.
    fn insert<'a>(
        &mut self,
        broker: BrokerId,
        mut filters: impl Iterator<Item = (&'a str, WantedRate)>,
    ) -> bool {
        filters.all(|(filter, rate)| {
            self.filters.insert(filter, InterestedBroker { id: broker, rate });
            self.filters.bytes() <= self.bytes_max
        })
    }

    /// Whether a broker wants everything, because its filters found no room.
    pub(crate) fn is_widened(&self, broker: BrokerId) -> bool {
        self.widened.contains(&broker)
    }

    /// The brokers that want everything, because their filters found no room.
    pub(crate) fn widened(&self) -> &BTreeSet<BrokerId> {
        &self.widened
    }

    /// Goes by the filters of a widened broker again, if there is room even if none of their levels is there already:
    /// less work than to try, for each change of an interest that is too large.
    pub(crate) fn narrow(&mut self, broker: BrokerId, interest: &AnnouncedInterest) {
        let mut room = self.bytes_max.saturating_sub(self.filters.bytes());
        for filter in interest.filters().keys() {
            let Some(left) = room.checked_sub(Tree::<InterestedBroker>::bytes_of(filter)) else {
                return;
            };
            room = left;
        }
        let filters = interest.filters().iter().map(|(filter, rate)| (&**filter, *rate));
        if self.insert(broker, filters) {
            self.widened.remove(&broker);
            self.generation += 1;
        }
    }

    /// The neighbours that get a message of this origin, by identity: those with somebody interested at or below them
    /// in the origin's tree, but not the one it came from.
    pub fn next_hops(
        &mut self,
        origin: BrokerId,
        topic: &str,
        came_from: Option<BrokerId>,
    ) -> Vec<NextHop> {
        let tree = self.tree_of(origin);
        let mut hops: BTreeMap<BrokerId, WantedRate> = BTreeMap::new();
        let interested = self.filters.subscribers(topic).into_iter();
        let others = self.interested_in_dollar(topic).chain(self.interested_in_all());
        for InterestedBroker { id, rate } in interested.chain(others) {
            let Some(neighbour) = tree.child_above(id) else { continue };
            if Some(neighbour) != came_from {
                let highest = hops.entry(neighbour).or_insert(rate);
                *highest = rate.max(*highest);
            }
        }
        hops.into_iter().map(|(neighbour, rate)| NextHop { neighbour, rate }).collect()
    }

    fn interested_in_dollar(&self, topic: &str) -> impl Iterator<Item = InterestedBroker> {
        let all = topic.starts_with('$').then_some(&self.dollar_topics).into_iter().flatten();
        all.map(|(id, rate)| InterestedBroker { id: *id, rate: *rate })
    }

    fn interested_in_all(&self) -> impl Iterator<Item = InterestedBroker> {
        let rate = WantedRate::EVERY_SAMPLE;
        self.widened.iter().map(move |id| InterestedBroker { id: *id, rate })
    }

    fn tree_of(&mut self, origin: BrokerId) -> Arc<OriginTree> {
        let Self { trees, topology, .. } = self;
        if !topology.reachable().contains(&origin) {
            return Arc::new(OriginTree::default());
        }
        let tree = trees.entry(origin).or_insert_with(|| Arc::new(topology.tree_of(origin)));
        Arc::clone(tree)
    }
}
