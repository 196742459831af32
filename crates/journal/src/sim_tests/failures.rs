//! A failed write or sync is final: nothing is acknowledged afterwards.

use super::{Stepped, batch, contents, reader};
use crate::error::AppendError;
use crate::sim::{Crash, SimulatedDisk};

#[test]
fn a_failed_sync_is_final_and_nothing_after_it_counts_as_synced() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    let safe = stepped.put(&[b"safe"], b"", true);
    sim.fail_sync_after(0);
    let lost = stepped.put(&[b"lost"], b"", true);
    let told = stepped.told();
    assert_eq!((told.written, told.synced), (lost.mark, safe.mark));
    assert!(told.failed.unwrap().message.contains("failed to sync"));
    // The disk works again, and a sync would succeed.
    let refused = stepped.journal.append(&mut batch(&[b"more"], b""), true);
    assert!(matches!(refused, Err(AppendError::Failed(_))));
    assert!(!stepped.committer.step());
    assert_eq!(stepped.journal.progress().synced, safe.mark);
    assert!(stepped.journal.close().is_err());
}

#[test]
fn a_sync_that_fails_for_want_of_space_is_final_all_the_same() {
    // Rolling to the next segment syncs the full one.
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 200).unwrap();
    stepped.put(&[&[1; 100]], b"", false);
    sim.fail_sync_after(0);
    stepped.put(&[&[2; 100]], b"", false);
    let told = stepped.told();
    assert!(told.failed.is_some() && told.no_space.is_none());
    assert_eq!(told.synced, 0);
}

#[test]
fn a_failed_write_is_final_and_what_it_left_is_cut_at_the_next_start() {
    let sim = SimulatedDisk::new(3);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"safe"], b"", true);
    sim.fail_write_after(0);
    stepped.put(&[&[7; 90]], b"", true);
    assert!(stepped.told().failed.is_some());
    let sim = sim.restart(Crash::Kill);
    let stepped = Stepped::open(&sim, 1 << 20).unwrap();
    assert_eq!(stepped.receipt.messages(), 1);
    assert!(stepped.receipt.cut.is_some());
    assert_eq!(contents(&mut reader(&sim)).unwrap().0, [b"safe"]);
}

#[test]
fn writes_of_a_dead_process_do_nothing() {
    let sim = SimulatedDisk::new(1);
    let mut dead = Stepped::open(&sim, 1 << 20).unwrap();
    let sim = sim.restart(Crash::Kill);
    let mut alive = Stepped::open(&sim, 1 << 20).unwrap();
    dead.put(&[b"ghost"], b"", true);
    assert!(dead.told().failed.is_some());
    alive.put(&[b"real"], b"", true);
    assert_eq!(contents(&mut reader(&sim)).unwrap().0, [b"real"]);
}

#[test]
fn syncs_that_are_asked_for_together_are_one_sync() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    // With the first message offsets are reserved, which is another sync.
    stepped.put(&[b"first"], b"", true);
    let marks = [b"a", b"b", b"c"]
        .map(|payload| stepped.journal.append(&mut batch(&[payload], b""), true).unwrap().mark);
    sim.fail_sync_after(1);
    stepped.settle();
    assert_eq!(stepped.told().synced, marks[2]);
    assert_eq!(stepped.told().failed, None);
}

#[test]
fn an_append_without_sync_is_reported_as_written_only() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    let mark = stepped.put(&[b"x"], b"", false).mark;
    assert_eq!((stepped.told().written, stepped.told().synced), (mark, 0));
    // An empty batch asks for a sync of what was appended before.
    assert_eq!(stepped.put(&[], b"", true).mark, mark);
    assert_eq!(stepped.told().synced, mark);
}
