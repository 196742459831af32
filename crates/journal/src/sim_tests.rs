//! Laws of the journal under crashes, on the simulated disk.

use proptest::prelude::*;

use crate::batch::Batch;
use crate::error::{OpenError, ReadError};
use crate::format::{Flags, Flaw};
use crate::log::Log;
use crate::reader::Reader;
use crate::receipt::Receipt;
use crate::segment::SegmentId;
use crate::sim::{Crash, Random, Sim};

const FIRST: SegmentId = SegmentId { offset: 0, part: 0 };

fn open(sim: &Sim, segment_bytes: u64) -> Result<(Log, Receipt), OpenError> {
    Log::open(Box::new(sim.clone()), segment_bytes)
}

/// One broker's life: what it writes, when it syncs, and after how much it dies.
#[derive(Clone, Debug)]
struct Life {
    /// Payload sizes of each batch, and whether a sync follows it.
    batches: Vec<(Vec<usize>, bool)>,
    budget: usize,
    crash: Crash,
    /// How long the first attempt to recover lives before the power is cut again.
    recovery_budget: usize,
}

/// What the world outside knows about the journal.
#[derive(Default)]
struct Known {
    payloads: Vec<Vec<u8>>,
    written: usize,
    synced: usize,
}

fn lives() -> impl Strategy<Value = Vec<Life>> {
    let payloads = prop::collection::vec(0..90_usize, 1..6);
    let batches = prop::collection::vec((payloads, any::<bool>()), 0..12);
    let crash = prop_oneof![Just(Crash::Kill), Just(Crash::PowerCut)];
    let life = (batches, 0..3000_usize, crash, 0..80_usize);
    let life = life.prop_map(|(batches, budget, crash, recovery_budget)| Life {
        batches,
        budget,
        crash,
        recovery_budget,
    });
    prop::collection::vec(life, 1..5)
}

fn encode(payloads: &[Vec<u8>], offset: usize) -> Vec<u8> {
    let mut batch = Batch::new();
    batch.begin("sim", 1);
    for payload in payloads {
        batch.push(Flags::new(0, false), "a/b", &[], payload);
    }
    let header = batch.header(offset as u64, batch.checksum());
    [&header.encode()[..], &batch.body().concat()].concat()
}

/// Lives until the crash, or to the end of its batches.
fn live(life: &Life, sim: &Sim, random: &mut Random, known: &mut Known) -> Result<(), OpenError> {
    sim.crash_after(life.budget);
    let (mut log, _) = open(sim, 600)?;
    for (sizes, sync) in &life.batches {
        let payloads = sizes.iter().map(|size| vec![random.number() as u8; *size]);
        let start = known.payloads.len();
        known.payloads.extend(payloads);
        log.write(&encode(&known.payloads[start..], start), None)?;
        known.written = log.written().at.offset as usize;
        if *sync {
            log.sync()?;
        }
        known.synced = log.synced().at.offset as usize;
    }
    Ok(())
}

/// Restarts, recovers, and compares what is there with what must be.
fn check(life: &Life, sim: &Sim, known: &mut Known) -> Result<Sim, String> {
    let sim = sim.restart(life.crash);
    sim.crash_after(life.recovery_budget);
    drop(open(&sim, 600));
    let sim = sim.restart(life.crash);
    open(&sim, 600).map_err(|error| error.to_string())?;
    // What was recovered is safe, whatever comes.
    let sim = sim.restart(Crash::PowerCut);
    let (_, receipt) = open(&sim, 600).map_err(|error| error.to_string())?;
    let kept = receipt.next_offset as usize;
    let promised = if life.crash == Crash::Kill { known.written } else { known.synced };
    if kept < promised {
        return Err(format!("{kept} messages kept, {promised} promised"));
    }
    if read_all(&sim, kept)? != known.payloads[..kept] {
        return Err("what was kept differs from what was written".to_owned());
    }
    known.payloads.truncate(kept);
    (known.written, known.synced) = (kept, kept);
    Ok(sim)
}

fn read_all(sim: &Sim, end: usize) -> Result<Vec<Vec<u8>>, String> {
    let mut reader = Reader::over(Box::new(sim.clone())).unwrap().expect("there is a journal");
    let seen = reader.end_offset().map_err(|error| error.to_string())?;
    if seen != end as u64 {
        return Err(format!("the reader sees {seen} messages, recovery kept {end}"));
    }
    let mut payloads = Vec::new();
    while payloads.len() < end {
        let columns = reader.read(payloads.len() as u64..seen, 200).map_err(|e| e.to_string())?;
        payloads.extend((0..columns.len()).map(|row| columns.payload.get(row).to_vec()));
    }
    Ok(payloads)
}

