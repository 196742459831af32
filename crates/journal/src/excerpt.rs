//! A part of the journal for a reader elsewhere: batches as they stand on disk, without the records
//! of sessions, which are nobody else's business. Knows nothing of files.

use std::ops::Range;

use crate::batch::{split_publisher, take_message};
use crate::columns::{Columns, Taken};
use crate::error::ReadError;
use crate::format::{BATCH_HEADER_BYTES, BatchHeader, Flaw};
use crate::reader::{COLUMNS_BYTES_MAX, Reader};

/// Where the messages of a range go, batch by batch.
pub(crate) trait TakeBatch {
    /// Takes those messages of a batch that lie in `range`, until `bytes_max` is reached.
    fn take_batch(
        &mut self,
        header: &BatchHeader,
        body: &[u8],
        range: &Range<u64>,
        bytes_max: usize,
    ) -> Taken;

    /// Whether nothing was taken.
    fn is_empty(&self) -> bool;
}

impl TakeBatch for Columns {
    fn take_batch(
        &mut self,
        header: &BatchHeader,
        body: &[u8],
        range: &Range<u64>,
        bytes_max: usize,
    ) -> Taken {
        Columns::take_batch(self, header, header.split(body).0, range, bytes_max)
    }

    fn is_empty(&self) -> bool {
        Columns::is_empty(self)
    }
}

/// The receive time of the last batch.
struct Newest(Option<i64>);

impl TakeBatch for Newest {
    fn take_batch(&mut self, header: &BatchHeader, _: &[u8], _: &Range<u64>, _: usize) -> Taken {
        self.0 = Some(header.receive_ns);
        Taken::All
    }

    fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

/// Batches one after the other, with the offsets of a range and no others.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Where to read on: behind the last message here, and behind offsets after it that no message has.
    pub end: u64,
    /// The batches, in the format of a segment.
    pub batches: Vec<u8>,
    /// Bytes that the message at `end` needs, when not even that one had room.
    pub needed: usize,
    /// Bytes that may be here, if it is for one message only.
    single_bytes_max: usize,
}

