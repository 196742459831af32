//! Bit flips and torn tails are found and reported, and the rest can be read.

use proptest::prelude::*;

use super::{FIRST, Stepped, durable_reader, reader};
use crate::error::{OpenError, ReadError};
use crate::format::{Flaw, SEGMENT_HEADER_BYTES};
use crate::segment::SegmentId;
use crate::sim::{Crash, SimulatedDisk};
use crate::storage::WriteSegments;
use crate::watermarks::{DURABLE, RESERVED};

const HEADER: usize = SEGMENT_HEADER_BYTES;

fn journal_of(batches: usize, segment_bytes: u64) -> (SimulatedDisk, Stepped) {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, segment_bytes).unwrap();
    for _ in 0..batches {
        stepped.put(&[&[7; 50]], b"", false);
    }
    (sim, stepped)
}

/// Bytes of one batch of `journal_of`.
fn batch_bytes() -> usize {
    super::batch(&[&[7; 50]], b"").bytes()
}

#[test]
fn a_bit_flip_in_the_middle_is_named_and_the_rest_is_readable() {
    for position in [10, 60] {
        let (sim, _journal) = journal_of(3, 1 << 20);
        sim.flip_bit(FIRST, HEADER + batch_bytes() + position);
        let mut reader = reader(&sim);
        assert_eq!(reader.end_offset().unwrap(), 3);
        assert_eq!(reader.read(0..1, 1000).unwrap().len(), 1);
        assert_eq!(reader.read(2..3, 1000).unwrap().offset, [2]);
        let error = reader.read(0..3, 1000).unwrap_err();
        let ReadError::Damaged(damage) = error else { panic!("{error}") };
        assert_eq!((damage.segment, damage.position), (FIRST, (HEADER + batch_bytes()) as u64));
        assert_eq!(damage.offsets, 1..2);
        let answers = reader.messages(&[0, 1, 2]);
        assert!(matches!(&answers[1], Err(ReadError::Damaged(again)) if *again == damage));
        assert!(answers[0].is_ok() && answers[2].is_ok());
    }
}

#[test]
fn a_reader_ignores_a_damaged_last_batch() {
    let (sim, _journal) = journal_of(3, 1 << 20);
    sim.flip_bit(FIRST, HEADER + 2 * batch_bytes() + 60);
    assert_eq!(reader(&sim).end_offset().unwrap(), 2);
}

#[test]
fn recovery_sets_whole_batches_behind_a_hole_aside_that_was_never_synced() {
    let (sim, _) = journal_of(3, 1 << 20);
    sim.flip_bit(FIRST, HEADER + batch_bytes() + 60);
    let receipt = Stepped::open(&sim, 1 << 20).unwrap().receipt;
    let cut = receipt.cut.as_ref().unwrap();
    assert_eq!((receipt.messages(), cut.flaw, cut.set_aside), (1, Flaw::BodyDamaged, true));
    assert_eq!(sim.set_aside_positions(), [(FIRST, (HEADER + batch_bytes()) as u64)]);
    assert!(receipt.to_string().contains("are kept in"), "{receipt}");
}

#[test]
fn a_last_batch_that_was_synced_is_named_and_set_aside() {
    let (sim, mut stepped) = journal_of(2, 1 << 20);
    stepped.put(&[&[7; 50]], b"", true);
    let last = HEADER + 2 * batch_bytes();
    sim.flip_bit(FIRST, last + 60);
    let receipt = Stepped::open(&sim.restart(Crash::Kill), 1 << 20).unwrap().receipt;
    assert_eq!(sim.set_aside_positions(), [(FIRST, last as u64)]);
    assert!(receipt.cut.unwrap().set_aside);
    assert_eq!(receipt.damage[0].offsets, 2..3);
}

#[test]
fn a_torn_last_batch_that_was_not_synced_is_cut_and_not_set_aside() {
    let (sim, _) = journal_of(3, 1 << 20);
    sim.flip_bit(FIRST, HEADER + 2 * batch_bytes() + 60);
    let receipt = Stepped::open(&sim.restart(Crash::Kill), 1 << 20).unwrap().receipt;
    assert_eq!((receipt.messages(), receipt.cut.unwrap().set_aside), (2, false));
}

#[test]
fn damage_in_a_closed_journal_is_not_taken_for_a_torn_tail() {
    let (sim, mut stepped) = journal_of(3, 1 << 20);
    stepped.journal.close().unwrap();
    stepped.settle();
    sim.flip_bit(FIRST, HEADER + 2 * batch_bytes() + 60);
    let receipt = Stepped::open(&sim, 1 << 20).unwrap().receipt;
    assert_eq!((receipt.next_offset, receipt.cut), (3, None));
    assert!(matches!(reader(&sim).read(0..3, 1000), Err(ReadError::Damaged(_))));
}

