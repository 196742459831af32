//! The judge by examples. That it judges as the pipeline does, a test in Python shows.

use slipring_wire::frame::{FrameBounds, FrameBuf, FrameView, Header, Quality};

use super::*;
use crate::PlanError;
use crate::alarms::rules::{AlarmRule, AlarmTerms};
use crate::alarms::{AlarmEvent, TakenAlarms};
use crate::table::{AlarmLimits, Definition};

const S: i64 = 1_000_000_000;

fn entries(definitions: &[(&str, &str)]) -> Entries {
    let mut entries = Entries::new(1);
    for (index, (name, json)) in (0..).zip(definitions) {
        let definition = Arc::new(Definition::from_json(json).unwrap());
        entries.put(ParameterIndex::new(index), name, definition).unwrap();
    }
    entries
}

fn judge(rules: AlarmRules, entries: &Entries) -> AlarmJudge {
    let mut judge = AlarmJudge::new(Arc::new(rules));
    judge.define(&all(entries), entries, 0);
    judge
}

fn all(entries: &Entries) -> RangeSet {
    (0..entries.end().get()).collect()
}

fn terms(hysteresis: f64, on_s: i64, off_s: i64) -> AlarmRules {
    let terms = AlarmTerms { hysteresis, on_delay_ns: on_s * S, off_delay_ns: off_s * S };
    AlarmRules::new(true, terms, Vec::new()).unwrap()
}

fn one(json: &str) -> Entries {
    entries(&[("egt", json)])
}

