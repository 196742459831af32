//! The change memory has one limit for all groups; samples of parameters that do not fit are sent without comparing.

use std::sync::Arc;

use slipring_core::table::{Choice, GroupLimits, Groups, Needs};
use slipring_core::{Owner, SessionKey};
use slipring_wire::frame::{Kind, ValueView};

use crate::world::{FRAME, TABLE, World, f64_at, good};

const PARAMETERS: usize = 1_000;
/// The least and the most bytes of a group with all of them.
const LEAST: usize = 26 * PARAMETERS;
const MOST: usize = 27 * PARAMETERS;
const CHANGE: Needs = Needs { change: true, ..FRAME };
const SELDOM: Needs = Needs { rate_mhz: Some(1_000), ..CHANGE };

fn world(remembered_bytes: usize, kinds: &[Kind]) -> World {
    let room = GroupLimits { gathered_bytes: usize::MAX, remembered_bytes };
    let mut world = World { groups: Groups::new(TABLE, 20, room), ..World::new(&[]) };
    world.declare(kinds);
    world
}

fn choice(world: &World, filter: &str, needs: Needs) -> Choice {
    let chosen = world.table.matching(filter);
    Choice {
        filter: Arc::from(filter),
        chosen,
        identifier: 0,
        needs,
        packet_bytes_max: 1 << 20,
        rights: None,
    }
}

/// The bytes that one more choice would use, and whether there is room for them.
fn asked(world: &World, who: u64, filter: &str, needs: Needs) -> (usize, bool) {
    let growth =
        world.groups.growth(SessionKey::new(who), &choice(world, filter, needs), &world.current);
    (growth, world.groups.has_room(growth))
}

/// Publishes a value twice, and then another one; returns how many samples of each parameter were sent.
fn heard_of(world: &mut World, who: u64, indices: [u32; 2]) -> [usize; 2] {
    world.run(10_000);
    world.take(who);
    for (time, value) in [(1, 5.0), (2, 5.0), (3, 6.0)] {
        world.publish(&indices.map(|index| f64_at(index, time, value)));
        world.run(10_000);
    }
    let heard = world.take_values(who);
    indices.map(|index| heard.iter().filter(|(at, _)| *at == index).count())
}

#[test]
fn groups_that_compare_use_change_memory_and_free_it() {
    let mut world = world(2 * MOST, &[Kind::F64; PARAMETERS]);
    assert_eq!(asked(&world, 9, "#", FRAME), (0, true), "who does not compare takes none");
    let (growth, _) = asked(&world, 9, "#", CHANGE);
    assert!((LEAST..=MOST).contains(&growth), "{growth}");
    world.join(1, "#", 0, CHANGE);
    assert_eq!(asked(&world, 9, "#", CHANGE).0, 0, "an equal one is shared");
    world.join(2, "#", 0, SELDOM);
    let other = Needs { beat_ms: Some(7), ..CHANGE };
    assert_eq!(asked(&world, 9, "#", other), (growth, false));
    assert!(asked(&world, 9, "a/0", other).1, "fewer parameters find room");
    assert_eq!(asked(&world, 1, "#", other), (0, true), "it replaces its own");
    world.groups.leave(SessionKey::new(2), "#");
    assert_eq!(asked(&world, 9, "#", other), (growth, true));
    world.join(2, "#", 0, other);
    world.groups.leave_all(SessionKey::new(1));
    world.groups.leave_all(SessionKey::new(2));
    assert!(world.groups.has_room(2 * MOST), "all of it is back");
}

#[test]
fn texts_and_scattered_parameters_use_more_change_memory() {
    let growth = |kind, filter| asked(&world(MOST, &[kind; PARAMETERS]), 1, filter, CHANGE).0;
    assert!(growth(Kind::Text, "#") >= growth(Kind::F64, "#") + 32 * PARAMETERS);
    assert!(growth(Kind::F64, "a/#") >= growth(Kind::F64, "#") / 2 + 7 * PARAMETERS);
}

