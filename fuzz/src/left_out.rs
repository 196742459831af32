//! Segments that leave out offsets, and the two small files beside them: `durable`, up to where the journal is
//! synced, and `reserved`, up to where offsets may have been given. A file is well made, torn, damaged, of another
//! journal, or any bytes.

use std::fs;
use std::ops::Range;
use std::path::Path;

use arbitrary::{Arbitrary, Unstructured};
use crc32c::crc32c;
use slipring_journal::{Batch, Journal, JournalOptions, JournalReader, MessageFlags, ReadError};

use crate::journal::{Offset, Scratch, Segment, names_the_segment, read_all};

/// The journal that the segments belong to.
const OURS: u8 = 7;
const SEGMENTS_MAX: usize = 3;

/// One of the two small files.
#[derive(Arbitrary, Debug)]
enum WatermarkFile<'a> {
    Missing,
    Made { version: u8, is_ours: bool, segment: Offset, position: u16, offset: Offset, flaw: Flaw },
    Raw(&'a [u8]),
}

/// What happened to a file that was well made.
#[derive(Arbitrary, Debug)]
enum Flaw {
    None,
    Torn(u8),
    Flipped(u16),
}

/// The bytes are segments and the files beside them.
pub fn left_out(data: &[u8]) {
    let mut source = Unstructured::new(data);
    let scratch = Scratch::new();
    let (Ok(durable), Ok(reserved)) =
        (WatermarkFile::arbitrary(&mut source), WatermarkFile::arbitrary(&mut source))
    else {
        return;
    };
    durable.put(&scratch.0.join("durable"), *b"SLIPRDUR");
    reserved.put(&scratch.0.join("reserved"), *b"SLIPRRES");
    for _ in 0..SEGMENTS_MAX {
        let Ok((segment, gap)) = <(Segment<'_>, Offset)>::arbitrary(&mut source) else { break };
        let path = scratch.0.join(segment.base.file());
        fs::write(path, segment.bytes(gap.get())).expect("the scratch folder takes files");
    }
    read_all(&scratch.0);
    write_and_read(&scratch.0, reserved.says());
}

/// An appended message gets an offset that no message can have had before, and is read back.
fn write_and_read(dir: &Path, reserved: Option<u64>) {
    let before = readable(dir);
    let options = JournalOptions { segment_bytes: 4096, ..JournalOptions::default() };
    let Ok((journal, receipt)) = Journal::open(dir, options, |_| ()) else { return };
    let _ = receipt.to_string();
    let is_ours = journal.identity().0 == [OURS; 16];
    let mut batch = Batch::new();
    batch.begin("fuzz", 1);
    batch.push(MessageFlags::new(1, false), "t", b"", b"payload");
    let given = journal.append(&mut batch, true).expect("an open journal takes a message").offsets;
    journal.close().expect("a journal in memory is written");
    assert!(before.iter().all(|range| range.end <= given.start), "{given:?} after {before:?}");
    if let Some(reserved) = reserved.filter(|_| is_ours) {
        assert!(given.start >= reserved, "{given:?} was reserved up to {reserved}");
    }
    match JournalReader::open(dir).and_then(|mut reader| reader.read(given.clone(), 1 << 16)) {
        Ok(columns) => assert_eq!(columns.payload.get(0), b"payload"),
        Err(error) => assert!(names_the_segment(&error), "{error}"),
    }
    let (_, again) = Journal::open(dir, options, |_| ()).expect("what was closed opens again");
    assert_eq!(again.next_offset, given.end, "a clean stop leaves nothing out");
}

/// The offsets of messages that a reader gets.
fn readable(dir: &Path) -> Vec<Range<u64>> {
    let mut found = Vec::new();
    let Ok(mut reader) = JournalReader::open(dir) else { return found };
    let Ok(end) = reader.end_offset() else { return found };
    let mut at = reader.first_offset();
    while at < end && found.len() < 64 {
        let before = at;
        match reader.read(at..end, 1 << 16) {
            Ok(columns) => {
                found.extend((!columns.is_empty()).then_some(at..columns.end));
                at = columns.end;
            }
            Err(ReadError::Damaged(damage)) => at = damage.offsets.end,
            Err(_) => break,
        }
        if at <= before {
            break;
        }
    }
    found
}

impl WatermarkFile<'_> {
    fn put(&self, path: &Path, magic: [u8; 8]) {
        let bytes = match self {
            Self::Missing => return,
            Self::Made { version, is_ours, segment, position, offset, flaw } => {
                let mut bytes = magic.to_vec();
                bytes.extend(u32::from(*version).to_le_bytes());
                bytes.extend(segment.part().to_le_bytes());
                bytes.extend([if *is_ours { OURS } else { OURS + 1 }; 16]);
                bytes.extend(segment.get().to_le_bytes());
                bytes.extend(u64::from(*position).to_le_bytes());
                bytes.extend(offset.get().to_le_bytes());
                bytes.extend([0; 4]);
                bytes.extend(crc32c(&bytes).to_le_bytes());
                flaw.put(&mut bytes);
                bytes
            }
            Self::Raw(bytes) => bytes.to_vec(),
        };
        fs::write(path, bytes).expect("the scratch folder takes files");
    }

    /// Up to where offsets may have been given, if the file is whole and of the journal.
    fn says(&self) -> Option<u64> {
        match self {
            Self::Made { version: 1, is_ours: true, segment, offset, flaw: Flaw::None, .. } => {
                Some(offset.get()).filter(|offset| (segment.get()..=1 << 62).contains(offset))
            }
            _ => None,
        }
    }
}

impl Flaw {
    fn put(&self, bytes: &mut Vec<u8>) {
        match *self {
            Self::None => {}
            Self::Torn(count) => bytes.truncate(bytes.len().saturating_sub(count.into())),
            Self::Flipped(bit) => {
                let bit = usize::from(bit) % (bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
