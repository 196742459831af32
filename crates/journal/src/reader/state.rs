//! Follows the batches that the broker's state is rebuilt from: those with records or with retained
//! messages. Of all others only the header is read.

use super::JournalReader;
use crate::error::{Damage, ReadError};
use crate::format::{BatchHeader, Flaw};
use crate::message::{JournalMessage, Messages};
use crate::scan::{CheckDepth, ScanStep};
use crate::segment::{JournalPosition, SegmentId};

/// A batch with records or with retained messages.
#[derive(Clone, Debug)]
pub struct StateBatch<'a> {
    /// The offset of its first message; of the next message if it has none.
    pub base_offset: u64,
    /// Messages in it.
    pub count: u32,
    /// When it was received, nanoseconds since the Unix epoch, UTC.
    pub receive_ns: i64,
    /// Client id of the publisher; empty for records without messages.
    pub publisher: &'a str,
    /// Its records, as they were appended.
    pub records: &'a [u8],
    messages: Messages<'a>,
}

impl<'a> StateBatch<'a> {
    fn new(header: &BatchHeader, body: &'a [u8]) -> Option<Self> {
        let (messages, records) = header.split(body);
        let messages = Messages::new(header, messages)?;
        let whole = !header.retained || messages.are_whole();
        whole.then_some(Self {
            base_offset: header.base_offset,
            count: header.count,
            receive_ns: header.receive_ns,
            publisher: messages.publisher,
            records,
            messages,
        })
    }

    /// All messages with their offsets, up to the first that is malformed.
    pub fn messages(&self) -> impl Iterator<Item = (u64, JournalMessage<'a>)> + use<'a> {
        self.messages.clone()
    }

    /// The retained messages with their offsets.
    pub fn retained(&self) -> impl Iterator<Item = (u64, JournalMessage<'a>)> + use<'a> {
        self.messages.clone().filter(|(_, message)| message.flags.retain())
    }
}

/// How far a journal was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Where to follow on later.
    pub end: JournalPosition,
    /// Damage on the way.
    pub damage: Vec<Damage>,
}

type Each<'a> = &'a mut dyn FnMut(StateBatch<'_>);

impl JournalReader {
    /// Calls `each` with every batch that has records or retained messages, in order, from a position on
    /// or from the start. Reports damage and steps over it.
    pub fn follow(
        &mut self,
        from: Option<JournalPosition>,
        each: Each<'_>,
    ) -> Result<Followed, ReadError> {
        self.refresh()?;
        let mut damage = Vec::new();
        let Some(mut at) = self.start(from, &mut damage)? else {
            return Ok(Followed { end: from.unwrap_or_default(), damage });
        };
        loop {
            let next = self.segment_after(at.segment);
            let flaw = self.follow_segment(&mut at, each, &mut damage)?;
            if let Some(next) = next {
                damage.extend(self.missing_before(at, next, flaw)?);
                at = self.enter(next, &mut damage)?;
                continue;
            }
            // The writer may have added to this segment before it began the next one.
            self.refresh()?;
            if self.segment_after(at.segment).is_none() {
                return Ok(Followed { end: at, damage });
            }
        }
    }

    /// The first position in the journal at or after `from`.
    fn start(
        &self,
        from: Option<JournalPosition>,
        damage: &mut Vec<Damage>,
    ) -> Result<Option<JournalPosition>, ReadError> {
        let Some(&first) = self.segments.first() else { return Ok(None) };
        let Some(from) = from else { return self.enter(first, damage).map(Some) };
        if self.segments.binary_search(&from.segment).is_ok() {
            return Ok(Some(from));
        }
        let Some(next) = self.segment_after(from.segment) else { return Ok(None) };
        damage.push(from.damage(next.offset, Flaw::Missing));
        self.enter(next, damage).map(Some)
    }

    /// The start of a segment. A damaged header is reported; the batches behind it are followed.
    fn enter(
        &self,
        segment: SegmentId,
        damage: &mut Vec<Damage>,
    ) -> Result<JournalPosition, ReadError> {
        damage.extend(self.check_identity(segment)?);
        Ok(JournalPosition::first(segment))
    }

    /// Follows a segment to its end. Returns what is wrong there, if anything.
    fn follow_segment(
        &mut self,
        at: &mut JournalPosition,
        each: Each<'_>,
        damage: &mut Vec<Damage>,
    ) -> Result<Option<Flaw>, ReadError> {
        loop {
            match self.step_state(*at)? {
                ScanStep::Batch(header) => {
                    if is_state(&header) && !self.give(*at, &header, each)? {
                        damage.push(at.damage(header.offsets().end, Flaw::BodyMalformed));
                    }
                    *at = at.after(&header);
                }
                ScanStep::Damage(found, resume) => {
                    damage.push(found);
                    *at = resume;
                }
                ScanStep::Tail(flaw) => return Ok(flaw),
            }
        }
    }

    /// The next step. Reads the body of a batch only where it holds state.
    fn step_state(&mut self, at: JournalPosition) -> Result<ScanStep, ReadError> {
        match self.step(at, CheckDepth::Headers)? {
            ScanStep::Batch(header) if is_state(&header) => self.step(at, CheckDepth::Bodies),
            step => Ok(step),
        }
    }

    /// Passes a batch to `each`. Returns false if its content is malformed, although its checksum is right.
    fn give(
        &mut self,
        at: JournalPosition,
        header: &BatchHeader,
        each: Each<'_>,
    ) -> Result<bool, ReadError> {
        let mut scan = self.scan();
        let body = scan.unchecked_body(at, header)?;
        let batch = body.and_then(|body| StateBatch::new(header, body));
        Ok(batch.map(each).is_some())
    }
}

fn is_state(header: &BatchHeader) -> bool {
    header.state_bytes > 0 || header.retained
}
