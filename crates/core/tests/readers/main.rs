//! Plain subscriptions to parameters: every sample while there are few, else the newest values, in turns of bounded
//! work.

mod world;

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use slipring_core::table::{PLAIN_RATE, PlainRoom, PlainTerms, ReaderId};
use slipring_core::{ParameterIndex, SessionKey};
use slipring_wire::Publish;

use crate::world::{JET, PLENTY, READER, TURN, World};

#[test]
fn a_reader_of_a_few_parameters_gets_every_sample() {
    let mut world = World::new(100);
    world.read(READER, "p/7", PlainTerms::default());
    world.read(READER, "p/9", PlainTerms::default());
    for value in 0..500 {
        world.frame(0..100, value);
        world.turn();
        world.pass(1);
    }
    let expected: Vec<String> = (0..500).map(|value| value.to_string()).collect();
    assert_eq!(world.values(READER, 7), expected);
    assert_eq!(world.values(READER, 9), expected);
    assert_eq!(world.count(READER), 1_000);
    assert_eq!(world.table.readers.count(), (1, 0));
}

#[test]
fn samples_of_one_frame_arrive_in_their_order() {
    let mut world = World::new(2);
    world.read(READER, "#", PlainTerms::default());
    world.frame_of_one(1, 0..2_000);
    world.settle();
    let expected: Vec<String> = (0..2_000).map(|value| value.to_string()).collect();
    assert_eq!(world.values(READER, 1), expected);
}

#[test]
fn beyond_the_rate_a_reader_gets_only_the_newest_values() {
    let mut world = World::new(20_000);
    world.read(READER, "#", PlainTerms::default());
    for value in 0..50 {
        world.frame(0..20_000, value);
        world.turn();
        world.pass(20);
    }
    assert_eq!(world.table.readers.count(), (1, 1), "it gets newest values");
    let most = usize::try_from(PLAIN_RATE).unwrap();
    assert!(world.count(READER) <= 2 * most, "{}", world.count(READER));
    world.frame(0..20_000, 99);
    world.settle();
    let messages = world.got.messages[&READER].iter();
    let last: HashMap<u32, &str> = messages.map(|(index, value, _)| (*index, &**value)).collect();
    assert!(last.len() == 20_000 && last.values().all(|value| *value == "99"));
    assert_eq!(world.table.readers.count(), (1, 0), "it gets every sample again");
    world.frame(3..5, 100);
    world.frame(3..5, 101);
    world.turn();
    assert!(world.values(READER, 3).ends_with(&["99", "100", "101"]));
}

#[test]
fn a_flood_for_one_reader_does_not_cost_another_its_samples() {
    let few = ReaderId::Client(SessionKey::new(3));
    for runs in [1, 100] {
        let mut world = World::new(20_000);
        world.read(READER, "#", PlainTerms::default());
        world.read(few, "p/12345", PlainTerms::default());
        // Several frames between two turns: who had only the newest of them would miss the others.
        for value in 0..200 {
            world.frame_in_runs(0..20_000, runs, value);
            if value % 4 == 3 {
                world.turn();
            }
            world.pass(1);
        }
        world.settle();
        let expected: Vec<String> = (0..200).map(|value| value.to_string()).collect();
        assert_eq!(world.values(few, 12_345), expected, "in {runs} runs");
    }
}

#[test]
fn a_reader_that_accepts_nothing_is_sent_nothing_and_ends_with_the_newest() {
    let mut world = World::new(10);
    world.read(READER, "#", PlainTerms::default());
    world.got.rooms.insert(READER, PlainRoom::default());
    for value in 0..100 {
        world.frame(0..10, value);
        world.turn();
        world.pass(20);
    }
    assert_eq!(world.count(READER), 0);
    world.got.rooms.clear();
    world.settle();
    assert_eq!(world.count(READER), 10, "each parameter once");
    assert_eq!(world.values(READER, 4), ["99"]);
}

