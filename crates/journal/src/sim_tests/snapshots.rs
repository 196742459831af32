//! Snapshots: after any crash the old or the new one is there, and never one ahead of the journal.

use std::io::ErrorKind;

use super::{FIRST, Stepped, reader};
use crate::error::ReadError;
use crate::format::Flaw;
use crate::segment::{JournalPosition, SegmentId};
use crate::sim::{Crash, SimulatedDisk};

/// Where the journal ends, and the records from a position on.
fn follow(sim: &SimulatedDisk, from: Option<JournalPosition>) -> (JournalPosition, Vec<Vec<u8>>) {
    let mut records = Vec::new();
    let followed = reader(sim).follow(from, &mut |batch| records.push(batch.records.to_vec()));
    let followed = followed.unwrap();
    assert_eq!(followed.damage, []);
    (followed.end, records)
}

#[test]
fn a_snapshot_torn_at_any_moment_leaves_the_old_or_the_new_one() {
    let mut seen = [0; 2];
    for seed in 0..20 {
        for budget in 0..120 {
            let sim = SimulatedDisk::new(seed * 1000 + budget);
            let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
            stepped.put(&[], b"one", true);
            let old = follow(&sim, None).0;
            stepped.journal.put_snapshot(old, b"one").unwrap();
            stepped.put(&[], b"two", true);
            let new = follow(&sim, Some(old)).0;
            sim.crash_after(budget as usize);
            let put = stepped.journal.put_snapshot(new, b"onetwo");
            let crash = if seed % 2 == 0 { Crash::Kill } else { Crash::PowerCut };
            let sim = sim.restart(crash);
            let found = reader(&sim).snapshot().unwrap().unwrap();
            assert!(put.is_err() || found.0 == new);
            assert!(found == (old, b"one".to_vec()) || found == (new, b"onetwo".to_vec()));
            seen[usize::from(found.0 == new)] += 1;
        }
    }
    assert!(seen.iter().all(|count| *count > 100), "{seen:?}");
}

#[test]
fn a_snapshot_ahead_of_what_is_synced_is_refused() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[], b"state", false);
    let (end, _) = follow(&sim, None);
    let refused = stepped.journal.put_snapshot(end, b"state").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::WouldBlock);
    stepped.put(&[], b"", true);
    stepped.journal.put_snapshot(end, b"state").unwrap();
}

#[test]
fn a_snapshot_finds_no_space_and_the_old_one_stays() {
    let sim = SimulatedDisk::new(1);
    let stepped = Stepped::open(&sim, 1 << 20).unwrap();
    let at = follow(&sim, None).0;
    stepped.journal.put_snapshot(at, b"old").unwrap();
    sim.set_capacity(Some(sim.bytes()));
    let refused = stepped.journal.put_snapshot(at, b"new").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::StorageFull);
    assert_eq!(reader(&sim).snapshot().unwrap(), Some((at, b"old".to_vec())));
}

#[test]
fn a_journal_without_a_snapshot_has_none() {
    let sim = SimulatedDisk::new(1);
    let stepped = Stepped::open(&sim, 1 << 20).unwrap();
    assert_eq!(stepped.journal.reader().snapshot().unwrap(), None);
}

#[test]
fn a_damaged_snapshot_is_named() {
    let sim = SimulatedDisk::new(1);
    let stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.journal.put_snapshot(follow(&sim, None).0, b"state").unwrap();
    sim.flip_file_bit("state.snap", 74);
    let error = reader(&sim).snapshot().unwrap_err();
    assert!(matches!(error, ReadError::Snapshot { flaw: Flaw::BodyDamaged }), "{error}");
}

#[test]
fn offsets_that_a_snapshot_knows_are_not_given_again() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    for _ in 0..3 {
        stepped.put(&[b"message"], b"state", true);
    }
    let (end, _) = follow(&sim, None);
    stepped.journal.put_snapshot(end, b"three states").unwrap();
    // A bit flips in the last synced batch. Nothing behind it proves the sync, so recovery takes it for torn.
    sim.flip_bit(FIRST, 64 + 2 * 70 + 60);
    let sim = sim.restart(Crash::Kill);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    assert_eq!(stepped.receipt.damage[0].offsets, 2..3);
    assert_eq!(stepped.receipt.messages(), 3);
    let offsets = stepped.put(&[b"new"], b"fourth", true).offsets;
    assert!(offsets.start >= 3);
    assert_eq!(follow(&sim, Some(end)).1, [b"fourth"]);
    assert!(matches!(reader(&sim).read(2..3, 100), Err(ReadError::Damaged(_))));
    assert_eq!(reader(&sim).read(offsets, 100).unwrap().payload.get(0), b"new");
}

#[test]
fn records_alone_that_a_snapshot_knows_are_not_followed_again_after_a_cut() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[], b"one", true);
    stepped.put(&[], b"two", true);
    let (end, _) = follow(&sim, None);
    stepped.journal.put_snapshot(end, b"onetwo").unwrap();
    sim.flip_bit(FIRST, 64 + 49 + 47);
    let sim = sim.restart(Crash::Kill);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    assert_eq!(stepped.receipt.damage.len(), 1);
    stepped.put(&[], b"three", true);
    assert_eq!(reader(&sim).snapshot().unwrap().unwrap().0, end);
    let (end, records) = follow(&sim, Some(end));
    assert_eq!((end.segment, records), (SegmentId { offset: 0, part: 1 }, vec![b"three".to_vec()]));
}
