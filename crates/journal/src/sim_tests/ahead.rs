//! Readers of a journal that is being written: what they have read is never taken back, and no offset is ever
//! given to two messages.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{FIRST, Stepped, durable_reader, reader};
use crate::error::ReadError;
use crate::reader::JournalReader;
use crate::sim::{Crash, SimulatedDisk};
use crate::storage::{ReadSegments, Storage};
use crate::watermarks::{DURABLE, RESERVED};

/// Messages by their offsets.
type Seen = BTreeMap<u64, Vec<u8>>;

/// Everything that a reader gets.
fn read_all(reader: &mut JournalReader) -> Seen {
    let (mut at, end) = (reader.first_offset(), reader.end_offset().unwrap());
    let mut seen = Seen::new();
    while at < end {
        let columns = reader.read(at..end, 1000).unwrap();
        let rows = columns.offset.iter().zip(0..);
        seen.extend(
            rows.map(|(offset, row)| (offset.unsigned_abs(), columns.payload.get(row).to_vec())),
        );
        at = columns.end;
    }
    seen
}

#[test]
fn readers_get_no_message_before_it_is_synced() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    let mut outside = durable_reader(&sim);
    stepped.put(&[b"synced"], b"", true);
    stepped.put(&[b"written"], b"", false);
    assert_eq!(outside.end_offset().unwrap(), 1);
    assert!(matches!(outside.read(0..2, 100), Err(ReadError::Beyond { asked: 2, end: 1, .. })));
    assert!(matches!(outside.messages(&[0, 1])[1], Err(ReadError::Beyond { .. })));
    assert_eq!(stepped.journal.reader().end_offset().unwrap(), 2);
    stepped.put(&[], b"", true);
    assert_eq!(outside.end_offset().unwrap(), 2);
}

#[test]
fn a_killed_broker_leaves_what_it_synced_and_the_next_one_the_rest() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"synced"], b"", true);
    stepped.put(&[b"written"], b"", false);
    let sim = sim.restart(Crash::Kill);
    assert_eq!(durable_reader(&sim).end_offset().unwrap(), 1);
    Stepped::open(&sim, 1 << 20).unwrap();
    assert_eq!(read_all(&mut durable_reader(&sim)).len(), 2);
}

#[test]
fn a_journal_of_an_older_slipring_is_read_to_its_end() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"written"], b"", false);
    sim.remove_file(DURABLE);
    sim.remove_file(RESERVED);
    assert_eq!(durable_reader(&sim).end_offset().unwrap(), 1);
    let sim = sim.restart(Crash::Kill);
    assert_eq!(Stepped::open(&sim, 1 << 20).unwrap().receipt.next_offset, 1);
}

#[test]
fn a_damaged_durable_file_is_reported_and_the_next_start_writes_it_anew() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"kept"], b"", true);
    sim.flip_file_bit(DURABLE, 50);
    let error = durable_reader(&sim).end_offset().unwrap_err();
    assert!(error.to_string().contains("`durable`"), "{error}");
    let sim = sim.restart(Crash::Kill);
    Stepped::open(&sim, 1 << 20).unwrap();
    assert_eq!(read_all(&mut durable_reader(&sim)).len(), 1);
}

#[test]
fn a_damaged_reservation_leaves_out_all_that_it_can_have_been() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"kept"], b"", true);
    sim.flip_file_bit(RESERVED, 50);
    let sim = sim.restart(Crash::PowerCut);
    let next = Stepped::open(&sim, 1 << 20).unwrap().receipt.next_offset;
    assert!(next > 1 << 20, "{next}");
    assert_eq!(read_all(&mut reader(&sim)).len(), 1);
}

#[test]
fn a_closed_journal_continues_at_the_next_offset() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"one"], b"", false);
    stepped.journal.close().unwrap();
    stepped.settle();
    let sim = sim.restart(Crash::PowerCut);
    let receipt = Stepped::open(&sim, 1 << 20).unwrap().receipt;
    assert_eq!((receipt.next_offset, receipt.skipped(), receipt.epoch), (1, 0, 2));
}

#[test]
fn skipped_offsets_are_no_damage_and_hold_no_message() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"one", b"two"], b"r", true);
    let sim = sim.restart(Crash::Kill);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    let next = stepped.receipt.next_offset;
    assert_eq!(stepped.receipt.skipped(), next - 2);
    assert_eq!(durable_reader(&sim).end_offset().unwrap(), next);
    stepped.put(&[b"three"], b"s", true);
    let mut reader = durable_reader(&sim);
    assert_eq!(reader.read(2..next, 100).unwrap().end, next);
    assert_eq!(reader.read(1..next + 1, 100).unwrap().offset, [1, i64::try_from(next).unwrap()]);
    assert!(reader.read(7..9, 100).unwrap().is_empty());
    let followed = reader.follow(None, &mut |_| ()).unwrap();
    assert_eq!(followed.damage, []);
    // The offsets of an excerpt are consecutive; the next one begins behind those that were skipped.
    let first = reader.excerpt(0..next + 1, 1000, 1000).unwrap();
    assert_eq!((first.end, first.is_empty()), (next, false));
    let empty = reader.excerpt(5..next + 1, 1000, 1000).unwrap();
    assert_eq!((empty.end, empty.is_empty()), (next, true));
    assert_eq!(reader.excerpt(5..9, 1000, 1000).unwrap().end, 9);
    let mut looked = Vec::new();
    let each = &mut |offset, _: &[u8]| {
        looked.push(offset);
        true
    };
    assert_eq!(reader.records(0..next, each).unwrap(), next);
    assert_eq!(looked, [0]);
}

