//! The journal as its users meet it: real files, real threads.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;
use std::{env, fs, process, thread};

use slipring_journal::{
    AppendError, Batch, CommitProgress, Journal, JournalOptions, JournalReader, MessageFlags,
    OpenError, ReadError,
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
    Journal::open(dir, JournalOptions::default(), |_| ()).unwrap().0
}

fn batch_of(publisher: &str, payloads: &[&[u8]]) -> Batch {
    let mut batch = Batch::new();
    batch.begin(publisher, 1_700_000_000_123_456_789);
    for payload in payloads {
        batch.push(MessageFlags::new(1, true), "a/b", &[], payload);
    }
    batch
}

#[test]
fn appended_messages_are_read_back_as_columns() {
    let dir = Scratch::new("read_back");
    let journal = open(&dir.0);
    let mut batch = batch_of("pump", &[b"one", b"", b"three"]);
    assert_eq!(journal.append(&mut batch, false).unwrap().offsets, 0..3);
    assert!(batch.is_empty());
    journal.close().unwrap();
    let columns = JournalReader::open(&dir.0).unwrap().read(1..3, 1 << 20).unwrap();
    assert_eq!((columns.offset, columns.end), (vec![1, 2], 3));
    assert_eq!(columns.receive_us, [1_700_000_000_123_456; 2]);
    assert_eq!((columns.qos, columns.retain), (vec![1, 1], vec![0b11]));
    assert_eq!(columns.publisher.data, b"pumppump");
    assert_eq!((columns.payload.get(0), columns.payload.get(1)), (&b""[..], &b"three"[..]));
}

#[test]
fn many_threads_get_offsets_without_gap_or_overlap() {
    let dir = Scratch::new("threads");
    let options = JournalOptions { segment_bytes: 4096, ..JournalOptions::default() };
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
    let columns = JournalReader::open(&dir.0).unwrap().read(0..1200, 1 << 20).unwrap();
    assert_eq!(columns.offset, (0..1200).collect::<Vec<_>>());
    let of_b = (0..1200).filter(|row| columns.publisher.get(*row) == b"b");
    let numbers: Vec<_> = of_b.map(|row| columns.payload.get(row)[0]).collect();
    assert_eq!(numbers, (0..200).flat_map(|n| [n; 2]).collect::<Vec<u8>>());
}

#[test]
fn a_reader_follows_a_journal_that_is_being_written() {
    let dir = Scratch::new("follow");
    let options = JournalOptions { segment_bytes: 300, ..JournalOptions::default() };
    let (progress, told) = mpsc::channel::<CommitProgress>();
    let (journal, _) = Journal::open(&dir.0, options, move |now| drop(progress.send(now))).unwrap();
    let mut reader = JournalReader::open(&dir.0).unwrap();
    for round in 0..10 {
        assert_eq!(reader.end_offset().unwrap(), round);
        let mark = journal.append(&mut batch_of("p", &[&[7; 60]]), true).unwrap().mark;
        while told.recv_timeout(Duration::from_secs(60)).unwrap().synced < mark {}
        assert_eq!(reader.read(round..round + 1, 1000).unwrap().len(), 1);
    }
    assert!(matches!(reader.read(0..11, 9), Err(ReadError::Beyond { asked: 11, end: 10, .. })));
}

#[test]
fn progress_says_synced_within_the_interval() {
    let dir = Scratch::new("sync");
    let (progress, told) = mpsc::channel();
    let options =
        JournalOptions { sync_interval: Duration::from_millis(20), ..JournalOptions::default() };
    let (journal, _) =
        Journal::open(&dir.0, options, move |now: CommitProgress| drop(progress.send(now)))
            .unwrap();
    let mark = journal.append(&mut batch_of("p", &[b"x"]), false).unwrap().mark;
    while told.recv_timeout(Duration::from_secs(60)).unwrap().synced < mark {}
    assert_eq!(journal.status().synced, 1);
}

