//! The samples that all groups have gathered have one limit.

use std::collections::HashSet;

use slipring_core::SessionKey;
use slipring_core::table::{GroupLimits, Groups, Needs};
use slipring_wire::frame::{Kind, ValueView};

use crate::world::{FRAME, ROOM, TABLE, World, good};

const LENGTH: usize = 40_000;
const SLOW: Needs = Needs { beat_ms: Some(10_000), ..FRAME };

/// Three groups with a long beat that has just begun.
fn world(gathered_bytes: usize) -> World {
    let groups = Groups::new(TABLE, 20, GroupLimits { gathered_bytes, ..ROOM });
    let mut world = World { groups, ..World::new(&[]) };
    world.declare(&[Kind::Text]);
    for who in 1..=3 {
        let needs = Needs { beat_ms: Some(9_990 + who as u16), ..SLOW };
        world.join(who, "#", 1, needs);
    }
    world.publish(&[good(0, 1, ValueView::Text("a"))]);
    world.tick();
    for who in 1..=3 {
        assert_eq!(world.take(who).len(), 1);
    }
    world
}

fn who_heard(world: &World) -> HashSet<u64> {
    (1..=3).filter(|who| world.heard.get(who).is_some_and(|heard| !heard.is_empty())).collect()
}

#[test]
fn samples_wait_for_the_beat_while_there_is_room() {
    let mut world = world(10 * LENGTH);
    world.publish(&[good(0, 2, ValueView::Text(&"b".repeat(LENGTH)))]);
    world.tick();
    assert!(who_heard(&world).is_empty() && world.missing.is_empty());
}

#[test]
fn from_half_of_the_room_on_samples_do_not_wait_and_dropped_ones_are_mended() {
    let mut world = world(5 * LENGTH / 2);
    world.publish(&[good(0, 2, ValueView::Text(&"b".repeat(LENGTH)))]);
    assert_eq!(world.missing.len(), 1, "the third finds no room");
    let dropped = *world.missing.first().unwrap();
    world.tick();
    assert_eq!(who_heard(&world).len(), 1, "the second does not wait, the first does");
    world.mend(dropped, 1 << 20);
    world.run(10_000);
    assert_eq!(who_heard(&world).len(), 3);
    for who in 1..=3 {
        let heard = world.take(who);
        let sequence: Vec<u32> = heard.iter().map(|heard| heard.header.unwrap().sequence).collect();
        assert_eq!(sequence, [if who == dropped { 2 } else { 1 }], "a gap shows what was dropped");
        assert_eq!(heard[0].samples[0].value.len(), LENGTH);
    }
}

#[test]
fn a_group_that_ends_frees_its_room() {
    let mut world = world(5 * LENGTH / 2);
    for _ in 0..10 {
        for who in 1..=3 {
            world.groups.leave_all(SessionKey::new(who));
        }
        world.join(1, "#", 1, SLOW);
        world.publish(&[good(0, 2, ValueView::Text(&"b".repeat(LENGTH)))]);
        world.tick();
        world.publish(&[good(0, 3, ValueView::Text(&"c".repeat(LENGTH)))]);
        assert!(world.missing.is_empty());
    }
}
