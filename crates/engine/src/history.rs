//! Reads the state that a journal describes: the newest snapshot, and the batches after it. Never writes.

use std::path::Path;

use slipring_core::ledger::{BatchHead, Carried, Ledger, RetainedMessage};
use slipring_core::table::Entries;
use slipring_core::{Offset, StreamIndex};
use slipring_journal::{
    Damage, Followed, Journal, JournalPosition, JournalReader, ReadError, StateBatch,
};
use slipring_wire::{Properties, QoS};

/// How many flaws are reported, at most.
const FLAWS_MAX: usize = 100;
/// How often a journal is read again if its broker removes segments at the same time.
const TRIES: usize = 8;

/// The state that a journal describes.
pub(crate) struct JournalState {
    pub ledger: Ledger,
    /// The position after the last batch that was read.
    pub end: JournalPosition,
    /// Parts of the journal that could not be read.
    pub damage: Vec<Damage>,
    /// Records and samples that are malformed, and a snapshot that could not be used.
    pub flaws: Vec<String>,
}

/// Reads the newest snapshot and every batch after it.
pub(crate) fn read(journal: &Journal) -> Result<JournalState, ReadError> {
    read_by(&mut journal.reader(), &mut |ledger, batch, flaws| {
        apply_records(ledger, batch, flaws);
        apply_samples(ledger, batch, flaws);
    })
}

