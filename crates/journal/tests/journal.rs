//! The journal as its users meet it: real files, real threads.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, process, thread};

use slipring_journal::{
    AppendError, Batch, Flags, Journal, OpenError, Options, Progress, ReadError, Reader,
};

/// A directory of its own for each test, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("slipring-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn open(dir: &Path) -> Journal {
    Journal::open(dir, Options::default(), |_| ()).unwrap().0
}

fn batch_of(publisher: &str, payloads: &[&[u8]]) -> Batch {
    let mut batch = Batch::new();
    batch.begin(publisher, 1_700_000_000_123_456_789);
    for payload in payloads {
        batch.push(Flags::new(1, true), "a/b", &[], payload);
    }
    batch
}

#[test]
fn what_was_appended_is_read_back_by_column() {
    let dir = Scratch::new("read_back");
    let journal = open(&dir.0);
    let mut batch = batch_of("pump", &[b"one", b"", b"three"]);
    assert_eq!(journal.append(&mut batch, false).unwrap().offsets, 0..3);
    assert!(batch.is_empty());
    journal.close().unwrap();
    let columns = Reader::open(&dir.0).unwrap().read(1..3, 1 << 20).unwrap();
    assert_eq!((columns.offset, columns.end), (vec![1, 2], 3));
    assert_eq!(columns.receive_us, [1_700_000_000_123_456; 2]);
    assert_eq!((columns.qos, columns.retain), (vec![1, 1], vec![0b11]));
    assert_eq!(columns.publisher.data, b"pumppump");
    assert_eq!((columns.payload.get(0), columns.payload.get(1)), (&b""[..], &b"three"[..]));
}

#[test]
fn many_threads_get_offsets_without_gap_or_overlap() {
    let dir = Scratch::new("threads");
    let options = Options { segment_bytes: 4096, ..Options::default() };
    let (journal, _) = Journal::open(&dir.0, options, |_| ()).unwrap();
    thread::scope(|scope| {
        for name in ["a", "b", "c"] {
            let journal = &journal;
            scope.spawn(move || {
                for number in 0..200_u32 {
                    let payload = number.to_le_bytes();
                    journal.append(&mut batch_of(name, &[&payload, &payload]), false).unwrap();
                }
            });
        }
    });
    journal.close().unwrap();
    let columns = Reader::open(&dir.0).unwrap().read(0..1200, 1 << 20).unwrap();
    assert_eq!(columns.offset, (0..1200).collect::<Vec<_>>());
    let of_b = (0..1200).filter(|row| columns.publisher.get(*row) == b"b");
    let numbers: Vec<_> = of_b.map(|row| columns.payload.get(row)[0]).collect();
    assert_eq!(numbers, (0..200).flat_map(|n| [n; 2]).collect::<Vec<u8>>());
}

#[test]
fn a_reader_follows_a_journal_that_is_being_written() {
    let dir = Scratch::new("follow");
    let options = Options { segment_bytes: 300, ..Options::default() };
    let (progress, told) = mpsc::channel::<Progress>();
    let (journal, _) = Journal::open(&dir.0, options, move |now| drop(progress.send(now))).unwrap();
    let mut reader = Reader::open(&dir.0).unwrap();
    for round in 0..10 {
        assert_eq!(reader.end_offset().unwrap(), round);
        let mark = journal.append(&mut batch_of("p", &[&[7; 60]]), false).unwrap().mark;
        while told.recv_timeout(Duration::from_secs(5)).unwrap().written < mark {}
        assert_eq!(reader.read(round..round + 1, 1000).unwrap().len(), 1);
    }
    assert!(matches!(reader.read(0..11, 9), Err(ReadError::Beyond { asked: 11, end: 10 })));
}

#[test]
fn progress_says_synced_within_the_interval() {
    let dir = Scratch::new("sync");
    let (progress, told) = mpsc::channel();
    let options = Options { sync_interval: Duration::from_millis(20), ..Options::default() };
    let (journal, _) =
        Journal::open(&dir.0, options, move |now: Progress| drop(progress.send(now))).unwrap();
    let mark = journal.append(&mut batch_of("p", &[b"x"]), false).unwrap().mark;
    while told.recv_timeout(Duration::from_secs(5)).unwrap().synced < mark {}
    assert_eq!(journal.status().synced, 1);
}

#[test]
fn a_second_broker_on_the_same_directory_is_told_so() {
    let dir = Scratch::new("locked");
    let journal = open(&dir.0);
    let second = Journal::open(&dir.0, Options::default(), |_| ());
    assert!(matches!(second, Err(OpenError::Locked(_))));
    journal.close().unwrap();
    drop(open(&dir.0));
}

