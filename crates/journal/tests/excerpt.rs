//! Excerpts for remote readers: the same messages, no records of sessions, and never more than was asked for.

use std::path::PathBuf;
use std::{env, fs, process};

use slipring_journal::{
    Batch, Flaw, Journal, JournalOptions, JournalReader, MessageColumns, MessageFlags, ReadError,
};

struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A journal of 40 messages in batches of 1, 2, 3 ..., with secrets of sessions between them.
fn journal(name: &str) -> (Scratch, JournalReader) {
    let dir = Scratch(env::temp_dir().join(format!("slipring-excerpt-{name}-{}", process::id())));
    let _ = fs::remove_dir_all(&dir.0);
    let options = JournalOptions { segment_bytes: 1000, ..JournalOptions::default() };
    let (journal, _) = Journal::open(&dir.0, options, |_| ()).unwrap();
    let (mut batch, mut next) = (Batch::new(), 0..40_u64);
    for size in 1.. {
        let numbers: Vec<u64> = next.by_ref().take(size).collect();
        let Some(first) = numbers.first() else { break };
        batch.begin("pump", i64::try_from(*first).unwrap());
        for number in &numbers {
            let payload = vec![b'x'; *number as usize];
            batch.push(
                MessageFlags::new(1, number % 2 == 0),
                &format!("n/{number}"),
                b"p",
                &payload,
            );
        }
        batch.records().extend_from_slice(b"SECRET of another session");
        journal.append(&mut batch, false).unwrap();
        batch.records().extend_from_slice(b"SECRET without a message");
        batch.at(9);
        journal.append(&mut batch, false).unwrap();
    }
    journal.close().unwrap();
    let reader = JournalReader::open(&dir.0).unwrap();
    (dir, reader)
}

/// The messages that a remote reader gets for a range, in as many requests as it needs.
fn elsewhere(reader: &mut JournalReader, start: u64, end: u64, bytes_max: usize) -> MessageColumns {
    let mut columns = MessageColumns::starting_at(start);
    while columns.end < end {
        let from = columns.end;
        let excerpt = reader.excerpt(from..end, bytes_max, 10_000).unwrap();
        assert!(excerpt.end > from, "it gets on");
        assert!(excerpt.batches.len() <= bytes_max || excerpt.end == from + 1);
        assert!(!excerpt.batches.windows(6).any(|six| six == b"SECRET"));
        assert!(columns.take_excerpt(&excerpt.batches, from, &(start..end), usize::MAX).unwrap());
        assert_eq!(columns.end, excerpt.end);
    }
    columns
}

#[test]
fn a_remote_reader_gets_every_range_whatever_the_bound() {
    let (_dir, mut reader) = journal("ranges");
    for start in 0..40 {
        for end in start + 1..=40 {
            let here = reader.read(start..end, usize::MAX).unwrap();
            for bytes_max in [0, 200, 10_000] {
                assert_eq!(elsewhere(&mut reader, start, end, bytes_max), here);
            }
        }
    }
}

/// The messages that a reader gets that may not have all, and the bytes that it was sent.
fn narrowed(
    reader: &mut JournalReader,
    range: std::ops::Range<u64>,
    bytes_max: usize,
    is_seen: impl Fn(u64) -> bool,
) -> (MessageColumns, Vec<u8>) {
    let (mut columns, mut sent) = (MessageColumns::starting_at(range.start), Vec::new());
    let number = |topic: &str| topic.strip_prefix("n/").unwrap().parse().unwrap();
    while columns.end < range.end {
        let from = columns.end;
        let excerpt = reader
            .narrowed_excerpt(from..range.end, bytes_max, 10_000, &mut |one| {
                is_seen(number(one.topic))
            })
            .unwrap();
        assert!(excerpt.end > from, "it gets on");
        assert!(columns.take_excerpt(&excerpt.batches, from, &range, usize::MAX).unwrap());
        assert_eq!(columns.end, excerpt.end);
        sent.extend(excerpt.batches);
    }
    (columns, sent)
}

