//! A message goes along its origin's tree to whom has interest, and nowhere else.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use slipring_wire::matches;

use crate::bounds::FOREIGN_BYTES_MAX;
use crate::strategies_tests::{broker, filter, interest, rate, topic};
use crate::{
    AnnouncedInterest, BrokerDescription, BrokerId, BrokerRecord, Interest, InterestBounds,
    NextHop, Routing, Topology, WantedRate,
};

const BROKERS: u8 = 6;
/// What the tree takes for a filter with one level.
const LEVEL_BYTES: usize = 512 + 256;

fn announced(filter: &str, rate: WantedRate) -> AnnouncedInterest {
    let mut interest = Interest::default();
    interest.subscribe(filter, rate);
    interest.announce(InterestBounds::default())
}

fn records(links: &[(u8, u8)]) -> Vec<BrokerRecord> {
    let record = |number: u8| {
        let mut record = BrokerRecord::first(broker(number), 1, BrokerDescription::default());
        for (from, to) in links.iter().filter(|(from, to)| from != to) {
            if *from == number {
                record.links.insert(broker(*to), 1);
            } else if *to == number {
                record.links.insert(broker(*from), 1);
            }
        }
        record
    };
    (0..BROKERS).map(record).collect()
}

fn routings(records: &[BrokerRecord], interests: &[AnnouncedInterest]) -> Vec<Routing> {
    let routing = |me: &BrokerRecord| {
        let mut routing = Routing::new(Topology::of(me.id(), records.iter()), FOREIGN_BYTES_MAX);
        for (other, interest) in records.iter().zip(interests) {
            routing.set_interest(other.id(), &AnnouncedInterest::default(), interest);
        }
        routing
    };
    records.iter().map(routing).collect()
}

/// The crossings of a message: from, to, and the rate wanted there.
fn crossings(routings: &mut [Routing], origin: u8, topic: &str) -> Vec<(BrokerId, NextHop)> {
    let mut open = vec![(broker(origin), None)];
    let mut crossings = Vec::new();
    while let Some((at, came_from)) = open.pop() {
        let routing = routings.iter_mut().find(|one| one.topology().me() == at).expect("a broker");
        for hop in routing.next_hops(broker(origin), topic, came_from) {
            crossings.push((at, hop));
            open.push((hop.neighbour, Some(at)));
        }
    }
    crossings
}

fn wanted(interest: &AnnouncedInterest, topic: &str) -> Option<WantedRate> {
    let found = interest.filters().iter().filter(|(filter, _)| matches(filter, topic));
    found.map(|(_, rate)| *rate).max()
}

