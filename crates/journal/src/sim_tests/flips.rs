//! One flipped bit anywhere in the last segment: every whole batch is kept, the damage is reported, and no
//! offset is given again.

use super::{FIRST, Stepped, batch, durable_reader};
use crate::format::SEGMENT_HEADER_BYTES;
use crate::reader::StateBatch;
use crate::receipt::RecoveryReceipt;
use crate::sim::{Crash, SimulatedDisk};
use crate::storage::ReadSegments;

const BATCHES: u8 = 6;

/// Batches of one message and a record each, all synced. Returns where each begins.
fn journal(seed: u64, syncs_each: bool) -> (SimulatedDisk, Vec<u64>) {
    let sim = SimulatedDisk::new(seed);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    let mut starts = vec![SEGMENT_HEADER_BYTES as u64];
    for number in 0..BATCHES {
        let mut one = batch(&[&[number; 9]], &[number; 3]);
        starts.push(starts.last().unwrap() + one.bytes() as u64);
        let last = number + 1 == BATCHES;
        stepped.journal.append(&mut one, syncs_each || last).unwrap();
        if syncs_each || last {
            stepped.settle();
        }
    }
    (sim, starts)
}

/// The numbers of the messages and of the records that are there.
fn found(sim: &SimulatedDisk) -> (Vec<u8>, Vec<u8>) {
    let mut reader = durable_reader(sim);
    let end = reader.end_offset().unwrap();
    let mut messages = Vec::new();
    for offset in (0..u64::from(BATCHES)).filter(|offset| *offset < end) {
        if let Ok(columns) = reader.read(offset..offset + 1, 100) {
            messages.extend((0..columns.len()).map(|row| columns.payload.get(row)[0]));
        }
    }
    let mut records = Vec::new();
    reader.follow(None, &mut |batch: StateBatch<'_>| records.push(batch.records[0])).unwrap();
    (messages, records)
}

/// Opens after the crash, and looks at what was kept.
fn check(sim: &SimulatedDisk, hit: Option<u8>) -> RecoveryReceipt {
    let mut stepped = Stepped::open(sim, 1 << 20).unwrap();
    let next = stepped.put(&[b"next"], b"n", true).offsets.start;
    assert!(next >= u64::from(BATCHES), "an offset is given again");
    let whole: Vec<u8> = (0..BATCHES).filter(|number| Some(*number) != hit).collect();
    let (messages, records) = found(sim);
    assert_eq!(messages, whole);
    assert_eq!(records[..whole.len()], whole);
    stepped.receipt
}

#[test]
fn every_whole_batch_survives_a_flipped_bit_at_any_byte() {
    for syncs_each in [true, false] {
        let (whole, starts) = journal(1, syncs_each);
        let size = whole.size(FIRST).unwrap();
        for position in SEGMENT_HEADER_BYTES as u64..size {
            let (sim, _) = journal(1, syncs_each);
            sim.flip_bit(FIRST, position as usize);
            let hit = starts.iter().filter(|start| **start <= position).count() as u8 - 1;
            let sim = sim.restart(Crash::Kill);
            let receipt = check(&sim, Some(hit));
            let lost = u64::from(hit)..u64::from(hit) + 1;
            assert_eq!(receipt.damage.len(), 1, "byte {position}");
            assert_eq!(receipt.damage[0].offsets, lost);
            assert!(receipt.to_string().contains("damaged"), "{receipt}");
        }
    }
}

/// After a power cut `durable` may be old. Then the headers of later batches prove what was synced, except for
/// the last sync, behind which there is no batch.
#[test]
fn a_flipped_bit_and_a_power_cut_together_lose_nothing_that_a_later_sync_followed() {
    for seed in 0..40 {
        let (_, starts) = journal(seed, true);
        for hit in 0..BATCHES - 2 {
            let (sim, _) = journal(seed, true);
            sim.flip_bit(FIRST, starts[usize::from(hit)] as usize + 50);
            let sim = sim.restart(Crash::PowerCut);
            check(&sim, Some(hit));
        }
    }
}

#[test]
fn without_damage_all_is_there() {
    let (sim, _) = journal(1, true);
    let receipt = check(&sim.restart(Crash::PowerCut), None);
    assert_eq!((receipt.cut, receipt.damage), (None, Vec::new()));
}
