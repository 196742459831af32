//! An excerpt for a reader that may have some messages only. What it may not have is withheld: instead of these messages
//! there is a header that says how many offsets they have, and nothing else of them. Knows nothing of files.
//!
//! An example: of messages 0 to 9 a reader may have 3 and 4. It gets a header for offsets 0 to 2 without a body, a batch
//! with 3 and 4, and a header for 5 to 9 without a body.

use std::ops::Range;

use crate::batch::{RawMessage, split_publisher, take_message};
use crate::columns::TakeOutcome;
use crate::error::ReadError;
use crate::excerpt::{Excerpt, PartialBatch, ReadLimits, TakeBatch};
use crate::format::{BATCH_HEADER_BYTES, BatchHeader};
use crate::reader::JournalReader;

/// Bytes that one call reads at most, so that it ends soon for a reader that may have nothing.
const READ_BYTES_MAX: usize = 64 << 20;

/// A message, for the decision whether a reader may have it.
#[derive(Clone, Copy, Debug)]
pub struct JudgedMessage<'a> {
    /// The offset.
    pub offset: u64,
    /// The topic.
    pub topic: &'a str,
    /// The MQTT 5 properties as they came, without their length.
    pub properties: &'a [u8],
    /// The payload.
    pub payload: &'a [u8],
}

/// Decides which messages a reader may have.
pub type MayRead<'a> = &'a mut dyn FnMut(&JudgedMessage<'_>) -> bool;

struct NarrowedExcerpt<'a> {
    excerpt: Excerpt,
    /// Offsets at the end of the excerpt that are withheld, and not written yet.
    withheld: u32,
    read_bytes: usize,
    may_read: MayRead<'a>,
}

impl NarrowedExcerpt<'_> {
    /// Where the next message is.
    fn end(&self) -> u64 {
        self.excerpt.end + u64::from(self.withheld)
    }

    /// Writes the header of withheld offsets.
    fn flush(&mut self) {
        let count = std::mem::take(&mut self.withheld);
        if count == 0 {
            return;
        }
        let header = BatchHeader {
            body_bytes: 0,
            base_offset: self.excerpt.end,
            count,
            receive_ns: 0,
            state_bytes: 0,
            retained: false,
            unsynced: None,
            body_checksum: crc32c::crc32c(b""),
        };
        self.excerpt.push(header, [&[], &[]]);
    }

    fn may_read(&mut self, offset: u64, message: &RawMessage<'_>) -> bool {
        let RawMessage { topic, properties, payload, .. } = *message;
        let topic = std::str::from_utf8(topic).ok();
        let judged = topic.map(|topic| JudgedMessage { offset, topic, properties, payload });
        judged.is_some_and(|judged| (self.may_read)(&judged))
    }

    /// Takes the messages of a batch that lie in the range and fit, behind the publisher's name, which takes the first
    /// `named` bytes.
    fn take_some(
        &mut self,
        header: &BatchHeader,
        messages: &[u8],
        named: usize,
        limits: &ReadLimits,
    ) -> TakeOutcome {
        let mut rest = &messages[named..];
        let mut piece = PartialBatch::default();
        for offset in header.offsets() {
            let before = rest;
            let Some(message) = take_message(&mut rest) else { return TakeOutcome::Malformed };
            if !limits.offsets.contains(&offset) {
                continue;
            }
            if !self.may_read(offset, &message) {
                self.excerpt.push_piece(header, messages, named, &std::mem::take(&mut piece));
                self.withheld += 1;
                continue;
            }
            let bytes = before.len() - rest.len();
            let gap = if self.withheld > 0 { BATCH_HEADER_BYTES } else { 0 };
            let more = gap + BATCH_HEADER_BYTES + named + piece.bytes + bytes;
            let is_alone = self.is_empty() && piece.count == 0;
            if !self.excerpt.takes(more, limits.bytes_max, is_alone) {
                self.excerpt.needed = more;
                self.excerpt.push_piece(header, messages, named, &piece);
                return TakeOutcome::Full;
            }
            self.flush();
            piece.add(offset, messages.len() - before.len(), bytes, message.flags.retain());
        }
        self.excerpt.push_piece(header, messages, named, &piece);
        TakeOutcome::All
    }
}

impl TakeBatch for NarrowedExcerpt<'_> {
    fn take(&mut self, header: &BatchHeader, body: &[u8], limits: &ReadLimits) -> TakeOutcome {
        let messages = header.split(body).0;
        if header.base_offset > self.end() {
            // Offsets were skipped here: the excerpt ends, as it does for those who may read everything.
            self.flush();
            self.excerpt.end = header.base_offset.min(limits.offsets.end);
            return TakeOutcome::Full;
        }
        let Some((publisher, _)) = split_publisher(messages) else { return TakeOutcome::Malformed };
        self.read_bytes += body.len();
        match self.take_some(header, messages, 2 + publisher.len(), limits) {
            TakeOutcome::All if self.read_bytes >= READ_BYTES_MAX => TakeOutcome::Full,
            taken => taken,
        }
    }

    fn is_empty(&self) -> bool {
        self.excerpt.is_empty() && self.withheld == 0
    }
}

impl JournalReader {
    /// As [`JournalReader::excerpt`], for a reader that may have some messages only. The others are withheld.
    pub fn narrowed_excerpt(
        &mut self,
        range: Range<u64>,
        bytes_max: usize,
        single_bytes_max: usize,
        may_read: MayRead<'_>,
    ) -> Result<Excerpt, ReadError> {
        let excerpt = Excerpt::starting_at(range.start, single_bytes_max);
        let mut narrowed = NarrowedExcerpt { excerpt, withheld: 0, read_bytes: 0, may_read };
        // There is always room for the header of what is withheld at the end.
        let bytes_max = bytes_max.saturating_sub(BATCH_HEADER_BYTES);
        let limits = ReadLimits { offsets: range, bytes_max };
        let has_all = self.gather(&limits, &mut narrowed)?;
        narrowed.flush();
        let mut excerpt = narrowed.excerpt;
        if has_all {
            excerpt.end = excerpt.end.max(limits.offsets.end);
        }
        Ok(excerpt)
    }
}
