//! Values that become stale, and the samples that subscribers get of them.

use slipring_core::ParameterIndex;
use slipring_core::table::{ClockReading, Deliver, Needs, Silence};
use slipring_wire::frame::{Kind, Quality, QualityStatus, RangeSet};

use crate::world::{FRAME, World, f64_at, wall_ns};

const SILENT: Quality = Quality::new(QualityStatus::Stale, Quality::SILENT);
const GONE: Quality = Quality::new(QualityStatus::Stale, Quality::PUBLISHER_GONE);

const SILENCE: Silence = Silence { periods: 5.0, least_ms: 200 };

fn set(indices: &[u32]) -> RangeSet {
    indices.iter().copied().collect()
}

/// Two parameters at 50 Hz, one at 1 Hz, one without a rate; all have a value.
fn world() -> World {
    let mut world = World::new(&[Kind::F64; 4]);
    world.table.rates_hz.extend([(0, 50.0), (1, 50.0), (2, 1.0)]);
    world.current.define(&set(&[0, 1, 2, 3]), &world.table);
    world.publish(&[0, 1, 2, 3].map(|index| f64_at(index, 5, 1.5)));
    world
}

fn silent_after(world: &mut World, ms: u64) -> RangeSet {
    world.now_ms += ms;
    let arrival = world.arrival();
    world.current.check_silent(SILENCE, arrival)
}

#[test]
fn a_parameter_is_silent_after_five_periods_and_not_before_200_ms() {
    let mut world = world();
    assert!(silent_after(&mut world, 200).is_empty());
    assert_eq!(silent_after(&mut world, 1), set(&[0, 1]));
    assert!(silent_after(&mut world, 1).is_empty(), "told once");
    assert!(silent_after(&mut world, 4_798).is_empty());
    assert_eq!(silent_after(&mut world, 1), set(&[2]));
    assert!(silent_after(&mut world, 1_000_000_000).is_empty(), "no rate, no silence");
}

#[test]
fn every_kind_of_selection_gets_a_value_that_became_stale() {
    let mut world = world();
    let json = Needs { deliver: Deliver::Text, ..FRAME };
    let rows = [
        FRAME,
        json,
        Needs { rate_mhz: Some(1_000_000), ..FRAME },
        Needs { change: true, ..FRAME },
        Needs { change: true, rate_mhz: Some(1_000_000), ..FRAME },
    ];
    for (needs, who) in rows.iter().zip(1..) {
        world.join(who, "#", 1, *needs);
        world.take(who);
    }
    let silent = silent_after(&mut world, 300);
    let at_ns = wall_ns(world.now_ms);
    world.offer_newest(&silent);
    world.run(1_000);
    for (needs, who) in rows.iter().zip(1..) {
        let heard = crate::world::samples(&world.take(who));
        let told: Vec<u32> = heard.iter().map(|sample| sample.index).collect();
        assert_eq!(told, [0, 1], "{needs:?}");
        for sample in heard {
            assert_eq!((sample.quality, sample.value.as_str()), (SILENT, "1.5"), "{needs:?}");
            assert_eq!(sample.time_ns, at_ns, "when it went stale");
        }
    }
}

#[test]
fn a_sample_makes_a_stale_parameter_fresh() {
    let mut world = world();
    silent_after(&mut world, 300);
    assert_eq!(world.current.stale(), 2);
    world.publish(&[f64_at(0, 9, 2.5)]);
    assert_eq!(world.current.take_fresh(), set(&[0]));
    assert!(world.current.take_fresh().is_empty(), "told once");
    assert_eq!(world.current.get(ParameterIndex::new(0)).unwrap().quality, Quality::GOOD);
    assert_eq!(world.current.stale(), 1);
    world.publish(&[0, 1, 2, 3].map(|index| f64_at(index, 10, 3.5)));
    assert_eq!((world.current.take_fresh(), world.current.stale()), (set(&[1]), 0));
}

#[test]
fn a_value_that_became_stale_again_is_not_fresh() {
    let mut world = world();
    silent_after(&mut world, 300);
    world.publish(&[f64_at(0, 9, 2.5)]);
    silent_after(&mut world, 300);
    assert!(world.current.take_fresh().is_empty());
}

#[test]
fn without_a_publisher_a_value_is_stale_at_once_and_for_another_reason() {
    let mut world = world();
    silent_after(&mut world, 300);
    let all = set(&[0, 1, 2, 3, 9]);
    let arrival = world.arrival();
    let marked = world.current.mark_stale(&all, Quality::PUBLISHER_GONE, arrival);
    assert_eq!(marked, set(&[0, 1, 2, 3]), "silent ones too; unknown ones not");
    assert_eq!(world.current.get(ParameterIndex::new(0)).unwrap().quality, GONE);
    assert_eq!(world.current.stale(), 4);
    let again = world.current.mark_stale(&all, Quality::PUBLISHER_GONE, arrival);
    assert!(again.is_empty());
}

#[test]
fn a_clock_that_has_run_for_months_makes_nothing_silent() {
    let mut world = World::new(&[Kind::F64; 1]);
    world.table.rates_hz.insert(0, 50.0);
    world.current.define(&set(&[0]), &world.table);
    world.now_ms = u64::from(u32::MAX) - 50;
    world.publish(&[f64_at(0, 1, 1.0)]);
    assert!(silent_after(&mut world, 100).is_empty());
    assert_eq!(silent_after(&mut world, 200), set(&[0]));
}

#[test]
fn a_step_of_the_wall_clock_makes_nothing_silent() {
    let mut world = world();
    let tomorrow = ClockReading { now_ns: wall_ns(world.now_ms + 86_400_000), ..world.arrival() };
    assert!(world.current.check_silent(SILENCE, tomorrow).is_empty());
}
