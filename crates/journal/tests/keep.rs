//! What is kept, for how long and how it is found: real files, as other processes meet them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, process, thread};

use slipring_journal::consumers::{self, ConsumerPosition};
use slipring_journal::{
    Batch, IndexState, Journal, JournalOptions, JournalReader, MessageFlags, ReadError,
    RetentionRules, check,
};

/// A directory of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("slipring-keep-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The oldest segments go while more than `bytes` are there.
fn rules(bytes: u64) -> RetentionRules {
    RetentionRules { age: None, bytes: Some(bytes), keep_unread: true }
}

fn open(dir: &Path, segment_bytes: u64) -> Journal {
    let options = JournalOptions { segment_bytes, ..JournalOptions::default() };
    Journal::open(dir, options, |_| ()).unwrap().0
}

/// Appends messages received at 0, 10, 20 and so on, each a batch of its own.
fn fill(journal: &Journal, messages: u64, payload_bytes: usize) {
    let mut batch = Batch::new();
    for number in 0..messages {
        batch.begin("p", i64::try_from(number).unwrap() * 10);
        batch.push(MessageFlags::new(1, false), "t", b"\x01\x01", &vec![7; payload_bytes]);
        journal.append_waiting(&mut batch, false).unwrap();
    }
    journal.sync().unwrap();
}

/// Ten messages in ten segments, whose state is in the snapshot.
fn ten_segments(dir: &Path) -> Journal {
    let journal = open(dir, 200);
    fill(&journal, 10, 100);
    put_snapshot(&journal);
    journal
}

/// Of all that is there, so that nothing is held for its state.
fn put_snapshot(journal: &Journal) {
    let end = journal.reader().follow(None, &mut |_| ()).unwrap().end;
    journal.put_snapshot(end, b"state").unwrap();
}

fn files(dir: &Path, suffix: &str) -> usize {
    let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_str().unwrap().ends_with(suffix)).count()
}

#[test]
fn sealed_segments_have_an_index_and_retention_removes_both_files() {
    let dir = Scratch::new("files");
    let journal = ten_segments(&dir.0);
    assert_eq!((files(&dir.0, ".seg"), files(&dir.0, ".idx")), (10, 9));
    let retired = journal.retire(&rules(0), 4, 0).unwrap();
    assert_eq!((retired.segments, retired.first_offset), (4, 4));
    assert_eq!((files(&dir.0, ".seg"), files(&dir.0, ".idx")), (6, 5));
    journal.close().unwrap();
    assert_eq!(open(&dir.0, 200).status().first_offset, 4);
}

#[test]
fn unread_segments_stay_until_the_consumer_moves_is_forgotten_or_is_overtaken() {
    let dir = Scratch::new("consumer");
    let journal = ten_segments(&dir.0);
    let at = |offset| ConsumerPosition {
        journal: journal.identity(),
        offset,
        epoch: None,
        updated_ns: 1,
    };
    let retire = |keep_unread| {
        let rules = RetentionRules { keep_unread, ..rules(0) };
        let retired = journal.retire(&rules, u64::MAX, 0).unwrap();
        (retired.first_offset, retired.held_by.unwrap_or_default())
    };
    consumers::commit(&dir.0, "lake", &at(2)).unwrap();
    assert_eq!(retire(true), (2, "consumer lake, at offset 2".to_owned()));
    consumers::commit(&dir.0, "lake", &at(3)).unwrap();
    fs::write(dir.0.join("consumers/odd"), "what is this").unwrap();
    let (first, held_by) = retire(true);
    assert!(first == 2 && held_by.starts_with("consumer odd, whose position is unknown"));
    assert!(consumers::forget(&dir.0, "odd").unwrap());
    assert_eq!(retire(true).0, 3);
    assert_eq!(retire(false), (9, String::new()));
    let error = JournalReader::open(&dir.0).unwrap().read(3..4, 1000).unwrap_err();
    assert!(matches!(error, ReadError::Gap { asked: 3, first: 9 }), "{error}");
    assert!(error.to_string().contains("read on from 9"), "{error}");
}

