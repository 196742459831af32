//! Walks a segment batch by batch and tells a whole batch, damage and the tail apart.
//! Never decides what to do about them.

use std::io;

use crate::error::Damage;
use crate::format::{BATCH_HEADER_BYTES, BATCH_MAGIC, BatchHeader, Flaw};
use crate::segment::{Position, SegmentId};
use crate::storage::ReadSegments;

/// Bytes read at once; small batches then cost no system call each.
const WINDOW_BYTES: usize = 256 << 10;

/// How much of each batch to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    Headers,
    Bodies,
}

/// What stands at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Batch(BatchHeader),
    /// A batch that cannot be read; whole batches follow at the position.
    Damage(Damage, Position),
    /// No whole batch from here on; the flaw says why, when there are bytes at all.
    Tail(Option<Flaw>),
}

/// A piece of one segment held in memory.
#[derive(Debug, Default)]
pub(crate) struct Window {
    segment: SegmentId,
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// Forgets what it holds, because the file may have changed.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Up to `length` bytes at a position: fewer where the file ends.
    pub fn view<S: ReadSegments + ?Sized>(
        &mut self,
        source: &S,
        at: Position,
        length: usize,
    ) -> io::Result<&[u8]> {
        if !self.holds(at, length) {
            self.fill(source, at, length.max(WINDOW_BYTES))?;
        }
        let start = (at.position - self.start) as usize;
        let end = self.bytes.len().min(start + length);
        Ok(&self.bytes[start..end])
    }

    fn holds(&self, at: Position, length: usize) -> bool {
        let end = self.start + self.bytes.len() as u64;
        self.segment == at.segment
            && at.position >= self.start
            && at.position + length as u64 <= end
    }

    fn fill<S: ReadSegments + ?Sized>(
        &mut self,
        source: &S,
        at: Position,
        length: usize,
    ) -> io::Result<()> {
        let left = source.size(at.segment)?.saturating_sub(at.position);
        self.bytes.resize(length.min(left as usize), 0);
        (self.segment, self.start) = (at.segment, at.position);
        let filled = source.read_at(at.segment, at.position, &mut self.bytes);
        self.bytes.truncate(*filled.as_ref().unwrap_or(&0));
        filled.map(drop)
    }
}

/// Whole headers of which each stands where the one before it says.
#[derive(Clone, Copy)]
struct Chain {
    begin: Position,
    end: Position,
    /// The file ends with it.
    is_last: bool,
}

impl Chain {
    fn bytes(&self) -> u64 {
        self.end.position - self.begin.position
    }
}

/// Looks at segments through one window.
pub(crate) struct Scan<'a, S: ?Sized> {
    pub source: &'a S,
    pub window: &'a mut Window,
}

