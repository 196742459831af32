//! What was sent to a journal and acknowledged, and the lives of the broker that writes it.

use proptest::prelude::*;

use super::{Stepped, batch, contents, reader};
use crate::segment::JournalPosition;
use crate::sim::{Crash, Random, SimulatedDisk};

const SEGMENT_BYTES: u64 = 600;

/// What a broker does while it lives.
#[derive(Clone, Debug)]
pub enum Act {
    /// Payload sizes, bytes of records, and whether a sync is asked for.
    Append(Vec<usize>, usize, bool),
    Step,
    /// Follows the state and puts a snapshot of it.
    Snapshot,
    /// Leaves room for so many bytes on the disk.
    Fill(u64),
    Free,
    FailWrite,
    FailSync,
}

/// A life of the broker: what it does, when it crashes, and how.
#[derive(Clone, Debug)]
pub struct Life {
    pub acts: Vec<Act>,
    pub budget: usize,
    pub crash: Crash,
    /// How long the first attempt to recover lives.
    pub recovery_budget: usize,
}

/// The batches that were appended, and how many of them must survive each kind of crash.
#[derive(Default)]
pub struct World {
    sent: Vec<(Vec<Vec<u8>>, Vec<u8>)>,
    written: usize,
    synced: usize,
}

pub fn lives() -> impl Strategy<Value = Vec<Life>> {
    let payloads = prop::collection::vec(0..90_usize, 0..5);
    let act = prop_oneof![
        8 => (payloads, 0..60_usize, any::<bool>()).prop_map(|(payloads, records, sync)| {
            let records = if payloads.is_empty() { records + 1 } else { records };
            Act::Append(payloads, records, sync)
        }),
        6 => Just(Act::Step),
        2 => Just(Act::Snapshot),
        1 => (0..300_u64).prop_map(Act::Fill),
        1 => Just(Act::Free),
    ];
    let faulty = prop_oneof![30 => act, 1 => Just(Act::FailWrite), 1 => Just(Act::FailSync)];
    let crash = prop_oneof![Just(Crash::Kill), Just(Crash::PowerCut)];
    let acts = prop::collection::vec(faulty, 0..30);
    let life = (acts, 0..6000_usize, crash, 0..80_usize);
    let life = life.prop_map(|(acts, budget, crash, recovery_budget)| Life {
        acts,
        budget,
        crash,
        recovery_budget,
    });
    prop::collection::vec(life, 1..5)
}

/// Lives one life after the other on one disk; an error says which promise was broken.
pub fn history(lives: &[Life], seed: u64, prepare: impl Fn(&SimulatedDisk)) -> Result<(), String> {
    let (mut sim, mut random) = (SimulatedDisk::new(seed), Random::new(seed));
    let mut world = World::default();
    prepare(&sim);
    for life in lives {
        world.live(life, &sim, &mut random);
        sim = world.check(life, &sim)?;
    }
    Ok(())
}

impl World {
    /// Lives until the crash, or to the end of its acts.
    fn live(&mut self, life: &Life, sim: &SimulatedDisk, random: &mut Random) {
        sim.crash_after(life.budget);
        let Ok(mut stepped) = Stepped::open(sim, SEGMENT_BYTES) else { return };
        let mut marks = vec![0; self.sent.len()];
        for act in &life.acts {
            match act {
                Act::Append(sizes, records, sync) => {
                    let payloads = sizes.iter().map(|size| vec![random.number() as u8; *size]);
                    let sent = (payloads.collect(), vec![random.number() as u8; *records]);
                    if let Some(mark) = append(&stepped, &sent, *sync) {
                        marks.push(mark);
                        self.sent.push(sent);
                    }
                }
                Act::Step => drop(stepped.committer.step()),
                Act::Snapshot => put_snapshot(&mut stepped),
                Act::Fill(room) => sim.set_capacity(Some(sim.bytes() + room)),
                Act::Free => sim.set_capacity(None),
                Act::FailWrite => sim.fail_write_after(0),
                Act::FailSync => sim.fail_sync_after(0),
            }
            let told = stepped.told();
            self.written = marks.partition_point(|mark| *mark <= told.written);
            self.synced = marks.partition_point(|mark| *mark <= told.synced);
        }
        sim.heal();
    }

    /// Restarts, recovers, and compares what is there with what must be.
    fn check(&mut self, life: &Life, sim: &SimulatedDisk) -> Result<SimulatedDisk, String> {
        let sim = sim.restart(life.crash);
        sim.crash_after(life.recovery_budget);
        drop(Stepped::open(&sim, SEGMENT_BYTES));
        let sim = sim.restart(life.crash);
        Stepped::open(&sim, SEGMENT_BYTES).map_err(|error| error.to_string())?;
        // Recovered batches survive everything from now on. The disk may still be full.
        let sim = sim.restart(Crash::PowerCut);
        Stepped::open(&sim, SEGMENT_BYTES).map_err(|error| error.to_string())?;
        sim.set_capacity(None);
        let promised = if life.crash == Crash::Kill { self.written } else { self.synced };
        self.compare(&sim, promised)?;
        (self.written, self.synced) = (self.sent.len(), self.sent.len());
        Ok(sim)
    }

    /// Checks that the journal holds a prefix of what was sent: whole batches, each once.
    fn compare(&mut self, sim: &SimulatedDisk, promised: usize) -> Result<(), String> {
        let (payloads, records) = contents(&mut reader(sim))?;
        let (mut kept, mut expected) = (0, (Vec::new(), Vec::new()));
        while expected.0.len() < payloads.len() || expected.1.len() < records.len() {
            let Some(sent) = self.sent.get(kept) else {
                return Err("there is more than was sent".to_owned());
            };
            expected.0.extend(sent.0.iter().cloned());
            expected.1.extend(Some(sent.1.clone()).filter(|records| !records.is_empty()));
            kept += 1;
        }
        if expected != (payloads, records) {
            return Err("what was kept differs from what was sent".to_owned());
        }
        if kept < promised {
            return Err(format!("{kept} batches kept, {promised} promised"));
        }
        self.sent.truncate(kept);
        recovered_state(sim, &expected.1.concat())
    }
}

fn append(stepped: &Stepped, sent: &(Vec<Vec<u8>>, Vec<u8>), sync: bool) -> Option<u64> {
    let payloads: Vec<&[u8]> = sent.0.iter().map(Vec::as_slice).collect();
    let appended = stepped.journal.append(&mut batch(&payloads, &sent.1), sync);
    appended.ok().map(|appended| appended.mark)
}

/// The state here is all records one after the other.
fn follow_state(
    sim_reader: &mut crate::reader::JournalReader,
) -> Option<(JournalPosition, Vec<u8>)> {
    let (from, mut state) = sim_reader.snapshot().ok()?.unzip();
    let state = state.get_or_insert_default();
    let each = &mut |batch: crate::reader::StateBatch<'_>| state.extend_from_slice(batch.records);
    let followed = sim_reader.follow(from, each).ok()?;
    followed.damage.is_empty().then(|| (followed.end, state.clone()))
}

/// Refused while it would be ahead of what is synced.
fn put_snapshot(stepped: &mut Stepped) {
    if let Some((at, state)) = follow_state(&mut stepped.journal.reader()) {
        let _ = stepped.journal.put_snapshot(at, &state);
    }
}

/// The newest snapshot and the records after it are all records there are.
fn recovered_state(sim: &SimulatedDisk, records: &[u8]) -> Result<(), String> {
    let (_, state) = follow_state(&mut reader(sim)).ok_or("the state cannot be followed")?;
    if state == records { Ok(()) } else { Err("the state differs from its records".to_owned()) }
}