#[test]
fn a_position_of_another_history_is_refused() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"one", b"two"], b"", true);
    let mut reader = durable_reader(&sim);
    assert_eq!((reader.end_offset().unwrap(), reader.epoch()), (2, 1));
    // An older Slipring gives offset 1 again after a power cut lost its message.
    sim.remove_file(RESERVED);
    sim.remove_file(DURABLE);
    sim.cut_file(FIRST, 64);
    let sim = sim.restart(Crash::Kill);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"other", b"others"], b"", true);
    let mut reader = durable_reader(&sim);
    let error = reader.check_position(2, Some(1)).unwrap_err();
    assert!(matches!(error, ReadError::OtherHistory { written_in: 2, .. }), "{error}");
    reader.check_position(2, Some(2)).unwrap();
    reader.check_position(2, None).unwrap();
    let older = reader.check_position(1, Some(9)).unwrap_err();
    assert!(older.to_string().contains("older copy"), "{older}");
    assert!(matches!(reader.check_position(3, Some(2)), Err(ReadError::Beyond { .. })));
}

/// A power cut may bring an older `durable` back; then only a broker can find the synced end.
#[test]
fn a_reader_that_was_further_than_an_old_note_is_asked_to_start_the_broker() {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    let old = sim.get(DURABLE).unwrap().unwrap();
    stepped.put(&[b"one", b"two"], b"", true);
    sim.put(DURABLE, &old).unwrap();
    let mut reader = durable_reader(&sim);
    let told = reader.check_position(2, None).unwrap_err().to_string();
    assert!(
        told.contains("start the broker if none is running") && !told.contains("lost"),
        "{told}"
    );
    let told = reader.check_position(3, None).unwrap_err().to_string();
    assert!(told.contains("lost"), "{told}");
    let sim = sim.restart(Crash::Kill);
    Stepped::open(&sim, 1 << 20).unwrap();
    durable_reader(&sim).check_position(2, None).unwrap();
}

/// Both copies were opened equally often: only the times of the openings differ.
#[test]
fn an_older_copy_that_was_put_back_is_recognised() {
    let noted = |sim: &SimulatedDisk, opened_ms: u64, payload: &[u8]| {
        let mut stepped = Stepped::open(sim, 1 << 20).unwrap();
        stepped.put(&[b"before"], b"", true);
        stepped.journal.close().unwrap();
        stepped.settle();
        sim.set_clock(opened_ms);
        Stepped::open(sim, 1 << 20).unwrap().put(&[payload, payload], b"", true);
        let mut reader = durable_reader(sim);
        (reader.end_offset().unwrap(), reader)
    };
    let (end, original) = noted(&SimulatedDisk::new(1), 70_000, b"read");
    let (_, mut copy) = noted(&SimulatedDisk::new(1), 90_000, b"others");
    assert_eq!(original.identity(), copy.identity());
    let error = copy.check_position(end, Some(original.epoch())).unwrap_err();
    assert!(matches!(error, ReadError::OtherHistory { .. }), "{error}");
    copy.check_position(1, Some(original.epoch())).unwrap();
    // The clock went back, so the epoch is older than the stored one.
    let (_, mut copy) = noted(&SimulatedDisk::new(1), 5, b"others");
    let error = copy.check_position(end, Some(original.epoch())).unwrap_err();
    assert!(error.to_string().contains("older copy"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    /// Some readers read everything that is written, as older versions did, others only what is synced.
    /// Crashes lose what was not synced.
    #[test]
    fn no_offset_is_ever_given_to_two_messages_and_what_was_durable_stays(
        lives in prop::collection::vec(
            (prop::collection::vec((1..4_usize, any::<bool>()), 0..12), any::<bool>(), any::<bool>()),
            1..6,
        ),
        seed in any::<u64>(), segment_bytes in 150..600_u64,
    ) {
        let mut sim = SimulatedDisk::new(seed);
        let (mut seen, mut durable) = (Seen::new(), Seen::new());
        let mut number = 0_u64;
        for (appends, power_cut, closes) in lives {
            let mut stepped = Stepped::open(&sim, segment_bytes).unwrap();
            for (messages, sync) in appends {
                let payloads: Vec<_> = (0..messages).map(|_| { number += 1; number.to_le_bytes() }).collect();
                let payloads: Vec<&[u8]> = payloads.iter().map(|payload| &payload[..]).collect();
                stepped.put(&payloads, b"r", sync);
                for (offset, payload) in read_all(&mut stepped.journal.reader()) {
                    let before = seen.insert(offset, payload.clone());
                    prop_assert!(before.is_none_or(|before| before == payload), "offset {}", offset);
                }
                durable.extend(read_all(&mut durable_reader(&sim)));
            }
            if closes {
                let _ = stepped.journal.close();
                stepped.settle();
            }
            let crash = if power_cut { Crash::PowerCut } else { Crash::Kill };
            sim = sim.restart(crash);
        }
        Stepped::open(&sim, segment_bytes).unwrap();
        let left = read_all(&mut durable_reader(&sim));
        for (offset, payload) in durable {
            prop_assert_eq!(left.get(&offset), Some(&payload));
        }
        let storage: &dyn Storage = &sim;
        let report = crate::check::check_over(storage, Vec::new(), &mut |_, _| std::ops::ControlFlow::Continue(()));
        let report = report.unwrap().unwrap();
        prop_assert!(report.is_whole());
        prop_assert_eq!(report.messages, left.len() as u64);
    }
}