#[test]
fn a_turn_is_bounded_however_much_there_is_to_send() {
    let mut world = World::new(50_000);
    for reader in 0..50 {
        world.read(ReaderId::Client(SessionKey::new(10 + reader)), "#", PlainTerms::default());
    }
    world.frame(0..25_000, 1);
    world.frame(25_000..50_000, 1);
    for _ in 0..100 {
        world.turn();
        assert!(world.got.in_turn <= TURN + 1, "{}", world.got.in_turn);
        world.pass(2);
    }
    let counts = (0..50).map(|reader| world.count(ReaderId::Client(SessionKey::new(10 + reader))));
    let (least, most) = (counts.clone().min().unwrap(), counts.max().unwrap());
    assert!(least > 0 && most - least <= 512, "readers take turns: {least} to {most}");
}

#[test]
fn identifiers_of_all_subscriptions_that_match_come_with_one_message() {
    let mut world = World::new(3);
    world.read(READER, "p/1", PlainTerms { identifier: 4, no_local: false });
    world.read(READER, "p/+", PlainTerms { identifier: 9, no_local: false });
    world.frame(0..3, 5);
    world.turn();
    let found: Vec<_> = world.got.messages[&READER].iter().map(|one| one.2.clone()).collect();
    assert_eq!(found, [vec![9], vec![9, 4], vec![9]]);
    world.table.readers.stop(READER, &["p/+"]);
    world.frame(0..3, 6);
    world.turn();
    assert_eq!(world.values(READER, 0), ["5"]);
    assert_eq!(world.values(READER, 1), ["5", "6"]);
}

#[test]
fn with_no_local_a_reader_does_not_get_its_own_samples() {
    let mut world = World::new(20_000);
    let own = ReaderId::Client(JET);
    world.read(own, "#", PlainTerms { identifier: 0, no_local: true });
    world.frame(0..20_000, 1);
    world.frame(3..4, 2);
    world.settle();
    assert_eq!(world.count(own), 0);
}

#[test]
fn parameters_that_are_declared_later_are_read_too() {
    let mut world = World::new(2);
    world.read(READER, "p/+", PlainTerms::default());
    world.declare(2..4);
    world.frame(0..4, 1);
    world.turn();
    assert_eq!(world.values(READER, 3), ["1"]);
}

#[test]
fn a_plain_message_after_a_frame_is_not_followed_by_an_older_sample() {
    let mut world = World::new(2);
    world.read(READER, "#", PlainTerms::default());
    world.frame(0..2, 1);
    let message = Publish::new("p/0", b"2");
    world.table.take_text(ParameterIndex::new(0), &message, world.at, &world.plan).unwrap();
    world.settle();
    assert_eq!(world.values(READER, 0), [""; 0], "the message itself was delivered");
    assert_eq!(world.values(READER, 1), ["1"]);
}

#[test]
fn no_older_sample_follows_a_plain_message_even_after_a_newer_frame() {
    let mut world = World::new(2);
    world.read(READER, "#", PlainTerms::default());
    world.frame(0..2, 1);
    let message = Publish::new("p/0", b"2");
    world.table.take_text(ParameterIndex::new(0), &message, world.at, &world.plan).unwrap();
    world.frame(0..2, 3);
    world.settle();
    assert_eq!(world.values(READER, 0), ["3"], "1 is older than the message");
    assert_eq!(world.values(READER, 1), ["1", "3"]);
}

#[test]
fn nothing_is_due_after_the_last_reader_has_left() {
    let mut world = World::new(20_000);
    world.read(READER, "#", PlainTerms::default());
    world.frame(0..20_000, 1);
    world.turn();
    world.table.readers.stop_all(READER);
    assert_eq!(world.table.readers.next_due_ms(), None);
    world.frame(0..20_000, 2);
    assert_eq!(world.table.readers.next_due_ms(), None);
    assert_eq!(world.table.readers.count(), (0, 0));
}

#[test]
fn a_reader_of_newest_values_gets_every_sample_again_when_there_are_fewer() {
    let mut world = World::new(20_000);
    world.read(READER, "#", PlainTerms::default());
    world.frame(0..20_000, 0);
    world.turn();
    assert_eq!(world.table.readers.count(), (1, 1), "it gets newest values");
    for value in 1..1_000 {
        world.frame(0..1, 2 * value);
        world.frame(0..1, 2 * value + 1);
        world.turn();
        world.pass(5);
    }
    assert_eq!(world.table.readers.count(), (1, 0), "400 samples a second are few");
    assert!(world.values(READER, 0).ends_with(&["1996", "1997", "1998", "1999"]));
}

