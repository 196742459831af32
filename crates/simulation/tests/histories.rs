//! Whatever goes wrong, what was acknowledged is there, QoS 2 arrives once (V3, P9, CVE-2026-8741), also where
//! it waited for its first subscriber (T3), a session that has ended stays so, and sessions expire and delayed
//! wills are published when they should.

use slipring_simulation::{Fault, History, Verdict, play};

const STEPS: usize = 200;

fn play_all(fault: Fault, seeds: std::ops::Range<u64>) -> Verdict {
    let mut total = Verdict::default();
    for seed in seeds {
        let verdict = play(&History { seed, fault, steps: STEPS });
        assert_eq!(verdict.broken, Vec::<String>::new(), "{fault:?}, seed {seed}: {verdict}");
        total.add(verdict);
    }
    assert!(total.crashes > 0 && total.acknowledged > 0, "something happened: {total}");
    assert!(total.claimed > 0 && total.ends > 0, "messages waited and sessions ended: {total}");
    assert!(total.expired > 0 && total.wills > 0, "sessions expired, wills were due: {total}");
    total
}

#[test]
fn nothing_acknowledged_is_lost_to_kills() {
    play_all(Fault::Kills, 0..250);
}

#[test]
fn nothing_acknowledged_is_lost_to_power_cuts() {
    play_all(Fault::PowerCuts, 0..250);
}

#[test]
fn nothing_acknowledged_is_lost_to_writes_and_syncs_that_fail() {
    play_all(Fault::Failures, 0..250);
}

#[test]
fn a_full_disk_refuses_and_heals_and_loses_nothing() {
    let total = play_all(Fault::FullDisk, 0..250);
    assert!(total.refused > 0, "the disk was full: {total}");
}

#[test]
fn a_wall_clock_that_is_set_ends_nothing_before_its_time() {
    play_all(Fault::ClockJumps, 0..100);
}

#[test]
fn a_broker_that_forgets_how_long_it_was_down_is_found_out() {
    let broken = (0..50).filter(|seed| {
        let history = History { seed: *seed, fault: Fault::ForgottenTime, steps: STEPS };
        !play(&history).broken.is_empty()
    });
    assert!(broken.count() > 10, "a session that outlives its expiry must be seen");
}

#[test]
fn a_disk_that_lies_about_syncs_is_found_out() {
    let broken = (0..50).filter(|seed| {
        let history = History { seed: *seed, fault: Fault::Lies, steps: STEPS };
        !play(&history).broken.is_empty()
    });
    assert!(broken.count() > 10, "an acknowledgement before the sync must be seen");
}

#[test]
fn the_same_seed_gives_the_same_verdict() {
    let history = History { seed: 7, fault: Fault::PowerCuts, steps: STEPS };
    assert_eq!(play(&history), play(&history));
}
