//! The form in which samples arrive: topics, sizes, text, JSON and hops; and which subscribers share them.

use slipring_core::SessionKey;
use slipring_core::table::{Deliver, Needs, frame_topic, json};
use slipring_wire::frame::{
    FrameBuf, Hops, Kind, Qualities, Quality, QualityStatus, Sample, ValueView,
};
use slipring_wire::{check_topic, matches};

use crate::world::{FRAME, TABLE, World, f64_at, good, samples, values};

const LIMIT: usize = 256 * 1024;

#[test]
fn frames_go_out_on_a_topic_that_the_filter_matches() {
    let rows = [
        ("#", "*"),
        ("/#", "/"),
        ("a/#", "a"),
        ("+/#", "*"),
        ("+", "*"),
        ("a/+/b/#", "a/*/b"),
        ("a/b", "a/b"),
        ("//#", "/"),
        ("$selection/00ff", "$selection/00ff"),
    ];
    for (filter, topic) in rows {
        assert_eq!(frame_topic(filter), topic, "{filter}");
        assert!(check_topic(topic).is_ok() && matches(filter, topic), "{filter}");
    }
}

#[test]
fn equal_subscribers_are_one_group_and_others_are_not() {
    let mut world = World::new(&[Kind::F64]);
    for who in 1..=20 {
        world.join(who, "#", 7, FRAME);
    }
    world.join(21, "#", 8, FRAME);
    world.join(22, "$selection/plot/#", 7, FRAME);
    world.join_within(23, "#", 7, FRAME, 1 << 24);
    assert_eq!(world.groups.len(), 1);
    world.join(24, "a/#", 7, FRAME);
    world.join(25, "#", 7, Needs { change: true, ..FRAME });
    world.join_within(26, "#", 7, FRAME, 1000);
    for identifier in [7, 8] {
        world.join(27, "#", identifier, Needs { deliver: Deliver::Text, ..FRAME });
        world.join(28, "#", 7, Needs { deliver: Deliver::Text, ..FRAME });
    }
    assert_eq!(world.groups.len(), 6);
    (1..=28).for_each(|who| world.groups.leave_all(SessionKey::new(who)));
    assert!(world.groups.is_empty());
}

#[test]
fn subscribing_again_with_other_needs_replaces_the_selection() {
    let mut world = World::new(&[Kind::F64]);
    world.publish(&[f64_at(0, 1, 1.0)]);
    world.join(1, "#", 1, FRAME);
    let again = world.join(1, "#", 2, Needs { deliver: Deliver::Text, ..FRAME });
    assert_eq!(values(&again), [(0, "1.0".to_owned())], "current values first, again");
    assert_eq!(world.groups.len(), 1);
    world.take(1);
    world.publish(&[f64_at(0, 2, 2.0)]);
    world.run(20);
    assert_eq!(world.take(1).len(), 1);
}

#[test]
fn frames_carry_the_table_the_time_and_the_hops() {
    let mut world = World::new(&[Kind::F64; 2]);
    world.join(1, "a/#", 300, FRAME);
    let hops = |published_ns| Some(Hops { published_ns, received_ns: 5, skew_ns: -3 });
    world.publish(&[f64_at(0, 0, 0.0)]);
    world.tick();
    world.take(1);
    for (number, index) in [(1, 0), (2, 0), (3, 1)] {
        let mut buf = FrameBuf::new();
        buf.push_samples(Kind::F64, &mut [f64_at(index, 1, 1.0)]).unwrap();
        world.publish_frame(buf, hops(number));
    }
    world.run(20);
    let heard = world.take(1);
    let header = heard[0].header.unwrap();
    assert_eq!((heard[0].topic.as_str(), heard[0].identifier), ("a", 300));
    assert_eq!((header.table, header.sequence), (TABLE, 1));
    assert_eq!(header.sent_ns, crate::world::wall_ns(world.now_ms), "a beat after the last");
    assert_eq!(header.hops, hops(2), "of the newest that contributed to this selection");
}