#[test]
fn parameters_that_do_not_fit_in_the_change_memory_are_sent_without_comparing() {
    for needs in [CHANGE, SELDOM] {
        let mut world = world(MOST, &[Kind::F64; PARAMETERS]);
        let new = PARAMETERS as u32 + 70;
        world.join(1, "#", 0, needs);
        assert_eq!(heard_of(&mut world, 1, [1, 2]), [2, 2]);
        world.declare(&[Kind::F64; 100]);
        assert_eq!(world.groups.take_uncompared(), 1, "it is counted");
        assert_eq!(heard_of(&mut world, 1, [3, new]), [2, 3]);
        world.groups.leave_all(SessionKey::new(1));
        world.join(1, "a/#", 0, needs);
        assert_eq!(heard_of(&mut world, 1, [4, new]), [2, 2], "fewer find room again");
        assert_eq!(world.groups.take_uncompared(), 0);
    }
}

#[test]
fn without_change_memory_a_subscriber_gets_every_sample() {
    for needs in [CHANGE, SELDOM] {
        let mut world = world(0, &[Kind::F64; 4]);
        world.join(1, "#", 0, needs);
        assert_eq!(world.groups.take_uncompared(), 1);
        assert_eq!(heard_of(&mut world, 1, [0, 3]), [3, 3]);
    }
}

#[test]
fn a_lagging_subscriber_gets_uncompared_values_once() {
    let mut world = world(0, &[Kind::F64; 4]);
    for who in [1, 2] {
        world.join(who, "#", 0, SELDOM);
    }
    world.not_ready = vec![1];
    for (time, value) in [(1, 1.0), (2, 2.0)] {
        world.publish(&[f64_at(0, time, value)]);
        world.run(1_000);
    }
    world.publish(&[f64_at(1, 3, 3.0)]);
    world.not_ready.clear();
    world.run(5_000);
    let newest = [(0, "2.0".to_owned()), (1, "3.0".to_owned())];
    assert_eq!(world.take_values(1), newest);
    assert_eq!(world.take_values(2), [&[(0, "1.0".to_owned())], &newest[..]].concat());
}

#[test]
fn a_new_subscriber_takes_no_uncompared_values_from_the_others() {
    let mut world = world(0, &[Kind::F64; 4]);
    world.join(1, "#", 0, SELDOM);
    world.publish(&[f64_at(0, 1, 1.0)]);
    world.join(2, "#", 0, SELDOM);
    world.run(5_000);
    for who in [1, 2] {
        assert_eq!(world.take_values(who), [(0, "1.0".to_owned())]);
    }
}

#[test]
fn uncompared_texts_are_mended_like_other_values() {
    let mut world = world(0, &[Kind::Text; 2]);
    world.join(1, "#", 0, SELDOM);
    world.lossy.insert(1, u32::MAX);
    world.publish(&[good(0, 1, ValueView::Text("lost")), good(1, 1, ValueView::Text("too"))]);
    world.run(2_000);
    world.lossy.clear();
    assert!(world.take(1).is_empty());
    world.mend(1, 1 << 20);
    assert_eq!(world.take_values(1), [(0, "lost".to_owned()), (1, "too".to_owned())]);
}

#[test]
fn one_subscriber_of_a_group_is_charged_for_it_until_it_leaves() {
    let mut world = world(4 * MOST, &[Kind::F64; PARAMETERS]);
    let [anna, berta] = ["user:anna", "user:berta"].map(Owner::named);
    let held = |world: &World| [&anna, &berta].map(|owner| world.groups.shares().held(owner));
    world.groups.own(SessionKey::new(1), &anna);
    world.groups.own(SessionKey::new(2), &berta);
    let (growth, _) = asked(&world, 1, "#", CHANGE);
    world.join(1, "#", 0, CHANGE);
    world.join(2, "#", 0, CHANGE);
    assert_eq!(held(&world), [growth, 0], "the first to join");
    world.groups.leave(SessionKey::new(1), "#");
    assert_eq!(held(&world), [0, growth], "who still shares it");
    world.join(1, "a/0", 0, SELDOM);
    world.join(3, "a/1", 0, SELDOM);
    let small = held(&world)[0];
    assert!(small > 0 && small < growth, "{small}");
    world.declare(&[Kind::F64; PARAMETERS]);
    assert!(held(&world)[1] > growth, "parameters that come are charged too");
    world.groups.leave_all(SessionKey::new(2));
    world.groups.leave_all(SessionKey::new(1));
    assert_eq!((held(&world), world.groups.shares().total()), ([0, 0], 0));
}