#[test]
fn a_reader_that_may_not_have_all_gets_the_rest_with_the_same_offsets() {
    let (_dir, mut reader) = journal("narrowed");
    let kinds: [fn(u64) -> bool; 5] =
        [|_| true, |_| false, |n| n % 2 == 0, |n| n % 7 < 3, |n| n == 39];
    for is_seen in kinds {
        for (start, end) in [(0, 40), (0, 1), (5, 6), (3, 29), (39, 40)] {
            let here = reader.read(start..end, usize::MAX).unwrap();
            for bytes_max in [0, 200, 10_000] {
                let (got, sent) = narrowed(&mut reader, start..end, bytes_max, is_seen);
                let wanted: Vec<u64> = (start..end).filter(|n| is_seen(*n)).collect();
                let offsets: Vec<u64> =
                    got.offset.iter().map(|offset| u64::try_from(*offset).unwrap()).collect();
                assert_eq!(offsets, wanted);
                assert_eq!(got.withheld + wanted.len() as u64, end - start);
                for (at, offset) in offsets.iter().enumerate() {
                    let row = (offset - start) as usize;
                    assert_eq!(got.payload.get(at), here.payload.get(row));
                    assert_eq!(got.receive_ns[at], here.receive_ns[row]);
                }
                let told = |needle: &[u8]| sent.windows(needle.len()).any(|some| some == needle);
                assert!(!told(b"SECRET"));
                assert_eq!(told(b"pump"), !wanted.is_empty(), "nor who sent what is withheld");
            }
        }
    }
}

#[test]
fn what_is_withheld_costs_one_header_however_much_it_is() {
    let (_dir, mut reader) = journal("withheld");
    let nothing = reader.narrowed_excerpt(0..40, 10_000, 10_000, &mut |_| false).unwrap();
    assert_eq!((nothing.end, nothing.batches.len()), (40, 44));
    let all = reader.excerpt(0..40, 10_000, 10_000).unwrap();
    let same = reader.narrowed_excerpt(0..40, 10_000, 10_000, &mut |_| true).unwrap();
    assert_eq!(same.batches, all.batches);
}

#[test]
fn a_message_without_room_is_named_with_its_bytes() {
    let (_dir, mut reader) = journal("room");
    let excerpt = reader.excerpt(39..40, 80, 80).unwrap();
    assert!(excerpt.is_empty());
    let needed = 44 + 6 + (1 + 6 + 5 + 4 + 39);
    assert_eq!((excerpt.end, excerpt.needed), (39, needed));
    let excerpt = reader.excerpt(39..40, 80, needed).unwrap();
    assert_eq!((excerpt.end, excerpt.batches.len()), (40, needed));
}

#[test]
fn columns_without_room_are_filled_from_the_same_excerpt_later() {
    let (_dir, mut reader) = journal("later");
    let excerpt = reader.excerpt(0..40, 100_000, 100_000).unwrap();
    let (mut at, mut seen) = (0, Vec::new());
    while at < 40 {
        let mut columns = MessageColumns::starting_at(at);
        columns.take_excerpt(&excerpt.batches, 0, &(at..40), 100).unwrap();
        seen.extend(columns.offset);
        at = columns.end;
    }
    assert_eq!(seen, (0..40).collect::<Vec<i64>>());
}

#[test]
fn no_flipped_bit_goes_unseen() {
    let (_dir, mut reader) = journal("bits");
    let excerpt = reader.excerpt(5..9, 10_000, 10_000).unwrap();
    for bit in 0..excerpt.batches.len() * 8 {
        let mut batches = excerpt.batches.clone();
        batches[bit / 8] ^= 1 << (bit % 8);
        let taken = MessageColumns::starting_at(5).take_excerpt(&batches, 5, &(5..9), usize::MAX);
        assert!(taken.is_err(), "bit {bit}");
    }
    let mut columns = MessageColumns::starting_at(4);
    let moved = columns.take_excerpt(&excerpt.batches, 4, &(4..9), usize::MAX);
    assert_eq!(moved, Err(Flaw::WrongOffset));
}

#[test]
fn the_newest_receive_time_is_that_of_the_last_message() {
    let (_dir, mut reader) = journal("newest");
    assert_eq!(reader.newest_receive_ns().unwrap(), Some(36));
    let error = reader.excerpt(0..41, 100, 100).unwrap_err();
    assert!(matches!(error, ReadError::Beyond { asked: 41, end: 40, .. }), "{error}");
}

/// Otherwise one flipped bit would keep remote readers from the messages before it.
#[test]
fn the_time_of_a_newest_message_that_is_damaged_is_not_known() {
    let (dir, _) = journal("damaged");
    for file in fs::read_dir(&dir.0).unwrap().map(|entry| entry.unwrap().path()) {
        let mut bytes = fs::read(&file).unwrap_or_default();
        if let Some(topic) = bytes.windows(4).position(|four| four == b"n/39") {
            bytes[topic] ^= 1;
            fs::write(&file, bytes).unwrap();
        }
    }
    let mut reader = JournalReader::open(&dir.0).unwrap();
    assert!(matches!(reader.read(39..40, 1000), Err(ReadError::Damaged(_))));
    assert_eq!(reader.newest_receive_ns().unwrap(), None);
}
