//! The journal: any bytes, and any damage to well-made ones, as its segment files.
//!
//! This file encodes them itself, from `docs/journal.md`: a second reading of the specification.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, process};

use arbitrary::{Arbitrary, Unstructured};
use crc32c::crc32c;
use slipring_journal::{
    Batch, Journal, JournalOptions, JournalPosition, JournalReader, MessageFlags, ReadError,
};

#[derive(Arbitrary, Debug)]
pub struct Segment<'a> {
    pub base: Offset,
    header: Header<'a>,
    pieces: Vec<Piece<'a>>,
    /// Bytes taken from the end, and a bit that is flipped.
    torn: u8,
    flipped: Option<u16>,
}

/// Offsets near each other, so that segments can follow one another, and any at all.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub enum Offset {
    Near(u8),
    Any(u64),
}

#[derive(Arbitrary, Debug)]
enum Header<'a> {
    Ours { epoch: u8 },
    Other { version: u32, identity: u8, epoch: u64, base: u64 },
    Raw(&'a [u8]),
}

#[derive(Arbitrary, Debug)]
enum Piece<'a> {
    /// A whole batch at the offset that comes next.
    Next(Vec<(u8, &'a str, &'a [u8])>),
    /// A header and a body with right checksums and any content.
    Odd {
        base: Offset,
        count: u32,
        receive_ns: i64,
        body: &'a [u8],
    },
    /// A header with a right checksum that claims any length for its body.
    Lying {
        base: Offset,
        count: u32,
        body_bytes: u32,
        body: &'a [u8],
    },
    Raw(&'a [u8]),
}

/// A folder of its own for each run, in memory where the system has such a place.
pub struct Scratch(pub PathBuf);

/// The bytes are segments and what happened to them.
pub fn journal(data: &[u8]) {
    let mut source = Unstructured::new(data);
    let scratch = Scratch::new();
    let count = source.int_in_range(1..=3).unwrap_or(1);
    for _ in 0..count {
        let Ok(segment) = Segment::arbitrary(&mut source) else { break };
        let path = scratch.0.join(segment.base.file());
        fs::write(path, segment.bytes(0)).expect("the scratch folder takes files");
    }
    let snapshot = snapshot(source.take_rest());
    fs::write(scratch.0.join("state.snap"), snapshot).expect("the scratch folder takes files");
    read_all(&scratch.0);
    write_and_read(&scratch.0, count == 1);
}

/// A reader names what it cannot read, and reads the rest.
pub fn read_all(dir: &Path) {
    let Ok(mut reader) = JournalReader::open(dir) else { return };
    let from = reader.snapshot().ok().flatten().map(|(at, _)| at);
    follow(&mut reader, from);
    follow(&mut reader, None);
    let Ok(end) = reader.end_offset() else { return };
    let mut at = reader.first_offset();
    let offsets: Vec<u64> = (at..at + 64).collect();
    assert_eq!(reader.messages(&offsets).len(), 64);
    for _ in 0..64 {
        let before = at;
        match reader.read(at..end.max(at), 1 << 16) {
            Ok(columns) => at = columns.end,
            Err(ReadError::Damaged(damage)) => at = damage.offsets.end,
            Err(_) => return,
        }
        if at <= before {
            return;
        }
    }
}

/// Following the journal ends, and retained messages lie in their batch.
fn follow(reader: &mut JournalReader, from: Option<JournalPosition>) {
    let _ = reader.follow(from, &mut |batch| {
        let offsets = batch.base_offset..batch.base_offset + u64::from(batch.count);
        assert!(batch.retained().all(|(offset, _)| offsets.contains(&offset)));
    });
}

/// A journal that opens for writing takes a message and gives it back, also after it was closed. Only
/// damage in a segment before the last may hide it: recovery leaves those segments as they are.
fn write_and_read(dir: &Path, alone: bool) {
    let options = JournalOptions { segment_bytes: 4096, ..JournalOptions::default() };
    let Ok((journal, receipt)) = Journal::open(dir, options, |_| ()) else { return };
    let _ = receipt.to_string();
    let mut batch = Batch::new();
    batch.begin("fuzz", 1);
    batch.push(MessageFlags::new(1, false), "t", b"", b"payload");
    batch.records().extend(b"state");
    let offsets =
        journal.append(&mut batch, false).expect("an open journal takes a message").offsets;
    journal.close().expect("a journal in memory is written");
    match JournalReader::open(dir).and_then(|mut reader| reader.read(offsets.clone(), 1 << 16)) {
        Ok(columns) => assert_eq!(columns.payload.get(0), b"payload"),
        Err(error) => assert!(!alone && names_the_segment(&error), "{error}"),
    }
    let (_, again) = Journal::open(dir, options, |_| ()).expect("what was closed opens again");
    assert_eq!((again.next_offset, again.cut), (offsets.end, None));
}

/// Whether the error names the segment that is damaged, foreign or of another version.
pub fn names_the_segment(error: &ReadError) -> bool {
    use ReadError::{Damaged, Foreign, Version};
    matches!(error, Damaged(_) | Foreign { .. } | Version { .. })
}

impl Offset {
    pub fn get(self) -> u64 {
        match self {
            Self::Near(offset) => (offset % 64).into(),
            Self::Any(offset) => offset,
        }
    }

    pub fn part(self) -> u32 {
        match self {
            Self::Near(offset) => (offset / 64).into(),
            Self::Any(_) => 0,
        }
    }

    pub fn file(self) -> String {
        match self.part() {
            0 => format!("{:020}.seg", self.get()),
            part => format!("{:020}-{part:04}.seg", self.get()),
        }
    }
}