impl<S: ReadSegments + ?Sized> Scan<'_, S> {
    pub fn step(&mut self, at: Position, check: Check) -> io::Result<Step> {
        match self.look(at, check)? {
            Ok(header) if header.base_offset == at.offset => Ok(Step::Batch(header)),
            Ok(_) => self.step_over(at, Flaw::WrongOffset),
            Err(None) => Ok(Step::Tail(None)),
            Err(Some(flaw @ (Flaw::HeaderShort | Flaw::BodyShort))) => Ok(Step::Tail(Some(flaw))),
            Err(Some(flaw)) => self.step_over(at, flaw),
        }
    }

    /// The body of the batch at a position whose header was read already.
    pub fn body(&mut self, at: Position, header: &BatchHeader) -> io::Result<Result<&[u8], Flaw>> {
        let body = self.unchecked_body(at, header)?;
        let intact = |body: &&[u8]| crc32c::crc32c(body) == header.body_checksum;
        Ok(body
            .ok_or(Flaw::BodyShort)
            .and_then(|body| if intact(&body) { Ok(body) } else { Err(Flaw::BodyDamaged) }))
    }

    /// The same without a look at its checksum: for who has checked it just before.
    pub fn unchecked_body(
        &mut self,
        at: Position,
        header: &BatchHeader,
    ) -> io::Result<Option<&[u8]>> {
        let whole = header.batch_bytes() as usize;
        let bytes = self.window.view(self.source, at, whole)?;
        Ok((bytes.len() >= whole).then(|| &bytes[BATCH_HEADER_BYTES..]))
    }

    /// The header at a position, whatever its offset; `Err(None)` where the file ends.
    fn look(
        &mut self,
        at: Position,
        check: Check,
    ) -> io::Result<Result<BatchHeader, Option<Flaw>>> {
        let bytes = self.window.view(self.source, at, BATCH_HEADER_BYTES)?;
        if bytes.is_empty() {
            return Ok(Err(None));
        }
        let header = match BatchHeader::decode(bytes) {
            Ok(header) => header,
            Err(flaw) => return Ok(Err(Some(flaw))),
        };
        if !self.is_whole(at, &header)? {
            return Ok(Err(Some(Flaw::BodyShort)));
        }
        if check == Check::Headers {
            return Ok(Ok(header));
        }
        Ok(self.body(at, &header)?.map(|_| header).map_err(Some))
    }

    /// Asks the file only when the window does not show it.
    fn is_whole(&self, at: Position, header: &BatchHeader) -> io::Result<bool> {
        let bytes = header.batch_bytes();
        let shown = self.window.holds(at, bytes as usize);
        Ok(shown || at.position + bytes <= self.source.size(at.segment)?)
    }

    /// Finds the next whole batch after damage; without one the damage is the tail.
    fn step_over(&mut self, at: Position, flaw: Flaw) -> io::Result<Step> {
        let from = self.beyond(at, flaw)?;
        Ok(match self.resume(at, from)? {
            Some(resume) => Step::Damage(at.damage(resume.offset, flaw), resume),
            None => Step::Tail(Some(flaw)),
        })
    }

    /// Where batches go on behind damage. A payload may hold the bytes of batches, too, and what follows
    /// it then contradicts them: the chain to the end of the file is believed, or else the longest.
    fn resume(&mut self, at: Position, mut from: Position) -> io::Result<Option<Position>> {
        let mut best: Option<Chain> = None;
        while let Some(chain) = self.next_chain(at, from)? {
            match best {
                Some(best) if best.end.may_precede(chain.begin) => break,
                Some(longer) if !chain.is_last && longer.bytes() >= chain.bytes() => {}
                _ => best = Some(chain),
            }
            if chain.is_last || chain.begin == from {
                break;
            }
            from = chain.end;
        }
        Ok(best.map(|chain| chain.begin))
    }

    /// The next whole batch that can stand behind `at`, with those that follow it.
    fn next_chain(&mut self, at: Position, mut from: Position) -> io::Result<Option<Chain>> {
        while let Some(found) = self.find_magic(from)? {
            if let Ok(header) = self.look(found, Check::Bodies)? {
                let begin = Position { offset: header.base_offset, ..found };
                if at.may_precede(begin) {
                    return self.chain(begin, &header).map(Some);
                }
            }
            from = Position { position: found.position + 1, ..found };
        }
        Ok(None)
    }

    fn chain(&mut self, begin: Position, first: &BatchHeader) -> io::Result<Chain> {
        let mut end = begin.after(first);
        loop {
            match self.look(end, Check::Headers)? {
                Ok(next) if next.base_offset == end.offset => end = end.after(&next),
                other => return Ok(Chain { begin, end, is_last: other == Err(None) }),
            }
        }
    }

    /// A header that is whole tells where its damaged body ends, and the offset that comes there: what
    /// the body holds is a publisher's, and must not be taken for a batch.
    fn beyond(&mut self, at: Position, flaw: Flaw) -> io::Result<Position> {
        let header = self.look(at, Check::Headers)?.ok().filter(|_| flaw == Flaw::BodyDamaged);
        let next = Position { position: at.position + 1, ..at };
        Ok(header.map_or(next, |header| at.after(&header)))
    }

    fn find_magic(&mut self, mut at: Position) -> io::Result<Option<Position>> {
        loop {
            let bytes = self.window.view(self.source, at, WINDOW_BYTES)?;
            if bytes.len() < BATCH_MAGIC.len() {
                return Ok(None);
            }
            match bytes.windows(BATCH_MAGIC.len()).position(|four| four == BATCH_MAGIC) {
                Some(skipped) => {
                    return Ok(Some(Position { position: at.position + skipped as u64, ..at }));
                }
                None => at.position += (bytes.len() - BATCH_MAGIC.len() + 1) as u64,
            }
        }
    }
}