#[test]
fn a_batch_that_asks_for_it_is_synced_at_once() {
    let dir = Scratch::new("asked");
    let (progress, told) = mpsc::channel();
    let options = JournalOptions { sync_interval: Duration::MAX, ..JournalOptions::default() };
    let (journal, _) =
        Journal::open(&dir.0, options, move |now: CommitProgress| drop(progress.send(now)))
            .unwrap();
    let first = journal.append(&mut batch_of("p", &[b"x"]), false).unwrap().mark;
    journal.flush().unwrap();
    assert_eq!((journal.progress().written, journal.progress().synced), (first, 0));
    let second = journal.append(&mut batch_of("p", &[b"x"]), true).unwrap().mark;
    let mut steps = vec![];
    while steps.last().is_none_or(|now: &CommitProgress| now.synced < second) {
        steps.push(told.recv_timeout(Duration::from_secs(60)).unwrap());
    }
    // Who wants only the process to be survived does not wait for the sync.
    assert!(steps.iter().any(|now| now.written == second && now.synced < second), "{steps:?}");
    journal.append(&mut batch_of("p", &[b"x"]), false).unwrap();
    journal.sync().unwrap();
    assert_eq!(journal.status().synced, 3);
}

#[test]
fn a_second_broker_on_the_same_directory_is_refused() {
    let dir = Scratch::new("locked");
    let journal = open(&dir.0);
    let second = Journal::open(&dir.0, JournalOptions::default(), |_| ());
    assert!(matches!(second, Err(OpenError::Locked(_))));
    journal.close().unwrap();
    drop(open(&dir.0));
}

