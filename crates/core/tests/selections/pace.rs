//! When samples are sent: beats, rates, bands, and subscribers that are not ready.

use slipring_core::table::{Band, Deadband, Deliver, Needs, TableState};
use slipring_wire::frame::{Kind, ValueView};

use crate::world::{FRAME, World, f64_at, good};

const TEN_HZ: Needs = Needs { rate_mhz: Some(10_000), ..FRAME };

fn text(values: &[(u32, &str)]) -> Vec<(u32, String)> {
    values.iter().map(|(index, value)| (*index, (*value).to_owned())).collect()
}

#[test]
fn samples_are_gathered_for_a_beat_and_sent_in_one_frame() {
    let mut world = World::new(&[Kind::F64; 2]);
    world.join(1, "#", 1, FRAME);
    world.publish(&[f64_at(0, 0, 0.0)]);
    world.tick();
    assert_eq!(world.take(1).len(), 1, "after a quiet beat nothing waits");
    world.publish(&[f64_at(0, 1, 1.0)]);
    world.pass(10);
    world.publish(&[f64_at(0, 2, 2.0), f64_at(1, 2, 7.0)]);
    world.pass(9);
    assert!(world.take(1).is_empty());
    assert_eq!(world.groups.next_due_ms(&world.current), Some(world.now_ms + 1));
    world.pass(1);
    let heard = world.take(1);
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].samples.len(), 3);
    assert_eq!(world.groups.next_due_ms(&world.current), None);
}

#[test]
fn a_subscriber_chooses_its_own_beat_and_zero_is_at_once() {
    let mut world = World::new(&[Kind::F64]);
    world.join(1, "#", 1, Needs { beat_ms: Some(0), ..FRAME });
    world.join(2, "#", 1, Needs { beat_ms: Some(500), ..FRAME });
    world.publish(&[f64_at(0, 1, 1.0)]);
    assert_eq!(world.groups.next_due_ms(&world.current), Some(world.now_ms));
    world.tick();
    assert_eq!((world.take(1).len(), world.take(2).len()), (1, 1));
    world.publish(&[f64_at(0, 2, 2.0)]);
    world.tick();
    assert_eq!((world.take(1).len(), world.take(2).len()), (1, 0));
    world.pass(500);
    assert_eq!(world.take(2).len(), 1);
}

#[test]
fn a_new_default_beat_applies_to_waiting_samples_unless_the_subscriber_chose_its_own() {
    let mut world = World::new(&[Kind::F64]);
    world.join(1, "#", 1, FRAME);
    world.join(2, "#", 1, Needs { beat_ms: Some(20), ..FRAME });
    world.groups.set_beat_ms(5_000);
    world.publish(&[f64_at(0, 0, 0.0)]);
    world.tick();
    let sent_ms = world.now_ms;
    world.groups.set_beat_ms(500);
    world.now_ms += 10;
    world.publish(&[f64_at(0, 1, 1.0)]);
    world.run(300);
    assert_eq!((world.take(1).len(), world.take(2).len()), (1, 2));
    assert_eq!(world.groups.next_due_ms(&world.current), Some(sent_ms + 500));
    world.groups.set_beat_ms(100);
    assert!(world.groups.next_due_ms(&world.current) <= Some(world.now_ms));
    world.tick();
    assert_eq!(world.take_values(1), text(&[(0, "1.0")]));
    world.groups.set_beat_ms(1_000);
    world.publish(&[f64_at(0, 2, 2.0)]);
    world.tick();
    let sooner_ms = 90 / 4; // A quarter of what the one before had to wait.
    assert_eq!(world.groups.next_due_ms(&world.current), Some(sent_ms + 1_100 - sooner_ms));
}

#[test]
fn at_a_rate_only_the_newest_of_each_period_is_sent() {
    let mut world = World::new(&[Kind::F64]);
    world.join(1, "#", 1, TEN_HZ);
    for number in 0..100u32 {
        world.publish(&[f64_at(0, number.into(), number.into())]);
        world.run(20);
    }
    world.run(200);
    let values = world.take_values(1);
    assert!((19..=22).contains(&values.len()), "{} frames in two seconds", values.len());
    assert!(values.windows(2).all(|pair| pair[0].1 != pair[1].1), "{values:?}");
    assert_eq!(values.last(), Some(&(0, "99.0".to_owned())));
}

#[test]
fn a_rate_that_is_no_whole_number_of_milliseconds_is_kept_over_time() {
    let mut world = World::new(&[Kind::F64]);
    world.join(1, "#", 1, Needs { rate_mhz: Some(30_000), ..FRAME });
    for number in 0..2_000 {
        world.publish(&[f64_at(0, number, 0.5)]);
        world.run(5);
    }
    let frames = world.take(1).len();
    assert!((299..=301).contains(&frames), "{frames} frames in ten seconds");
}

#[test]
fn after_a_quiet_time_a_change_is_sent_soon_and_not_a_period_later() {
    let mut world = World::new(&[Kind::F64]);
    world.join(1, "#", 1, Needs { rate_mhz: Some(100), ..FRAME });
    world.run(60_000);
    world.publish(&[f64_at(0, 1, 1.0)]);
    world.run(20);
    assert_eq!(world.take(1).len(), 1);
    world.publish(&[f64_at(0, 2, 2.0)]);
    world.run(9_000);
    assert_eq!(world.take(1).len(), 0, "the next one waits for its period");
}

