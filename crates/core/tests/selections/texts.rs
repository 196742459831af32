//! Texts that groups remember as sent: each is in memory once, and all of them have a limit.

use std::collections::HashMap;

use slipring_core::table::Needs;
use slipring_wire::frame::{Kind, RangeSet, ValueView};

use crate::world::{FRAME, World, good};

const LENGTH: usize = 10_000;
const CHANGE: Needs = Needs { change: true, ..FRAME };
/// The newest values once in ten seconds.
const SELDOM: Needs = Needs { rate_mhz: Some(100), ..CHANGE };

fn long(letter: &str) -> String {
    letter.repeat(LENGTH)
}

fn publish(world: &mut World, index: u32, text: &str) {
    world.publish(&[good(index, 5, ValueView::Text(text))]);
}

/// The first letters of the texts that a subscriber has received.
fn letters(world: &mut World, who: u64) -> String {
    world.take_values(who).iter().filter_map(|(_, text)| text.chars().next()).collect()
}

/// Fifty groups with a low rate, each due at another time.
fn fifty_groups(world: &mut World) {
    for who in 1..=50 {
        publish(world, 0, &long(["A", "B", "C"][who as usize % 3]));
        world.join(who, "#", 1, Needs { beat_ms: Some(who as u16), ..SELDOM });
    }
}

#[test]
fn a_text_that_many_groups_remember_is_in_memory_once() {
    let mut world = World::new(&[Kind::Text; 1]);
    publish(&mut world, 0, &long("A"));
    for who in 1..=50 {
        let rate_mhz = if who % 2 == 0 { SELDOM.rate_mhz } else { None };
        let beat_ms = Some(who as u16);
        world.join(who, "#", 1, Needs { rate_mhz, beat_ms, ..CHANGE });
    }
    assert_eq!(world.current.left_text_bytes(), 0, "it is the newest");
    publish(&mut world, 0, &long("B"));
    let left = world.current.left_text_bytes();
    assert!((LENGTH..2 * LENGTH).contains(&left), "{left}");
    world.run(20_000);
    assert_eq!(world.current.left_text_bytes(), 0, "all know the newest");
    for who in 1..=50 {
        assert_eq!(letters(&mut world, who), "AB", "{who}");
    }
}

#[test]
fn without_a_bound_each_group_keeps_the_text_that_it_sent() {
    let mut world = World::new(&[Kind::Text; 1]);
    fifty_groups(&mut world);
    assert!(world.current.left_text_bytes() > 40 * LENGTH);
}

#[test]
fn with_a_limit_groups_keep_no_more_texts_and_end_with_the_newest() {
    let mut world = World::new(&[Kind::Text; 1]);
    world.left_text_bytes_max = 5 * LENGTH;
    fifty_groups(&mut world);
    assert!(world.current.left_text_bytes() <= 5 * LENGTH);
    world.run(20_000);
    for who in 1..=50 {
        assert!(letters(&mut world, who).ends_with('C'), "{who}");
    }
}

#[test]
fn an_equal_text_is_sent_again_only_if_it_was_not_remembered() {
    for (left_text_bytes_max, expected) in [(usize::MAX, "A"), (0, "AA")] {
        let mut world = World::new(&[Kind::Text; 1]);
        world.left_text_bytes_max = left_text_bytes_max;
        publish(&mut world, 0, "A");
        world.join(1, "#", 1, SELDOM);
        publish(&mut world, 0, "B");
        publish(&mut world, 0, "A");
        world.run(20_000);
        assert_eq!(letters(&mut world, 1), expected);
    }
}

#[test]
fn numbers_are_still_compared_when_texts_are_not_remembered() {
    let mut world = World::new(&[Kind::Text, Kind::F64]);
    world.left_text_bytes_max = 0;
    world.publish(&[good(1, 5, ValueView::F64(1.0))]);
    publish(&mut world, 0, "A");
    world.join(1, "#", 1, SELDOM);
    world.take(1);
    for value in [2.0, 1.0] {
        world.publish(&[good(1, 6, ValueView::F64(value))]);
        publish(&mut world, 0, if value > 1.0 { "B" } else { "A" });
    }
    world.run(20_000);
    assert_eq!(world.take_values(1), [(0, "A".to_owned())]);
}

#[test]
fn the_text_of_a_removed_parameter_is_freed() {
    let mut world = World::new(&[Kind::Text; 2]);
    world.left_text_bytes_max = 2 * LENGTH;
    publish(&mut world, 0, &long("A"));
    let list = "$selection/0-1";
    world.join(1, list, 1, CHANGE);
    world.take(1);
    let gone: RangeSet = std::iter::once(0..1).collect();
    world
        .current
        .define(&gone, &crate::world::Table { names: Vec::new(), rates_hz: HashMap::new() });
    assert!(world.current.left_text_bytes() > LENGTH, "the list has it still");
    world.left_text_bytes_max = LENGTH;
    publish(&mut world, 1, "x");
    assert_eq!(world.current.left_text_bytes(), 0);
    world.current.define(&gone, &world.table);
    publish(&mut world, 0, &long("A"));
    world.run(100);
    assert_eq!(letters(&mut world, 1), "xA", "it is there again");
}