#[test]
fn a_reader_on_its_way_meets_a_gap_and_never_wrong_messages() {
    let dir = Scratch::new("race");
    let journal = open(&dir.0, 20_000);
    fill(&journal, 2_000, 100);
    let end = journal.status().next_offset;
    assert!(files(&dir.0, ".seg") > 10);
    put_snapshot(&journal);
    thread::scope(|scope| {
        scope.spawn(|| {
            for needed in (0..end).step_by(50) {
                journal.retire(&rules(0), needed, 0).unwrap();
            }
        });
        let (mut reader, mut at) = (JournalReader::open(&dir.0).unwrap(), 0);
        while at < end {
            match reader.read(at..end, 2_000) {
                Ok(columns) => {
                    let expected: Vec<_> =
                        (at..columns.end).map(|one| i64::try_from(one).unwrap()).collect();
                    assert_eq!(columns.offset, expected);
                    at = columns.end;
                }
                Err(ReadError::Gap { asked, first }) => {
                    assert!(asked == at && first > at);
                    at = first;
                }
                Err(error) => panic!("{error}"),
            }
        }
    });
}

#[test]
fn a_full_journal_continues_by_itself_when_there_is_room() {
    let dir = Scratch::new("bound");
    let journal = ten_segments(&dir.0);
    journal.set_bytes_max(Some(journal.status().bytes));
    let mut batch = Batch::new();
    batch.begin("p", 1);
    batch.push(MessageFlags::new(1, false), "t", &[], &[7; 100]);
    journal.append(&mut batch, true).unwrap();
    while journal.status().no_space.is_none() {
        thread::yield_now();
    }
    assert_eq!(journal.retire(&rules(0), 5, 0).unwrap().segments, 5);
    journal.sync().unwrap();
    let status = journal.status();
    assert_eq!((status.no_space, status.first_offset, status.synced), (None, 5, 11));
}

#[test]
fn a_time_is_found_with_and_without_the_indexes() {
    let dir = Scratch::new("times");
    let journal = open(&dir.0, 300_000);
    fill(&journal, 100, 20_000);
    journal.close().unwrap();
    let found = |ns| JournalReader::open(&dir.0).unwrap().offset_at(ns).unwrap();
    let expect = || assert_eq!([-1, 0, 1, 555, 990, 991].map(found), [0, 0, 1, 56, 99, 100]);
    expect();
    for entry in fs::read_dir(&dir.0).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|suffix| suffix == "idx") {
            fs::write(&path, "torn").unwrap();
        }
    }
    expect();
}

#[test]
fn a_check_of_a_journal_that_is_written_names_damage_and_changes_nothing() {
    let dir = Scratch::new("check");
    let journal = ten_segments(&dir.0);
    let path = dir.0.join("00000000000000000003.seg");
    let mut bytes = fs::read(&path).unwrap();
    bytes[120] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut go_on = |_, _| ControlFlow::Continue(());
    let report = check(&dir.0, &mut go_on).unwrap().unwrap();
    assert!(!report.is_whole());
    assert_eq!((report.messages, report.damage[0].offsets.clone()), (9, 3..4));
    assert_eq!(report.segments[0].index, IndexState::Good);
    assert_eq!(fs::read(&path).unwrap(), bytes);
    fill(&journal, 1, 10);
}

#[test]
fn segments_without_an_index_get_one_when_retention_looks_at_them() {
    let dir = Scratch::new("again");
    let journal = ten_segments(&dir.0);
    fs::remove_file(dir.0.join("00000000000000000007.idx")).unwrap();
    let rules = RetentionRules { age: Some(Duration::from_secs(1)), ..rules(u64::MAX) };
    assert_eq!(journal.retire(&rules, u64::MAX, 0).unwrap().segments, 0);
    assert_eq!(files(&dir.0, ".idx"), 9);
}
