//! Which neighbours get a message. Never looks at who is not interested: the work for a topic is proportional to the
//! filters that match it.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipring_core::{Leaf, Tree};

use crate::interest::InterestDifference;
use crate::topology::{OriginTree, Topology};
use crate::{AnnouncedInterest, BrokerId, WantedRate};

/// Where messages go, from this broker.
#[derive(Debug)]
pub struct Routing {
    filters: Tree<InterestedBroker>,
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
    /// Nobody is interested yet.
    pub fn new(topology: Topology) -> Self {
        Self {
            filters: Tree::default(),
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
        self.change_interest(broker, &InterestDifference::between(before, after));
    }

    /// Changes the interest of a broker where it differs.
    pub(crate) fn change_interest(&mut self, broker: BrokerId, difference: &InterestDifference) {
        for (filter, rate) in &difference.filters {
            match rate {
                Some(rate) => {
                    self.filters.insert(filter, InterestedBroker { id: broker, rate: *rate });
                }
                None => drop(self.filters.remove(filter, &broker)),
            }
        }
        let before = match difference.dollar_topics {
            Some(rate) => self.dollar_topics.insert(broker, rate),
            None => self.dollar_topics.remove(&broker),
        };
        let is_changed = !difference.filters.is_empty() || before != difference.dollar_topics;
        self.generation += u64::from(is_changed);
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
        for InterestedBroker { id, rate } in interested.chain(self.interested_in_dollar(topic)) {
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

    fn tree_of(&mut self, origin: BrokerId) -> Arc<OriginTree> {
        let Self { trees, topology, .. } = self;
        if !topology.reachable().contains(&origin) {
            return Arc::new(OriginTree::default());
        }
        let tree = trees.entry(origin).or_insert_with(|| Arc::new(topology.tree_of(origin)));
        Arc::clone(tree)
    }
}
