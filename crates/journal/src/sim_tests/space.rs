//! A full disk is no failure: what waits is written once, when there is space again.

use super::{Stepped, batch, contents, reader};
use crate::sim::{Crash, SimulatedDisk};
use crate::storage::ReadSegments;

#[test]
fn no_space_then_healed_loses_nothing_and_duplicates_nothing() {
    // Every amount of room: in a header, in a body, between two batches, at a new segment.
    for room in 0..400 {
        let sim = SimulatedDisk::new(room);
        let mut stepped = Stepped::open(&sim, 300).unwrap();
        stepped.put(&[b"first"], b"r", true);
        sim.set_capacity(Some(sim.bytes() + room));
        for number in 0..5_u8 {
            let mut batch = batch(&[&[number; 30], &[number; 20]], &[number; 9]);
            stepped.journal.append(&mut batch, true).unwrap();
        }
        stepped.settle();
        let told = stepped.told();
        assert!(told.no_space.as_ref().is_some_and(|why| why.contains("full")), "{told:?}");
        assert_eq!((told.failed, told.synced), (None, told.written));
        let there = sim.segments().unwrap().into_iter().map(|one| sim.size(one).unwrap());
        let counted = stepped.journal.status().bytes;
        assert!(there.sum::<u64>() <= counted, "a part of a batch is left");
        sim.set_capacity(None);
        stepped.settle();
        assert_eq!((stepped.told().no_space, stepped.journal.status().pending_bytes), (None, 0));
        let (payloads, records) = contents(&mut stepped.journal.reader()).unwrap();
        assert_eq!((payloads.len(), records.len()), (11, 6), "room {room}");
        assert!(payloads[1..].iter().zip(0..).all(|(payload, at)| payload[0] == at / 2));
    }
}

#[test]
fn a_killed_broker_that_had_no_space_starts_on_the_full_disk_and_heals() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"kept"], b"", true);
    sim.set_capacity(Some(sim.bytes() + 70));
    stepped.put(&[&[1; 200]], b"", true);
    let sim = sim.restart(Crash::Kill);
    sim.set_capacity(Some(sim.bytes() + 20));
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    assert_eq!(stepped.receipt.messages(), 1);
    let mark = stepped.put(&[b"new"], b"", true).mark;
    assert!(stepped.told().no_space.is_some());
    sim.set_capacity(None);
    stepped.settle();
    assert_eq!(stepped.told().synced, mark);
    assert_eq!(contents(&mut reader(&sim)).unwrap().0, [&b"kept"[..], b"new"]);
}

#[test]
fn a_bound_on_stored_bytes_is_a_full_disk_until_it_is_raised() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.journal.set_bytes_max(Some(150));
    let first = stepped.put(&[&[1; 80]], b"", true).mark;
    let second = stepped.put(&[&[2; 80]], b"", true).mark;
    let told = stepped.told();
    assert_eq!((told.written, told.failed), (first, None));
    assert_eq!(told.no_space.unwrap(), "the journal has 207 bytes, 150 are allowed");
    assert_eq!(stepped.journal.status().bytes_max, Some(150));
    stepped.journal.set_bytes_max(None);
    stepped.settle();
    assert_eq!(stepped.told().synced, second);
}

#[test]
fn a_segment_that_alone_is_more_than_the_bound_is_a_full_disk() {
    let sim = SimulatedDisk::new(1);
    sim.set_capacity(Some(0));
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.journal.set_bytes_max(Some(10));
    sim.set_capacity(None);
    stepped.put(&[b"waits"], b"", true);
    assert!(stepped.told().no_space.is_some() && stepped.told().failed.is_none());
    stepped.journal.set_bytes_max(None);
    stepped.settle();
    assert_eq!(contents(&mut reader(&sim)).unwrap().0, [b"waits"]);
}

#[test]
fn a_step_that_finds_no_space_again_is_no_work_and_reports_nothing() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    sim.set_capacity(Some(sim.bytes()));
    stepped.journal.append(&mut batch(&[b"x"], b""), true).unwrap();
    assert!(stepped.committer.step());
    assert!(!stepped.committer.step());
}

#[test]
fn closing_without_space_reports_the_unwritten_bytes() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"kept"], b"", false);
    sim.set_capacity(Some(sim.bytes()));
    let waiting = batch(&[b"waits"], b"").bytes() + batch(&[b"too"], b"").bytes();
    stepped.put(&[b"waits"], b"", false);
    stepped.put(&[b"too"], b"", false);
    let _ = stepped.journal.close();
    assert!(stepped.committer.step() && !stepped.committer.step());
    let failure = stepped.journal.close().unwrap_err().to_string();
    let expected = format!("closed while {waiting} bytes found no space: the disk is full");
    assert!(failure.contains(&expected), "{failure}");
    assert_eq!(contents(&mut reader(&sim)).unwrap().0, [b"kept"]);
}

#[test]
fn a_closed_journal_on_a_full_disk_has_synced_everything() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    let mark = stepped.put(&[b"kept"], b"", false).mark;
    sim.set_capacity(Some(sim.bytes()));
    let _ = stepped.journal.close();
    stepped.settle();
    stepped.journal.close().unwrap();
    assert_eq!(stepped.told().synced, mark);
    let sim = sim.restart(Crash::PowerCut);
    let stepped = Stepped::open(&sim, 1 << 20).unwrap();
    assert_eq!((stepped.receipt.messages(), stepped.receipt.cut), (1, None));
}
