//! Laws of retention: what must never be removed, and what must be.

use std::time::Duration;

use proptest::prelude::*;

use crate::consumers::{Consumer, ConsumerFlaw, ConsumerPosition};
use crate::format::JournalIdentity;
use crate::retention::{Decision, RetentionClaims, RetentionRules, SegmentSummary, decide};
use crate::segment::SegmentId;

const JOURNAL: JournalIdentity = JournalIdentity([1; 16]);
const AGE: Duration = Duration::from_nanos(100);

/// Everything a decision is made from.
#[derive(Clone, Debug)]
struct Case {
    segments: Vec<SegmentSummary>,
    snapshot: Option<SegmentId>,
    sessions: u64,
    consumers: Vec<Consumer>,
    rules: RetentionRules,
    now_ns: i64,
}

impl Case {
    fn decide(&self) -> Decision {
        self.decide_at(self.now_ns)
    }

    fn decide_at(&self, now_ns: i64) -> Decision {
        let (snapshot, sessions) = (self.snapshot, self.sessions);
        let needs =
            RetentionClaims { snapshot, sessions, consumers: &self.consumers, journal: JOURNAL };
        decide(&self.segments, &needs, &self.rules, now_ns)
    }

    /// The offset after the segment with this number.
    fn end_of(&self, number: usize) -> u64 {
        self.segments[number + 1].id.offset
    }

    fn is_due(&self, number: usize) -> bool {
        let left: u64 = self.segments[number..].iter().map(|segment| segment.bytes).sum();
        let old = |age: Duration| {
            self.segments[number].newest_ns < self.now_ns - i64::try_from(age.as_nanos()).unwrap()
        };
        self.rules.bytes.is_some_and(|most| left > most) || self.rules.age.is_some_and(old)
    }
}

fn segments() -> impl Strategy<Value = Vec<SegmentSummary>> {
    let segment = (0..4_u64, 64..100_u64, -200..200_i64);
    prop::collection::vec(segment, 1..12).prop_map(|steps| {
        let (mut id, mut segments) = (SegmentId { offset: 0, part: 0 }, Vec::new());
        for (messages, bytes, newest_ns) in steps {
            segments.push(SegmentSummary { id, bytes, newest_ns });
            let part = if messages == 0 { id.part + 1 } else { 0 };
            id = SegmentId { offset: id.offset + messages, part };
        }
        segments
    })
}

fn consumers() -> impl Strategy<Value = Vec<Consumer>> {
    let position =
        |offset| ConsumerPosition { journal: JOURNAL, offset, epoch: Some(3), updated_ns: 0 };
    let consumer = (0..40_u64).prop_map(move |offset| Consumer {
        name: format!("c{offset}"),
        position: Ok(position(offset)),
        note: String::new(),
    });
    prop::collection::vec(consumer, 0..3)
}