#[test]
fn nothing_is_due_while_nothing_is_published() {
    let mut world = World::new(&[Kind::F64]);
    world.publish(&[f64_at(0, 1, 1.0)]);
    world.join(1, "#", 1, TEN_HZ);
    world.join(2, "#", 1, FRAME);
    world.run(1_000);
    assert_eq!(world.groups.next_due_ms(&world.current), None);
}

#[test]
fn a_subscriber_that_is_not_ready_gets_one_frame_with_all_that_changed_meanwhile() {
    let mut world = World::new(&[Kind::F64; 3]);
    world.join(1, "#", 1, TEN_HZ);
    world.join(2, "#", 1, TEN_HZ);
    world.not_ready.push(2);
    for number in 0..50u32 {
        world.publish(&[f64_at(number % 2, number.into(), number.into())]);
        world.run(100);
    }
    assert!(world.take(1).len() >= 49);
    assert!(world.take(2).is_empty());
    world.not_ready.clear();
    world.run(20);
    let heard = world.take(2);
    assert_eq!(heard.len(), 1, "frames grow, they do not queue");
    assert_eq!(heard[0].header.unwrap().sequence, 0, "no frame is missing");
    assert_eq!(crate::world::values(&heard), text(&[(0, "48.0"), (1, "49.0")]));
    assert!(world.take(1).is_empty(), "the others are not disturbed");
}

#[test]
fn readiness_is_asked_once_for_all_selections_of_a_subscriber() {
    let mut world = World::new(&[Kind::F64; 4]);
    for (filter, identifier) in [("a/#", 1), ("b/#", 2), ("#", 3)] {
        world.join(1, filter, identifier, TEN_HZ);
    }
    world.publish(&[f64_at(0, 1, 1.0), f64_at(1, 1, 1.0)]);
    world.now_ms += 100;
    let (mut asked, mut sent) = (0, 0);
    let World { now_ms, ref table, ref current, .. } = world;
    let state = TableState { now_ms, now_ns: 0, names: table, current };
    let mut ready = |_| {
        asked += 1;
        asked == 1
    };
    world.groups.tick(usize::MAX, &state, &mut ready, &mut |_, _, messages| sent += messages);
    assert_eq!((asked, sent), (1, 3));
}

#[test]
fn a_dead_band_hides_values_near_the_one_sent_last() {
    let mut world = World::new(&[Kind::F64]);
    let band = Band::new(0.5).map(Deadband::Absolute);
    world.join(1, "#", 1, Needs { deadband: band, ..FRAME });
    for (value, time) in [10.0, 10.3, 10.5, 10.6, 10.2, 10.0, 9.9].into_iter().zip(0..) {
        world.publish(&[f64_at(0, time, value)]);
    }
    world.run(20);
    assert_eq!(world.take_values(1), text(&[(0, "10.0"), (0, "10.6"), (0, "10.0")]));
}

#[test]
fn a_dead_band_in_percent_is_relative_to_the_value_sent_last() {
    let mut world = World::new(&[Kind::I16]);
    let band = Band::new(10.0).map(Deadband::Percent);
    world.join(1, "#", 1, Needs { deadband: band, ..FRAME });
    for (value, time) in [0, 1, 1, -100, -110, -111, -100].into_iter().zip(0..) {
        world.publish(&[good(0, time, ValueView::I16(value))]);
    }
    world.run(20);
    let sent = text(&[(0, "0"), (0, "1"), (0, "-100"), (0, "-111")]);
    assert_eq!(world.take_values(1), sent);
}

#[test]
fn a_dead_band_hides_no_change_of_an_enumeration_a_bool_or_a_text() {
    let mut world = World::new(&[Kind::U8, Kind::Bool, Kind::Text]);
    let band = Band::new(100.0).map(Deadband::Absolute);
    world.join(1, "#", 1, Needs { deadband: band, ..FRAME });
    for (on, word) in [(false, "a"), (true, "b"), (true, "b")] {
        world.publish(&[
            good(0, 0, ValueView::U8(on.into())),
            good(1, 0, ValueView::Bool(on)),
            good(2, 0, ValueView::Text(word)),
        ]);
    }
    world.run(20);
    assert_eq!(world.take_values(1).len(), 6);
}

#[test]
fn a_subscriber_to_changes_gets_no_value_twice_in_a_row() {
    let mut world = World::new(&[Kind::Text]);
    world.join(1, "#", 1, Needs { change: true, deliver: Deliver::Text, ..FRAME });
    for (word, time) in ["on", "on", "off", "off", "on"].into_iter().zip(0..) {
        world.publish(&[good(0, time, ValueView::Text(word))]);
    }
    world.run(20);
    assert_eq!(world.take_values(1), text(&[(0, "on"), (0, "off"), (0, "on")]));
}

