//! Recovery: what a journal holds when it is opened for writing, and what of its tail is cut.
//! Never gives up bytes that might be messages without setting them aside, nor an offset twice.

use std::ops::Range;

use std::io;

use crate::bounds;
use crate::error::{Damage, OpenError};
use crate::format::{FORMAT_VERSION, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::index::Index;
use crate::index_file::Of;
use crate::indexes;
use crate::receipt::Cut;
use crate::reservation::Reservation;
use crate::scan::{Check, Scan, Step, Window};
use crate::segment::{Position, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::Storage;

/// What recovery learnt from the segments that were there.
pub(crate) struct Found {
    /// Segments that are not written any more, and their bytes.
    pub sealed: usize,
    pub sealed_bytes: u64,
    pub first_offset: u64,
    /// Identity and newest epoch; `None` for a journal without a whole segment header.
    pub written_by: Option<(Identity, u64)>,
    /// Behind the last whole batch.
    pub end: Position,
    /// The segment to write next: a new one, or the last if it has no batch.
    pub active: SegmentId,
    /// Offsets that are left out before the active segment, and all in the journal, ascending.
    pub skipped: u64,
    pub left_out: Vec<Range<u64>>,
    /// The index of the last segment, when its header is whole and it is not the active one.
    pub index: Option<(Of, Index)>,
    pub bytes_read: u64,
    pub cut: Option<Cut>,
    pub damage: Vec<Damage>,
}

/// What stands at the start of a segment.
enum Head {
    Whole(SegmentHeader),
    /// Nothing follows.
    Torn,
    Damaged(Damage),
}

/// Looks at the last segment only: the others were synced whole before it existed.
pub(crate) fn recover(storage: &mut dyn Storage) -> Result<Found, OpenError> {
    let segments = storage.segments()?;
    let mut found = match segments.split_last() {
        Some((last, before)) => recover_last(storage, *last, before)?,
        None => empty(),
    };
    found.first_offset = segments.first().map_or(found.active.offset, |first| first.offset);
    let active = found.active;
    for segment in segments.into_iter().filter(|segment| *segment != active) {
        found.sealed += 1;
        found.sealed_bytes += storage.size(segment)?;
        // What is before the first one is not there to be counted.
        if segment.offset > found.first_offset {
            let skipped = indexes::skipped(storage, segment)?;
            found.leave_out(segment, skipped);
        }
    }
    found.leave_out(active, found.skipped);
    Ok(found)
}

impl Found {
    /// So many offsets before a segment are left out.
    fn leave_out(&mut self, before: SegmentId, count: u64) {
        if count > 0 {
            self.left_out.push(before.offset - count..before.offset);
        }
    }
}

fn empty() -> Found {
    let active = SegmentId::default();
    Found {
        sealed: 0,
        sealed_bytes: 0,
        first_offset: 0,
        written_by: None,
        end: Position::first(active),
        active,
        skipped: 0,
        left_out: Vec::new(),
        index: None,
        bytes_read: 0,
        cut: None,
        damage: Vec::new(),
    }
}

fn recover_last(
    storage: &mut dyn Storage,
    last: SegmentId,
    before: &[SegmentId],
) -> Result<Found, OpenError> {
    let (mut found, mut of) = (empty(), None);
    match head(storage, last)? {
        Head::Whole(SegmentHeader { identity, epoch, segment, .. }) => {
            found.written_by = Some((identity, epoch));
            of = Some(Of { identity, epoch, segment });
        }
        Head::Torn => found.written_by = known_writer(storage, before)?,
        Head::Damaged(damage) => match known_writer(storage, before)? {
            None => return Err(damage.into()),
            written_by => {
                found.written_by = written_by;
                found.damage.push(damage);
            }
        },
    }
    found.bytes_read = storage.size(last)?;
    let known = Known::read(storage, found.written_by)?;
    let tail = settle_tail(storage, last, &known)?;
    (found.end, found.cut) = (tail.index.end_in(last), tail.cut);
    found.damage.extend(tail.damage);
    let unused = found.end == Position::first(last) && found.damage.is_empty();
    found.active = if unused { last } else { last.next(found.end.offset) };
    if let Some(ahead) = known.ahead_of(found.end) {
        let flaw = found.cut.as_ref().map_or(Flaw::Missing, |cut| cut.flaw);
        found.damage.push(found.end.damage(ahead.offset, flaw));
        found.active = ahead.segment.next(ahead.offset);
    }
    let unused = known.first_unused(found.active.offset);
    if unused > found.active.offset {
        found.skipped = unused - found.active.offset;
        found.active = SegmentId { offset: unused, part: 0 };
    } else if found.active == last {
        // It is begun again, with what it said.
        found.skipped = indexes::skipped(storage, last)?;
    }
    found.index = of.filter(|_| found.active != last).map(|of| (of, tail.index));
    Ok(found)
}

/// What the files beside the segments know of the journal.
struct Known {
    /// What is before was synced. None where no file says so: a journal of an older Slipring.
    durable: Option<Position>,
    snapshot: Option<Position>,
    /// Offsets below may have been given.
    reserved: Option<Result<u64, Flaw>>,
}

impl Known {
    /// Nothing is known while nobody has written a segment.
    fn read(storage: &dyn Storage, written_by: Option<(Identity, u64)>) -> io::Result<Self> {
        let Some((identity, _)) = written_by else {
            return Ok(Self { durable: None, snapshot: None, reserved: None });
        };
        let snapshot = storage.get(SNAPSHOT)?;
        Ok(Self {
            durable: bounds::durable(storage, identity)?.and_then(Result::ok),
            snapshot: snapshot.and_then(|bytes| snapshot::position(&bytes, identity).ok()),
            reserved: bounds::reserved(storage, identity)?,
        })
    }

    /// The first offset that was never given, in a journal that goes up to `end`.
    fn first_unused(&self, end: u64) -> u64 {
        let reserved = self.reserved.unwrap_or(Ok(end));
        reserved.unwrap_or_else(|_| Reservation::most_after(end)).max(end)
    }

    /// Where more is known than the segments have: synced bytes were lost. The offsets before it must
    /// not be given again, and what is written next must come after it.
    fn ahead_of(&self, end: Position) -> Option<Position> {
        let known = self.snapshot.max(self.durable);
        known.filter(|known| *known > end && known.offset >= end.offset)
    }

    /// Up to which byte a segment was synced for certain, by this alone.
    fn synced_bytes(&self, segment: SegmentId) -> u64 {
        match self.durable {
            Some(durable) if durable.segment < segment => 0,
            Some(durable) if durable.segment == segment => durable.position,
            // A later segment begins when this one is synced; and what nobody knows is kept.
            _ => u64::MAX,
        }
    }
}

/// Who wrote a segment that does not say it: the others tell, or else the files beside them, which know no
/// epoch; or nobody does.
fn known_writer(
    storage: &dyn Storage,
    others: &[SegmentId],
) -> Result<Option<(Identity, u64)>, OpenError> {
    match newest_writer(storage, others)? {
        None => Ok(bounds::owner(storage)?.map(|identity| (identity, 0))),
        newest => Ok(newest),
    }
}

/// Identity and epoch of the newest segment whose header is whole.
fn newest_writer(
    storage: &dyn Storage,
    segments: &[SegmentId],
) -> Result<Option<(Identity, u64)>, OpenError> {
    for segment in segments.iter().rev() {
        if let Head::Whole(header) = head(storage, *segment)? {
            return Ok(Some((header.identity, header.epoch)));
        }
    }
    Ok(None)
}

fn head(storage: &dyn Storage, segment: SegmentId) -> Result<Head, OpenError> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES + 1];
    let length = storage.read_at(segment, 0, &mut bytes)?;
    let damaged =
        |flaw| Damage { segment, position: 0, offsets: segment.offset..segment.offset, flaw };
    match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, header)) if header.segment == segment => Ok(Head::Whole(header)),
        Ok((FORMAT_VERSION, _)) => Err(damaged(Flaw::WrongOffset).into()),
        Ok((version, _)) => Err(OpenError::Version { segment, version }),
        Err(_) if is_torn(&bytes[..length]) => Ok(Head::Torn),
        Err(flaw) => Ok(Head::Damaged(damaged(flaw))),
    }
}

