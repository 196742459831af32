//! A part of the journal for a remote reader: batches as they are on disk, but without their records, which
//! hold the state of other clients. Knows nothing of files.

use std::ops::Range;

use crate::batch::{split_publisher, take_message};
use crate::columns::{MessageColumns, TakeOutcome};
use crate::error::ReadError;
use crate::format::{BATCH_HEADER_BYTES, BatchHeader, Flaw};
use crate::reader::{COLUMNS_BYTES_MAX, JournalReader};

/// Which messages to read: those of a range of offsets, until there are so many bytes.
#[derive(Clone, Debug)]
pub(crate) struct ReadLimits {
    pub offsets: Range<u64>,
    pub bytes_max: usize,
}

/// Receives the messages of a range, batch by batch.
pub(crate) trait TakeBatch {
    /// Takes those messages of a batch that lie within the limits.
    fn take(&mut self, header: &BatchHeader, body: &[u8], limits: &ReadLimits) -> TakeOutcome;

    /// Whether nothing was taken.
    fn is_empty(&self) -> bool;
}

/// Batches one after the other, with the offsets of a range only.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Where the next read starts: after the last message here, and after offsets that no message has.
    pub end: u64,
    /// The batches, in the format of a segment.
    pub batches: Vec<u8>,
    /// Bytes that the next message needs, when it did not fit.
    pub needed: usize,
    /// The limit on the bytes of an excerpt with a single message.
    single_bytes_max: usize,
}

impl Excerpt {
    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    pub(crate) fn starting_at(offset: u64, single_bytes_max: usize) -> Self {
        Self { end: offset, single_bytes_max, ..Self::default() }
    }

    /// Whether so many bytes more fit; a message that is alone may be larger.
    pub(crate) fn takes(&self, bytes: usize, bytes_max: usize, is_alone: bool) -> bool {
        let most = if is_alone { self.single_bytes_max.max(bytes_max) } else { bytes_max };
        self.has_room(bytes, most)
    }

    fn has_room(&self, bytes: usize, bytes_max: usize) -> bool {
        self.batches.len() + bytes <= bytes_max
    }

    pub(crate) fn push(&mut self, header: BatchHeader, parts: [&[u8]; 2]) {
        self.end = header.offsets().end;
        self.batches.reserve(BATCH_HEADER_BYTES + header.body_bytes as usize);
        self.batches.extend_from_slice(&header.encode());
        for part in parts {
            self.batches.extend_from_slice(part);
        }
    }

    /// Adds a batch with the messages that lie in the range and fit.
    fn push_some(
        &mut self,
        header: &BatchHeader,
        messages: &[u8],
        limits: &ReadLimits,
    ) -> TakeOutcome {
        let ReadLimits { offsets: range, bytes_max } = limits;
        let Some((publisher, mut rest)) = split_publisher(messages) else {
            return TakeOutcome::Malformed;
        };
        let named = 2 + publisher.len();
        let mut piece = PartialBatch::default();
        for offset in header.offsets() {
            let before = rest;
            let Some(message) = take_message(&mut rest) else { return TakeOutcome::Malformed };
            if offset < range.start || offset >= range.end {
                continue;
            }
            let bytes = before.len() - rest.len();
            let is_alone = self.is_empty() && piece.count == 0;
            let more = BATCH_HEADER_BYTES + named + piece.bytes + bytes;
            if !self.takes(more, *bytes_max, is_alone) {
                self.needed = more;
                piece.is_full = true;
                break;
            }
            piece.add(offset, messages.len() - before.len(), bytes, message.flags.retain());
        }
        self.push_piece(header, messages, named, &piece);
        if piece.is_full { TakeOutcome::Full } else { TakeOutcome::All }
    }

    /// Adds a piece of a batch, behind its publisher's name, which takes the first `named` bytes.
    pub(crate) fn push_piece(
        &mut self,
        header: &BatchHeader,
        body: &[u8],
        named: usize,
        piece: &PartialBatch,
    ) {
        let Some(first) = piece.first else { return };
        let parts = [&body[..named], &body[first..first + piece.bytes]];
        let header = BatchHeader {
            body_bytes: (parts[0].len() + parts[1].len()) as u32,
            base_offset: piece.start,
            count: piece.count,
            state_bytes: 0,
            retained: piece.retained,
            unsynced: None,
            body_checksum: parts.into_iter().fold(0, crc32c::crc32c_append),
            ..*header
        };
        self.push(header, parts);
    }
}

/// Consecutive messages of one batch.
#[derive(Default)]
pub(crate) struct PartialBatch {
    start: u64,
    pub count: u32,
    /// Where the first one begins in the body.
    first: Option<usize>,
    pub bytes: usize,
    retained: bool,
    /// Whether the next one did not fit.
    is_full: bool,
}