#[test]
fn a_damaged_header_of_the_only_segment_refuses_to_open() {
    let (sim, _) = journal_of(1, 1 << 20);
    sim.flip_bit(FIRST, 20);
    sim.remove_file(DURABLE);
    sim.remove_file(RESERVED);
    assert!(matches!(Stepped::open(&sim, 1 << 20), Err(OpenError::Damaged(_))));
}

#[test]
fn a_damaged_header_of_the_only_segment_is_named_where_a_file_beside_it_tells_whose_it_is() {
    for (batches, lost) in [(0, DURABLE), (0, RESERVED), (3, DURABLE), (3, RESERVED)] {
        let (sim, mut stepped) = journal_of(batches, 1 << 20);
        let identity = stepped.journal.identity();
        if batches == 0 {
            stepped.journal.close().unwrap();
            stepped.settle();
        }
        sim.flip_bit(FIRST, 20);
        sim.flip_file_bit(lost, 20);
        let stepped = Stepped::open(&sim.restart(Crash::Kill), 1 << 20).unwrap();
        assert_eq!(stepped.journal.identity(), identity);
        assert_eq!(stepped.receipt.damage[0].flaw, Flaw::HeaderDamaged);
        assert_eq!(stepped.receipt.messages(), batches as u64);
    }
}

#[test]
fn a_damaged_header_is_not_taken_for_a_torn_one_where_nothing_follows_it() {
    let (sim, mut stepped) = journal_of(0, 1 << 20);
    stepped.journal.close().unwrap();
    stepped.settle();
    sim.remove_file(DURABLE);
    sim.remove_file(RESERVED);
    sim.flip_bit(FIRST, 20);
    assert!(matches!(Stepped::open(&sim, 1 << 20), Err(OpenError::Damaged(_))));
    // A file system leaves zeros where it had no time to write the bytes.
    WriteSegments::begin(&mut sim.clone(), FIRST, &[0; HEADER]).unwrap();
    assert_eq!(Stepped::open(&sim, 1 << 20).unwrap().receipt.damage, []);
}

#[test]
fn a_damaged_header_of_another_segment_is_named_and_its_batches_are_served() {
    // The first, one in the middle, the last.
    for segment in [0, 2, 4] {
        let (sim, stepped) = journal_of(5, 200);
        let identity = stepped.journal.identity();
        sim.flip_bit(SegmentId { offset: segment, part: 0 }, 20);
        let sim = sim.restart(Crash::Kill);
        let stepped = Stepped::open(&sim, 200).unwrap();
        assert_eq!(stepped.receipt.messages(), 5);
        assert_eq!(stepped.journal.identity(), identity);
        let mut reader = reader(&sim);
        assert_eq!(reader.read(0..5, 1000).unwrap().len(), 5);
        let damage = reader.follow(None, &mut |_| ()).unwrap().damage;
        assert_eq!(damage.len(), 1);
        assert_eq!((damage[0].segment.offset, damage[0].flaw), (segment, Flaw::HeaderDamaged));
        let told = stepped.receipt.damage.first();
        assert_eq!(told, damage.first().filter(|_| segment == 4));
    }
}

#[test]
fn a_damaged_header_of_the_last_segment_is_no_other_history() {
    let (sim, mut stepped) = journal_of(5, 200);
    stepped.put(&[&[7; 50]], b"", true);
    drop(stepped);
    let mut stepped = Stepped::open(&sim, 200).unwrap();
    let offsets = stepped.put(&[&[7; 50]], b"", true).offsets;
    let mut outside = durable_reader(&sim);
    assert_eq!(outside.end_offset().unwrap(), offsets.end);
    sim.flip_bit(SegmentId { offset: offsets.start, part: 0 }, 20);
    let mut later = durable_reader(&sim);
    later.check_position(offsets.end, Some(outside.epoch())).unwrap();
    // A reader now stores the newest known epoch; 0, from an earlier Slipring, means none.
    assert_eq!((later.epoch(), outside.epoch()), (1, 2));
    later.check_position(offsets.end, Some(later.epoch())).unwrap();
    let sim = sim.restart(Crash::Kill);
    Stepped::open(&sim, 200).unwrap().put(&[&[7; 50]], b"", true);
    let mut last = durable_reader(&sim);
    let end = last.end_offset().unwrap();
    for epoch in [None, Some(0), Some(last.epoch())] {
        last.check_position(end, epoch).unwrap();
    }
}