fn cases() -> impl Strategy<Value = Case> {
    let rules = (prop::option::of(0..150_u64), prop::option::of(0..900_u64), any::<bool>());
    let needs = (prop::option::of((0..40_u64, 0..3_u32)), 0..40_u64, consumers());
    (segments(), needs, rules, -300..300_i64).prop_map(
        |(segments, (snapshot, sessions, consumers), (age, bytes, keep_unread), now_ns)| Case {
            segments,
            snapshot: snapshot.map(|(offset, part)| SegmentId { offset, part }),
            sessions,
            consumers,
            rules: RetentionRules { age: age.map(Duration::from_nanos), bytes, keep_unread },
            now_ns,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_last_segment_never_goes(case in cases()) {
        prop_assert!(case.decide().remove < case.segments.len());
    }

    #[test]
    fn nothing_at_or_after_what_somebody_needs_goes(case in cases()) {
        for number in 0..case.decide().remove {
            prop_assert!(case.end_of(number) <= case.sessions);
            prop_assert!(case.snapshot.is_some_and(|id| case.segments[number].id < id));
            let read = |consumer: &Consumer| {
                case.end_of(number) <= consumer.position.unwrap().offset
            };
            prop_assert!(!case.rules.keep_unread || case.consumers.iter().all(read));
        }
    }

    #[test]
    fn only_what_the_rules_want_gone_goes_and_it_stops_when_they_are_met(case in cases()) {
        let Decision { remove, held_by } = case.decide();
        prop_assert!((0..remove).all(|number| case.is_due(number)));
        let more = remove + 1 < case.segments.len() && case.is_due(remove);
        prop_assert_eq!(held_by.is_some(), more, "{:?}", held_by);
    }

    #[test]
    fn a_clock_that_jumps_backwards_removes_nothing_more(case in cases(), back in 0..1000_i64) {
        prop_assert!(case.decide_at(case.now_ns - back).remove <= case.decide().remove);
    }

    #[test]
    fn times_ahead_of_the_clock_are_not_old(case in cases()) {
        let mut case = case;
        case.rules.bytes = None;
        case.now_ns = case.segments.iter().map(|segment| segment.newest_ns).min().unwrap();
        prop_assert_eq!(case.decide(), Decision { remove: 0, held_by: None });
    }

    #[test]
    fn without_a_rule_nothing_goes(case in cases()) {
        let mut case = case;
        (case.rules.age, case.rules.bytes) = (None, None);
        prop_assert_eq!(case.decide(), Decision { remove: 0, held_by: None });
    }
}

/// Five segments of ten messages, old enough to go, that nobody needs.
fn old() -> Case {
    let id = |number: u64| SegmentId { offset: number * 10, part: 0 };
    let segments = (0..5).map(|number| SegmentSummary { id: id(number), bytes: 100, newest_ns: 0 });
    let rules = RetentionRules { age: Some(AGE), bytes: None, keep_unread: true };
    Case {
        segments: segments.collect(),
        snapshot: Some(id(4)),
        sessions: u64::MAX,
        consumers: Vec::new(),
        rules,
        now_ns: 1000,
    }
}

fn held_by(case: &Case) -> (usize, String) {
    let Decision { remove, held_by } = case.decide();
    (remove, held_by.unwrap_or_default())
}

#[test]
fn the_claim_that_keeps_a_segment_is_named_with_its_offset() {
    let mut case = old();
    assert_eq!(held_by(&case), (4, String::new()));
    case.sessions = 35;
    assert_eq!(held_by(&case), (3, "sessions, from offset 35".to_owned()));
    case.snapshot = Some(case.segments[2].id);
    let state = "the state, from segment 00000000000000000020".to_owned();
    assert_eq!(held_by(&case), (2, state));
    let position =
        Ok(ConsumerPosition { journal: JOURNAL, offset: 19, epoch: Some(3), updated_ns: 0 });
    case.consumers.push(Consumer { name: "lake".to_owned(), position, note: String::new() });
    assert_eq!(held_by(&case), (1, "consumer lake, at offset 19".to_owned()));
    case.snapshot = None;
    assert_eq!(held_by(&case), (0, "the state, which has no snapshot".to_owned()));
}

#[test]
fn two_claims_on_the_same_segment_are_both_named() {
    let mut case = old();
    case.snapshot = Some(case.segments[1].id);
    case.sessions = 10;
    let both = "sessions, from offset 10; the state, from segment 00000000000000000010";
    assert_eq!(held_by(&case), (1, both.to_owned()));
}

#[test]
fn retention_overtakes_a_consumer_only_without_keep_unread() {
    let mut case = old();
    let position =
        Ok(ConsumerPosition { journal: JOURNAL, offset: 0, epoch: Some(3), updated_ns: 0 });
    case.consumers.push(Consumer { name: "slow".to_owned(), position, note: String::new() });
    assert_eq!(case.decide().remove, 0);
    case.rules.keep_unread = false;
    assert_eq!(case.decide().remove, 4);
}

#[test]
fn a_consumer_with_an_unknown_position_keeps_everything_and_the_remedy_is_named() {
    let mut case = old();
    let elsewhere = ConsumerPosition {
        journal: JournalIdentity([2; 16]),
        offset: 50,
        epoch: Some(3),
        updated_ns: 0,
    };
    for position in [Err(ConsumerFlaw::Damaged), Ok(elsewhere)] {
        case.consumers = vec![Consumer { name: "lost".to_owned(), position, note: String::new() }];
        let (remove, who) = held_by(&case);
        assert_eq!(remove, 0);
        assert!(who.starts_with("consumer lost") && who.ends_with("forget it"), "{who}");
    }
}
