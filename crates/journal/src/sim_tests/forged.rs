//! Batches inside payloads: a client sends a piece of a journal, by chance or on purpose. Behind a damaged header
//! they are never taken for the journal's own batches.

use super::{FIRST, Stepped, batch, reader};
use crate::format::SEGMENT_HEADER_BYTES;
use crate::receipt::RecoveryReceipt;
use crate::sim::{Crash, SimulatedDisk};

/// Batches that follow each other from an offset on, as bytes of a payload.
fn forged(mut offset: u64, counts: &[usize]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for count in counts {
        let mut one = batch(&vec![&b"forged"[..]; *count], b"");
        let header = one.header(offset, None, one.checksum());
        bytes.extend(one.take_encoded(&header, Vec::new()));
        offset += *count as u64;
    }
    bytes
}

/// A message, one with this payload, and five more, all synced; the header of the second is damaged.
fn damaged_before(payload: &[u8]) -> (SimulatedDisk, RecoveryReceipt) {
    let sim = SimulatedDisk::new(1);
    let mut stepped = Stepped::open(&sim, 1 << 20).unwrap();
    stepped.put(&[b"0"], b"", true);
    stepped.put(&[payload], b"", true);
    for number in 2..7_u8 {
        stepped.put(&[&[number; 9]], b"", true);
    }
    sim.flip_bit(FIRST, SEGMENT_HEADER_BYTES + batch(&[b"0"], b"").bytes() + 10);
    let sim = sim.restart(Crash::Kill);
    let receipt = Stepped::open(&sim, 1 << 20).unwrap().receipt;
    (sim, receipt)
}

fn check(payload: &[u8]) {
    let (sim, receipt) = damaged_before(payload);
    assert_eq!(receipt.cut, None);
    assert_eq!(receipt.damage.len(), 1, "{receipt}");
    assert_eq!(receipt.damage[0].offsets, 1..2);
    let kept = reader(&sim).read(2..7, 1000).unwrap();
    assert_eq!(kept.offset, [2, 3, 4, 5, 6]);
    assert_eq!(kept.payload.get(0), [2; 9]);
}

#[test]
fn a_batch_in_a_payload_with_an_offset_that_cannot_be_is_passed_over() {
    check(&forged(1 << 40, &[1]));
}

#[test]
fn batches_in_a_payload_do_not_hide_those_behind_it_that_contradict_them() {
    for offset in [1, 2, 3, 20] {
        check(&[vec![0; 1000], forged(offset, &[3, 2, 4]), vec![0; 50]].concat());
    }
}