#[test]
fn segments_keep_to_their_size_and_one_identity() {
    let (sim, stepped) = journal_of(20, 600);
    let status = stepped.journal.status();
    assert!(status.segments > 3);
    assert_eq!(status.bytes as usize, 20 * batch_bytes() + HEADER * status.segments);
    let mut reader = reader(&sim);
    assert_eq!(reader.end_offset().unwrap(), 20);
    assert_eq!(reader.read(7..9, 1000).unwrap().offset, [7, 8]);
    let receipt = Stepped::open(&sim, 600).unwrap().receipt;
    assert_eq!((receipt.identity, receipt.epoch), (reader.identity(), 2));
}

#[test]
fn records_alone_fill_segments_that_are_parts_of_one_offset() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 300).unwrap();
    stepped.put(&[b"message"], b"", false);
    for number in 0..20_u8 {
        stepped.put(&[], &[number; 60], false);
    }
    assert_eq!(stepped.put(&[b"message"], b"", true).offsets, 1..2);
    let segments = crate::storage::ReadSegments::segments(&sim).unwrap();
    assert!(segments.len() > 5 && segments[1..].iter().all(|segment| segment.offset == 1));
    assert!(segments.windows(2).all(|pair| pair[0].is_before(pair[1])));
    let (payloads, records) = super::contents(&mut reader(&sim)).unwrap();
    assert_eq!(payloads, [b"message", b"message"]);
    assert!(records.iter().zip(0..).all(|(record, number)| *record == [number; 60]));
    let sim = sim.restart(Crash::PowerCut);
    assert_eq!(Stepped::open(&sim, 300).unwrap().receipt.messages(), 2);
}

#[test]
fn a_bit_flip_among_records_alone_loses_one_batch_and_is_named() {
    // In the header, then in the body.
    for position in [9, 50] {
        let sim = SimulatedDisk::new(1);
        let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
        for number in 0..4_u8 {
            stepped.put(&[], &[number; 20], true);
        }
        sim.flip_bit(FIRST, HEADER + super::batch(&[], &[0; 20]).bytes() + position);
        let mut records = Vec::new();
        let each = &mut |batch: crate::reader::StateBatch<'_>| records.push(batch.records[0]);
        let damage = reader(&sim).follow(None, each).unwrap().damage;
        assert_eq!(records, [0, 2, 3]);
        assert_eq!((damage.len(), damage[0].offsets.clone()), (1, 0..0));
    }
}

#[test]
fn a_part_that_is_missing_is_named() {
    use crate::storage::Storage;
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 200).unwrap();
    for number in 0..5_u8 {
        stepped.put(&[], &[number; 90], true);
    }
    sim.remove(SegmentId { offset: 0, part: 2 }).unwrap();
    let mut records = Vec::new();
    let each = &mut |batch: crate::reader::StateBatch<'_>| records.push(batch.records[0]);
    let damage = reader(&sim).follow(None, each).unwrap().damage;
    assert_eq!(records, [0, 1, 3, 4]);
    assert_eq!((damage.len(), damage[0].flaw), (1, Flaw::Missing));
    assert_eq!(damage[0].segment, SegmentId { offset: 0, part: 1 });
}

proptest! {
    /// Fault "bit flip in the middle": found and named, never silent; the rest is readable.
    #[test]
    fn any_bit_flip_in_sealed_segments_loses_at_most_one_batch_and_is_named(
        seed in any::<u64>(), batches in 3..20_u8,
    ) {
        let sim = SimulatedDisk::new(seed);
        let mut stepped = Stepped::open(&sim, 400).unwrap();
        for number in 0..batches {
            stepped.put(&[&[number; 40]], &[number; 8], true);
        }
        stepped.journal.close().unwrap();
        stepped.settle();
        let (segment, position) = sim.flip_any_bit().unwrap();
        let mut found = Vec::new();
        let each = &mut |batch: crate::reader::StateBatch<'_>| found.push(batch.records[0]);
        let mut reader = reader(&sim);
        let damage = reader.follow(None, each).unwrap().damage;
        prop_assert_eq!(damage.len(), 1);
        prop_assert_eq!(damage[0].segment, segment);
        prop_assert!(damage[0].position <= position);
        let lost = damage[0].offsets.clone();
        let kept = (0..u64::from(batches)).filter(|offset| !lost.contains(offset));
        prop_assert_eq!(&found, &kept.clone().map(|offset| offset as u8).collect::<Vec<_>>());
        prop_assert!(lost.end - lost.start <= 1);
        let answers = reader.messages(&(0..u64::from(batches)).collect::<Vec<_>>());
        for (answer, offset) in answers.iter().zip(0..) {
            prop_assert_eq!(answer.is_err(), lost.contains(&offset));
        }
    }
}