#[test]
fn closing_twice_is_harmless_and_appending_afterwards_is_refused() {
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
    let options = JournalOptions { pending_bytes_max: 100, ..JournalOptions::default() };
    let (blocked, block) = (mpsc::channel::<()>(), mpsc::channel::<()>());
    let (entered, gate) = (blocked.0, std::sync::Mutex::new(block.1));
    let (journal, _) = Journal::open(&dir.0, options, move |_| {
        let _ = entered.send(());
        let _ = gate.lock().unwrap().recv();
    })
    .unwrap();
    journal.append(&mut batch_of("p", &[b"first"]), false).unwrap();
    blocked.1.recv_timeout(Duration::from_secs(60)).unwrap();
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
fn a_writer_that_waits_for_room_loses_nothing_and_sync_shows_it_all() {
    let dir = Scratch::new("waiting");
    let options = JournalOptions { pending_bytes_max: 200, ..JournalOptions::default() };
    let (journal, _) = Journal::open(&dir.0, options, |_| ()).unwrap();
    for _ in 0..500 {
        journal.append_waiting(&mut batch_of("p", &[&[1; 80]]), false).unwrap();
    }
    journal.flush().unwrap();
    assert_eq!(journal.reader().end_offset().unwrap(), 500);
    journal.sync().unwrap();
    assert_eq!(JournalReader::open(&dir.0).unwrap().end_offset().unwrap(), 500);
}

#[test]
fn a_failed_write_is_reported_from_then_on() {
    let dir = Scratch::new("failed");
    let options = JournalOptions { segment_bytes: 200, ..JournalOptions::default() };
    let (progress, told) = mpsc::channel();
    let (journal, _) =
        Journal::open(&dir.0, options, move |now: CommitProgress| drop(progress.send(now)))
            .unwrap();
    // The next segment's name is taken by a directory, so that it cannot be made.
    fs::create_dir(dir.0.join("00000000000000000001.seg")).unwrap();
    for _ in 0..2 {
        journal.append(&mut batch_of("p", &[&[0; 100]]), false).unwrap();
    }
    while told.recv_timeout(Duration::from_secs(60)).unwrap().failed.is_none() {}
    let refused = journal.append(&mut batch_of("p", &[b"x"]), false).unwrap_err();
    assert!(refused.to_string().contains("00000000000000000001.seg"), "{refused}");
    assert!(journal.close().is_err());
}

#[test]
fn a_panic_of_the_committer_is_reported_as_a_failure() {
    let dir = Scratch::new("panicked");
    let (progress, told) = mpsc::channel();
    let (journal, _) =
        Journal::open(&dir.0, JournalOptions::default(), move |now: CommitProgress| {
            assert!(now.failed.is_some(), "planted");
            drop(progress.send(now));
        })
        .unwrap();
    journal.append(&mut batch_of("p", &[b"x"]), true).unwrap();
    let failed = told.recv_timeout(Duration::from_secs(60)).unwrap().failed;
    assert_eq!(failed.unwrap().message, "its thread panicked");
    let refused = journal.append(&mut batch_of("p", &[b"x"]), true).unwrap_err();
    assert!(refused.to_string().contains("its thread panicked"), "{refused}");
    assert!(journal.close().is_err());
}

#[test]
fn a_reached_bound_is_reported_and_raising_it_heals_at_once() {
    let dir = Scratch::new("bound");
    let (progress, told) = mpsc::channel();
    let options = JournalOptions { bytes_max: Some(200), ..JournalOptions::default() };
    let (journal, _) =
        Journal::open(&dir.0, options, move |now: CommitProgress| drop(progress.send(now)))
            .unwrap();
    let mut mark = 0;
    for _ in 0..2 {
        mark = journal.append(&mut batch_of("p", &[&[0; 100]]), true).unwrap().mark;
    }
    let next = || told.recv_timeout(Duration::from_secs(60)).unwrap();
    while next().no_space.is_none() {}
    assert!(journal.status().no_space.unwrap().contains("200 are allowed"));
    journal.set_bytes_max(None);
    while next().synced < mark {}
    assert_eq!((journal.status().no_space, journal.status().pending_bytes), (None, 0));
}

#[test]
fn messages_are_read_back_one_by_one_with_an_answer_for_each_offset() {
    let dir = Scratch::new("messages");
    let options = JournalOptions { segment_bytes: 400, ..JournalOptions::default() };
    let (journal, _) = Journal::open(&dir.0, options, |_| ()).unwrap();
    for number in 0..30_u8 {
        let mut batch = batch_of("pump", &[&[number], &[number, 1]]);
        batch.records().extend(b"state");
        journal.append(&mut batch, false).unwrap();
        batch.records().extend(b"state of nobody");
        journal.append(&mut batch, false).unwrap();
    }
    journal.flush().unwrap();
    let asked = [0, 1, 1, 7, 30, 31, 58, 59, 60, 99];
    let mut answers = journal.reader().messages(&asked);
    assert!(matches!(answers.pop(), Some(Err(ReadError::Beyond { asked: 99, end: 60, .. }))));
    assert!(matches!(answers.pop(), Some(Err(ReadError::Beyond { asked: 60, end: 60, .. }))));
    for (answer, offset) in answers.into_iter().zip(asked) {
        let message = answer.unwrap();
        assert_eq!((message.offset, message.receive_ns), (offset, 1_700_000_000_123_456_789));
        assert_eq!((&*message.publisher, &*message.topic), ("pump", "a/b"));
        assert_eq!((message.flags, message.properties.len()), (MessageFlags::new(1, true), 0));
        assert_eq!(message.payload[0], (offset / 2) as u8);
        assert_eq!(message.payload.len() as u64, offset % 2 + 1);
    }
}

#[test]
fn following_gives_records_and_retained_messages_and_can_continue() {
    let dir = Scratch::new("state");
    let options = JournalOptions { segment_bytes: 300, ..JournalOptions::default() };
    let (journal, _) = Journal::open(&dir.0, options, |_| ()).unwrap();
    let mut reader = journal.reader();
    let (mut from, mut seen) = (None, Vec::new());
    for number in 0..10_u64 {
        let mut batch = Batch::new();
        batch.begin("pump", 5);
        batch.push(MessageFlags::new(0, false), "live", b"", b"1");
        batch.push(MessageFlags::new(0, number % 3 == 0), "kept", b"", b"2");
        if number % 2 == 0 {
            batch.records().push(number as u8);
        }
        journal.append(&mut batch, false).unwrap();
        journal.flush().unwrap();
        let followed = reader.follow(from, &mut |batch| {
            let kept = batch.retained().map(|(offset, message)| (offset, message.topic.to_owned()));
            assert_eq!((batch.count, batch.receive_ns, batch.publisher), (2, 5, "pump"));
            seen.push((batch.base_offset, batch.records.to_vec(), kept.collect::<Vec<_>>()));
        });
        let followed = followed.unwrap();
        assert_eq!((followed.end.offset, followed.damage), (2 * number + 2, vec![]));
        from = Some(followed.end);
    }
    let expected = (0..10).filter(|number| number % 2 == 0 || number % 3 == 0).map(|number| {
        let records = if number % 2 == 0 { vec![number as u8] } else { vec![] };
        let kept = (number % 3 == 0).then(|| (2 * number + 1, "kept".to_owned()));
        (2 * number, records, kept.into_iter().collect())
    });
    assert_eq!(seen, expected.collect::<Vec<_>>());
}

#[test]
fn a_snapshot_is_there_after_the_journal_was_closed() {
    let dir = Scratch::new("snapshot");
    let journal = open(&dir.0);
    journal.append(&mut batch_of("p", &[b"x"]), false).unwrap();
    journal.sync().unwrap();
    let end = journal.reader().follow(None, &mut |_| ()).unwrap().end;
    journal.put_snapshot(end, b"state").unwrap();
    journal.close().unwrap();
    let found = JournalReader::open(&dir.0).unwrap().snapshot().unwrap();
    assert_eq!(found, Some((end, b"state".to_vec())));
    let left = fs::read_dir(&dir.0).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().ends_with(".new")));
}

