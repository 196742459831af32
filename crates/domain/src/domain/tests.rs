//! Two or three brokers in one thread: what the machine says to whom, and when.

use proptest::prelude::*;

use super::{Domain, LinkError, ReceiveError};
use crate::bounds::{BROKERS_MAX, LINKS_MAX};
use crate::control::{
    Acknowledgement, encode_acknowledgements, encode_hello, encode_lacking, encode_record,
};
use crate::strategies_tests::{broker, control_message};
use crate::{
    BrokerDescription, BrokerId, BrokerRecord, DomainEvent, DomainSettings, Forwarding, Load,
    MessageOrigin, NextHop, RecordError, RecordVersion, WantedRate,
};

pub(super) const EVERY: WantedRate = WantedRate::EVERY_SAMPLE;

fn domain(number: u8) -> Domain {
    let settings = DomainSettings::default();
    Domain::new(broker(number), 1, BrokerDescription::default(), settings)
}

/// Brokers 1, 2 ... in a chain, all of them with hello said.
pub(super) fn chain(length: u8) -> Vec<Domain> {
    let mut chain: Vec<Domain> = (1..=length).map(domain).collect();
    for at in 1..chain.len() {
        connect(&mut chain, at - 1, at);
    }
    exchange(&mut chain, 0);
    chain
}

pub(super) fn connect(brokers: &mut [Domain], a: usize, b: usize) {
    let (first, second) = (brokers[a].id(), brokers[b].id());
    brokers[a].link_up(second, 1, 0).expect("there is room");
    brokers[b].link_up(first, 1, 0).expect("there is room");
}

/// Carries everything that waits between these brokers; returns how many messages that were.
pub(super) fn exchange(brokers: &mut [Domain], now_ms: u64) -> usize {
    let mut carried = 0;
    for _ in 0..100 {
        for at in 0..brokers.len() {
            brokers[at].handle_timeout(now_ms);
            let from = brokers[at].id();
            for to in brokers[at].to_send().collect::<Vec<_>>() {
                let Some(there) = brokers.iter().position(|other| other.id() == to) else {
                    continue;
                };
                while let Some(bytes) = brokers[at].poll_transmit(to) {
                    carried += 1;
                    brokers[there].receive(from, &bytes, now_ms).expect("we keep to the rules");
                }
            }
        }
    }
    carried
}

fn events(domain: &mut Domain) -> Vec<DomainEvent> {
    std::iter::from_fn(|| domain.poll_event()).collect()
}

pub(super) fn greeted(me: u8, neighbour: u8) -> Domain {
    let mut domain = domain(me);
    domain.link_up(broker(neighbour), 1, 0).expect("there is room");
    domain.receive(broker(neighbour), &encode_hello(broker(neighbour), &[]), 0).expect("hello");
    domain
}

pub(super) fn record(number: u8, start: u64) -> BrokerRecord {
    BrokerRecord::first(broker(number), start, BrokerDescription::default())
}

#[test]
fn brokers_in_a_chain_learn_of_each_other_and_a_subscription_is_known_everywhere() {
    let mut chain = chain(3);
    let mut told = events(&mut chain[0]);
    told.sort_by_key(|event| format!("{event:?}"));
    let both = [broker(2), broker(3)];
    let expected = both.map(DomainEvent::Described).into_iter();
    assert_eq!(told, expected.chain(both.map(DomainEvent::Reachable)).collect::<Vec<_>>());
    let token = chain[2].subscribe("a/+", EVERY, 0).expect("few wait");
    events(&mut chain[2]);
    chain[2].handle_timeout(0);
    assert_eq!(chain[2].poll_event(), None, "nobody has answered yet");
    exchange(&mut chain, 0);
    assert_eq!(events(&mut chain[2]), [DomainEvent::InterestKnown { token }]);
    let published = chain[0].publish("a/b");
    assert_eq!(published.next_hops, [NextHop { neighbour: broker(2), rate: EVERY }]);
    let forwarded = chain[1].forward(broker(1), published.message, "a/b");
    assert_eq!(forwarded, Forwarding::Taken(vec![NextHop { neighbour: broker(3), rate: EVERY }]));
    assert_eq!(chain[1].forward(broker(1), published.message, "a/b"), Forwarding::Repeated);
    let arrived = chain[2].forward(broker(2), published.message, "a/b");
    assert_eq!(arrived, Forwarding::Taken(Vec::new()));
}