impl Excerpt {
    /// An empty one at an offset. A single message may take `single_bytes_max`.
    pub(crate) fn new(start: u64, single_bytes_max: usize) -> Self {
        Self { end: start, single_bytes_max, ..Self::default() }
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    fn has_room(&self, bytes: usize, bytes_max: usize) -> bool {
        self.batches.len() + bytes <= bytes_max
    }

    fn push(&mut self, header: BatchHeader, parts: [&[u8]; 2]) {
        self.end = header.offsets().end;
        self.batches.reserve(BATCH_HEADER_BYTES + header.body_bytes as usize);
        self.batches.extend_from_slice(&header.encode());
        for part in parts {
            self.batches.extend_from_slice(part);
        }
    }

    /// Makes a batch of those messages that lie in the range and have room.
    fn push_some(
        &mut self,
        header: &BatchHeader,
        messages: &[u8],
        range: &Range<u64>,
        bytes_max: usize,
    ) -> Taken {
        let Some((publisher, mut rest)) = split_publisher(messages) else {
            return Taken::Malformed;
        };
        let named = 2 + publisher.len();
        let mut piece = Piece { start: range.start.max(header.base_offset), ..Piece::default() };
        for offset in header.offsets() {
            let before = rest;
            let Some(message) = take_message(&mut rest) else { return Taken::Malformed };
            if offset < range.start || offset >= range.end {
                continue;
            }
            let bytes = before.len() - rest.len();
            let alone = self.is_empty() && piece.count == 0;
            let most = if alone { self.single_bytes_max.max(bytes_max) } else { bytes_max };
            let more = BATCH_HEADER_BYTES + named + piece.bytes + bytes;
            if !self.has_room(more, most) {
                self.needed = more;
                piece.full = true;
                break;
            }
            piece.first.get_or_insert(messages.len() - before.len());
            piece.retained |= message.flags.retain();
            piece.bytes += bytes;
            piece.count += 1;
        }
        self.push_piece(header, &messages[..named], messages, &piece);
        if piece.full { Taken::Full } else { Taken::All }
    }

    fn push_piece(&mut self, header: &BatchHeader, publisher: &[u8], body: &[u8], piece: &Piece) {
        let Some(first) = piece.first else { return };
        let parts = [publisher, &body[first..first + piece.bytes]];
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

/// Messages in a row, of one batch.
#[derive(Default)]
struct Piece {
    start: u64,
    count: u32,
    /// Where in the body the first one begins.
    first: Option<usize>,
    bytes: usize,
    retained: bool,
    /// The next one found no room.
    full: bool,
}

impl TakeBatch for Excerpt {
    fn take_batch(
        &mut self,
        header: &BatchHeader,
        body: &[u8],
        range: &Range<u64>,
        bytes_max: usize,
    ) -> Taken {
        let messages = header.split(body).0;
        let offsets = header.offsets();
        if offsets.start > self.end {
            // Offsets were left out here. Those of one excerpt are in a row, so that whoever gets it
            // can tell that nothing is missing.
            self.end = offsets.start.min(range.end);
            return Taken::Full;
        }
        let whole = offsets.start >= range.start && offsets.end <= range.end;
        if !whole || !self.has_room(BATCH_HEADER_BYTES + messages.len(), bytes_max) {
            return self.push_some(header, messages, range, bytes_max);
        }
        let mut sent = BatchHeader { unsynced: None, ..*header };
        if header.state_bytes > 0 {
            sent.state_bytes = 0;
            sent.body_bytes = messages.len() as u32;
            sent.body_checksum = crc32c::crc32c(messages);
        }
        self.push(sent, [messages, &[]]);
        Taken::All
    }

    fn is_empty(&self) -> bool {
        Excerpt::is_empty(self)
    }
}

impl Reader {
    /// The batches of a range, to be read elsewhere: as many as fit into `bytes_max`, or one message
    /// that fits into `single_bytes_max`.
    pub fn excerpt(
        &mut self,
        range: Range<u64>,
        bytes_max: usize,
        single_bytes_max: usize,
    ) -> Result<Excerpt, ReadError> {
        let mut excerpt = Excerpt::new(range.start, single_bytes_max);
        if self.gather(&range, bytes_max, &mut excerpt)? {
            excerpt.end = excerpt.end.max(range.end);
        }
        Ok(excerpt)
    }

    /// When the newest message was received; `None` where there is none, or it is damaged.
    pub fn newest_receive_ns(&mut self) -> Result<Option<i64>, ReadError> {
        self.end_offset()?;
        let end = self.message_end()?;
        let mut newest = Newest(None);
        let last = end.saturating_sub(1).max(self.first_offset())..end;
        match self.gather(&last, 0, &mut newest) {
            Err(ReadError::Damaged(_)) => Ok(None),
            gathered => gathered.map(|_| newest.0),
        }
    }
}

impl Columns {
    /// Nothing yet, to be read from an offset on.
    pub fn starting_at(offset: u64) -> Self {
        Self { end: offset, ..Self::default() }
    }

    /// Takes those messages of an excerpt that lie in `range`, about up to `bytes_max`; whether all
    /// had room. The excerpt begins at offset `first`, and is checked: whoever sent it is not
    /// believed.
    pub fn take_excerpt(
        &mut self,
        mut batches: &[u8],
        mut first: u64,
        range: &Range<u64>,
        bytes_max: usize,
    ) -> Result<bool, Flaw> {
        let bytes_max = bytes_max.min(COLUMNS_BYTES_MAX);
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
            match self.take_batch(&header, body, range, bytes_max) {
                Taken::All => {}
                Taken::Full => return Ok(false),
                Taken::Malformed => return Err(Flaw::BodyMalformed),
            }
        }
        Ok(true)
    }
}
