//! Walks a segment batch by batch: each step finds a whole batch, damage, or the tail.
//! Never decides what to do about them.
//!
//! How it finds the end of damage, by example: the batch at byte 100 has a damaged header. The scan
//! looks for the next `SLPB`. It finds one at byte 300, inside a payload in which a client sent the bytes
//! of a batch, and one at byte 500, where the journal's next batch begins. Both begin a chain of headers
//! that follow each other. The chain from 500 reaches the end of the file, the one from 300 breaks off
//! after one batch. So the scan goes on at 500.

use std::io;

use crate::error::Damage;
use crate::format::{BATCH_HEADER_BYTES, BATCH_MAGIC, BatchHeader, Flaw};
use crate::segment::{JournalPosition, SegmentId};
use crate::storage::ReadSegments;

/// Bytes read at once, so that small batches do not cost a system call each.
const WINDOW_BYTES: usize = 256 << 10;

/// How much of each batch to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckDepth {
    Headers,
    Bodies,
}

/// What was found at a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScanStep {
    Batch(BatchHeader),
    /// Bytes that cannot be read, and the position behind them where whole batches go on.
    Damage(Damage, JournalPosition),
    /// There is no whole batch from here on. The flaw says what is wrong; `None` if the file ends here.
    Tail(Option<Flaw>),
}

/// A part of one segment in memory.
#[derive(Debug, Default)]
pub(crate) struct ReadWindow {
    segment: SegmentId,
    start: u64,
    bytes: Vec<u8>,
}

impl ReadWindow {
    /// Forgets its bytes, because the file may have changed.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// `length` bytes at a position, or fewer where the file ends.
    pub fn view(
        &mut self,
        source: &dyn ReadSegments,
        at: JournalPosition,
        length: usize,
    ) -> io::Result<&[u8]> {
        if !self.holds(at, length) {
            self.fill(source, at, length.max(WINDOW_BYTES))?;
        }
        let start = (at.position - self.start) as usize;
        let end = self.bytes.len().min(start + length);
        Ok(&self.bytes[start..end])
    }

    fn holds(&self, at: JournalPosition, length: usize) -> bool {
        let end = self.start + self.bytes.len() as u64;
        self.segment == at.segment
            && at.position >= self.start
            && at.position + length as u64 <= end
    }

    fn fill(
        &mut self,
        source: &dyn ReadSegments,
        at: JournalPosition,
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

/// Batches that follow each other without a gap, by their headers.
#[derive(Clone, Copy)]
struct Chain {
    begin: JournalPosition,
    end: JournalPosition,
    /// Whether it reaches the end of the file.
    is_last: bool,
}

impl Chain {
    fn bytes(&self) -> u64 {
        self.end.position - self.begin.position
    }
}

/// Reads segments through one window.
pub(crate) struct Scan<'a> {
    pub source: &'a dyn ReadSegments,
    pub window: &'a mut ReadWindow,
}

impl Scan<'_> {
    /// What is at a position.
    pub fn step(&mut self, at: JournalPosition, check: CheckDepth) -> io::Result<ScanStep> {
        match self.look(at, check)? {
            Ok(header) if header.base_offset == at.offset => Ok(ScanStep::Batch(header)),
            Ok(_) => self.step_over(at, Flaw::WrongOffset),
            Err(None) => Ok(ScanStep::Tail(None)),
            Err(Some(flaw @ (Flaw::HeaderShort | Flaw::BodyShort))) => {
                Ok(ScanStep::Tail(Some(flaw)))
            }
            Err(Some(flaw)) => self.step_over(at, flaw),
        }
    }

    /// The body of the batch at a position whose header was read already.
    pub fn body(
        &mut self,
        at: JournalPosition,
        header: &BatchHeader,
    ) -> io::Result<Result<&[u8], Flaw>> {
        let body = self.unchecked_body(at, header)?;
        Ok(match body {
            None => Err(Flaw::BodyShort),
            Some(body) if crc32c::crc32c(body) == header.body_checksum => Ok(body),
            Some(_) => Err(Flaw::BodyDamaged),
        })
    }

