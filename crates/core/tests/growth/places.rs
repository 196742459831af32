//! Values that become stale and fresh again, and a reader with many subscriptions to streams.

use slipring_core::desk::{DeclaredEntry, Desk, Requester};
use slipring_core::streams::{Catalog, ChunkBudget, StreamDefinition, Streams};
use slipring_core::table::{
    ClockReading, Current, Definition as Parameter, Deliver, Entries, Needs, Selection,
};
use slipring_core::{Limits, ParameterIndex, Principal, SessionKey, StreamIndex};
use slipring_wire::Publish;
use slipring_wire::frame::{Quality, RangeSet, Sample, ValueView};

use crate::growth;

const NOW: ClockReading = ClockReading { now_ms: 1, now_ns: 1 };

fn values(count: u32) -> Current {
    let (mut entries, mut current) = (Entries::new(1), Current::default());
    let definition = std::sync::Arc::new(Parameter::from_json(r#"{"type": "u8"}"#).unwrap());
    for index in 0..count {
        entries.put(ParameterIndex::new(index), &format!("p{index}"), definition.clone()).unwrap();
    }
    current.define(&all(count), &entries);
    current
}

fn all(count: u32) -> RangeSet {
    std::iter::once(0..count).collect()
}

#[test]
fn the_cost_of_a_value_that_becomes_fresh_and_stale_again_does_not_grow_with_the_table() {
    let (small, large) = (2_000, 128_000);
    let set = |current: &mut Current, index| {
        let value = ValueView::U8(1);
        current.set(&Sample { index, time_ns: 1, quality: Quality::GOOD, value }, NOW);
    };
    let grows = growth((values(small), small), (values(large), large), |(current, count), _| {
        (0..*count).step_by(2).for_each(|index| set(current, index));
        current.mark_stale(&all(*count), Quality::PUBLISHER_GONE, NOW);
        (0..*count).step_by(2).rev().for_each(|index| set(current, index));
        assert_eq!(
            current.mark_stale(&all(*count), Quality::PUBLISHER_GONE, NOW).len() as u32,
            *count / 2
        );
        assert!(current.take_fresh().is_empty());
        (0..*count).step_by(4).rev().for_each(|index| set(current, index));
        assert_eq!(current.take_fresh().ranges() as u32, *count / 4);
    });
    assert!(grows < 3.0 * f64::from(large / small), "{grows}");
}

#[test]
fn a_chunk_for_one_subscription_does_not_look_at_the_others_of_its_reader() {
    let reader = |subscriptions: u32| {
        let mut streams = Streams::new(Catalog::default(), 7);
        let requester = Requester {
            from: Principal { session: SessionKey::new(1), client_id: "", ..Principal::broker() },
            bounds: Streams::bounds(&Limits::default()),
            is_taken: &|_| false,
            answer_bytes_max: 999,
            policy: slipring_core::access::AccessPolicy::open(),
        };
        let asked = [DeclaredEntry::new(0, "a", StreamDefinition::new("audio/pcm"))];
        streams.declare(&asked, &requester).unwrap();
        let needs = Needs { deliver: Deliver::Stream { newest: false }, ..Needs::default() };
        for number in 0..subscriptions {
            let filter = if number == 0 { "a".to_owned() } else { format!("b{number}/#") };
            let filter = &filter;
            streams.follow(
                SessionKey::new(2),
                &Selection { filter, identifier: 0, needs, packet_bytes_max: 999, rights: None },
            );
        }
        streams
    };
    let grows = growth(reader(60), reader(960), |streams, _| {
        let mut out = Vec::new();
        for _ in 0..100 {
            streams
                .push(SessionKey::new(1), StreamIndex::new(0), &Publish::new("a", b"x"), 0)
                .unwrap();
        }
        let budget = ChunkBudget { bytes: 1 << 20, most: 1 << 20 };
        assert_eq!(streams.take(SessionKey::new(2), budget, &mut out).chunks, 100);
    });
    assert!(grows < 5.0, "{grows}");
}
