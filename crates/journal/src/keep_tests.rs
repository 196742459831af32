//! Laws of what is kept and how it is found, on the simulated disk: indexes, times, retention.

use std::time::Duration;

use proptest::prelude::*;

use crate::batch::Batch;
use crate::commit::Committer;
use crate::error::ReadError;
use crate::format::MessageFlags;
use crate::index_file;
use crate::indexes::{self, LoadedIndex};
use crate::journal::{Journal, JournalOptions};
use crate::reader::JournalReader;
use crate::retention::RetentionRules;
use crate::segment::{JournalPosition, SegmentId};
use crate::sim::{Crash, SimulatedDisk};
use crate::storage::{ReadSegments, Storage};

const SMALL: RetentionRules = RetentionRules { age: None, bytes: Some(0), keep_unread: true };

fn open(sim: &SimulatedDisk, segment_bytes: u64) -> (Journal, Committer) {
    let options = JournalOptions {
        segment_bytes,
        sync_interval: Duration::ZERO,
        ..JournalOptions::default()
    };
    let (journal, committer, _) = Journal::over(Box::new(sim.clone()), options, |_| ()).unwrap();
    (journal, committer)
}

fn reader(sim: &SimulatedDisk) -> JournalReader {
    JournalReader::over(Box::new(sim.clone())).unwrap().expect("there is a journal")
}

/// Messages with this payload, received then; without any there is a record.
fn batch(receive_ns: i64, messages: usize, payload_bytes: usize) -> Batch {
    let mut batch = Batch::new();
    if messages == 0 {
        batch.at(receive_ns);
        batch.records().extend_from_slice(&vec![3; payload_bytes.max(1)]);
        return batch;
    }
    batch.begin("p", receive_ns);
    (0..messages)
        .for_each(|_| batch.push(MessageFlags::new(0, false), "t", &[], &vec![7; payload_bytes]));
    batch
}

/// A journal of some segments with ten messages each, received at 0, 1, 2 and so on, that needs no
/// state before its end.
fn ten_each(sim: &SimulatedDisk, segments: u32) -> (Journal, Committer) {
    let (journal, mut committer) = open(sim, 200);
    for number in 0..segments {
        journal.append(&mut batch(number.into(), 10, 10), true).unwrap();
        committer.step();
    }
    let at = JournalPosition::first(*sim.segments().unwrap().last().unwrap());
    journal.put_snapshot(at, b"state").unwrap();
    (journal, committer)
}

/// One batch: a step of the clock, messages, bytes of each.
type Step = (i64, usize, usize);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let clock = prop_oneof![4 => 0..5_i64, 1 => -40..40_i64];
    prop::collection::vec((clock, 0..3_usize, 0..30_000_usize), 0..25)
}

/// The offset of a message, and when it was received.
type Received = (u64, i64);

/// Writes the steps and says of each message when it was received.
fn write(
    steps: &[Step],
    journal: &Journal,
    committer: &mut Committer,
    now: &mut i64,
) -> Vec<Received> {
    let mut received = Vec::new();
    for (jump, messages, bytes) in steps {
        *now += jump;
        let appended = journal.append(&mut batch(*now, *messages, *bytes), false).unwrap();
        committer.step();
        received.extend(appended.offsets.map(|offset| (offset, *now)));
    }
    received
}

