//! Salvage: whatever is damaged, the new folder holds all whole batches, with their offsets.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use proptest::prelude::*;
use slipring_journal::{
    Batch, Journal, JournalOptions, JournalReader, MessageFlags, ReadError, SalvageError, Salvaged,
    check, consumers, salvage,
};

const MESSAGES: u8 = 40;

/// A folder of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("slipring-salvage-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn old(&self) -> PathBuf {
        self.0.join("old")
    }

    fn new_folder(&self) -> PathBuf {
        self.0.join("new")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn options() -> JournalOptions {
    JournalOptions { segment_bytes: 600, ..JournalOptions::default() }
}

/// A journal of some segments, with a record beside each message, a snapshot and a consumer.
fn write(dir: &Path) {
    let (journal, _) = Journal::open(dir, options(), |_| ()).unwrap();
    for number in 0..MESSAGES {
        let mut batch = Batch::new();
        batch.begin("p", 1);
        batch.push(MessageFlags::new(1, false), "a/b", &[], &[number; 20]);
        batch.records().push(number);
        journal.append(&mut batch, false).unwrap();
        if number == 10 {
            journal.sync().unwrap();
            let at = journal.reader().follow(None, &mut |_| ()).unwrap().end;
            journal.put_snapshot(at, b"state up to 10").unwrap();
            let standing = consumers::ConsumerPosition {
                journal: journal.identity(),
                offset: 7,
                epoch: Some(1),
                updated_ns: 1,
            };
            consumers::commit(dir, "lake", &standing).unwrap();
        }
    }
    journal.close().unwrap();
}

fn run(from: &Path, to: &Path) -> Result<Salvaged, SalvageError> {
    Ok(salvage(from, to, &mut |_, _| ControlFlow::Continue(()))?.expect("nobody broke it off"))
}

/// The numbers of all messages that can be read, with the offsets they have; and of the records.
fn contents(dir: &Path) -> (Vec<(u64, u8)>, Vec<u8>) {
    let mut reader = JournalReader::open(dir).unwrap();
    let (mut at, end) = (reader.first_offset(), reader.end_offset().unwrap());
    let mut messages = Vec::new();
    while at < end {
        at = match reader.read(at..at + 1, 1 << 20) {
            Ok(columns) => {
                let numbers = (0..columns.len()).map(|row| columns.payload.get(row)[0]);
                messages.extend(columns.offset.iter().map(|at| at.unsigned_abs()).zip(numbers));
                columns.end
            }
            Err(ReadError::Damaged(_)) => at + 1,
            Err(error) => panic!("{error}"),
        };
    }
    let mut records = Vec::new();
    reader.follow(None, &mut |batch| records.extend_from_slice(batch.records)).unwrap();
    (messages, records)
}

fn is_whole(dir: &Path) -> bool {
    check(dir, &mut |_, _| ControlFlow::Continue(())).unwrap().unwrap().is_whole()
}

fn segments(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|end| end == "seg")).collect();
    found.sort();
    found
}

#[test]
fn a_sound_journal_is_copied_with_its_state_and_its_consumers() {
    let scratch = Scratch::new("sound");
    write(&scratch.old());
    let salvaged = run(&scratch.old(), &scratch.new_folder()).unwrap();
    assert!(salvaged.is_whole() && salvaged.has_state);
    assert_eq!((salvaged.messages, salvaged.consumers), (u64::from(MESSAGES), 1));
    assert_eq!(contents(&scratch.new_folder()), contents(&scratch.old()));
    let (at, state) =
        JournalReader::open(&scratch.new_folder()).unwrap().snapshot().unwrap().unwrap();
    assert_eq!((at.offset, &state[..]), (11, &b"state up to 10"[..]));
    let mut records = Vec::new();
    let mut reader = JournalReader::open(&scratch.new_folder()).unwrap();
    reader.follow(Some(at), &mut |batch| records.extend_from_slice(batch.records)).unwrap();
    assert_eq!(records, (11..MESSAGES).collect::<Vec<_>>());
    let (_, receipt) = Journal::open(&scratch.new_folder(), options(), |_| ()).unwrap();
    assert_eq!((receipt.next_offset, receipt.cut), (u64::from(MESSAGES), None));
}

/// A second opening that skips offsets, because the reservation of the first one is lost. Its segment begins
/// with a batch of records only.
fn write_behind_left_out(dir: &Path) {
    write(dir);
    flip(&dir.join("reserved"), 50);
    let (journal, receipt) = Journal::open(dir, options(), |_| ()).unwrap();
    assert!(receipt.skipped() > 0);
    let mut records = Batch::new();
    records.records().push(99);
    journal.append(&mut records, true).unwrap();
    let mut batch = Batch::new();
    batch.begin("p", 1);
    batch.push(MessageFlags::new(1, false), "a/b", &[], b"behind");
    journal.append(&mut batch, true).unwrap();
    journal.close().unwrap();
}