    /// The same without checking the checksum: for a caller that has just done so.
    pub fn unchecked_body(
        &mut self,
        at: JournalPosition,
        header: &BatchHeader,
    ) -> io::Result<Option<&[u8]>> {
        let whole = header.batch_bytes() as usize;
        let bytes = self.window.view(self.source, at, whole)?;
        Ok((bytes.len() >= whole).then(|| &bytes[BATCH_HEADER_BYTES..]))
    }

    /// The header at a position, whatever its offset; `Err(None)` where the file ends.
    fn look(
        &mut self,
        at: JournalPosition,
        check: CheckDepth,
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
        if check == CheckDepth::Headers {
            return Ok(Ok(header));
        }
        Ok(self.body(at, &header)?.map(|_| header).map_err(Some))
    }

    /// Whether the file holds the whole batch. Asks for the file's size only where the window ends.
    fn is_whole(&self, at: JournalPosition, header: &BatchHeader) -> io::Result<bool> {
        let bytes = header.batch_bytes();
        let shown = self.window.holds(at, bytes as usize);
        Ok(shown || at.position + bytes <= self.source.size(at.segment)?)
    }

    /// Finds the next whole batch behind damage; without one the damage is the tail.
    fn step_over(&mut self, at: JournalPosition, flaw: Flaw) -> io::Result<ScanStep> {
        let from = self.beyond(at, flaw)?;
        Ok(match self.resume(at, from)? {
            Some(resume) => ScanStep::Damage(at.damage(resume.offset, flaw), resume),
            None => ScanStep::Tail(Some(flaw)),
        })
    }

    /// Where batches go on behind damage. A payload may hold the bytes of batches too. So of the chains
    /// that contradict each other, the one to the end of the file wins, or else the longest.
    fn resume(
        &mut self,
        at: JournalPosition,
        mut from: JournalPosition,
    ) -> io::Result<Option<JournalPosition>> {
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

    /// The chain that begins with the next whole batch that can follow `at`.
    fn next_chain(
        &mut self,
        at: JournalPosition,
        mut from: JournalPosition,
    ) -> io::Result<Option<Chain>> {
        while let Some(found) = self.find_magic(from)? {
            if let Ok(header) = self.look(found, CheckDepth::Bodies)? {
                let begin = JournalPosition { offset: header.base_offset, ..found };
                if at.may_precede(begin) {
                    return self.chain(begin, &header).map(Some);
                }
            }
            from = JournalPosition { position: found.position + 1, ..found };
        }
        Ok(None)
    }

    fn chain(&mut self, begin: JournalPosition, first: &BatchHeader) -> io::Result<Chain> {
        let mut end = begin.after(first);
        loop {
            match self.look(end, CheckDepth::Headers)? {
                Ok(next) if next.base_offset == end.offset => end = end.after(&next),
                other => return Ok(Chain { begin, end, is_last: other == Err(None) }),
            }
        }
    }

    /// Where to look for the next batch. Behind a damaged body whose header is whole, that header says
    /// where the body ends: the body holds what clients sent, which must not be taken for a batch.
    fn beyond(&mut self, at: JournalPosition, flaw: Flaw) -> io::Result<JournalPosition> {
        let header = self.look(at, CheckDepth::Headers)?.ok().filter(|_| flaw == Flaw::BodyDamaged);
        let next = JournalPosition { position: at.position + 1, ..at };
        Ok(header.map_or(next, |header| at.after(&header)))
    }

    fn find_magic(&mut self, mut at: JournalPosition) -> io::Result<Option<JournalPosition>> {
        loop {
            let bytes = self.window.view(self.source, at, WINDOW_BYTES)?;
            if bytes.len() < BATCH_MAGIC.len() {
                return Ok(None);
            }
            match bytes.windows(BATCH_MAGIC.len()).position(|four| four == BATCH_MAGIC) {
                Some(skipped) => {
                    at.position += skipped as u64;
                    return Ok(Some(at));
                }
                None => at.position += (bytes.len() - BATCH_MAGIC.len() + 1) as u64,
            }
        }
    }
}