#[test]
fn who_has_not_answered_is_named_when_time_is_up() {
    let mut chain = chain(3);
    events(&mut chain[0]);
    let token = chain[0].subscribe("a", EVERY, 10).expect("few wait");
    chain[0].handle_timeout(10);
    let to_second = chain[0].poll_transmit(broker(2)).expect("a record");
    chain[1].receive(broker(1), &to_second, 10).expect("it makes sense");
    let answer = chain[1].poll_transmit(broker(1)).expect("an acknowledgement");
    chain[0].receive(broker(2), &answer, 10).expect("it makes sense");
    chain[0].handle_timeout(209);
    assert_eq!(chain[0].poll_event(), None);
    chain[0].handle_timeout(210);
    let missing = vec![broker(3)];
    assert_eq!(chain[0].poll_event(), Some(DomainEvent::InterestUnanswered { token, missing }));
}

#[test]
fn a_subscription_that_changes_nothing_is_known_at_once_and_sends_nothing() {
    let mut chain = chain(2);
    chain[0].subscribe("a", EVERY, 0);
    exchange(&mut chain, 0);
    events(&mut chain[0]);
    let token = chain[0].subscribe("a", EVERY, 0).expect("few wait");
    assert_eq!(chain[0].poll_event(), Some(DomainEvent::InterestKnown { token }));
    let token = chain[0].subscribe("$share/g/a", EVERY, 0).expect("few wait");
    assert_eq!(chain[0].poll_event(), Some(DomainEvent::InterestKnown { token }));
    assert_eq!(exchange(&mut chain, 0), 0);
}

#[test]
fn a_thousand_subscriptions_of_one_turn_are_one_record() {
    let mut chain = chain(2);
    for number in 0..1_000 {
        chain[0].subscribe(&format!("a/{number}"), EVERY, 0);
    }
    assert_eq!(exchange(&mut chain, 0), 2, "the record and its acknowledgement");
    let interest = chain[1].known().get(broker(1)).expect("it is known").interest();
    assert_eq!(interest.filters().len(), 1_000);
}

#[test]
fn after_a_large_record_the_next_change_of_interest_waits_for_a_while() {
    let mut domain = domain(1);
    for number in 0..10_000 {
        domain.subscribe(&format!("{}/{number}", "x".repeat(30)), EVERY, 0);
    }
    domain.handle_timeout(0);
    domain.subscribe("a", EVERY, 1);
    let due_ms = 10_000 * 35 / 65_536;
    assert_eq!(domain.next_timeout_ms(), Some(due_ms));
    domain.handle_timeout(due_ms - 1);
    assert_eq!(domain.known().own().interest().filters().len(), 10_000);
    domain.handle_timeout(due_ms);
    assert_eq!(domain.known().own().interest().filters().len(), 10_001);
}

#[test]
fn a_newer_record_replaces_one_that_waits() {
    let mut chain = chain(2);
    for number in 0..5 {
        chain[0].subscribe(&format!("a/{number}"), EVERY, 0);
        chain[0].handle_timeout(0);
    }
    assert!(chain[0].poll_transmit(broker(2)).is_some());
    assert_eq!(chain[0].poll_transmit(broker(2)), None);
}

#[test]
fn whoever_sends_an_older_record_gets_the_newer_one() {
    let mut domain = greeted(1, 2);
    domain.receive(broker(2), &encode_record(&record(3, 2)), 0).expect("it makes sense");
    while domain.poll_transmit(broker(2)).is_some() {}
    domain.receive(broker(2), &encode_record(&record(3, 1)), 0).expect("it makes sense");
    assert_eq!(domain.poll_transmit(broker(2)), Some(encode_record(&record(3, 2))));
    domain.receive(broker(2), &encode_record(&record(3, 2)), 0).expect("it makes sense");
    assert_eq!(domain.poll_transmit(broker(2)), None);
}