#[test]
fn a_reader_gets_every_sample_again_even_if_many_parameters_change_at_once() {
    let mut world = World::new(20_000);
    world.read(READER, "#", PlainTerms::default());
    world.frame(0..20_000, 0);
    for value in 1..300 {
        world.frame(0..400, value);
        world.turn();
        world.turn();
        world.pass(50);
    }
    assert_eq!(world.table.readers.count(), (1, 0), "8,000 samples a second are few");
}

#[test]
fn no_sample_is_sent_twice_to_a_reader_that_falls_behind_within_a_run() {
    let mut world = World::new(8_000);
    let (first, second) = (ReaderId::Client(SessionKey::new(3)), READER);
    world.read(first, "#", PlainTerms::default());
    world.read(second, "p/7", PlainTerms::default());
    world.frame(0..8_000, 1);
    world.turn();
    // What one reader still wants of the first frame goes from the memory of recent samples.
    world.frame_of_one(7, 2..8_200);
    world.frame_of_one(7, 8_200..16_400);
    world.settle();
    let values: Vec<&str> = world.values(first, 3);
    assert_eq!(values, ["1"]);
}

/// What happens to a world with few parameters.
#[derive(Clone, Debug)]
enum Event {
    Frame(u32, u32),
    Several(u32, u32),
    Turn,
    Pass(u64),
    Room(bool),
    Again(bool),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (0..300u32, 1..300u32).prop_map(|(from, count)| Event::Frame(from, count)),
        1 => (0..300u32, 1..9_000u32).prop_map(|(index, count)| Event::Several(index, count)),
        4 => Just(Event::Turn),
        2 => (1..300u64).prop_map(Event::Pass),
        1 => any::<bool>().prop_map(Event::Room),
        1 => any::<bool>().prop_map(Event::Again),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Values only grow. So a reader that gets a smaller one after a larger one went back, and one that gets
    /// the same twice got a sample twice.
    #[test]
    fn every_reader_ends_with_the_newest_values_and_never_sees_an_older_one(
        events in prop::collection::vec(event(), 1..80),
    ) {
        let mut world = World::new(300);
        world.read(READER, "#", PlainTerms::default());
        world.read(ReaderId::Client(SessionKey::new(3)), "p/7", PlainTerms::default());
        let (mut value, mut newest) = (0, BTreeMap::new());
        for event in events {
            match event {
                Event::Frame(from, count) => {
                    let parameters = from..(from + count).min(300);
                    value += 1;
                    newest.extend(parameters.clone().map(|index| (index, value)));
                    world.frame(parameters, value);
                }
                Event::Several(index, count) => {
                    world.frame_of_one(index, value + 1..value + 1 + count);
                    value += count;
                    newest.insert(index, value);
                }
                Event::Turn => world.turn(),
                Event::Pass(ms) => world.pass(ms),
                Event::Room(has_room) => {
                    let room = if has_room { PLENTY } else { PlainRoom::default() };
                    world.got.rooms.insert(READER, room);
                }
                Event::Again(is_wide) => {
                    let filter = if is_wide { "p/+" } else { "p/1" };
                    world.read(READER, filter, PlainTerms::default());
                }
            }
        }
        world.got.rooms.clear();
        world.settle();
        for (parameter, value) in &newest {
            let got = world.values(READER, *parameter);
            prop_assert_eq!(got.last().copied(), Some(&*value.to_string()), "p/{}", parameter);
            let numbers: Vec<u32> = got.iter().map(|value| value.parse().unwrap()).collect();
            prop_assert!(numbers.is_sorted_by(|a, b| a < b), "p/{}: {:?}", parameter, numbers);
        }
        let last = newest.get(&7).map(ToString::to_string);
        prop_assert_eq!(world.values(ReaderId::Client(SessionKey::new(3)), 7).last().copied(), last.as_deref());
    }
}