#[test]
fn the_hops_of_a_frame_are_those_of_its_newest_sample() {
    for needs in [FRAME, Needs { rate_mhz: Some(10_000), ..FRAME }] {
        let mut world = World::new(&[Kind::F64; 3]);
        world.join(1, "#", 1, needs);
        world.publish(&[f64_at(2, 0, 0.0)]);
        world.run(200);
        world.take(1);
        world.publish(&[f64_at(2, 0, 0.0)]);
        // The clock of the first is ahead; the second comes later, and its time is older.
        for (index, time_ns, skew_ns) in [(0, 900, -500), (1, 450, 0)] {
            let mut buf = FrameBuf::new();
            buf.push_samples(Kind::F64, &mut [f64_at(index, time_ns, 1.0)]).unwrap();
            world.publish_frame(buf, Some(Hops { published_ns: 0, received_ns: 0, skew_ns }));
        }
        world.run(200);
        let heard = world.take(1);
        assert_eq!(heard.iter().map(|heard| heard.samples.len()).sum::<usize>(), 3);
        let hops = heard.last().unwrap().header.unwrap().hops;
        assert_eq!(hops.map(|hops| hops.skew_ns), Some(-500), "{needs:?}");
        let gone = world.current.mark_stale(&[0u32, 1].into_iter().collect(), 2, world.arrival());
        world.offer_newest(&gone);
        world.run(200);
        let hops = world.take(1)[0].header.unwrap().hops;
        assert_eq!(hops.map(|hops| hops.skew_ns), Some(0), "stale by the broker's own clock");
    }
}

#[test]
fn text_has_the_value_and_properties_have_time_and_quality() {
    let mut world = World::new(&[Kind::F64, Kind::Bool, Kind::U8, Kind::Text, Kind::F64]);
    let needs = Needs { deliver: Deliver::Text, ..FRAME };
    let uncertain = Quality::new(QualityStatus::Uncertain, 40);
    world.publish(&[
        f64_at(0, 11, 12034.5),
        good(1, 12, ValueView::Bool(true)),
        good(2, 13, ValueView::U8(2)),
        good(3, 14, ValueView::Text("hög")),
        Sample { quality: uncertain, ..f64_at(4, 15, -0.25) },
    ]);
    let mut heard = world.join(1, "#", 9, needs);
    heard.sort_by_key(|heard| heard.samples[0].index);
    let topics: Vec<_> = heard.iter().map(|heard| heard.topic.as_str()).collect();
    assert_eq!(topics, ["a/0", "b/1", "a/2", "b/3", "a/4"]);
    assert!(heard.iter().all(|heard| heard.identifier == 9 && heard.header.is_none()));
    let got = samples(&heard);
    let texts: Vec<_> = got.iter().map(|sample| sample.value.as_str()).collect();
    assert_eq!(texts, ["12034.5", "true", "2", "hög", "-0.25"]);
    let times: Vec<_> = got.iter().map(|sample| sample.time_ns).collect();
    assert_eq!(times, [11, 12, 13, 14, 15]);
    assert_eq!((got[0].quality, got[4].quality), (Quality::GOOD, uncertain));
}