#[test]
fn a_broker_that_one_in_reach_names_and_that_is_not_known_is_asked_for() {
    let mut domain = greeted(1, 2);
    while domain.poll_transmit(broker(2)).is_some() {}
    let mut second = record(2, 1);
    second.links = [(broker(1), 1), (broker(3), 1)].into();
    domain.receive(broker(2), &encode_record(&second), 0).expect("it makes sense");
    assert_eq!(domain.poll_transmit(broker(2)), Some(encode_lacking(&[broker(3)])));
    domain.receive(broker(2), &encode_record(&record(3, 1)), 0).expect("it makes sense");
    while domain.poll_transmit(broker(2)).is_some() {}
    domain.receive(broker(2), &encode_lacking(&[broker(3), broker(9)]), 0).expect("it makes sense");
    assert_eq!(domain.poll_transmit(broker(2)), Some(encode_record(&record(3, 1))));
    assert_eq!(domain.poll_transmit(broker(2)), None);
}

#[test]
fn the_load_is_announced_within_a_second_and_only_if_it_changed() {
    let mut chain = chain(2);
    let load = Load { clients: 3, clients_max: 10 };
    chain[0].set_load(load, 500);
    assert_eq!(exchange(&mut chain, 1_499), 0);
    assert!(exchange(&mut chain, 1_500) > 0);
    assert_eq!(chain[1].known().get(broker(1)).expect("it is known").load(), load);
    chain[0].set_load(load, 1_600);
    assert_eq!(exchange(&mut chain, 3_000), 0);
}

#[test]
fn a_broker_that_changes_its_address_is_described_anew() {
    let mut chain = chain(2);
    events(&mut chain[1]);
    let moved = BrokerDescription::new("ground".into(), vec!["mqtts://10.0.0.7".into()]);
    let moved = moved.expect("within the bounds");
    for _ in 0..2 {
        chain[0].set_description(moved.clone(), 0);
        exchange(&mut chain, 0);
    }
    assert_eq!(events(&mut chain[1]), [DomainEvent::Described(broker(1))]);
    assert_eq!(chain[1].known().get(broker(1)).expect("it is known").description(), &moved);
}

#[test]
fn a_link_that_ends_takes_its_way_with_it_at_once() {
    let mut chain = chain(2);
    chain[1].subscribe("#", EVERY, 0);
    exchange(&mut chain, 0);
    assert_eq!(chain[0].publish("a").next_hops.len(), 1);
    let generation = chain[0].generation();
    chain[0].link_down(broker(2), 0);
    assert!(chain[0].publish("a").next_hops.is_empty());
    assert_ne!(chain[0].generation(), generation);
    assert!(events(&mut chain[0]).contains(&DomainEvent::Unreachable(broker(2))));
}

#[test]
fn a_broker_that_stays_away_is_forgotten_with_its_interest() {
    let mut chain = chain(2);
    chain[1].subscribe("#", EVERY, 0);
    exchange(&mut chain, 0);
    chain[0].link_down(broker(2), 1_000);
    chain[0].handle_timeout(3_600_999);
    assert!(chain[0].known().get(broker(2)).is_some());
    chain[0].handle_timeout(3_601_000);
    assert!(chain[0].known().get(broker(2)).is_none());
    assert_eq!(chain[0].next_timeout_ms(), None);
}

#[test]
fn acknowledgements_that_a_cut_took_are_asked_for_by_announcing_again() {
    lose_an_acknowledgement(|chain| {
        exchange(chain, 300);
    });
}

#[test]
fn so_are_those_of_a_link_that_came_back_before_anybody_heard_that_it_was_gone() {
    lose_an_acknowledgement(|chain| {
        exchange(&mut chain[1..], 300);
        exchange(chain, 300);
    });
}

/// The last of three brokers acknowledges what the first wants, in vain: its link is made again, of which the first hears
/// in this way.
fn lose_an_acknowledgement(hear: impl FnOnce(&mut [Domain])) {
    let mut chain = chain(3);
    exchange(&mut chain, 250);
    events(&mut chain[0]);
    let first = chain[0].subscribe("a", EVERY, 300).expect("few wait");
    chain[0].handle_timeout(300);
    let record = chain[0].poll_transmit(broker(2)).expect("a record");
    chain[1].receive(broker(1), &record, 300).expect("it makes sense");
    let record = chain[1].poll_transmit(broker(3)).expect("a record");
    chain[2].receive(broker(2), &record, 300).expect("it makes sense");
    chain[2].poll_transmit(broker(2)).expect("the acknowledgement that is lost");
    connect(&mut chain, 1, 2);
    hear(&mut chain);
    events(&mut chain[0]);
    let second = chain[0].subscribe("a", EVERY, 400).expect("few wait");
    exchange(&mut chain, 499);
    assert_eq!(chain[0].poll_event(), None);
    exchange(&mut chain, 550);
    let known = [first, second].map(|token| DomainEvent::InterestKnown { token });
    assert_eq!(events(&mut chain[0]), known);
    assert_eq!(exchange(&mut chain, 10_000), 0, "once");
}

