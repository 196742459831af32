//! How long samples wait for the end of a beat: frames of a publisher that gathers for a beat itself hardly wait for
//! another one, and no subscriber gets many more frames than one a beat (T7).

use proptest::prelude::*;
use slipring_core::table::Needs;
use slipring_wire::frame::Kind;

use crate::world::{FRAME, World, f64_at};

const BEAT_MS: u64 = 20;

/// Publishes at these times, in milliseconds; returns how long each sample waited, and when frames were sent.
fn waits(times_ms: &[u64], beat_ms: u64) -> (Vec<u64>, Vec<u64>) {
    let mut world = World::new(&[Kind::F64]);
    world.join(1, "#", 1, Needs { beat_ms: Some(beat_ms as u16), ..FRAME });
    let begin_ms = world.now_ms;
    let (mut waits_ms, mut frames_ms) = (Vec::new(), Vec::new());
    let mut left = times_ms.iter().peekable();
    for now_ms in 0..=times_ms.last().expect("times") + beat_ms {
        world.now_ms = begin_ms + now_ms;
        while left.next_if(|time_ms| **time_ms == now_ms).is_some() {
            world.publish(&[f64_at(0, i64::try_from(now_ms).expect("short"), 0.5)]);
        }
        world.tick();
        for frame in world.take(1) {
            frames_ms.push(now_ms);
            waits_ms.extend(frame.samples.iter().map(|sample| {
                now_ms - u64::try_from(sample.time_ns).expect("a time of this test")
            }));
        }
    }
    assert_eq!(waits_ms.len(), times_ms.len(), "each came");
    (waits_ms, frames_ms)
}

/// The times of a publisher that sends one frame in each beat, some of them late by so much.
fn steady(frames: u64, late: &[(u64, u64)]) -> Vec<u64> {
    let late_ms = |at: u64| late.iter().find(|(late, _)| *late == at).map_or(0, |(_, ms)| *ms);
    (0..frames).map(|at| at * BEAT_MS + late_ms(at)).collect()
}

#[test]
fn a_late_frame_does_not_make_later_ones_wait() {
    let (waits_ms, _) = waits(&steady(50, &[(3, 15), (20, 19)]), BEAT_MS);
    assert_eq!(waits_ms, [0; 50]);
}

#[test]
fn the_beat_adapts_so_that_steady_frames_hardly_wait() {
    let (waits_ms, _) = waits(&steady(50, &[(0, 15)]), BEAT_MS);
    assert_eq!(
        waits_ms[1], 15,
        "the first one came late, and the second less than a beat after it"
    );
    assert!(waits_ms.windows(2).skip(1).all(|pair| pair[1] <= pair[0]), "{waits_ms:?}");
    assert!(waits_ms[15..].iter().all(|wait| *wait <= 3), "{waits_ms:?}");
}

#[test]
fn many_frames_of_one_beat_are_sent_as_one() {
    for every_ms in 1..4 {
        let times_ms: Vec<u64> = (0..1_000).map(|at| at * every_ms).collect();
        let (_, frames_ms) = waits(&times_ms, BEAT_MS);
        assert!(frames_ms.windows(2).all(|pair| pair[1] - pair[0] == BEAT_MS), "{frames_ms:?}");
    }
}

proptest! {
    /// G6: no sample waits longer than a beat, and in any time there are no more frames than four in three
    /// beats.
    #[test]
    fn no_sample_waits_longer_than_a_beat_and_frames_are_few(
        beat_ms in 1..40u64,
        pauses_ms in proptest::collection::vec(0..60u64, 1..200),
    ) {
        let mut now_ms = 0;
        let times_ms: Vec<u64> = pauses_ms.iter().map(|pause_ms| {
            now_ms += pause_ms;
            now_ms
        }).collect();
        let (waits_ms, frames_ms) = waits(&times_ms, beat_ms);
        prop_assert!(waits_ms.iter().all(|wait| *wait <= beat_ms), "{:?}", waits_ms);
        for (first, from_ms) in frames_ms.iter().enumerate() {
            for (count, to_ms) in (0..).zip(&frames_ms[first..]) {
                let passed_ms = to_ms - from_ms;
                prop_assert!(
                    3 * beat_ms * count <= 4 * passed_ms + 3 * beat_ms,
                    "{} in {} ms",
                    count,
                    passed_ms
                );
            }
        }
    }

    /// However late its frames come, less than a beat, a steady publisher's frames hardly ever wait.
    #[test]
    fn frames_of_a_steady_publisher_that_arrive_late_wait_little(
        late in proptest::collection::vec(prop_oneof![8 => 0..3u64, 1 => 0..19u64], 400),
    ) {
        let times_ms: Vec<u64> =
            late.iter().zip(0..).map(|(late, at)| at * BEAT_MS + late).collect();
        let (waits_ms, _) = waits(&times_ms, BEAT_MS);
        let waited: u64 = waits_ms[50..].iter().sum();
        prop_assert!(waited < 3 * 350, "{} ms on average: {:?}", waited / 350, waits_ms);
    }
}
