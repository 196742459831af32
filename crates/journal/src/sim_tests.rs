//! Laws of the journal on the simulated disk: crashes, damage, a full disk, failures, snapshots.

mod ahead;
mod damage;
mod failures;
mod flips;
mod forged;
mod histories;
mod snapshots;
mod space;
mod world;

use std::sync::{Arc, Mutex};

use crate::batch::Batch;
use crate::commit::Committer;
use crate::error::OpenError;
use crate::format::MessageFlags;
use crate::journal::{Journal, JournalOptions};
use crate::reader::JournalReader;
use crate::receipt::RecoveryReceipt;
use crate::segment::SegmentId;
use crate::sim::SimulatedDisk;
use crate::status::{Appended, CommitProgress};

const FIRST: SegmentId = SegmentId { offset: 0, part: 0 };

/// A journal whose committer moves only when a test says so.
struct Stepped {
    journal: Journal,
    committer: Committer,
    receipt: RecoveryReceipt,
    /// The last progress reported, by which the broker acknowledges.
    told: Arc<Mutex<CommitProgress>>,
}

impl Stepped {
    fn open(sim: &SimulatedDisk, segment_bytes: u64) -> Result<Self, OpenError> {
        // Only appends that ask for a sync cause one, so that nothing depends on the clock.
        let sync_interval = std::time::Duration::MAX;
        let options = JournalOptions { segment_bytes, sync_interval, ..JournalOptions::default() };
        let told = Arc::new(Mutex::new(CommitProgress::default()));
        let listener = Arc::clone(&told);
        let on_progress = move |progress| *listener.lock().unwrap() = progress;
        let (journal, committer, receipt) =
            Journal::over(Box::new(sim.clone()), options, on_progress)?;
        Ok(Self { journal, committer, receipt, told })
    }

    fn told(&self) -> CommitProgress {
        self.told.lock().unwrap().clone()
    }

    /// Steps until there is nothing left to do.
    fn settle(&mut self) {
        while self.committer.step() {}
    }

    /// Appends and settles.
    fn put(&mut self, payloads: &[&[u8]], records: &[u8], sync: bool) -> Appended {
        let appended = self.journal.append(&mut batch(payloads, records), sync).unwrap();
        self.settle();
        appended
    }
}

fn batch(payloads: &[&[u8]], records: &[u8]) -> Batch {
    let mut batch = Batch::new();
    batch.at(1);
    batch.records().extend_from_slice(records);
    if !payloads.is_empty() {
        batch.begin("sim", 1);
    }
    for payload in payloads {
        batch.push(MessageFlags::new(1, false), "a/b", &[], payload);
    }
    batch
}

type Contents = (Vec<Vec<u8>>, Vec<Vec<u8>>);

/// All payloads and all records in the journal, in order.
fn contents(reader: &mut JournalReader) -> Result<Contents, String> {
    let text = |error: crate::error::ReadError| error.to_string();
    let end = reader.end_offset().map_err(text)?;
    let mut payloads = Vec::new();
    let mut at = reader.first_offset();
    while at < end {
        let columns = reader.read(at..end, 200).map_err(text)?;
        payloads.extend((0..columns.len()).map(|row| columns.payload.get(row).to_vec()));
        at = columns.end;
    }
    let mut records = Vec::new();
    let followed = reader.follow(None, &mut |batch| records.push(batch.records.to_vec()));
    match followed.map_err(text)?.damage.first() {
        Some(damage) => Err(damage.to_string()),
        None => Ok((payloads, records)),
    }
}

/// A reader of everything that is written.
fn reader(sim: &SimulatedDisk) -> JournalReader {
    durable_reader(sim).written()
}

/// A reader like one in another process.
fn durable_reader(sim: &SimulatedDisk) -> JournalReader {
    JournalReader::over(Box::new(sim.clone())).unwrap().expect("there is a journal")
}
