//! All brokers compute the same tree of an origin, and it is made of shortest paths.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::strategies_tests::broker;
use crate::{BrokerDescription, BrokerId, BrokerRecord, Topology};

/// Links that one end names: from, to, cost.
type NamedLinks = Vec<(u8, u8, u32)>;

fn records(brokers: u8, named: &NamedLinks) -> Vec<BrokerRecord> {
    let record = |number: u8| {
        let mut record = BrokerRecord::first(broker(number), 1, BrokerDescription::default());
        let links = named.iter().filter(|(from, to, _)| *from == number && to != from);
        record.links = links.map(|(_, to, cost)| (broker(*to), *cost)).collect();
        record
    };
    (0..brokers).map(record).collect()
}

/// Each link, from both of its ends.
fn both_ways(links: &[(u8, u8, u32)]) -> NamedLinks {
    links.iter().flat_map(|(from, to, cost)| [(*from, *to, *cost), (*to, *from, *cost)]).collect()
}

fn seen_from(records: &[BrokerRecord]) -> Vec<Topology> {
    records.iter().map(|record| Topology::of(record.id(), records.iter())).collect()
}

/// How far each broker is from one, by the rule of Bellman and Ford.
fn distances(records: &[BrokerRecord], origin: BrokerId) -> BTreeMap<BrokerId, u64> {
    let mut distances = BTreeMap::from([(origin, 0)]);
    for _ in records {
        for record in records {
            for (neighbour, cost) in record.links() {
                let other = records.iter().find(|record| record.id() == *neighbour);
                let Some(back) = other.and_then(|other| other.links().get(&record.id())) else {
                    continue;
                };
                let Some(here) = distances.get(&record.id()).copied() else { continue };
                let there = here + u64::from((*cost).max(*back).max(1));
                let known = distances.entry(*neighbour).or_insert(there);
                *known = there.min(*known);
            }
        }
    }
    distances
}

/// The parent of each broker in the tree of an origin, as the parents say.
fn parents(records: &[BrokerRecord], origin: BrokerId) -> Vec<(BrokerId, BrokerId)> {
    let mut parents = Vec::new();
    for topology in seen_from(records) {
        let tree = topology.tree_of(origin);
        let is_child = |id: &BrokerId| tree.child_above(*id) == Some(*id);
        let children = records.iter().map(BrokerRecord::id).filter(is_child);
        parents.extend(children.map(|child| (child, topology.me())));
    }
    parents.sort_unstable();
    parents
}

proptest! {
    #[test]
    fn every_broker_in_reach_has_one_parent_on_a_shortest_path(
        named in prop::collection::vec((0..7u8, 0..7u8, 0..4u32), 0..40),
    ) {
        let records = records(7, &named);
        for origin in records.iter().map(BrokerRecord::id) {
            let distances = distances(&records, origin);
            let parents = parents(&records, origin);
            let children: Vec<_> = parents.iter().map(|(child, _)| *child).collect();
            let others: Vec<_> = distances.keys().copied().filter(|id| *id != origin).collect();
            prop_assert_eq!(children, others, "one parent for each broker in reach");
            for (child, parent) in parents {
                prop_assert!(distances[&parent] < distances[&child]);
            }
        }
    }

    #[test]
    fn the_way_to_a_broker_leads_through_the_child_above_it(
        links in prop::collection::vec((0..7u8, 0..7u8, 0..4u32), 0..20),
    ) {
        let records = records(7, &both_ways(&links));
        for origin in records.iter().map(BrokerRecord::id) {
            let parents: BTreeMap<_, _> = parents(&records, origin).into_iter().collect();
            for topology in seen_from(&records) {
                let tree = topology.tree_of(origin);
                for target in records.iter().map(BrokerRecord::id) {
                    let mut way = vec![target];
                    while let Some(parent) = parents.get(way.last().expect("it begins with the target")) {
                        way.push(*parent);
                    }
                    let me = way.iter().position(|id| *id == topology.me());
                    let expected = me.filter(|at| *at > 0).map(|at| way[at - 1]);
                    prop_assert_eq!(tree.child_above(target), expected);
                }
            }
        }
    }
}

#[test]
fn a_link_that_one_end_names_is_none() {
    let records = records(3, &vec![(0, 1, 1), (1, 0, 1), (1, 2, 1)]);
    let topology = Topology::of(broker(0), records.iter());
    let reachable: Vec<_> = topology.reachable().iter().copied().collect();
    assert_eq!(reachable, [broker(0), broker(1)]);
}

#[test]
fn a_link_costs_what_its_dearer_end_says() {
    let named = vec![(0, 1, 1), (1, 0, 9), (0, 2, 4), (2, 0, 1), (2, 1, 4), (1, 2, 1)];
    let records = records(3, &named);
    let tree = Topology::of(broker(0), records.iter()).tree_of(broker(0));
    assert_eq!(tree.child_above(broker(1)), Some(broker(2)));
}

#[test]
fn of_equally_near_neighbours_the_smallest_identity_is_the_parent() {
    let records = records(4, &both_ways(&[(0, 1, 1), (0, 2, 1), (1, 3, 1), (2, 3, 1)]));
    let tree = Topology::of(broker(0), records.iter()).tree_of(broker(0));
    assert_eq!(tree.child_above(broker(3)), Some(broker(1)));
}