#[test]
fn closing_twice_is_closing_once_and_appending_then_is_refused() {
    let dir = Scratch::new("close");
    let journal = open(&dir.0);
    journal.append(&mut batch_of("p", &[b"x"]), false).unwrap();
    journal.close().unwrap();
    journal.close().unwrap();
    assert_eq!(journal.status().synced, 1);
    assert_eq!(journal.append(&mut batch_of("p", &[b"x"]), false), Err(AppendError::Closed));
}

#[test]
fn a_full_queue_refuses_and_leaves_the_batch_for_another_try() {
    let dir = Scratch::new("full");
    let options = Options { pending_bytes_max: 100, ..Options::default() };
    let (blocked, block) = (mpsc::channel::<()>(), mpsc::channel::<()>());
    let (entered, gate) = (blocked.0, std::sync::Mutex::new(block.1));
    let (journal, _) = Journal::open(&dir.0, options, move |_| {
        let _ = entered.send(());
        let _ = gate.lock().unwrap().recv();
    })
    .unwrap();
    journal.append(&mut batch_of("p", &[b"first"]), false).unwrap();
    blocked.1.recv_timeout(Duration::from_secs(5)).unwrap();
    journal.append(&mut batch_of("p", &[&[0; 200]]), false).unwrap();
    let mut batch = batch_of("p", &[b"more"]);
    assert!(matches!(journal.append(&mut batch, false), Err(AppendError::Full { .. })));
    assert_eq!(batch.len(), 1);
    drop(block.0);
    while matches!(journal.append(&mut batch, false), Err(AppendError::Full { .. })) {
        thread::yield_now();
    }
    assert_eq!(journal.status().next_offset, 3);
}

#[test]
fn a_writer_that_waits_for_room_loses_nothing_and_flush_shows_it_all() {
    let dir = Scratch::new("waiting");
    let options = Options { pending_bytes_max: 200, ..Options::default() };
    let (journal, _) = Journal::open(&dir.0, options, |_| ()).unwrap();
    for _ in 0..500 {
        journal.append_waiting(&mut batch_of("p", &[&[1; 80]]), false).unwrap();
    }
    journal.flush().unwrap();
    assert_eq!(Reader::open(&dir.0).unwrap().end_offset().unwrap(), 500);
}

#[test]
fn a_failed_write_is_told_and_never_forgotten() {
    let dir = Scratch::new("failed");
    let options = Options { segment_bytes: 200, ..Options::default() };
    let (progress, told) = mpsc::channel();
    let (journal, _) =
        Journal::open(&dir.0, options, move |now: Progress| drop(progress.send(now))).unwrap();
    // The next segment's name is taken by a directory, so that it cannot be made.
    fs::create_dir(dir.0.join("00000000000000000001.seg")).unwrap();
    for _ in 0..2 {
        journal.append(&mut batch_of("p", &[&[0; 100]]), false).unwrap();
    }
    while told.recv_timeout(Duration::from_secs(5)).unwrap().failed.is_none() {}
    let refused = journal.append(&mut batch_of("p", &[b"x"]), false).unwrap_err();
    assert!(refused.to_string().contains("00000000000000000001.seg"), "{refused}");
    assert!(journal.close().is_err());
}

#[test]
fn reading_where_there_is_no_journal_says_so() {
    let dir = Scratch::new("none");
    assert!(matches!(Reader::open(&dir.0), Err(ReadError::NoJournal(_))));
    fs::create_dir(&dir.0).unwrap();
    assert!(matches!(Reader::open(&dir.0), Err(ReadError::NoJournal(_))));
}

#[test]
fn removed_segments_are_a_gap_with_its_numbers() {
    let dir = Scratch::new("gap");
    let options = Options { segment_bytes: 200, ..Options::default() };
    let (journal, _) = Journal::open(&dir.0, options, |_| ()).unwrap();
    for _ in 0..3 {
        journal.append(&mut batch_of("p", &[&[0; 100]]), false).unwrap();
    }
    journal.close().unwrap();
    fs::remove_file(dir.0.join("00000000000000000000.seg")).unwrap();
    let mut reader = Reader::open(&dir.0).unwrap();
    assert!(matches!(reader.read(0..3, 1000), Err(ReadError::Gap { asked: 0, first: 1 })));
    assert_eq!(reader.read(1..3, 1000).unwrap().len(), 2);
}

#[test]
fn an_answer_is_cut_at_its_byte_limit_but_never_empty() {
    let dir = Scratch::new("cut");
    let journal = open(&dir.0);
    journal.append(&mut batch_of("p", &[&[1; 100], &[2; 100], &[3; 100]]), false).unwrap();
    journal.close().unwrap();
    let mut reader = Reader::open(&dir.0).unwrap();
    assert_eq!(reader.read(0..3, 210).unwrap().end, 2);
    assert_eq!(reader.read(2..3, 1).unwrap().end, 3);
}