type Each<'a> = &'a mut dyn FnMut(&mut Ledger, &StateBatch<'_>, &mut Flaws);

fn read_by(reader: &mut JournalReader, each: Each<'_>) -> Result<JournalState, ReadError> {
    let mut flaws = Flaws::default();
    let mut ledger = Ledger::default();
    let mut from = None;
    match reader.snapshot() {
        Ok(None) => {}
        Ok(Some((position, bytes))) => match Ledger::restore(&bytes) {
            Ok(restored) => (ledger, from) = (restored, Some(position)),
            Err(error) => flaws.tell(|| format!("the snapshot of the sessions: {error}")),
        },
        Err(error) => flaws.tell(|| error.to_string()),
    }
    let followed = reader.follow(from, &mut |batch| each(&mut ledger, &batch, &mut flaws))?;
    let Followed { end, damage } = followed;
    Ok(JournalState { ledger, end, damage, flaws: flaws.0 })
}

/// The first malformed records, in words.
#[derive(Default)]
pub(crate) struct Flaws(Vec<String>);

impl Flaws {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn all(&self) -> &[String] {
        &self.0
    }

    pub fn tell(&mut self, what: impl FnOnce() -> String) {
        if self.0.len() < FLAWS_MAX {
            self.0.push(what());
        }
    }
}

/// Applies the records of a batch, then its retained messages.
fn apply_records(ledger: &mut Ledger, batch: &StateBatch<'_>, flaws: &mut Flaws) {
    let StateBatch { base_offset, count: messages, receive_ns, records, .. } = *batch;
    let base_offset = Offset::new(base_offset);
    if let Err(error) = ledger.apply(BatchHead { base_offset, messages, receive_ns }, records) {
        flaws.tell(|| format!("records at offset {base_offset}: {error}"));
    }
    for (offset, message) in batch.retained() {
        let Ok(qos) = QoS::from_bits(message.flags.qos()) else { continue };
        let (topic, properties, payload) = (message.topic, message.properties, message.payload);
        let message = RetainedMessage { topic, qos, properties, payload };
        ledger.retain(Offset::new(offset), receive_ns, message);
    }
}

/// Applies the samples that the messages of a batch carry.
fn apply_samples(ledger: &mut Ledger, batch: &StateBatch<'_>, flaws: &mut Flaws) {
    if ledger.carried().is_empty() {
        return;
    }
    let mut carried = ledger.carried().to_vec();
    carried.sort_unstable_by_key(|(offset, _)| *offset);
    for (offset, message) in batch.messages() {
        let offset = Offset::new(offset);
        let Ok(at) = carried.binary_search_by_key(&offset, |(offset, _)| *offset) else { continue };
        let receive_ns = batch.receive_ns;
        let taken = match carried[at].1 {
            Carried::Frame => {
                ledger.frame(receive_ns, message.payload).map_err(|error| error.to_string())
            }
            Carried::Sample(parameter) => {
                let properties = Properties::of_publish(message.properties).unwrap_or_default();
                let taken = ledger.sample(receive_ns, parameter, properties, message.payload);
                taken.map_err(|error| error.to_string())
            }
        };
        if let Err(error) = taken {
            flaws.tell(|| format!("the samples at offset {offset}: {error}"));
        }
    }
}

impl JournalState {
    /// The lowest offset that a session or a waiting message needs; the end, if none does.
    pub fn needed(&self) -> Offset {
        let end = Offset::new(self.end.offset);
        self.ledger.needed().map_or(end, |needed| needed.min(end))
    }

    /// The position that this state belongs to, and the records that lead to it.
    pub fn snapshot(&mut self, now_ns: i64) -> (JournalPosition, Vec<u8>) {
        self.ledger.expire(now_ns);
        let mut bytes = Vec::new();
        self.ledger.snapshot(&mut bytes);
        (self.end, bytes)
    }
}

/// The table that a journal describes.
#[derive(Debug)]
pub struct JournalTable {
    /// Its parameters, with those that were removed; None if there is no table.
    pub entries: Option<Entries>,
    /// The names of the streams, and their definitions as JSON.
    pub streams: Vec<(String, String)>,
    /// What could not be read: there may be more parameters.
    pub flaws: Vec<String>,
}

/// Reads the table from a journal's folder. A broker may be writing to it at the same time.
pub fn journal_table(folder: &Path) -> Result<JournalTable, ReadError> {
    let mut tries = 1;
    loop {
        let mut reader = JournalReader::open(folder)?;
        let before = position(&reader);
        let table = read_table(&mut reader);
        let is_whole = table.as_ref().is_ok_and(|table| table.flaws.is_empty());
        // A broker that wrote a snapshot in the meantime may have removed the segments before it.
        if is_whole || tries == TRIES || position(&reader) == before {
            return table;
        }
        tries += 1;
    }
}

fn position(reader: &JournalReader) -> Option<JournalPosition> {
    reader.snapshot().ok().flatten().map(|(position, _)| position)
}

fn read_table(reader: &mut JournalReader) -> Result<JournalTable, ReadError> {
    let JournalState { ledger, damage, mut flaws, .. } = read_by(reader, &mut apply_records)?;
    flaws.extend(damage.iter().take(FLAWS_MAX).map(ToString::to_string));
    let known = ledger.streams().iter_from(StreamIndex::new(0));
    let streams = known.map(|(_, one)| (one.name.to_string(), one.definition.to_json())).collect();
    Ok(JournalTable { entries: ledger.into_table(), streams, flaws })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::{env, fs, process};

    use slipring_core::desk::{DeclaredEntry, Desk};
    use slipring_core::ledger::TableRecord;
    use slipring_core::table::{Definition, Registry, Table, TableChange};
    use slipring_core::{Limits, ParameterIndex, SessionKey};
    use slipring_journal::{Batch, JournalOptions, MessageFlags, RetentionRules};
    use slipring_wire::frame::{FrameBuf, Header, Kind, OwnedValue, Quality, Sample, ValueView};

    use super::*;

    /// A journal with a table, in a folder of its own.
    struct World {
        folder: PathBuf,
        journal: Journal,
        registry: Registry,
    }

    impl World {
        fn new(name: &str) -> Self {
            let folder = env::temp_dir().join(format!("slipring-history-{name}-{}", process::id()));
            let _ = fs::remove_dir_all(&folder);
            let options = JournalOptions { segment_bytes: 300, ..JournalOptions::default() };
            let journal = Journal::open(&folder, options, |_| ()).unwrap().0;
            let world = Self { folder, journal, registry: Registry::new(5) };
            world.note(&TableChange::default());
            world
        }

        fn note(&self, change: &TableChange) {
            let mut batch = Batch::new();
            batch.at(1);
            self.registry.record(change, batch.records());
            self.append(&mut batch);
        }

        fn append(&self, batch: &mut Batch) {
            self.journal.append_waiting(batch, false).unwrap();
            self.journal.sync().unwrap();
        }

        fn declare(&mut self, names: &[&str]) {
            let definition = Definition::from_json("{\"type\":\"f64\"}").unwrap();
            let asked: Vec<_> = (0..)
                .zip(names)
                .map(|(at, name)| DeclaredEntry::new(at, *name, definition.clone()))
                .collect();
            let (session, bounds) = (SessionKey::new(1), Table::bounds(&Limits::default()));
            let declared = self.registry.declare(session, "c", &asked, &bounds, Vec::new());
            let declared = declared.unwrap();
            self.note(&declared.change);
        }

        fn publish(&self, value: f64) {
            let mut batch = Batch::new();
            batch.begin("p", 77);
            batch.push(MessageFlags::new(0, false), "other", b"", b"1");
            batch.push(MessageFlags::new(0, false), "a", b"", &frame(0, value));
            batch.push(MessageFlags::new(0, false), "b", b"", value.to_string().as_bytes());
            TableRecord::Sampled { index: 2, parameter: ParameterIndex::new(1) }
                .encode(batch.records());
            TableRecord::Framed { index: 1 }.encode(batch.records());
            self.append(&mut batch);
        }

        fn put_snapshot(&self) {
            let (position, bytes) = read(&self.journal).unwrap().snapshot(0);
            self.journal.put_snapshot(position, &bytes).unwrap();
        }

        fn value(&self, index: u32) -> Option<(OwnedValue, i64)> {
            let state = read(&self.journal).unwrap();
            assert_eq!(state.flaws, Vec::<String>::new());
            let found = state.ledger.values().get(ParameterIndex::new(index))?;
            Some((found.value.to_owned(), found.time_ns))
        }

        fn names(&self) -> Vec<String> {
            let table = journal_table(&self.folder).unwrap();
            assert_eq!(table.flaws, Vec::<String>::new());
            let entries = table.entries.unwrap();
            entries
                .iter_from(ParameterIndex::new(0))
                .map(|(_, entry)| entry.name.to_string())
                .collect()
        }
    }

    impl Drop for World {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.folder);
        }
    }

    fn frame(index: u32, value: f64) -> Vec<u8> {
        let (mut buf, mut out) = (FrameBuf::new(), Vec::new());
        let value = ValueView::F64(value);
        let sample = Sample { index, time_ns: 9, quality: Quality::GOOD, value };
        buf.push_samples(Kind::F64, &mut [sample]).unwrap();
        buf.finish(&Header { table: 5, ..Header::default() }, false, &mut out);
        out
    }

    #[test]
    fn frames_and_samples_lead_to_the_newest_values_with_and_without_a_snapshot() {
        let mut world = World::new("values");
        world.declare(&["a", "b"]);
        world.publish(1.5);
        let both = |world: &World| (world.value(0), world.value(1));
        let expected = |value| {
            let value = OwnedValue::F64(value);
            (Some((value.clone(), 9)), Some((value, 77)))
        };
        assert_eq!(both(&world), expected(1.5));
        world.put_snapshot();
        assert_eq!(both(&world), expected(1.5));
        world.publish(2.5);
        assert_eq!(both(&world), expected(2.5));
    }

    #[test]
    fn the_table_is_read_from_a_folder_after_its_first_segments_are_gone() {
        let mut world = World::new("folder");
        world.declare(&["a", "b"]);
        assert_eq!(world.names(), ["a", "b"]);
        (0..8).for_each(|number| world.publish(f64::from(number)));
        world.put_snapshot();
        let rules = RetentionRules { age: None, bytes: Some(1), keep_unread: false };
        let end = world.journal.status().next_offset;
        world.journal.retire(&rules, end, 0).unwrap();
        assert!(
            JournalReader::open(&world.folder).unwrap().first_offset() > 0,
            "something is gone"
        );
        let (change, _) = world.registry.remove(SessionKey::new(1), &["a"], false);
        world.note(&change);
        assert_eq!(world.names(), ["b"]);
        let entries = journal_table(&world.folder).unwrap().entries.unwrap();
        assert_eq!(
            &*entries.known(ParameterIndex::new(0)).unwrap().name,
            "a",
            "its frames can still be read"
        );
        assert_eq!((entries.id(), entries.revision()), (5, 2));
    }

    #[test]
    fn a_payload_that_is_no_frame_is_reported_with_its_offset() {
        let world = World::new("flaw");
        let mut batch = Batch::new();
        batch.begin("p", 1);
        batch.push(MessageFlags::new(0, false), "a", b"", b"not a frame");
        TableRecord::Framed { index: 0 }.encode(batch.records());
        world.append(&mut batch);
        let flaws = read(&world.journal).unwrap().flaws;
        assert!(flaws.len() == 1 && flaws[0].starts_with("the samples at offset 0: "), "{flaws:?}");
    }
}