#[test]
fn a_group_that_has_gathered_too_much_is_due_at_once() {
    let mut world = World::new(&[Kind::Bytes]);
    world.join(1, "#", 1, Needs { beat_ms: Some(10_000), ..FRAME });
    world.publish(&[good(0, 0, ValueView::Bytes(b"first"))]);
    world.tick();
    let bytes = vec![7; 200_000];
    let mut published = 0;
    while world.groups.next_due_ms(&world.current).is_none_or(|due| due > world.now_ms) {
        world.publish(&[good(0, published, ValueView::Bytes(&bytes))]);
        published += 1;
        assert!(published < 100, "more than 16 MiB are gathered");
    }
    assert!(published > 80, "due after {published} samples");
    let mut sent = 0;
    world.tick_raw(|packets| sent += packets.len());
    assert!(sent > 16 * 1024 * 1024 && sent < 17 * 1024 * 1024, "{sent}");
    assert_eq!(world.groups.next_due_ms(&world.current), None);
}

#[test]
fn with_a_dead_band_late_and_early_subscribers_have_the_same_last_value() {
    for rate_mhz in [None, Some(1_000_000)] {
        let mut world = World::new(&[Kind::F64]);
        let deadband = Band::new(0.5).map(Deadband::Absolute);
        let needs = Needs { deadband, rate_mhz, ..FRAME };
        world.join(1, "#", 1, needs);
        for (value, time) in [10.0, 10.4].into_iter().zip(0..) {
            world.publish(&[f64_at(0, time, value)]);
            world.run(50);
        }
        assert_eq!(world.take_values(1), text(&[(0, "10.0")]));
        let first = world.join(2, "#", 1, needs);
        assert_eq!(
            crate::world::values(&first),
            text(&[(0, "10.4")]),
            "the newest, not the last sent"
        );
        world.publish(&[f64_at(0, 9, 10.8)]);
        world.run(50);
        assert_eq!(world.take_values(1), text(&[(0, "10.4")]), "within the band of 10.8");
    }
}

/// Which of these values of one parameter are sent to somebody with this band.
fn sent(kind: Kind, band: Deadband, values: &[ValueView<'static>]) -> Vec<String> {
    let mut all = Vec::new();
    for needs in [FRAME, Needs { rate_mhz: Some(1_000_000), ..FRAME }] {
        let mut world = World::new(&[kind]);
        world.join(1, "#", 1, Needs { deadband: Some(band), ..needs });
        for (value, time_ns) in values.iter().zip(0..) {
            world.publish(&[good(0, time_ns, *value)]);
            world.run(100);
        }
        all.push(world.take_values(1).into_iter().map(|(_, value)| value).collect::<Vec<_>>());
    }
    assert_eq!(all[0], all[1], "with a rate and without");
    all.remove(0)
}

fn absolute(width: f64) -> Deadband {
    Deadband::Absolute(Band::new(width).unwrap())
}

fn percent(width: f64) -> Deadband {
    Deadband::Percent(Band::new(width).unwrap())
}

#[test]
fn a_percentage_of_zero_is_no_dead_band() {
    let floats = |values: &[f64]| values.iter().map(|value| ValueView::F64(*value)).collect();
    let values: Vec<ValueView<'static>> = floats(&[0.0, -0.0, 1e-300, 0.0, 100.0, 102.0, 102.5]);
    assert_eq!(sent(Kind::F64, percent(2.0), &values), ["0.0", "1e-300", "0.0", "100.0", "102.5"]);
    let values: Vec<ValueView<'static>> = floats(&[-100.0, -98.0, -97.0]);
    assert_eq!(sent(Kind::F64, percent(2.0), &values), ["-100.0", "-97.0"]);
}

#[test]
fn values_that_are_not_finite_are_sent_whenever_they_change() {
    let [nan, inf] = [f64::NAN, f64::INFINITY];
    let values = [nan, nan, 1.0, nan, inf, inf, 1.0, inf, -inf, 1.0, 1.5];
    let values = values.map(ValueView::F64);
    let heard = ["nan", "1.0", "nan", "inf", "1.0", "inf", "-inf", "1.0"];
    assert_eq!(sent(Kind::F64, absolute(1e9), &values), heard);
    assert_eq!(sent(Kind::F64, percent(200.0), &values), heard);
}

#[test]
fn the_dead_band_of_64_bit_integers_is_exact() {
    let (start, width) = (1u64 << 60, 1u64 << 53);
    let values = [start, start + width, start + width + 1, start + 1, start];
    let heard = [start, start + width + 1, start].map(|value| value.to_string());
    assert_eq!(
        sent(Kind::U64, absolute(9_007_199_254_740_992.0), &values.map(ValueView::U64)),
        heard
    );
    let ends = [i64::MIN, i64::MAX, i64::MIN].map(ValueView::I64);
    assert_eq!(sent(Kind::I64, absolute(1e18), &ends).len(), 3);
    assert_eq!(sent(Kind::I64, absolute(1e300), &ends).len(), 1);
    let near = [1i64 << 53, (1 << 53) + 1].map(ValueView::I64);
    assert_eq!(sent(Kind::I64, absolute(0.0), &near).len(), 2, "they are not the same");
}