fn naive_offset_at(received: &[Received], ns: i64, end: u64) -> u64 {
    received.iter().find(|(_, time)| *time >= ns).map_or(end, |(offset, _)| *offset)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Also where the clock jumps, and where a crash has torn the files beside the segments.
    #[test]
    fn the_offset_at_a_time_is_the_first_received_then_or_later(
        lives in prop::collection::vec((steps(), any::<bool>()), 1..4), seed in any::<u64>(),
    ) {
        let (mut sim, mut now, mut received) = (SimulatedDisk::new(seed), 0, Vec::new());
        for (steps, power_cut) in &lives {
            let (journal, mut committer) = open(&sim, 150_000);
            received.extend(write(steps, &journal, &mut committer, &mut now));
            sim = sim.restart(if *power_cut { Crash::PowerCut } else { Crash::Kill });
        }
        drop(open(&sim, 150_000));
        let mut reader = reader(&sim);
        let end = reader.end_offset().unwrap();
        for ns in (-200..200).step_by(3) {
            prop_assert_eq!(reader.offset_at(ns).unwrap(), naive_offset_at(&received, ns, end));
        }
        for &(offset, ns) in received.iter().rev().step_by(3) {
            let columns = reader.read(offset..offset + 1, 1).unwrap();
            prop_assert_eq!(columns.receive_ns, [ns]);
        }
        let newest = received.last().map(|(_, ns)| *ns);
        prop_assert_eq!(reader.newest_receive_ns().unwrap(), newest);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// After a crash at any moment of retention the journal begins with a segment, has no hole, and holds
    /// everything that somebody needs.
    #[test]
    fn a_crash_while_retiring_leaves_a_journal_that_begins_later(
        segments in 2..9_u32, needed in 0..90_u64, budget in 0..40_usize, power_cut in any::<bool>(),
    ) {
        let sim = SimulatedDisk::new(7);
        let (journal, mut committer) = ten_each(&sim, segments);
        sim.crash_after(budget);
        let retired = journal.retire(&SMALL, needed, 0);
        committer.step();
        let sim = sim.restart(if power_cut { Crash::PowerCut } else { Crash::Kill });
        let (journal, _) = open(&sim, 200);
        let (first, end) = (journal.status().first_offset, u64::from(segments) * 10);
        if let Ok(retired) = retired {
            prop_assert_eq!(first, retired.first_offset);
        }
        prop_assert!(first <= needed.min(end - 10) && first % 10 == 0);
        let mut reader = reader(&sim);
        let next = reader.end_offset().unwrap();
        prop_assert_eq!(reader.first_offset(), first);
        prop_assert_eq!(reader.read(first..next, 1 << 20).unwrap().len() as u64, end - first);
    }
}

#[test]
fn retention_reports_what_it_removed_and_what_keeps_the_rest() {
    let sim = SimulatedDisk::new(1);
    let (journal, mut committer) = ten_each(&sim, 6);
    let bytes = journal.status().bytes;
    let retired = journal.retire(&SMALL, 35, 0).unwrap();
    assert_eq!((retired.segments, retired.first_offset), (3, 30));
    assert_eq!(retired.held_by.as_deref(), Some("sessions, from offset 35"));
    for _ in 0..2 {
        let status = journal.status();
        assert_eq!((status.first_offset, status.segments), (30, 3));
        assert_eq!(status.bytes, bytes - retired.bytes);
        committer.step();
    }
    let retired = journal.retire(&SMALL, u64::MAX, 0).unwrap();
    assert_eq!((retired.segments, retired.first_offset, retired.held_by), (2, 50, None));
    assert_eq!(sim.segments().unwrap(), [SegmentId { offset: 50, part: 0 }]);
    assert_eq!(sim.get("00000000000000000030.idx").unwrap(), None);
}

#[test]
fn without_a_snapshot_nothing_is_removed_and_a_new_one_frees_segments() {
    let sim = SimulatedDisk::new(1);
    let (journal, mut committer) = open(&sim, 200);
    for ns in 0..3 {
        journal.append(&mut batch(ns, 10, 10), true).unwrap();
        committer.step();
    }
    let retired = journal.retire(&SMALL, u64::MAX, 0).unwrap();
    assert_eq!(retired.held_by.as_deref(), Some("the state, which has no snapshot"));
    let last = *sim.segments().unwrap().last().unwrap();
    journal.put_snapshot(JournalPosition::first(last), b"").unwrap();
    assert_eq!(journal.retire(&SMALL, u64::MAX, 0).unwrap().first_offset, 20);
}

#[test]
fn a_reader_of_a_segment_that_is_removed_meets_a_gap() {
    let sim = SimulatedDisk::new(1);
    let (journal, _committer) = ten_each(&sim, 4);
    let mut before = reader(&sim);
    assert_eq!(before.read(3..5, 1000).unwrap().len(), 2);
    journal.retire(&SMALL, 25, 0).unwrap();
    let error = before.read(13..15, 1000).unwrap_err();
    assert!(matches!(error, ReadError::Gap { asked: 13, first: 20 }), "{error}");
    let error = before.messages(&[14]).remove(0).unwrap_err();
    assert!(matches!(error, ReadError::Gap { asked: 14, first: 20 }), "{error}");
    assert_eq!(before.offset_at(0).unwrap(), 20);
    assert_eq!(before.read(20..40, 1 << 20).unwrap().len(), 20);
}

#[test]
fn a_full_journal_takes_more_when_retention_or_a_higher_bound_has_made_room() {
    let sim = SimulatedDisk::new(1);
    let (journal, mut committer) = ten_each(&sim, 6);
    journal.set_bytes_max(Some(journal.status().bytes));
    let next = |committer: &mut Committer| {
        journal.append(&mut batch(9, 10, 10), true).unwrap();
        committer.step();
        journal.status().no_space.is_none()
    };
    assert!(!next(&mut committer));
    assert_eq!(journal.retire(&SMALL, 20, 0).unwrap().segments, 2);
    committer.step();
    assert_eq!(journal.status().no_space, None);
    while next(&mut committer) {}
    journal.set_bytes_max(None);
    committer.step();
    assert_eq!(journal.status().no_space, None);
}

#[test]
fn under_a_small_bound_segments_are_small_enough_to_make_room() {
    let sim = SimulatedDisk::new(1);
    let (journal, mut committer) = open(&sim, 1 << 20);
    journal.set_bytes_max(Some(4000));
    for ns in 0..30 {
        journal.append(&mut batch(ns, 2, 50), true).unwrap();
        committer.step();
    }
    assert!(journal.status().no_space.is_some());
    let last = *sim.segments().unwrap().last().unwrap();
    journal.put_snapshot(JournalPosition::first(last), b"").unwrap();
    assert!(journal.retire(&SMALL, u64::MAX, 0).unwrap().segments > 1);
    committer.step();
    assert_eq!(journal.status().no_space, None);
}

#[test]
fn the_last_segment_of_a_quiet_journal_is_removed_in_time() {
    let rules =
        RetentionRules { age: Some(Duration::from_nanos(100)), bytes: None, keep_unread: true };
    let sim = SimulatedDisk::new(1);
    let (journal, mut committer) = open(&sim, 1 << 20);
    journal.append(&mut batch(50, 10, 10), true).unwrap();
    committer.step();
    for (now_ns, segments) in [(60, 1), (150, 1), (151, 2)] {
        journal.retire(&rules, u64::MAX, now_ns).unwrap();
        committer.step();
        assert_eq!(journal.status().segments, segments, "at {now_ns}");
    }
    let last = *sim.segments().unwrap().last().unwrap();
    journal.put_snapshot(JournalPosition::first(last), b"").unwrap();
    assert_eq!(journal.retire(&rules, u64::MAX, 151).unwrap().first_offset, 10);
}

#[test]
fn a_wrong_index_is_noticed_where_it_is_used() {
    let sim = SimulatedDisk::new(1);
    let (journal, mut committer) = open(&sim, 300_000);
    for ns in 0..30 {
        journal.append(&mut batch(ns, 1, 20_000), true).unwrap();
        committer.step();
    }
    let segment = SegmentId::default();
    let LoadedIndex { mut index, header, is_stored } = indexes::load(&sim, segment).unwrap();
    assert!(is_stored && index.entries.len() > 2);
    index.entries.iter_mut().for_each(|entry| entry.offset -= 1);
    sim.put(&segment.index_file(), &index_file::encode(&header.unwrap(), &index)).unwrap();
    let mut reader = reader(&sim);
    for (offset, ns) in [(12, 12), (3, 3), (9, 9)] {
        assert_eq!(reader.read(offset..offset + 1, 1).unwrap().offset, [ns]);
        assert_eq!(reader.offset_at(ns).unwrap(), offset);
    }
}

#[test]
fn an_index_that_cannot_be_written_is_no_failure() {
    let sim = SimulatedDisk::new(1);
    let (journal, mut committer) = open(&sim, 200);
    journal.append(&mut batch(1, 10, 10), true).unwrap();
    committer.step();
    sim.set_capacity(Some(sim.bytes()));
    journal.append(&mut batch(2, 10, 10), true).unwrap();
    committer.step();
    assert!(journal.status().no_space.is_some());
    sim.set_capacity(None);
    committer.step();
    let status = journal.status();
    assert_eq!((status.synced, status.no_space, status.failure), (20, None, None));
    assert_eq!(sim.get("00000000000000000000.idx").unwrap(), None);
    assert_eq!(reader(&sim).offset_at(2).unwrap(), 10);
}
