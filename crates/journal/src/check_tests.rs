//! The reports of journal checks, on the simulated disk and on real files.

use std::ops::ControlFlow;
use std::time::Duration;
use std::{env, fs, process};

use crate::batch::Batch;
use crate::check::{check, check_over};
use crate::commit::Committer;
use crate::error::ReadError;
use crate::format::{Flaw, MessageFlags};
use crate::index_file::IndexFlaw;
use crate::journal::{Journal, JournalOptions};
use crate::report::{CheckReport, HeaderState, IndexState, SnapshotState};
use crate::segment::{JournalPosition, SegmentId};
use crate::sim::{Crash, SimulatedDisk};
use crate::storage::{ReadSegments, Storage};

const FIRST: SegmentId = SegmentId { offset: 0, part: 0 };

fn open(sim: &SimulatedDisk) -> (Journal, Committer) {
    let options = JournalOptions {
        segment_bytes: 500,
        sync_interval: Duration::ZERO,
        ..JournalOptions::default()
    };
    let (journal, committer, _) = Journal::over(Box::new(sim.clone()), options, |_| ()).unwrap();
    (journal, committer)
}

/// Three segments of two batches each, one message and some records in every batch.
fn journal_of_six(sim: &SimulatedDisk) -> (Journal, Committer) {
    let (journal, mut committer) = open(sim);
    for number in 0..6 {
        let mut batch = Batch::new();
        batch.begin("p", 100 - number);
        batch.push(MessageFlags::new(1, false), "t", &[], &[7; 100]);
        batch.records().extend_from_slice(&[1; 5]);
        journal.append(&mut batch, true).unwrap();
        committer.step();
    }
    (journal, committer)
}

/// Bytes of one of those batches.
fn batch_bytes(sim: &SimulatedDisk) -> usize {
    (sim.size(FIRST).unwrap() as usize - 64) / 2
}

fn report(source: &dyn ReadSegments) -> CheckReport {
    let mut go_on = |_, _| ControlFlow::Continue(());
    check_over(source, Vec::new(), &mut go_on).unwrap().unwrap()
}

#[test]
fn a_whole_journal_is_reported_in_figures() {
    let sim = SimulatedDisk::new(1);
    let (journal, _committer) = journal_of_six(&sim);
    let at = JournalPosition::first(SegmentId { offset: 2, part: 0 });
    journal.put_snapshot(at, b"state").unwrap();
    let report = report(&sim);
    assert!(report.is_whole());
    assert_eq!(report.identity, Some(journal.identity()));
    assert_eq!((report.first_offset, report.end_offset), (0, 6));
    assert_eq!((report.messages, report.batches, report.record_bytes), (6, 6, 30));
    assert_eq!((report.bytes, report.tail), (journal.status().bytes, None));
    assert_eq!(report.snapshot, SnapshotState::Whole { at, bytes: 5 });
    let indexes: Vec<_> = report.segments.iter().map(|segment| segment.index).collect();
    assert_eq!(indexes, [IndexState::Good, IndexState::Good, IndexState::Absent]);
    let first = &report.segments[0];
    assert_eq!(
        (first.messages, first.times_ns, first.header),
        (2, Some((99, 100)), HeaderState::Whole(1))
    );
}

#[test]
fn damage_in_the_middle_is_named_and_the_rest_is_counted() {
    let sim = SimulatedDisk::new(1);
    let (_journal, _committer) = journal_of_six(&sim);
    sim.flip_bit(FIRST, 64 + 60);
    sim.flip_bit(SegmentId { offset: 2, part: 0 }, 64 + batch_bytes(&sim) + 60);
    let report = report(&sim);
    assert!(!report.is_whole());
    assert_eq!((report.messages, report.end_offset), (4, 6));
    let places: Vec<_> = report.damage.iter().map(|one| (one.offsets.clone(), one.flaw)).collect();
    assert_eq!(places, [(0..1, Flaw::BodyDamaged), (3..4, Flaw::BodyDamaged)]);
}

#[test]
fn a_torn_tail_is_not_called_damage() {
    let sim = SimulatedDisk::new(1);
    let (journal, mut committer) = journal_of_six(&sim);
    sim.crash_after(30);
    let mut batch = Batch::new();
    batch.at(1);
    batch.records().extend_from_slice(&[1; 20]);
    journal.append(&mut batch, true).unwrap();
    committer.step();
    let sim = sim.restart(Crash::Kill);
    let report = report(&sim);
    assert!(report.is_whole());
    assert_eq!(report.messages, 6);
    let tail = report.tail.unwrap();
    assert!(report.tail_bytes > 0 && tail.offsets == (6..6), "{tail:?}");
}

#[test]
fn a_missing_segment_is_damage_with_its_offsets() {
    let sim = SimulatedDisk::new(1);
    let (_journal, _committer) = journal_of_six(&sim);
    sim.remove(SegmentId { offset: 2, part: 0 }).unwrap();
    let report = report(&sim);
    assert_eq!(report.damage.len(), 1);
    assert_eq!((&report.damage[0].offsets, report.damage[0].flaw), (&(2..4), Flaw::Missing));
}

#[test]
fn an_unusable_index_or_snapshot_is_reported_and_is_no_damage() {
    let sim = SimulatedDisk::new(1);
    let (journal, _committer) = journal_of_six(&sim);
    let good = sim.get(&FIRST.index_file()).unwrap().unwrap();
    sim.put(&FIRST.index_file(), &good[..20]).unwrap();
    sim.put("00000000000000000002.idx", &good).unwrap();
    journal.put_snapshot(JournalPosition::first(FIRST), b"state").unwrap();
    let mut stored = sim.get("state.snap").unwrap().unwrap();
    *stored.last_mut().unwrap() ^= 1;
    sim.put("state.snap", &stored).unwrap();
    let report = report(&sim);
    assert!(report.is_whole());
    assert_eq!(report.segments[0].index, IndexState::Unused(IndexFlaw::Damaged));
    assert_eq!(report.segments[1].index, IndexState::Unused(IndexFlaw::Stale));
    assert!(matches!(report.snapshot, SnapshotState::Damaged(_)));
}

#[test]
fn progress_reaches_the_end_and_can_end_the_check() {
    let sim = SimulatedDisk::new(1);
    let (_journal, _committer) = journal_of_six(&sim);
    let mut told = Vec::new();
    let mut note = |read, all| {
        told.push((read, all));
        ControlFlow::Continue(())
    };
    check_over(&sim, Vec::new(), &mut note).unwrap().unwrap();
    let all = report(&sim).bytes;
    assert!(told.is_sorted() && told.last() == Some(&(all, all)), "{told:?}");
    let mut stop = |_, _| ControlFlow::Break(());
    assert_eq!(check_over(&sim, Vec::new(), &mut stop).unwrap(), None);
}

#[test]
fn a_check_without_a_journal_is_an_error() {
    let dir = env::temp_dir().join(format!("slipring-check-{}", process::id()));
    let mut go_on = |_, _| ControlFlow::Continue(());
    assert!(matches!(check(&dir, &mut go_on), Err(ReadError::NoJournal(_))));
    fs::create_dir_all(&dir).unwrap();
    assert!(matches!(check(&dir, &mut go_on), Err(ReadError::NoJournal(_))));
    fs::remove_dir(&dir).unwrap();
}