/// A header takes its place whole: one that is short, or zeros and nothing else, was never there.
fn is_torn(bytes: &[u8]) -> bool {
    let is_blank = bytes.iter().all(|byte| *byte == 0);
    bytes.len() < SEGMENT_HEADER_BYTES || (bytes.len() == SEGMENT_HEADER_BYTES && is_blank)
}

/// The last segment, as recovery leaves it.
struct SettledTail {
    index: Index,
    cut: Option<Cut>,
    /// What cannot be read before its end.
    damage: Vec<Damage>,
}

/// Goes to the end of a segment, over damage in what was synced, and cuts off what a crash left half
/// written. What is left is synced: who was killed before may not have done it, and the next segment
/// must not exist before.
///
/// A hole is damage when something proves that it was synced: the file `durable`, or a batch behind it
/// that was appended later. Else a power cut wrote some pages and not others: nothing from the hole on
/// was acknowledged, and a part of it would be no prefix of what was sent. So it is cut, and kept aside.
///
/// An example: batches at bytes 64, 164, 264 and 364. The one at 364 says that all was synced but the
/// 100 bytes before it. A flaw at 164 is damage, and the batches at 264 and 364 are kept. A flaw at 264
/// may be a torn write; `durable` decides.
fn settle_tail(
    storage: &mut dyn Storage,
    segment: SegmentId,
    known: &Known,
) -> io::Result<SettledTail> {
    let Walked { mut index, mut damage, flaw, witnessed } = walk(storage, segment)?;
    let synced = witnessed.max(known.synced_bytes(segment));
    let torn = damage.iter().position(|damage| damage.position >= synced);
    let cut = match (torn.map(|at| damage[at].clone()), flaw) {
        (Some(hole), _) => {
            damage.truncate(torn.unwrap_or_default());
            let cut = cut(storage, segment, hole.position, hole.flaw, true)?;
            index = walk(storage, segment)?.index;
            Some(cut)
        }
        (None, Some(flaw)) => {
            let end = index.end.position;
            // What was synced may have been acknowledged: a person may want its bytes.
            Some(cut(storage, segment, end, flaw, synced > end)?)
        }
        (None, None) => None,
    };
    storage.sync(segment)?;
    Ok(SettledTail { index, cut, damage })
}

