//! Frames that are encoded once for subscribers with different names and identifiers: each gets its own topic,
//! identifier and sequence in front of the same bytes.

use std::collections::{HashMap, HashSet};

use slipring_core::SessionKey;
use slipring_core::table::{Needs, frame_topic};
use slipring_wire::frame::{Kind, ValueView};

use crate::packets::read;
use crate::world::{FRAME, World, f64_at, good};

const RATE: Needs = Needs { rate_mhz: Some(10_000), ..FRAME };
/// Enough parameters that their values fill several frames.
const MANY: usize = 100_000;

fn wide() -> World {
    World::new(&vec![Kind::F64; MANY])
}

fn row(time: i32) -> Vec<slipring_wire::frame::Sample<'static>> {
    (0..MANY as u32)
        .map(|index| f64_at(index, time.into(), f64::from(time) + f64::from(index)))
        .collect()
}

/// A hundred subscribers, each with its own name, long or short, and its own identifier.
fn filter(who: u64) -> String {
    format!("$selection/{}/#", "n".repeat(who as usize))
}

#[test]
fn each_frame_is_in_memory_once_for_all_names_and_identifiers() {
    for needs in [FRAME, RATE] {
        let mut world = World::new(&[Kind::F64; 20]);
        for who in 1..=100 {
            world.join(who, &filter(who), 100 * who as u32, needs);
        }
        assert_eq!(world.groups.len(), 1);
        let mut ends = HashSet::new();
        let mut heads = HashSet::new();
        for time in 1..=3i32 {
            world.publish(&[f64_at(0, time.into(), time.into())]);
            world.now_ms += 100;
            let mut here = Vec::new();
            world.tick_raw(|packets| {
                here.push(packets.as_ptr_range().end);
                heads.insert(packets[..40].to_vec());
            });
            assert_eq!(here.len(), 100);
            ends.extend(here);
        }
        assert!(ends.len() <= 3, "the bytes of a frame are the same for all");
        assert_eq!(heads.len(), 100, "and what is before it is not");
    }
}

#[test]
fn each_has_its_own_topic_identifier_and_sequence_in_all_of_several_frames() {
    for needs in [FRAME, RATE] {
        let mut world = wide();
        world.publish(&row(1));
        for who in [1, 7, 60] {
            world.join(who, &filter(who), 100 * who as u32, needs);
        }
        world.publish(&row(2));
        world.run(1_000);
        for who in [1, 7, 60] {
            let heard = world.take(who);
            assert!(heard.len() > 4, "the first values and the others are several frames each");
            for (heard, sequence) in heard.iter().zip(0..) {
                assert_eq!(heard.topic, frame_topic(&filter(who)));
                assert_eq!(heard.identifier, 100 * who as u32);
                assert_eq!(heard.header.unwrap().sequence, sequence);
            }
            let mut counts: HashMap<u32, usize> = HashMap::new();
            for sample in heard.iter().flat_map(|heard| &heard.samples) {
                *counts.entry(sample.index).or_default() += 1;
            }
            assert!(counts.len() == MANY && counts.values().all(|count| *count == 2));
        }
    }
}

#[test]
fn a_frame_too_large_for_one_subscriber_reaches_the_others_and_leaves_no_gap() {
    let mut world = World::new(&[Kind::Text, Kind::F64]);
    world.join_within(1, "#", 1, FRAME, 280 * 1024);
    world.join_within(2, "#", 1, FRAME, 1 << 20);
    assert_eq!(world.groups.len(), 1);
    let long = "x".repeat(300 * 1024);
    world.publish(&[good(0, 1, ValueView::Text(&long)), f64_at(1, 1, 1.0)]);
    world.run(1_000);
    assert_eq!(world.groups.take_lost(), 1);
    world.publish(&[f64_at(1, 2, 2.0)]);
    world.run(1_000);
    for (who, samples) in [(1, 2), (2, 3)] {
        let heard = world.take(who);
        let sequence = heard.iter().map(|heard| heard.header.unwrap().sequence);
        assert!(sequence.eq(0..heard.len() as u32));
        assert_eq!(heard.iter().map(|heard| heard.samples.len()).sum::<usize>(), samples);
    }
}

#[test]
fn one_subscriber_may_select_the_same_parameters_under_two_names() {
    let mut world = World::new(&[Kind::F64; 2]);
    for (name, identifier) in [("plot", 1), ("alarm", 2)] {
        world.join(1, &format!("$selection/{name}/#"), identifier, FRAME);
    }
    assert_eq!(world.groups.len(), 1);
    let heard = |world: &mut World, value: i32| {
        world.publish(&[f64_at(0, value.into(), value.into())]);
        world.run(100);
        let mut by: Vec<u32> = world.take(1).iter().map(|heard| heard.identifier).collect();
        by.sort_unstable();
        by
    };
    assert_eq!(heard(&mut world, 1), [1, 2]);
    world.lossy.insert(1, u32::MAX);
    assert!(heard(&mut world, 2).is_empty());
    world.lossy.clear();
    world.mend(1, 1 << 20);
    assert_eq!(world.take(1).len(), 2, "both get what was lost");
    assert!(world.groups.leave(SessionKey::new(1), "$selection/plot/#"));
    assert_eq!(heard(&mut world, 3), [2]);
    assert!(!world.groups.leave(SessionKey::new(1), "$selection/plot/#"));
    assert!(
        world.groups.leave(SessionKey::new(1), "$selection/alarm/#") && world.groups.is_empty()
    );
}

#[test]
fn when_the_subscriber_with_the_longest_head_leaves_no_spare_room_remains() {
    let mut world = wide();
    world.join(1, "#", 1, FRAME);
    world.join(2, &filter(80), 2, FRAME);
    let table = wide().table;
    let calls = |world: &mut World, time| {
        world.publish(&row(time));
        world.now_ms += 100;
        let (mut calls, mut messages) = (0, 0);
        world.tick_raw(|packets| {
            calls += 1;
            messages += read(packets, &table).len();
        });
        (calls, messages)
    };
    let (apart, messages) = calls(&mut world, 1);
    assert_eq!(apart, messages / 2 + 1, "who has the longest name gets all at once");
    world.groups.leave_all(SessionKey::new(2));
    assert_eq!(calls(&mut world, 2), (1, messages / 2));
}
