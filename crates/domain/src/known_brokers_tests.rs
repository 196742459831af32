//! The newest record wins, nobody writes for another, and brokers that are gone are forgotten.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use crate::bounds::BROKERS_MAX;
use crate::record::ChangedParts;
use crate::strategies_tests::broker;
use crate::{
    BrokerDescription, BrokerId, BrokerRecord, KnownBrokers, Load, Received, RecordVersion,
};

fn first(id: BrokerId, start: u64) -> BrokerRecord {
    BrokerRecord::first(id, start, BrokerDescription::default())
}

fn record(number: u8, start: u64, counter: u64) -> BrokerRecord {
    let mut record = first(broker(number), start);
    record.version = RecordVersion::new(start, counter);
    record.load.clients = (start * 100 + counter) as u32;
    record
}

fn news(before: Option<Arc<BrokerRecord>>) -> Received {
    Received::News { before, displaced: None }
}

/// Broker 1, whose own record has version 4 of start 5.
fn known() -> KnownBrokers {
    let mut known = KnownBrokers::new(first(broker(1), 5));
    for clients in 1..5 {
        let load = Some(Load { clients, clients_max: 0 });
        known.change_own(&ChangedParts { load, ..ChangedParts::default() });
    }
    known
}

#[test]
fn a_record_is_news_known_or_older() {
    let mut known = known();
    assert_eq!(known.receive(record(2, 1, 7), 0), news(None));
    assert_eq!(known.receive(record(2, 1, 7), 0), Received::Known);
    let newest = Arc::new(record(2, 1, 7));
    assert_eq!(known.receive(record(2, 1, 6), 0), Received::Older(Arc::clone(&newest)));
    assert_eq!(known.receive(record(2, 2, 0), 0), news(Some(newest)));
}

#[test]
fn two_brokers_of_one_identity_clash() {
    let mut known = known();
    let own = Arc::clone(known.own());
    assert_eq!(known.receive((*own).clone(), 0), Received::Known);
    assert_eq!(known.receive(record(1, 4, 99), 0), Received::Older(Arc::clone(&own)));
    assert_eq!(known.receive(record(1, 5, 3), 0), Received::Older(own));
    let mut changed = (**known.own()).clone();
    changed.load.clients += 1;
    for foreign in [changed, record(1, 5, 5), record(1, 6, 0)] {
        assert_eq!(known.receive(foreign, 0), Received::Clash);
    }
    known.receive(record(2, 1, 7), 0);
    let mut twin = record(2, 1, 7);
    twin.load.clients += 1;
    assert_eq!(known.receive(twin, 0), Received::Clash);
}

#[test]
fn a_broker_out_of_reach_is_forgotten_after_its_time_and_one_in_reach_is_not() {
    let mut known = known();
    known.receive(record(2, 1, 1), 10);
    known.receive(record(3, 1, 1), 20);
    known.reach(|id| id == broker(2), 30);
    assert_eq!(known.next_forgotten_ms(100), Some(120));
    assert!(known.forget(100, 119).is_empty());
    assert_eq!(known.forget(100, 120)[0].id(), broker(3));
    assert!(known.get(broker(3)).is_none() && known.get(broker(2)).is_some());
    known.reach(|_| false, 200);
    known.reach(|_| false, 250);
    assert_eq!(known.next_forgotten_ms(100), Some(300));
    known.reach(|_| true, 299);
    assert_eq!(known.next_forgotten_ms(100), None);
}

#[test]
fn the_broker_that_is_out_of_reach_longest_makes_room_and_those_in_reach_stay() {
    let id = |number: u16| {
        let mut bytes = [0xff; BrokerId::BYTES];
        bytes[..2].copy_from_slice(&number.to_be_bytes());
        BrokerId::from_bytes(bytes)
    };
    let mut known = known();
    for number in 0..BROKERS_MAX as u16 - 1 {
        known.receive(first(id(number), 1), 0);
    }
    known.reach(|_| true, 0);
    assert_eq!(known.receive(first(id(999), 1), 5), Received::Full);
    known.reach(|broker| broker != id(7), 5);
    known.reach(|broker| broker != id(7) && broker != id(3), 6);
    let displaced = Some(Arc::new(first(id(7), 1)));
    let received = known.receive(first(id(999), 1), 7);
    assert_eq!(received, Received::News { before: None, displaced });
    assert!(known.get(id(7)).is_none() && known.get(id(3)).is_some());
}

proptest! {
    #[test]
    fn records_in_any_order_end_with_the_newest(
        records in prop::collection::vec((2..5u8, 0..3u64, 0..5u64), 0..40),
    ) {
        let mut known = known();
        let mut newest = BTreeMap::new();
        for (number, start, counter) in records {
            known.receive(record(number, start, counter), 0);
            let version = RecordVersion::new(start, counter);
            let newest = newest.entry(broker(number)).or_insert(version);
            *newest = version.max(*newest);
        }
        newest.insert(broker(1), RecordVersion::new(5, 4));
        prop_assert_eq!(known.digest(), newest.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn after_both_sent_what_the_other_lacks_both_know_the_same(
        here in prop::collection::vec((3..9u8, 0..3u64), 0..9),
        there in prop::collection::vec((3..9u8, 0..3u64), 0..9),
    ) {
        let mut sides = [1, 2].map(|number| KnownBrokers::new(first(broker(number), 1)));
        for (side, records) in sides.iter_mut().zip([here, there]) {
            for (number, counter) in records {
                side.receive(record(number, 1, counter), 0);
            }
        }
        let digests = [sides[1].digest(), sides[0].digest()];
        let sent = [0, 1].map(|at| {
            let lacking = sides[at].lacking(&digests[at]);
            lacking.iter().filter_map(|id| sides[at].get(*id).cloned()).collect::<Vec<_>>()
        });
        for (side, records) in sides.iter_mut().zip(sent.iter().rev()) {
            for record in records {
                let received = side.receive((**record).clone(), 0);
                prop_assert!(matches!(received, Received::News { .. }), "it was lacking");
            }
        }
        prop_assert_eq!(sides[0].digest(), sides[1].digest());
    }
}