fn cut(
    storage: &mut dyn Storage,
    segment: SegmentId,
    position: u64,
    flaw: Flaw,
    set_aside: bool,
) -> io::Result<Cut> {
    let bytes = storage.size(segment)?.saturating_sub(position);
    if set_aside {
        storage.set_aside(segment, position)?;
    }
    storage.truncate(segment, position)?;
    Ok(Cut { segment, position, bytes, flaw, set_aside })
}

/// What stands in a segment.
struct Walked {
    index: Index,
    /// Places that cannot be read, with whole batches behind them.
    damage: Vec<Damage>,
    /// What is wrong behind the last whole batch.
    flaw: Option<Flaw>,
    /// What is before this byte was synced, as batches say that were appended later.
    witnessed: u64,
}

fn walk(storage: &dyn Storage, segment: SegmentId) -> io::Result<Walked> {
    let mut window = Window::default();
    let mut scan = Scan { source: storage, window: &mut window };
    let (mut index, mut damage, mut witnessed) = (Index::new(segment), Vec::new(), 0);
    loop {
        let at = index.end_in(segment);
        match scan.step(at, Check::Bodies)? {
            Step::Batch(header) => {
                let synced = header.unsynced.and_then(|back| at.position.checked_sub(back.into()));
                witnessed = witnessed.max(synced.unwrap_or(0));
                index.pass(at.position, &header);
            }
            Step::Damage(found, resume) => {
                damage.push(found);
                index.skip(at.position, resume.position, resume.offset);
            }
            Step::Tail(flaw) => return Ok(Walked { index, damage, flaw, witnessed }),
        }
    }
}