fn hot() -> Entries {
    one(r#"{"type": "f64", "unit": "K", "limits": {"high": 900, "high_critical": 950}}"#)
}

fn sample(judge: &mut AlarmJudge, at_s: i64, value: f64) {
    let value = ValueView::F64(value);
    judge.take_sample(&Sample { index: 0, time_ns: at_s * S, quality: Quality::GOOD, value });
}

fn shown(event: &AlarmEvent) -> (&'static str, bool, i64, i64) {
    (event.limit.name(), event.began, event.time_ns / S, event.since_ns / S)
}

fn events(judge: &mut AlarmJudge) -> Vec<(&'static str, bool, i64, i64)> {
    judge.take_events().events.iter().map(shown).collect()
}

#[test]
fn an_event_begins_beyond_the_limit_and_ends_behind_the_hysteresis() {
    let mut judge = judge(terms(10.0, 0, 0), &hot());
    for (at, value) in [(0, 900.0), (1, 901.0), (2, 951.0), (3, 941.0), (4, 940.0), (5, 890.0)] {
        sample(&mut judge, at, value);
    }
    let expected = [
        ("high", true, 1, 1),
        ("high_critical", true, 2, 2),
        ("high_critical", false, 4, 4),
        ("high", false, 5, 5),
    ];
    assert_eq!(events(&mut judge), expected);
    assert!(judge.standing().is_empty());
}

#[test]
fn delays_count_by_source_time_from_the_first_of_an_unbroken_series() {
    let mut judge = judge(terms(10.0, 2, 3), &hot());
    let samples =
        [(0, 905.0), (1, 895.0), (2, 901.0), (10, 880.0), (12, 905.0), (20, 880.0), (23, 880.0)];
    for (at, value) in samples {
        sample(&mut judge, at, value);
    }
    assert_eq!(events(&mut judge), [("high", true, 2, 0), ("high", false, 23, 20)]);
}

#[test]
fn what_is_bad_or_stale_or_no_number_is_left_out() {
    let mut judge = judge(terms(0.0, 0, 0), &hot());
    for quality in [QualityStatus::Bad, QualityStatus::Stale] {
        let (quality, value) = (Quality::new(quality, 0), ValueView::F64(1e9));
        judge.take_sample(&Sample { index: 0, time_ns: 1, quality, value });
    }
    sample(&mut judge, 2, f64::NAN);
    assert!(events(&mut judge).is_empty());
    sample(&mut judge, 3, f64::INFINITY);
    sample(&mut judge, 4, f64::NAN);
    assert_eq!(events(&mut judge), [("high", true, 3, 3), ("high_critical", true, 3, 3)]);
}

#[test]
fn an_event_ends_with_the_next_sample_after_its_limit_was_removed() {
    let mut judge = judge(terms(0.0, 0, 60), &hot());
    sample(&mut judge, 1, 920.0);
    judge.define(&(0..1).collect(), &one(r#"{"type": "f64", "unit": "K"}"#), 0);
    assert_eq!(judge.standing().len(), 1);
    sample(&mut judge, 2, 920.0);
    let TakenAlarms { events, .. } = judge.take_events();
    assert_eq!(events.iter().map(shown).collect::<Vec<_>>()[1..], [("high", false, 2, 2)]);
    assert_eq!((events[1].threshold, events[1].value), (None, Some(920.0)));
    assert_eq!(judge.count, 0);
}

#[test]
fn the_events_of_a_parameter_end_when_it_is_removed() {
    let mut entries = hot();
    let mut judge = judge(terms(0.0, 0, 0), &entries);
    sample(&mut judge, 1, 920.0);
    entries.remove(ParameterIndex::new(0));
    judge.define(&(0..1).collect(), &entries, 7 * S);
    assert_eq!(events(&mut judge), [("high", true, 1, 1), ("high", false, 7, 7)]);
}

#[test]
fn the_last_rule_that_matches_counts_and_what_it_leaves_out_is_taken_from_others() {
    let rule = |filter: &str, high, hysteresis| AlarmRule {
        filter: filter.into(),
        limits: AlarmLimits { high, ..AlarmLimits::default() },
        hysteresis,
        on_delay_ns: Some(5),
        off_delay_ns: None,
    };
    let terms = AlarmTerms { hysteresis: 1.0, on_delay_ns: 2, off_delay_ns: 3 };
    let given = vec![rule("#", Some(1.0), None), rule("e/+", None, Some(9.0))];
    let rules = AlarmRules::new(true, terms, given.clone()).unwrap();
    let declared = AlarmLimits { high: Some(7.0), low: Some(-7.0), ..AlarmLimits::default() };
    let (thresholds, found) = rules.of("e/egt", Some(&declared));
    assert_eq!((thresholds[1], thresholds[2]), (-7.0, 7.0));
    assert_eq!(found, AlarmTerms { hysteresis: 9.0, on_delay_ns: 5, off_delay_ns: 3 });
    assert_eq!(rules.of("other", Some(&declared)).0[1..3], [-7.0, 1.0]);
    let without = AlarmRules::new(false, terms, given).unwrap();
    assert!(without.of("e/egt", Some(&declared)).0.iter().all(|one| one.is_nan()));
    let wrong = vec![rule("#", Some(f64::NAN), None)];
    assert_eq!(AlarmRules::new(true, terms, wrong), Err(PlanError::AlarmNumber));
}

#[test]
fn each_row_of_a_frame_is_judged_for_each_kind() {
    for kind in ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64", "bool"] {
        let limited = format!(r#"{{"type": "{kind}", "limits": {{"high": 0.5}}}}"#);
        let plain = format!(r#"{{"type": "{kind}"}}"#);
        let names: Vec<String> = (0..150).map(|index| format!("p{index}")).collect();
        let declared: Vec<(&str, &str)> = (0..)
            .zip(&names)
            .map(|(index, name)| (&**name, if index == 70 { &*limited } else { &*plain }))
            .collect();
        let mut judge = judge(terms(0.0, 0, 0), &entries(&declared));
        let kind = Kind::from_name(kind).unwrap();
        let rows = [0_u8, 1, 1, 0];
        let samples = (0..150).flat_map(|index| {
            (0..).zip(rows).map(move |(row, value)| Sample {
                index,
                time_ns: row * S,
                quality: Quality::GOOD,
                value: value_of(kind, value),
            })
        });
        take(&mut judge, kind, &mut samples.collect::<Vec<_>>());
        assert_eq!(events(&mut judge), [("high", true, 1, 1), ("high", false, 3, 3)], "{kind:?}");
    }
}

#[test]
fn events_beyond_the_bound_are_counted_and_what_stands_is_known() {
    let mut judge = judge(terms(0.0, 0, 0), &hot());
    let last = i64::try_from(EVENTS_MAX).unwrap() + 10;
    for at in 0..=last {
        sample(&mut judge, at, if at % 2 == 0 { 910.0 } else { 0.0 });
    }
    let taken = judge.take_events();
    assert_eq!((taken.events.len(), taken.lost), (EVENTS_MAX, 11));
    let standing = judge.standing();
    assert_eq!(standing.len(), 1);
    assert_eq!((standing[0].began_ns / S, standing[0].value), (last, 910.0));
}

#[test]
fn an_event_of_an_earlier_run_goes_on_once_its_parameter_is_declared() {
    let alarm = RestoredAlarm { limit: AlarmLimit::High, since_ns: S, began_ns: S, value: 905.0 };
    let mut judge = AlarmJudge::new(Arc::new(terms(10.0, 0, 0)));
    judge.restore("egt", alarm, &Entries::new(1));
    judge.restore("nobody", alarm, &Entries::new(1));
    judge.define(&(0..1).collect(), &hot(), 0);
    assert_eq!(judge.standing().len(), 1);
    sample(&mut judge, 5, 895.0);
    assert!(events(&mut judge).is_empty());
    sample(&mut judge, 6, 885.0);
    assert_eq!(events(&mut judge), [("high", false, 6, 6)]);
    assert_eq!(judge.forget_restored(), ["nobody".into()]);
}

fn value_of(kind: Kind, value: u8) -> ValueView<'static> {
    match kind {
        Kind::Bool => ValueView::Bool(value != 0),
        Kind::U8 => ValueView::U8(value),
        Kind::I8 => ValueView::I8(i8::try_from(value).unwrap()),
        Kind::U16 => ValueView::U16(value.into()),
        Kind::I16 => ValueView::I16(value.into()),
        Kind::U32 => ValueView::U32(value.into()),
        Kind::I32 => ValueView::I32(value.into()),
        Kind::U64 => ValueView::U64(value.into()),
        Kind::I64 => ValueView::I64(value.into()),
        Kind::F32 => ValueView::F32(value.into()),
        _ => ValueView::F64(value.into()),
    }
}

fn take(judge: &mut AlarmJudge, kind: Kind, samples: &mut [Sample<'_>]) {
    let (mut buf, mut bytes, mut scratch) = (FrameBuf::new(), Vec::new(), Vec::new());
    buf.push_samples(kind, samples).unwrap();
    buf.finish(&Header { table: 1, ..Header::default() }, false, &mut bytes);
    let bounds = FrameBounds { samples_max: 10_000, raw_bytes_max: 1 << 20 };
    let view = FrameView::decode(&bytes, &mut scratch, &bounds).unwrap();
    view.runs().for_each(|run| judge.take_run(&run));
}