#[test]
fn a_journal_of_another_version_is_refused_by_its_number() {
    let dir = Scratch::new("version");
    drop(open(&dir.0));
    let path = dir.0.join("00000000000000000000.seg");
    let mut bytes = fs::read(&path).unwrap();
    bytes[8] = 1;
    let checksum = crc32c::crc32c(&bytes[..60]);
    bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, bytes).unwrap();
    let opened = Journal::open(&dir.0, JournalOptions::default(), |_| ()).unwrap_err().to_string();
    let read = JournalReader::open(&dir.0).unwrap_err().to_string();
    for message in [opened, read] {
        assert!(message.contains("format version 1, and this Slipring reads only version 2"));
    }
}

#[test]
fn reading_without_a_journal_is_an_error() {
    let dir = Scratch::new("none");
    assert!(matches!(JournalReader::open(&dir.0), Err(ReadError::NoJournal(_))));
    fs::create_dir(&dir.0).unwrap();
    assert!(matches!(JournalReader::open(&dir.0), Err(ReadError::NoJournal(_))));
}

#[test]
fn removed_segments_are_a_gap_with_its_numbers() {
    let dir = Scratch::new("gap");
    let options = JournalOptions { segment_bytes: 200, ..JournalOptions::default() };
    let (journal, _) = Journal::open(&dir.0, options, |_| ()).unwrap();
    for _ in 0..3 {
        journal.append(&mut batch_of("p", &[&[0; 100]]), false).unwrap();
    }
    journal.close().unwrap();
    fs::remove_file(dir.0.join("00000000000000000000.seg")).unwrap();
    let mut reader = JournalReader::open(&dir.0).unwrap();
    assert!(matches!(reader.read(0..3, 1000), Err(ReadError::Gap { asked: 0, first: 1 })));
    assert_eq!(reader.read(1..3, 1000).unwrap().len(), 2);
}

#[test]
fn an_answer_is_cut_at_its_byte_limit_but_never_empty() {
    let dir = Scratch::new("cut");
    let journal = open(&dir.0);
    journal.append(&mut batch_of("p", &[&[1; 100], &[2; 100], &[3; 100]]), false).unwrap();
    journal.close().unwrap();
    let mut reader = JournalReader::open(&dir.0).unwrap();
    assert_eq!(reader.read(0..3, 210).unwrap().end, 2);
    assert_eq!(reader.read(2..3, 1).unwrap().end, 3);
}
