//! How records of other brokers are taken: from the version before or as they are, unread if they are known, and bounded.

use super::tests::{EVERY, chain, connect, exchange, greeted, record};
use super::{Domain, ReceiveError};
use crate::control::{
    ControlMessage, DIFFERENCE, encode_difference, encode_hello, encode_lacking, encode_record,
};
use crate::record::ChangedParts;
use crate::strategies_tests::broker;
use crate::{
    BrokerDescription, BrokerRecord, DomainEvent, DomainSettings, KnownBrokers, RecordError,
};

/// Broker 1 wants 20 topics, and broker 2 knows that.
fn interested() -> Vec<Domain> {
    let mut chain = chain(2);
    for number in 0..20 {
        chain[0].subscribe(&format!("a/{number}"), EVERY, 0);
    }
    exchange(&mut chain, 0);
    chain
}

fn next(domain: &mut Domain, to: u8) -> ControlMessage<'static> {
    let bytes = domain.poll_transmit(broker(to)).expect("something waits");
    ControlMessage::decode(bytes.leak()).expect("it makes sense")
}

#[test]
fn changes_that_wait_are_one_difference_and_many_are_the_record() {
    let mut chain = interested();
    chain[0].subscribe("b/1", EVERY, 0);
    chain[0].unsubscribe("a/7", EVERY, 0);
    chain[0].handle_timeout(0);
    chain[0].unsubscribe("b/1", EVERY, 0);
    chain[0].subscribe("b/2", EVERY, 0);
    chain[0].handle_timeout(0);
    let ControlMessage::Difference(difference) = next(&mut chain[0], 2) else { panic!() };
    let filters = difference.parts.interest.expect("it changed").filters;
    let expected = [("a/7", None), ("b/1", None), ("b/2", Some(EVERY))];
    assert_eq!(filters, expected.map(|(filter, rate)| (filter.into(), rate)).into());
    for number in 0..20 {
        chain[0].unsubscribe(&format!("a/{number}"), EVERY, 0);
    }
    chain[0].handle_timeout(0);
    assert!(matches!(next(&mut chain[0], 2), ControlMessage::Record(_)));
}

#[test]
fn a_broker_that_lacks_the_version_before_asks_for_the_record() {
    for forget in [
        |there: &mut Domain| *there = greeted(2, 1),
        |there: &mut Domain| {
            there.receive(broker(1), &encode_record(&record(1, 9)), 0).expect("it makes sense");
        },
    ] {
        let mut chain = interested();
        forget(&mut chain[1]);
        while chain[1].poll_transmit(broker(1)).is_some() {}
        chain[0].subscribe("b", EVERY, 0);
        chain[0].handle_timeout(0);
        let difference = chain[0].poll_transmit(broker(2)).expect("a difference");
        assert_eq!(difference[0], DIFFERENCE);
        chain[1].receive(broker(1), &difference, 0).expect("it makes sense");
        match next(&mut chain[1], 1) {
            ControlMessage::Lacking(lacking) => assert_eq!(lacking, [broker(1)]),
            ControlMessage::Record(bytes) => {
                assert_eq!(BrokerRecord::decode(&bytes), Ok(record(1, 9)));
            }
            other => panic!("{other:?}"),
        }
        chain[0].receive(broker(2), &encode_lacking(&[broker(1)]), 0).expect("it makes sense");
        assert!(matches!(next(&mut chain[0], 2), ControlMessage::Record(_)));
    }
}

#[test]
fn a_difference_from_a_record_that_somebody_forged_is_not_applied() {
    let mut domain = greeted(1, 2);
    let mut genuine = record(3, 1);
    genuine.load.clients = 1;
    domain.receive(broker(2), &encode_record(&record(3, 1)), 0).expect("it makes sense");
    while domain.poll_transmit(broker(2)).is_some() {}
    let mut there = KnownBrokers::new(genuine);
    let before = there.own().version();
    there.change_own(&ChangedParts::default());
    let difference = there.since(broker(3), before).expect("it is known");
    domain.receive(broker(2), &encode_difference(&difference), 0).expect("it makes sense");
    assert_eq!(domain.poll_transmit(broker(2)), Some(encode_lacking(&[broker(3)])));
    assert_eq!(domain.known().get(broker(3)).map(|known| known.version()), Some(before));
}