proptest! {
    #[test]
    fn a_message_reaches_all_who_want_it_once_and_crosses_no_link_for_nobody(
        links in prop::collection::vec((0..BROKERS, 0..BROKERS), 0..12),
        interests in prop::collection::vec(interest(), BROKERS as usize),
        origin in 0..BROKERS, topic in topic(),
    ) {
        let records = records(&links);
        let announce = |interest: &Interest| interest.announce(InterestBounds::default());
        let interests: Vec<_> = interests.iter().map(announce).collect();
        let crossings = crossings(&mut routings(&records, &interests), origin, &topic);
        let reached: BTreeMap<_, _> = crossings.iter().map(|(_, hop)| (hop.neighbour, hop.rate)).collect();
        prop_assert_eq!(reached.len(), crossings.len(), "each broker gets it once");
        let senders: BTreeSet<_> = crossings.iter().map(|(from, _)| *from).collect();
        let topology = Topology::of(broker(origin), records.iter());
        for (record, interest) in records.iter().zip(&interests) {
            let is_in_reach = topology.reachable().contains(&record.id()) && record.id() != broker(origin);
            let rate = wanted(interest, &topic).filter(|_| is_in_reach);
            let came = reached.get(&record.id());
            prop_assert!(came.copied() >= rate, "at the rate that is wanted at least");
            prop_assert!(came.is_none() || rate.is_some() || senders.contains(&record.id()));
        }
    }

    #[test]
    fn replacing_an_interest_leaves_nothing_of_it(
        before in interest(), after in interest(), topics in prop::collection::vec(topic(), 1..8),
    ) {
        let records = records(&[(0, 1)]);
        let [before, after] = [before, after].map(|one| one.announce(InterestBounds::default()));
        let interests = [AnnouncedInterest::default(), before.clone()];
        let mut routing = routings(&records, &interests).swap_remove(0);
        let generation = routing.generation();
        routing.set_interest(broker(1), &before, &after);
        prop_assert_eq!(routing.generation() == generation, before == after);
        for topic in topics {
            let expected = wanted(&after, &topic).map(|rate| NextHop { neighbour: broker(1), rate });
            let hops = routing.next_hops(broker(0), &topic, None);
            prop_assert_eq!(hops, expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_message_never_goes_back_to_where_it_came_from(filter in filter(), rate in rate(), topic in topic()) {
        let interests = [AnnouncedInterest::default(), announced(&filter, rate)];
        let mut routing = routings(&records(&[(0, 1)]), &interests).swap_remove(0);
        prop_assert!(routing.next_hops(broker(0), &topic, Some(broker(1))).is_empty());
    }
}

#[test]
fn a_neighbour_gets_the_highest_rate_that_is_wanted_behind_it() {
    let slow = WantedRate::from_wire(1_000).expect("it is above 0");
    let none = AnnouncedInterest::default;
    let interests =
        [none(), none(), announced("a/b", slow), announced("a/#", WantedRate::EVERY_SAMPLE)];
    let mut routings = routings(&records(&[(0, 1), (1, 2), (1, 3)]), &interests);
    let crossings = crossings(&mut routings, 0, "a/b");
    let rates: Vec<_> = crossings.iter().map(|(_, hop)| (hop.neighbour, hop.rate)).collect();
    let every = WantedRate::EVERY_SAMPLE;
    assert_eq!(rates, [(broker(1), every), (broker(2), slow), (broker(3), every)]);
}

#[test]
fn who_wants_all_topics_with_a_dollar_gets_them_and_no_others() {
    let slow = WantedRate::from_wire(1_000).expect("it is above 0");
    let all = AnnouncedInterest::new(BTreeMap::new(), Some(slow), true);
    let mut routing =
        routings(&records(&[(0, 1)]), &[AnnouncedInterest::default(), all]).swap_remove(0);
    assert_eq!(routing.next_hops(broker(0), "$a/b", None).len(), 1);
    assert!(routing.next_hops(broker(0), "a/b", None).is_empty());
}

#[test]
fn a_broker_whose_filters_find_no_room_gets_everything_until_there_is_room() {
    let every = WantedRate::EVERY_SAMPLE;
    let interest = |filters: &[&str]| {
        let filters = filters.iter().map(|filter| ((*filter).into(), every));
        AnnouncedInterest::new(filters.collect(), None, false)
    };
    let none = interest(&[]);
    for (room, is_widened) in [(2 * LEVEL_BYTES, false), (2 * LEVEL_BYTES - 1, true)] {
        let records = records(&[(0, 1), (0, 2)]);
        let mut routing = Routing::new(Topology::of(broker(0), records.iter()), room);
        let goes_to = |routing: &mut Routing, topic: &str| {
            let hops = routing.next_hops(broker(0), topic, None);
            hops.into_iter().map(|hop| hop.neighbour).collect::<Vec<_>>()
        };
        routing.set_interest(broker(1), &none, &interest(&["a"]));
        routing.set_interest(broker(2), &none, &interest(&["b"]));
        assert_eq!([1, 2].map(|id| routing.is_widened(broker(id))), [false, is_widened]);
        let expected = if is_widened { vec![broker(2)] } else { vec![] };
        assert_eq!(goes_to(&mut routing, "$c"), expected);
        routing.set_interest(broker(2), &interest(&["b"]), &interest(&["b", "c"]));
        assert_eq!(goes_to(&mut routing, "$c"), [broker(2)], "there is no room for two");
        routing.set_interest(broker(1), &interest(&["a"]), &none);
        routing.set_interest(broker(2), &interest(&["b", "c"]), &interest(&["c"]));
        assert!(!routing.is_widened(broker(2)));
        assert_eq!((goes_to(&mut routing, "$c"), goes_to(&mut routing, "b")), (vec![], vec![]));
        assert_eq!(goes_to(&mut routing, "c"), [broker(2)]);
    }
}