impl Segment<'_> {
    /// The file, which says that so many offsets before its own are left out.
    pub fn bytes(&self, left_out: u64) -> Vec<u8> {
        let (mut bytes, mut next) = (self.header.bytes(self.base, left_out), self.base.get());
        for piece in &self.pieces {
            piece.put(&mut next, &mut bytes);
        }
        bytes.truncate(bytes.len().saturating_sub(self.torn.into()));
        if let Some(bit) = self.flipped.map(usize::from).filter(|bit| bit / 8 < bytes.len()) {
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        bytes
    }
}

impl Header<'_> {
    fn bytes(&self, named: Offset, left_out: u64) -> Vec<u8> {
        let last = (named.part(), left_out);
        match *self {
            Self::Ours { epoch } => segment_header(2, 7, epoch.into(), named.get(), last),
            Self::Other { version, identity, epoch, base } => {
                segment_header(version, identity, epoch, base, last)
            }
            Self::Raw(bytes) => bytes.to_vec(),
        }
    }
}

impl Piece<'_> {
    fn put(&self, next: &mut u64, out: &mut Vec<u8>) {
        match self {
            Self::Next(pieces) => {
                // A high bit makes it a record instead of a message.
                let (records, messages): (Vec<_>, Vec<_>) =
                    pieces.iter().partition(|(flags, ..)| flags & 0x80 != 0);
                let mut bytes = body(&messages);
                let records: Vec<u8> = records.iter().flat_map(|piece| piece.2).copied().collect();
                bytes.extend(&records);
                let retained = messages.iter().any(|(flags, ..)| flags & 4 != 0);
                let claims = Claims {
                    body_bytes: bytes.len() as u32,
                    state_bytes: records.len() as u32,
                    flags: retained.into(),
                    receive_ns: 1,
                };
                put_batch(*next, messages.len() as u32, claims, &bytes, out);
                *next = next.saturating_add(messages.len() as u64);
            }
            Self::Odd { base, count, receive_ns, body } => {
                let odd = receive_ns.unsigned_abs();
                let claims = Claims {
                    body_bytes: body.len() as u32,
                    state_bytes: (odd % (body.len() as u64 + 2)) as u32,
                    flags: (odd >> 32) as u32,
                    receive_ns: *receive_ns,
                };
                put_batch(base.get(), *count, claims, body, out);
                *next = base.get().saturating_add((*count).into());
            }
            Self::Lying { base, count, body_bytes, body } => {
                let body_bytes = *body_bytes;
                let claims = Claims { body_bytes, state_bytes: *count, flags: 0, receive_ns: 1 };
                put_batch(base.get(), *count, claims, body, out);
            }
            Self::Raw(bytes) => out.extend_from_slice(bytes),
        }
    }
}

fn segment_header(
    version: u32,
    identity: u8,
    epoch: u64,
    base: u64,
    (part, left_out): (u32, u64),
) -> Vec<u8> {
    let mut bytes = b"SLIPRSEG".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(part.to_le_bytes());
    bytes.extend([identity; 16]);
    bytes.extend(epoch.to_le_bytes());
    bytes.extend(base.to_le_bytes());
    bytes.extend(left_out.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(crc32c(&bytes).to_le_bytes());
    bytes
}

/// What a batch's header says about it.
#[derive(Clone, Copy)]
struct Claims {
    body_bytes: u32,
    state_bytes: u32,
    flags: u32,
    receive_ns: i64,
}

fn put_batch(base: u64, count: u32, claims: Claims, body: &[u8], out: &mut Vec<u8>) {
    let mut header = b"SLPB".to_vec();
    header.extend(claims.body_bytes.to_le_bytes());
    header.extend(base.to_le_bytes());
    header.extend(count.to_le_bytes());
    header.extend(claims.receive_ns.to_le_bytes());
    header.extend(claims.state_bytes.to_le_bytes());
    header.extend(claims.flags.to_le_bytes());
    header.extend(crc32c(body).to_le_bytes());
    header.extend(crc32c(&header).to_le_bytes());
    out.extend(header);
    out.extend_from_slice(body);
}

/// A snapshot of any position with right checksums, or any bytes.
fn snapshot(rest: &[u8]) -> Vec<u8> {
    let Some((place, state)) = rest.split_first_chunk::<28>() else { return rest.to_vec() };
    let mut bytes = b"SLIPSNAP".to_vec();
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend(&place[..4]);
    bytes.extend([7; 16]);
    bytes.extend(&place[4..]);
    bytes.extend((state.len() as u64).to_le_bytes());
    bytes.extend(crc32c(state).to_le_bytes());
    bytes.extend(crc32c(&bytes).to_le_bytes());
    bytes.extend_from_slice(state);
    bytes
}

fn body(messages: &[&(u8, &str, &[u8])]) -> Vec<u8> {
    let mut body = b"\x01\0p".to_vec();
    for (flags, topic, payload) in messages {
        body.push((flags % 3) | (flags & 4));
        body.extend((topic.len() as u16).to_le_bytes());
        body.extend(topic.as_bytes());
        body.extend([0; 4]);
        body.extend((payload.len() as u32).to_le_bytes());
        body.extend_from_slice(payload);
    }
    body
}

impl Scratch {
    pub fn new() -> Self {
        static NEWEST: AtomicU64 = AtomicU64::new(0);
        let number = NEWEST.fetch_add(1, Ordering::Relaxed);
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { env::temp_dir() };
        let path = place.join(format!("slipring-fuzz-{}-{number}", process::id()));
        fs::create_dir_all(&path).expect("there is a place for scratch files");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