fn flip(file: &Path, position: usize) {
    let mut bytes = fs::read(file).unwrap();
    bytes[position] ^= 0x10;
    fs::write(file, bytes).unwrap();
}

#[test]
fn offsets_that_were_left_out_are_no_damage_where_the_first_batch_behind_them_is_lost() {
    let scratch = Scratch::new("left-out");
    write_behind_left_out(&scratch.old());
    let files = segments(&scratch.old());
    flip(&files[files.len() - 2], 64 + 46);
    let salvaged = run(&scratch.old(), &scratch.new_folder()).unwrap();
    assert_eq!((salvaged.damage.len(), salvaged.lost()), (1, 0));
    assert!(is_whole(&scratch.new_folder()));
    let mut reader = JournalReader::open(&scratch.new_folder()).unwrap();
    let end = reader.end_offset().unwrap();
    assert_eq!(reader.read(u64::from(MESSAGES)..end, 1000).unwrap().len(), 1);
}

#[test]
fn a_journal_of_which_no_header_is_whole_is_known_by_the_files_beside_it() {
    let scratch = Scratch::new("headers");
    write(&scratch.old());
    let (before, identity) =
        (contents(&scratch.old()), JournalReader::open(&scratch.old()).unwrap().identity());
    for file in segments(&scratch.old()) {
        flip(&file, 20);
    }
    run(&scratch.old(), &scratch.new_folder()).unwrap();
    let (journal, _) = Journal::open(&scratch.new_folder(), options(), |_| ()).unwrap();
    assert_eq!(journal.identity(), identity);
    assert_eq!(contents(&scratch.new_folder()), before);
}

#[test]
fn offsets_that_a_damaged_reservation_can_have_named_are_not_given_again() {
    let scratch = Scratch::new("reserved");
    write(&scratch.old());
    flip(&scratch.old().join("reserved"), 50);
    run(&scratch.old(), &scratch.new_folder()).unwrap();
    let (_, receipt) = Journal::open(&scratch.new_folder(), options(), |_| ()).unwrap();
    assert!(receipt.next_offset >= u64::from(MESSAGES) + (1 << 20), "{receipt}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn every_whole_batch_is_there_after_any_damage(
        hits in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..6),
        removed in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let scratch = Scratch::new("damage");
        write(&scratch.old());
        let files = segments(&scratch.old());
        for (at, bit) in &hits {
            let mut all: Vec<_> = files.iter().map(|path| fs::read(path).unwrap()).collect();
            let mut position = at.index(all.iter().map(Vec::len).sum());
            let file = all.iter().position(|bytes| {
                let here = position < bytes.len();
                position -= if here { 0 } else { bytes.len() };
                here
            });
            let file = file.unwrap();
            all[file][position] ^= 1 << bit;
            fs::write(&files[file], &all[file]).unwrap();
        }
        // The last, empty one says whose journal it is; it may be hit, and is not removed.
        if let Some(removed) = removed {
            fs::remove_file(&files[removed.index(files.len() - 1)]).unwrap();
        }
        let before = contents(&scratch.old());
        let salvaged = run(&scratch.old(), &scratch.new_folder()).unwrap();
        prop_assert_eq!(&contents(&scratch.new_folder()), &before);
        prop_assert!(is_whole(&scratch.new_folder()));
        prop_assert_eq!(salvaged.messages, before.0.len() as u64);
        let (_, receipt) = Journal::open(&scratch.new_folder(), options(), |_| ()).unwrap();
        prop_assert!(receipt.next_offset >= u64::from(MESSAGES));
    }
}

#[test]
fn a_folder_in_use_and_one_that_is_not_empty_are_refused() {
    let scratch = Scratch::new("refused");
    write(&scratch.old());
    fs::create_dir(scratch.new_folder()).unwrap();
    fs::write(scratch.new_folder().join("file"), b"").unwrap();
    let refused = run(&scratch.old(), &scratch.new_folder());
    assert!(matches!(refused, Err(SalvageError::NotEmpty(_))));
    let (_journal, _) = Journal::open(&scratch.old(), options(), |_| ()).unwrap();
    let refused = run(&scratch.old(), &scratch.0.join("other"));
    assert!(matches!(refused, Err(SalvageError::Open(_))));
    let refused = run(&scratch.0.join("nowhere"), &scratch.0.join("other"));
    assert!(matches!(refused, Err(SalvageError::NoJournal(_))));
}