#[test]
fn a_record_that_is_known_is_told_by_its_first_bytes() {
    let mut domain = greeted(1, 2);
    let known = encode_record(&record(3, 2));
    domain.receive(broker(2), &known, 0).expect("it makes sense");
    while domain.poll_transmit(broker(2)).is_some() {}
    for (version, answer) in [(2, None), (1, Some(known))] {
        let mut unread = encode_record(&record(3, version));
        unread.truncate(unread.len() - 1);
        domain.receive(broker(2), &unread, 0).expect("nobody reads the rest");
        assert_eq!(domain.poll_transmit(broker(2)), answer);
    }
    let mut newer = encode_record(&record(3, 3));
    newer.truncate(newer.len() - 1);
    let malformed = Err(ReceiveError::Malformed(RecordError::Truncated));
    assert_eq!(domain.receive(broker(2), &newer, 0), malformed);
}

#[test]
fn a_record_of_the_known_version_that_says_something_else_is_read() {
    let mut domain = greeted(1, 2);
    domain.receive(broker(2), &encode_record(&record(3, 1)), 0).expect("it makes sense");
    let mut twin = record(3, 1);
    twin.load.clients = 1;
    domain.receive(broker(2), &encode_record(&twin), 0).expect("it makes sense");
    let events: Vec<_> = std::iter::from_fn(|| domain.poll_event()).collect();
    assert!(events.contains(&DomainEvent::IdentityClash(broker(3))));
}

#[test]
fn who_finds_no_room_for_its_filters_and_who_does_again_is_told() {
    let settings = DomainSettings { foreign_bytes_max: 2_000, ..DomainSettings::default() };
    let mut chain = chain(3);
    chain[1] = Domain::new(broker(2), 2, BrokerDescription::default(), settings);
    connect(&mut chain, 0, 1);
    connect(&mut chain, 1, 2);
    exchange(&mut chain, 0);
    for (from, filter) in [(0, "a"), (2, "b"), (2, "c")] {
        chain[from].subscribe(filter, EVERY, 0);
        exchange(&mut chain, 0);
    }
    let told = |domain: &mut Domain| {
        let events = std::iter::from_fn(|| domain.poll_event());
        let told = events.filter(|one| matches!(one, DomainEvent::ForeignInterestWidened { .. }));
        told.collect::<Vec<_>>()
    };
    let widened = |is_widened| DomainEvent::ForeignInterestWidened { of: broker(3), is_widened };
    assert_eq!(told(&mut chain[1]), [widened(true)]);
    assert_eq!(chain[1].publish("x").next_hops.len(), 1);
    chain[1].link_down(broker(1), 1);
    chain[1].handle_timeout(3_600_001);
    assert_eq!(told(&mut chain[1]), [widened(false)], "the first broker is forgotten");
    assert!(chain[1].publish("x").next_hops.is_empty());
}

#[test]
fn a_start_that_grows_by_more_than_it_can_is_told() {
    let settings = DomainSettings { start_step_max: 5, ..DomainSettings::default() };
    let mut domain = Domain::new(broker(1), 1, BrokerDescription::default(), settings);
    domain.link_up(broker(2), 1, 0).expect("there is room");
    domain.receive(broker(2), &encode_hello(broker(2), &[]), 0).expect("hello");
    let mut told = |start| {
        domain.receive(broker(2), &encode_record(&record(3, start)), 0).expect("it makes sense");
        std::iter::from_fn(|| domain.poll_event()).find(|event| *event != described())
    };
    assert_eq!(told(100), None, "nothing was known of it");
    assert_eq!(told(105), None);
    let (of, from) = (broker(3), broker(2));
    assert_eq!(told(111), Some(DomainEvent::ImplausibleStart { of, from, start: 111 }));
}

fn described() -> DomainEvent {
    DomainEvent::Described(broker(3))
}