#[test]
fn json_has_value_time_and_quality() {
    let world = World::new(&[Kind::F64, Kind::U8, Kind::Text, Kind::Bytes]);
    let stale = Quality::new(QualityStatus::Stale, Quality::SILENT);
    let free = Quality::new(QualityStatus::Bad, 33);
    let rows = [
        (f64_at(0, 7, 12034.5), r#"{"value":12034.5,"time":7,"quality":"good"}"#),
        (f64_at(0, -1, f64::NAN), r#"{"value":"nan","time":-1,"quality":"good"}"#),
        (good(1, 7, ValueView::U8(1)), r#"{"value":"state 1","time":7,"quality":"good"}"#),
        (good(1, 7, ValueView::U8(9)), r#"{"value":9,"time":7,"quality":"good"}"#),
        (
            good(2, 7, ValueView::Text("a\"\\\n\u{7f}ö")),
            "{\"value\":\"a\\\"\\\\\\u000a\\u007fö\",\"time\":7,\"quality\":\"good\"}",
        ),
        (good(3, 7, ValueView::Bytes(&[0, 255])), r#"{"value":"AP8=","time":7,"quality":"good"}"#),
        (
            Sample { quality: stale, ..f64_at(0, 7, 1.0) },
            r#"{"value":1.0,"time":7,"quality":"stale","why":"silent"}"#,
        ),
        (
            Sample { quality: free, ..f64_at(0, 7, 1.0) },
            r#"{"value":1.0,"time":7,"quality":"bad","why":"33"}"#,
        ),
    ];
    for (sample, expected) in rows {
        let mut out = Vec::new();
        json(&sample, &world.table, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

#[test]
fn a_table_too_large_for_one_frame_is_sent_in_several_with_each_sample_once() {
    let kinds = [vec![Kind::F64; 60_000], vec![Kind::Bool; 60_001]].concat();
    let mut world = World::new(&kinds);
    let (numbers, bits) = (0..60_000, 60_000..120_001);
    for needs in [FRAME, Needs { rate_mhz: Some(10_000), ..FRAME }] {
        world.join(1, "#", 1, needs);
        world.join(2, "b/#", 1, needs);
        world.take(1);
        world.take(2);
        let mut buf = FrameBuf::new();
        let good = Qualities::All(Quality::GOOD);
        buf.push_row(Kind::F64, std::slice::from_ref(&numbers), 5, good, &vec![1; 480_000])
            .unwrap();
        let bools = vec![1; 7501];
        buf.push_row(Kind::Bool, std::slice::from_ref(&bits), 5, good, &bools).unwrap();
        world.publish_frame(buf, None);
        world.run(200);
        for (who, step) in [(1, 1), (2, 2)] {
            let heard = world.take(who);
            assert!(heard.len() > 1 && heard.iter().all(|heard| heard.bytes <= LIMIT));
            let mut indices: Vec<u32> = samples(&heard).iter().map(|sample| sample.index).collect();
            indices.sort_unstable();
            assert!(indices.into_iter().eq((step - 1..120_001).step_by(step as usize)));
        }
    }
}

#[test]
fn a_long_run_of_one_parameter_is_cut_between_its_samples() {
    let mut world = World::new(&[Kind::F64]);
    world.join_within(1, "#", 1, FRAME, 4_000);
    let many: Vec<_> =
        (0..5_000).map(|number: i32| f64_at(0, number.into(), number.into())).collect();
    world.publish(&many);
    world.run(20);
    let heard = world.take(1);
    assert!(heard.iter().all(|heard| heard.bytes <= 4_000));
    let times: Vec<i64> = samples(&heard).iter().map(|sample| sample.time_ns).collect();
    assert!(times.into_iter().eq(0..5_000));
}

#[test]
fn a_sample_that_fits_in_no_packet_is_counted_and_the_others_arrive() {
    let long = "x".repeat(500);
    for needs in [FRAME, Needs { deliver: Deliver::Text, ..FRAME }] {
        let mut world = World::new(&[Kind::Text, Kind::Text, Kind::F64]);
        world.join_within(1, "#", 1, needs, 300);
        world.publish(&[
            good(0, 1, ValueView::Text(&long)),
            good(1, 1, ValueView::Text("short")),
            f64_at(2, 1, 1.0),
        ]);
        world.run(20);
        let mut got = world.take_values(1);
        got.sort();
        assert_eq!(got, [(1, "short".to_owned()), (2, "1.0".to_owned())]);
        assert_eq!((world.groups.take_lost(), world.groups.take_lost()), (1, 0));
    }
}

#[test]
fn a_list_stays_as_it_was_chosen() {
    let mut world = World::new(&[Kind::F64; 2]);
    world.join(1, "$selection/1", 1, FRAME);
    world.declare(&[Kind::F64; 2]);
    world.publish(&[0, 1, 2, 3].map(|index| f64_at(index, 1, 1.0)));
    world.run(20);
    let heard = world.take(1);
    assert_eq!(heard[0].topic, "$selection/1");
    assert_eq!(values(&heard), [(1, "1.0".to_owned())]);
}

#[test]
fn a_filter_selects_parameters_that_are_declared_later() {
    let mut world = World::new(&[]);
    assert!(world.join(1, "a/#", 1, FRAME).is_empty());
    world.declare(&[Kind::F64; 3]);
    world.publish(&[0, 1, 2].map(|index| f64_at(index, 1, 1.0)));
    world.run(20);
    assert_eq!(world.take_values(1), [(0, "1.0".to_owned()), (2, "1.0".to_owned())]);
}

#[test]
fn newly_selected_values_are_sent_with_the_changes() {
    let mut world = World::new(&[Kind::F64; 8]);
    let hidden = [0, 1].into_iter().collect();
    world.join(1, "#", 1, Needs { rate_mhz: Some(10_000), ..FRAME });
    world.choose_again(&hidden);
    world.publish(&[0, 1, 2, 3, 4, 5, 6, 7].map(|index| f64_at(index, 5, 1.0)));
    world.run(200);
    assert_eq!(world.take_values(1).len(), 6);
    world.publish(&[2, 3, 4, 5, 6, 7].map(|index| f64_at(index, 5, 2.0)));
    world.choose_again(&std::collections::HashSet::new());
    world.run(200);
    let mut got = world.take_values(1);
    got.sort();
    let got: Vec<_> = got.iter().map(|(index, value)| (*index, value.as_str())).collect();
    let old = [(0, "1.0"), (1, "1.0")];
    assert!(got.into_iter().eq(old.into_iter().chain((2..8).map(|index| (index, "2.0")))));
}