fn history(lives: &[Life], seed: u64, sync_lies: bool) -> Result<(), String> {
    let (mut sim, mut random, mut known) = (Sim::new(seed), Random::new(seed), Known::default());
    if sync_lies {
        sim.lie_about_syncs();
    }
    for life in lives {
        let ended = live(life, &sim, &mut random, &mut known);
        assert_eq!(ended.is_err(), sim.has_crashed());
        sim = check(life, &sim, &mut known)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    /// Faults "kill -9 at any byte of a journal write" and "power cut".
    #[test]
    fn after_any_crash_a_prefix_with_all_that_was_promised_is_left(
        lives in lives(), seed in any::<u64>(),
    ) {
        prop_assert_eq!(history(&lives, seed, false), Ok(()));
    }
}

#[test]
fn the_law_above_finds_a_disk_that_lies_about_syncs() {
    let batches = vec![(vec![50; 4], true); 8];
    let life = Life { batches, budget: 3000, crash: Crash::PowerCut, recovery_budget: 0 };
    let broken = (0..50).filter(|seed| history(std::slice::from_ref(&life), *seed, true).is_err());
    assert!(broken.count() > 10);
}

fn journal_of(batches: usize, segment_bytes: u64) -> (Sim, Log) {
    let sim = Sim::new(1);
    let (mut log, _) = open(&sim, segment_bytes).unwrap();
    for offset in 0..batches {
        log.write(&encode(&[vec![7; 50]], offset), None).unwrap();
    }
    (sim, log)
}

/// Bytes of one batch of `journal_of`.
fn batch_bytes() -> usize {
    encode(&[vec![7; 50]], 0).len()
}

#[test]
fn a_bit_flip_in_the_middle_is_named_and_the_rest_is_readable() {
    for place in [10, 60] {
        let (sim, _log) = journal_of(3, 1 << 20);
        sim.flip_bit(FIRST, 64 + batch_bytes() + place);
        let mut reader = Reader::over(Box::new(sim)).unwrap().unwrap();
        assert_eq!(reader.end_offset().unwrap(), 3);
        assert_eq!(reader.read(0..1, 1000).unwrap().len(), 1);
        assert_eq!(reader.read(2..3, 1000).unwrap().offset, [2]);
        let error = reader.read(0..3, 1000).unwrap_err();
        let ReadError::Damaged(damage) = error else { panic!("{error}") };
        assert_eq!((damage.segment, damage.position), (FIRST, 64 + batch_bytes() as u64));
        assert_eq!(damage.offsets, 1..2);
    }
}

#[test]
fn a_bad_last_batch_is_not_there_yet() {
    let (sim, _log) = journal_of(3, 1 << 20);
    sim.flip_bit(FIRST, 64 + 2 * batch_bytes() + 60);
    assert_eq!(Reader::over(Box::new(sim)).unwrap().unwrap().end_offset().unwrap(), 2);
}

#[test]
fn recovery_sets_whole_batches_behind_damage_aside() {
    let (sim, log) = journal_of(3, 1 << 20);
    drop(log);
    sim.flip_bit(FIRST, 64 + batch_bytes() + 60);
    let (_, receipt) = open(&sim, 1 << 20).unwrap();
    let cut = receipt.cut.as_ref().unwrap();
    assert_eq!((receipt.next_offset, cut.flaw, cut.set_aside), (1, Flaw::BodyDamaged, true));
    assert_eq!(sim.set_aside_places(), [(FIRST, 64 + batch_bytes() as u64)]);
    assert!(receipt.to_string().contains("kept in"), "{receipt}");
}

#[test]
fn damage_in_a_closed_journal_is_not_taken_for_a_torn_tail() {
    let (sim, mut log) = journal_of(3, 1 << 20);
    log.seal().unwrap();
    sim.flip_bit(FIRST, 64 + 2 * batch_bytes() + 60);
    let (_, receipt) = open(&sim, 1 << 20).unwrap();
    assert_eq!((receipt.next_offset, receipt.cut), (3, None));
    let mut reader = Reader::over(Box::new(sim)).unwrap().unwrap();
    assert!(matches!(reader.read(0..3, 1000), Err(ReadError::Damaged(_))));
}

#[test]
fn a_damaged_segment_header_with_batches_behind_it_refuses_to_open() {
    let (sim, log) = journal_of(1, 1 << 20);
    drop(log);
    sim.flip_bit(FIRST, 20);
    assert!(matches!(open(&sim, 1 << 20), Err(OpenError::Damaged(_))));
}

#[test]
fn a_failed_sync_promises_nothing() {
    let (sim, mut log) = journal_of(2, 1 << 20);
    sim.fail_sync_after(0);
    assert!(log.sync().is_err());
    assert_eq!((log.written().at.offset, log.synced().at.offset), (2, 0));
}

#[test]
fn segments_keep_to_their_size_and_one_identity() {
    let (sim, mut log) = journal_of(20, 600);
    log.sync().unwrap();
    assert!(log.segments() > 3);
    assert_eq!(log.bytes() as usize, 20 * batch_bytes() + 64 * log.segments());
    let mut reader = Reader::over(Box::new(sim.clone())).unwrap().unwrap();
    assert_eq!(reader.end_offset().unwrap(), 20);
    assert_eq!(reader.read(7..9, 1000).unwrap().offset, [7, 8]);
    let (_, receipt) = open(&sim, 600).unwrap();
    assert_eq!((receipt.identity, receipt.epoch), (reader.identity(), 2));
}