#[test]
fn what_a_broker_acknowledged_before_it_lost_its_memory_counts_no_more() {
    let mut chain = chain(2);
    chain[0].subscribe("a", EVERY, 0);
    exchange(&mut chain, 0);
    events(&mut chain[0]);
    let description = BrokerDescription::default();
    chain[1] = Domain::new(broker(2), 2, description, DomainSettings::default());
    connect(&mut chain, 0, 1);
    let hello = chain[0].poll_transmit(broker(2)).expect("hello");
    chain[1].receive(broker(1), &hello, 0).expect("it makes sense");
    while let Some(bytes) = chain[1].poll_transmit(broker(1)) {
        chain[0].receive(broker(2), &bytes, 0).expect("it makes sense");
    }
    assert!(chain[0].topology().reachable().contains(&broker(2)));
    events(&mut chain[0]);
    let token = chain[0].subscribe("a", EVERY, 0).expect("few wait");
    assert_eq!(chain[0].poll_event(), None, "its new start has no record of this broker");
    exchange(&mut chain, 0);
    assert_eq!(events(&mut chain[0]), [DomainEvent::InterestKnown { token }]);
}

#[test]
fn a_broker_with_this_identity_is_a_clash() {
    let mut domain = domain(1);
    assert_eq!(domain.link_up(broker(1), 1, 0), Err(LinkError::Itself));
    domain.link_up(broker(2), 1, 0).expect("there is room");
    let hello = encode_hello(broker(2), &[(broker(1), RecordVersion::new(2, 0))]);
    domain.receive(broker(2), &hello, 0).expect("it makes sense");
    assert_eq!(events(&mut domain), [DomainEvent::IdentityClash(broker(1))]);
    domain.receive(broker(2), &encode_record(&record(1, 2)), 0).expect("it makes sense");
    assert_eq!(events(&mut domain), [DomainEvent::IdentityClash(broker(1))]);
    assert_eq!(domain.known().own().version().start(), 1);
}

#[test]
fn a_neighbour_that_breaks_the_rules_is_told_apart_and_changes_nothing() {
    let mut domain = domain(1);
    let second = broker(2);
    let hello = encode_hello(second, &[]);
    assert_eq!(domain.receive(second, &hello, 0), Err(ReceiveError::NoLink));
    domain.link_up(second, 1, 0).expect("there is room");
    let record = encode_record(&record(3, 1));
    assert_eq!(domain.receive(second, &record, 0), Err(ReceiveError::NoHello));
    let foreign = encode_hello(broker(3), &[]);
    assert_eq!(domain.receive(second, &foreign, 0), Err(ReceiveError::WrongIdentity(broker(3))));
    let malformed = Err(ReceiveError::Malformed(RecordError::Truncated));
    assert_eq!(domain.receive(second, &[], 0), malformed);
    domain.receive(second, &hello, 0).expect("hello");
    assert_eq!(domain.receive(second, &hello, 0), Err(ReceiveError::RepeatedHello));
    assert!(domain.known().get(broker(3)).is_none());
}

#[test]
fn an_acknowledgement_for_what_was_never_written_counts_for_nothing() {
    let mut domain = greeted(1, 2);
    domain.receive(broker(2), &encode_record(&record(2, 1)), 0).expect("it makes sense");
    let version = RecordVersion::new(1, 99);
    let forged = Acknowledgement { of: broker(1), version, by: broker(2) };
    domain.receive(broker(2), &encode_acknowledgements(&[forged]), 0).expect("it makes sense");
    assert!(domain.acknowledged.is_empty());
}

