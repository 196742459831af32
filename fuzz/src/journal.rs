//! The journal: any bytes, and any damage to well-made ones, as its segment files.
//!
//! The bytes are made here from `docs/journal.md`, so that this is also a second reading of it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, process};

use arbitrary::{Arbitrary, Unstructured};
use crc32c::crc32c;
use slipring_journal::{Batch, Flags, Journal, Options, ReadError, Reader};

#[derive(Arbitrary, Debug)]
struct Segment<'a> {
    base: Offset,
    header: Header<'a>,
    pieces: Vec<Piece<'a>>,
    /// Bytes taken from the end, and a bit that is flipped.
    torn: u8,
    flipped: Option<u16>,
}

/// Offsets near each other, so that segments can follow one another, and any at all.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Offset {
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
    /// A header that checks, and a body that checks, whatever they say.
    Odd {
        base: Offset,
        count: u32,
        receive_ns: i64,
        body: &'a [u8],
    },
    /// A header that checks, and claims any length for what follows.
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
        let path = scratch.0.join(format!("{:020}.seg", segment.base.get()));
        fs::write(path, segment.bytes()).expect("the scratch folder takes files");
    }
    read_all(&scratch.0);
    write_and_read(&scratch.0, count == 1);
}

/// A reader names what it cannot read, and reads the rest.
fn read_all(dir: &Path) {
    let Ok(mut reader) = Reader::open(dir) else { return };
    let Ok(end) = reader.end_offset() else { return };
    let mut at = reader.first_offset();
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

/// What opens for writing takes a message and gives it back, also after it was closed. Only a
/// segment before the last may hide it: recovery leaves those as they are.
fn write_and_read(dir: &Path, alone: bool) {
    let options = Options { segment_bytes: 4096, ..Options::default() };
    let Ok((journal, receipt)) = Journal::open(dir, options, |_| ()) else { return };
    let _ = receipt.to_string();
    let mut batch = Batch::new();
    batch.begin("fuzz", 1);
    batch.push(Flags::new(1, false), "t", b"", b"payload");
    let offsets =
        journal.append(&mut batch, false).expect("an open journal takes a message").offsets;
    journal.close().expect("a journal in memory is written");
    match Reader::open(dir).and_then(|mut reader| reader.read(offsets.clone(), 1 << 16)) {
        Ok(columns) => assert_eq!(columns.payload.get(0), b"payload"),
        Err(error) => assert!(!alone && is_told(&error), "{error}"),
    }
    let (_, again) = Journal::open(dir, options, |_| ()).expect("what was closed opens again");
    assert_eq!((again.next_offset, again.cut), (offsets.end, None));
}

/// Whether the error names the segment that is not as it should be.
fn is_told(error: &ReadError) -> bool {
    use ReadError::{Damaged, Foreign, Version};
    matches!(error, Damaged(_) | Foreign { .. } | Version { .. })
}

impl Offset {
    fn get(self) -> u64 {
        match self {
            Self::Near(offset) => offset.into(),
            Self::Any(offset) => offset,
        }
    }
}

impl Segment<'_> {
    fn bytes(&self) -> Vec<u8> {
        let (mut bytes, mut next) = (self.header.bytes(self.base.get()), self.base.get());
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
    fn bytes(&self, named: u64) -> Vec<u8> {
        match *self {
            Self::Ours { epoch } => segment_header(1, 7, epoch.into(), named),
            Self::Other { version, identity, epoch, base } => {
                segment_header(version, identity, epoch, base)
            }
            Self::Raw(bytes) => bytes.to_vec(),
        }
    }
}

impl Piece<'_> {
    fn put(&self, next: &mut u64, out: &mut Vec<u8>) {
        match self {
            Self::Next(messages) => {
                let body = body(messages);
                put_batch(*next, messages.len() as u32, (1, body.len() as u32), &body, out);
                *next = next.saturating_add(messages.len() as u64);
            }
            Self::Odd { base, count, receive_ns, body } => {
                let length = body.len() as u32;
                put_batch(base.get(), *count, (*receive_ns, length), body, out);
                *next = base.get().saturating_add((*count).into());
            }
            Self::Lying { base, count, body_bytes, body } => {
                put_batch(base.get(), *count, (1, *body_bytes), body, out);
            }
            Self::Raw(bytes) => out.extend_from_slice(bytes),
        }
    }
}

fn segment_header(version: u32, identity: u8, epoch: u64, base: u64) -> Vec<u8> {
    let mut bytes = b"SLIPRSEG".to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend([identity; 16]);
    bytes.extend(epoch.to_le_bytes());
    bytes.extend(base.to_le_bytes());
    bytes.extend([0; 12]);
    bytes.extend(crc32c(&bytes).to_le_bytes());
    bytes
}

fn put_batch(
    base: u64,
    count: u32,
    (receive_ns, body_bytes): (i64, u32),
    body: &[u8],
    out: &mut Vec<u8>,
) {
    let mut header = b"SLPB".to_vec();
    header.extend(body_bytes.to_le_bytes());
    header.extend(base.to_le_bytes());
    header.extend(count.to_le_bytes());
    header.extend(receive_ns.to_le_bytes());
    header.extend(crc32c(body).to_le_bytes());
    header.extend(crc32c(&header).to_le_bytes());
    out.extend(header);
    out.extend_from_slice(body);
}

fn body(messages: &[(u8, &str, &[u8])]) -> Vec<u8> {
    let mut body = b"\x01\0p".to_vec();
    for (flags, topic, payload) in messages {
        body.push(flags % 3);
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
