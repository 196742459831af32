//! Follows what state is made of: records, and messages that are retained. Everything else is
//! passed over by its header.

use super::Reader;
use crate::error::{Damage, ReadError};
use crate::format::{BatchHeader, Flaw};
use crate::message::{Message, Messages};
use crate::scan::{Check, Step};
use crate::segment::{Position, SegmentId};

/// A batch with records, or with messages to be retained.
#[derive(Clone, Debug)]
pub struct StateBatch<'a> {
    /// The offset of its first message, or of the next one if it has none.
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

    /// All messages with their offsets; ends early where one cannot be read.
    pub fn messages(&self) -> impl Iterator<Item = (u64, Message<'a>)> + use<'a> {
        self.messages.clone()
    }

    /// The messages that are to be retained, with their offsets.
    pub fn retained(&self) -> impl Iterator<Item = (u64, Message<'a>)> + use<'a> {
        self.messages.clone().filter(|(_, message)| message.flags.retain())
    }
}

/// How far a journal was followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Where to go on.
    pub end: Position,
    /// What could not be read on the way.
    pub damage: Vec<Damage>,
}

type Each<'a> = &'a mut dyn FnMut(StateBatch<'_>);

impl Reader {
    /// Gives every batch with records or retained messages from a position on, or from the first
    /// one, in order. What is damaged is named and passed over.
    pub fn follow(
        &mut self,
        from: Option<Position>,
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
            // The writer may have added to this segment before it made the next one.
            self.refresh()?;
            if self.segment_after(at.segment).is_none() {
                return Ok(Followed { end: at, damage });
            }
        }
    }

    /// The first place there is at or after `from`.
    fn start(
        &self,
        from: Option<Position>,
        damage: &mut Vec<Damage>,
    ) -> Result<Option<Position>, ReadError> {
        let Some(&first) = self.segments.first() else { return Ok(None) };
        let Some(from) = from else { return self.enter(first, damage).map(Some) };
        if self.segments.binary_search(&from.segment).is_ok() {
            return Ok(Some(from));
        }
        let Some(next) = self.segment_after(from.segment) else { return Ok(None) };
        damage.push(from.damage(next.offset, Flaw::Missing));
        self.enter(next, damage).map(Some)
    }

    /// The start of a segment; a damaged header hides nothing behind it.
    fn enter(&self, segment: SegmentId, damage: &mut Vec<Damage>) -> Result<Position, ReadError> {
        damage.extend(self.check_identity(segment)?);
        Ok(Position::first(segment))
    }

    /// Goes to the end of a segment, and says what is wrong there.
    fn follow_segment(
        &mut self,
        at: &mut Position,
        each: Each<'_>,
        damage: &mut Vec<Damage>,
    ) -> Result<Option<Flaw>, ReadError> {
        loop {
            match self.step_state(*at)? {
                Step::Batch(header) => {
                    if is_state(&header) && !self.give(*at, &header, each)? {
                        damage.push(at.damage(header.offsets().end, Flaw::BodyMalformed));
                    }
                    *at = at.after(&header);
                }
                Step::Damage(found, resume) => {
                    damage.push(found);
                    *at = resume;
                }
                Step::Tail(flaw) => return Ok(flaw),
            }
        }
    }

    /// Bodies are read only where there is state.
    fn step_state(&mut self, at: Position) -> Result<Step, ReadError> {
        match self.step(at, Check::Headers)? {
            Step::Batch(header) if is_state(&header) => self.step(at, Check::Bodies),
            step => Ok(step),
        }
    }

    /// Says whether the batch, whose checksum holds, could be understood.
    fn give(
        &mut self,
        at: Position,
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
