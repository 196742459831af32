//! The files beside the segments of a good journal: any indexes and any consumers. They may cost time, but
//! every message can still be read by its offset.
//!
//! This file encodes them itself, from `docs/journal.md`: a second reading of the specification.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use arbitrary::{Arbitrary, Unstructured};
use crc32c::crc32c;
use slipring_journal::consumers;
use slipring_journal::{
    Batch, Journal, JournalIdentity, JournalOptions, JournalReader, MessageFlags, RetentionRules,
    check,
};

use crate::journal::Scratch;

/// Receive times of the messages, over three segments; the clock jumps.
const TIMES: [i64; 8] = [10, 20, 30, 25, 5, 40, 60, 50];
/// The offset at which each segment begins that has an index.
const SEGMENTS: [u64; 2] = [0, 3];
const PAYLOAD_BYTES: usize = 70_000;

#[derive(Arbitrary, Debug)]
enum Index<'a> {
    Untouched,
    Raw(&'a [u8]),
    /// Names its segment, and lies about the rest.
    Lying {
        end: u8,
        newest_ns: i8,
        oldest_ns: i8,
        places: Vec<(u8, u8, i8)>,
    },
}

#[derive(Arbitrary, Debug)]
enum Consumer<'a> {
    Raw(&'a [u8]),
    Odd { version: u8, ours: bool, offset: u8, updated_ns: i64 },
}

#[derive(Arbitrary, Debug)]
struct Beside<'a> {
    indexes: [Index<'a>; 2],
    consumers: Vec<(&'a str, Consumer<'a>)>,
}

/// The bytes are files that other programs left in the folder.
pub fn beside(data: &[u8]) {
    let Ok(beside) = Beside::arbitrary(&mut Unstructured::new(data)) else { return };
    let scratch = Scratch::new();
    let journal = good_journal(&scratch.0);
    beside.put(&scratch.0, journal.identity());
    let lies = beside.indexes.iter().any(|index| matches!(index, Index::Lying { .. }));
    read_all(&scratch.0, lies);
    let mut go_on = |_, _| ControlFlow::Continue(());
    let report = check(&scratch.0, &mut go_on).expect("a check reads").expect("nobody stops it");
    assert!(report.is_whole() && report.messages == TIMES.len() as u64);
    retire(&journal, &scratch.0);
}

fn good_journal(dir: &Path) -> Journal {
    let options = JournalOptions {
        segment_bytes: 3 * PAYLOAD_BYTES as u64 + 1000,
        ..JournalOptions::default()
    };
    let (journal, _) = Journal::open(dir, options, |_| ()).expect("a new journal opens");
    let mut batch = Batch::new();
    for receive_ns in TIMES {
        batch.begin("p", receive_ns);
        batch.push(MessageFlags::new(0, false), "t", b"", &vec![7; PAYLOAD_BYTES]);
        journal.append(&mut batch, false).expect("it takes messages");
    }
    journal.sync().expect("memory is written");
    let end = journal.reader().follow(None, &mut |_| ()).expect("it is whole").end;
    journal.put_snapshot(end, b"").expect("it takes a snapshot");
    journal
}

/// A search by time trusts a whole index: a program that can forge an index can also forge messages.
fn read_all(dir: &Path, believed: bool) {
    let mut reader = JournalReader::open(dir).expect("it is there");
    for (number, receive_ns) in TIMES.into_iter().enumerate().rev() {
        let offset = number as u64;
        let columns = reader.read(offset..offset + 1, 1).expect("it is whole");
        assert_eq!(columns.receive_ns, [receive_ns]);
    }
    let mut reader = JournalReader::open(dir).expect("it is there");
    for ns in -1..70 {
        let naive = TIMES.iter().position(|time| *time >= ns).unwrap_or(TIMES.len());
        let found = reader.offset_at(ns).expect("it is whole");
        assert!(found == naive as u64 || (believed && found <= TIMES.len() as u64), "at {ns}");
    }
}

/// Retention keeps what a consumer has not read, and everything if a consumer's position is unknown.
fn retire(journal: &Journal, dir: &Path) {
    let found = consumers::list(dir).expect("the folder can be listed");
    let rules = RetentionRules { age: None, bytes: Some(0), keep_unread: true };
    let retired = journal.retire(&rules, u64::MAX, 0).expect("files can be removed");
    for consumer in found {
        let ours = consumer.position.ok().filter(|place| place.journal == journal.identity());
        assert!(retired.first_offset <= ours.map_or(0, |place| place.offset));
    }
}

impl Beside<'_> {
    fn put(&self, dir: &Path, identity: JournalIdentity) {
        for (offset, index) in SEGMENTS.into_iter().zip(&self.indexes) {
            let length = fs::metadata(dir.join(format!("{offset:020}.seg"))).expect("it is there");
            if let Some(bytes) = index.bytes(identity, offset, length.len()) {
                fs::write(dir.join(format!("{offset:020}.idx")), bytes).expect("it can be written");
            }
        }
        let folder = dir.join("consumers");
        fs::create_dir_all(&folder).expect("it can be made");
        for (name, consumer) in &self.consumers {
            // Not every text is the name of a file.
            let _ =
                fs::write(folder.join(name.replace(['/', '\0'], "_")), consumer.bytes(identity));
        }
    }
}

impl Index<'_> {
    fn bytes(&self, identity: JournalIdentity, offset: u64, length: u64) -> Option<Vec<u8>> {
        let (end, newest_ns, oldest_ns, places) = match self {
            Self::Untouched => return None,
            Self::Raw(bytes) => return Some(bytes.to_vec()),
            Self::Lying { end, newest_ns, oldest_ns, places } => {
                (end, newest_ns, oldest_ns, places)
            }
        };
        let mut bytes = b"SLIPRIDX".to_vec();
        bytes.extend([1, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend(identity.0);
        bytes.extend(1_u64.to_le_bytes());
        bytes.extend(offset.to_le_bytes());
        put_place(&mut bytes, u64::from(*end), length, *newest_ns);
        bytes.extend(i64::from(*oldest_ns).to_le_bytes());
        bytes.extend((places.len() as u32).to_le_bytes());
        bytes.extend(crc32c(&bytes).to_le_bytes());
        let start = bytes.len();
        for (offset, position, newest_ns) in places {
            put_place(&mut bytes, (*offset).into(), 64 + 1000 * u64::from(*position), *newest_ns);
        }
        let checksum = crc32c(&bytes[start..]);
        bytes.extend(checksum.to_le_bytes());
        Some(bytes)
    }
}

fn put_place(bytes: &mut Vec<u8>, offset: u64, position: u64, newest_ns: i8) {
    bytes.extend(offset.to_le_bytes());
    bytes.extend(position.to_le_bytes());
    bytes.extend(i64::from(newest_ns).to_le_bytes());
}

impl Consumer<'_> {
    fn bytes(&self, identity: JournalIdentity) -> Vec<u8> {
        let (version, ours, offset, updated_ns) = match self {
            Self::Raw(bytes) => return bytes.to_vec(),
            Self::Odd { version, ours, offset, updated_ns } => (version, ours, offset, updated_ns),
        };
        let mut bytes = b"SLIPRCON".to_vec();
        bytes.extend(u32::from(version % 3).to_le_bytes());
        bytes.extend(if *ours { identity.0 } else { [7; 16] });
        bytes.extend(u64::from(*offset).to_le_bytes());
        bytes.extend(updated_ns.to_le_bytes());
        bytes.extend(crc32c(&bytes).to_le_bytes());
        bytes
    }
}