impl PartialBatch {
    /// Adds the next message, which begins at `first` in the body if it is the first one.
    pub fn add(&mut self, offset: u64, first: usize, bytes: usize, retained: bool) {
        if self.first.is_none() {
            (self.first, self.start) = (Some(first), offset);
        }
        self.retained |= retained;
        self.bytes += bytes;
        self.count += 1;
    }
}

impl TakeBatch for Excerpt {
    fn take(&mut self, header: &BatchHeader, body: &[u8], limits: &ReadLimits) -> TakeOutcome {
        let (messages, offsets) = (header.split(body).0, header.offsets());
        let range = &limits.offsets;
        if offsets.start > self.end {
            // Offsets were skipped here, so the excerpt ends: its offsets are consecutive, and the receiver
            // can check that none is missing.
            self.end = offsets.start.min(range.end);
            return TakeOutcome::Full;
        }
        let whole = offsets.start >= range.start && offsets.end <= range.end;
        if !whole || !self.has_room(BATCH_HEADER_BYTES + messages.len(), limits.bytes_max) {
            return self.push_some(header, messages, limits);
        }
        let mut sent = BatchHeader { unsynced: None, ..*header };
        if header.state_bytes > 0 {
            sent.state_bytes = 0;
            sent.body_bytes = messages.len() as u32;
            sent.body_checksum = crc32c::crc32c(messages);
        }
        self.push(sent, [messages, &[]]);
        TakeOutcome::All
    }

    fn is_empty(&self) -> bool {
        Excerpt::is_empty(self)
    }
}

impl JournalReader {
    /// The batches of a range for a remote reader: as many as fit into `bytes_max`, or one message that fits
    /// into `single_bytes_max`.
    pub fn excerpt(
        &mut self,
        range: Range<u64>,
        bytes_max: usize,
        single_bytes_max: usize,
    ) -> Result<Excerpt, ReadError> {
        let mut excerpt = Excerpt::starting_at(range.start, single_bytes_max);
        let limits = ReadLimits { offsets: range, bytes_max };
        if self.gather(&limits, &mut excerpt)? {
            excerpt.end = excerpt.end.max(limits.offsets.end);
        }
        Ok(excerpt)
    }

    /// When the newest message was received; `None` if there is none, or if it is damaged.
    pub fn newest_receive_ns(&mut self) -> Result<Option<i64>, ReadError> {
        self.end_offset()?;
        let end = self.message_end()?;
        let last = end.saturating_sub(1).max(self.first_offset())..end;
        match self.read(last, 0) {
            Err(ReadError::Damaged(_)) => Ok(None),
            read => read.map(|columns| columns.receive_ns.first().copied()),
        }
    }
}

impl MessageColumns {
    /// Empty columns for reading from an offset on.
    pub fn starting_at(offset: u64) -> Self {
        Self { end: offset, ..Self::default() }
    }

    /// Takes those messages of an excerpt that lie in `range`, up to about `bytes_max`. Returns whether all
    /// of them had room. The excerpt begins at offset `first`, and came over the network: all of it is checked.
    pub fn take_excerpt(
        &mut self,
        mut batches: &[u8],
        mut first: u64,
        range: &Range<u64>,
        bytes_max: usize,
    ) -> Result<bool, Flaw> {
        let bytes_max = bytes_max.min(COLUMNS_BYTES_MAX);
        let limits = ReadLimits { offsets: range.clone(), bytes_max };
        while !batches.is_empty() && first < range.end {
            let header = BatchHeader::decode(batches)?;
            if header.base_offset != first || header.count == 0 || header.state_bytes > 0 {
                return Err(Flaw::WrongOffset);
            }
            let body = &batches[BATCH_HEADER_BYTES..];
            let (body, rest) =
                body.split_at_checked(header.body_bytes as usize).ok_or(Flaw::BodyShort)?;
            (batches, first) = (rest, header.offsets().end);
            if first <= range.start {
                continue; // an earlier call has taken it
            }
            if crc32c::crc32c(body) != header.body_checksum {
                return Err(Flaw::BodyDamaged);
            }
            if body.is_empty() {
                // Withheld: this reader may not have them.
                let end = first.min(range.end);
                self.withheld += end - header.base_offset.max(range.start);
                self.end = self.end.max(end);
                continue;
            }
            match self.take(&header, body, &limits) {
                TakeOutcome::All => {}
                TakeOutcome::Full => return Ok(false),
                TakeOutcome::Malformed => return Err(Flaw::BodyMalformed),
            }
        }
        Ok(true)
    }
}