#[test]
fn messages_from_nowhere_are_not_taken() {
    let mut domain = greeted(1, 2);
    let message = MessageOrigin { broker: broker(3), start: 1, number: 0 };
    assert_eq!(domain.forward(broker(2), message, "a"), Forwarding::Unknown, "no such origin");
    domain.receive(broker(2), &encode_record(&record(3, 1)), 0).expect("it makes sense");
    assert_eq!(domain.forward(broker(4), message, "a"), Forwarding::Unknown, "no such link");
    assert_eq!(domain.forward(broker(2), message, "a"), Forwarding::Taken(Vec::new()));
    let own = MessageOrigin { broker: broker(1), start: 1, number: 0 };
    assert_eq!(domain.forward(broker(2), own, "a"), Forwarding::Repeated);
}

#[test]
fn links_events_and_waiting_subscriptions_have_bounds() {
    let id = |number: u16| {
        let mut bytes = [0xff; BrokerId::BYTES];
        bytes[..2].copy_from_slice(&number.to_be_bytes());
        BrokerId::from_bytes(bytes)
    };
    let mut domain = greeted(1, 2);
    for number in 0..LINKS_MAX as u16 - 1 {
        domain.link_up(id(number), 1, 0).expect("there is room");
    }
    assert_eq!(domain.link_up(id(999), 1, 0), Err(LinkError::TooMany));
    assert_eq!(domain.link_up(id(0), 1, 0), Ok(()), "a link made again");
    let clash = encode_record(&record(1, 2));
    for _ in 0..super::EVENTS_MAX + 3 {
        domain.receive(broker(2), &clash, 0).expect("it makes sense");
    }
    assert_eq!((events(&mut domain).len(), domain.dropped_events()), (super::EVENTS_MAX, 3));
    for _ in 0..crate::waiting_subscriptions::WAITING_SUBSCRIPTIONS_MAX {
        assert!(domain.subscribe("a", EVERY, 0).is_some());
    }
    assert!(domain.subscribe("a", EVERY, 0).is_none());
}

#[test]
fn records_of_made_up_brokers_take_bounded_room() {
    let mut domain = greeted(1, 2);
    for number in 0..1_000u32 {
        let mut bytes = [9; BrokerId::BYTES];
        bytes[..4].copy_from_slice(&number.to_be_bytes());
        let id = BrokerId::from_bytes(bytes);
        let record = BrokerRecord::first(id, 1, BrokerDescription::default());
        domain.receive(broker(2), &encode_record(&record), u64::from(number)).expect("a record");
    }
    assert_eq!(domain.known().records().count(), BROKERS_MAX);
    assert!(domain.tellers.len() < BROKERS_MAX);
}

proptest! {
    #[test]
    fn whatever_neighbours_send_the_own_record_is_this_brokers_alone(
        me in 0..2u8,
        steps in prop::collection::vec((2..5u8, 0..8u8, control_message()), 0..40),
    ) {
        let mut domain = domain(me);
        let token = domain.subscribe("a/+", EVERY, 0);
        domain.handle_timeout(0);
        for (at, (neighbour, step, (_, bytes))) in steps.into_iter().enumerate() {
            let (neighbour, now_ms) = (broker(neighbour), at as u64 * 100);
            match step {
                0 => domain.link_up(neighbour, 1, now_ms).expect("there is room"),
                1 => domain.link_down(neighbour, now_ms),
                2 => drop(domain.receive(neighbour, &encode_hello(neighbour, &[]), now_ms)),
                3 => drop(domain.receive(neighbour, &bytes[..bytes.len() / 2], now_ms)),
                _ => drop(domain.receive(neighbour, &bytes, now_ms)),
            }
            domain.handle_timeout(now_ms);
            while domain.poll_transmit(neighbour).is_some() {}
            domain.publish("a/b");
        }
        let own = domain.known().own();
        prop_assert_eq!((own.id(), own.version().start()), (broker(me), 1));
        prop_assert_eq!(own.interest().filters(), &[("a/+".into(), EVERY)].into());
        let answer = events(&mut domain).into_iter().filter(|event| {
            matches!(event, DomainEvent::InterestKnown { token: known } if Some(*known) == token)
        });
        prop_assert_eq!(answer.count(), 1, "it was alone when it subscribed");
    }
}
