//! Recovery: finds the end of a journal that is opened for writing, and cuts off a torn tail.
//! Never drops bytes that might be messages without setting them aside. Never gives an offset twice.

use std::io;
use std::ops::Range;

use crate::error::{Damage, OpenError};
use crate::format::{FORMAT_VERSION, Flaw, JournalIdentity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::headers::{self, FoundHeader};
use crate::index::SegmentIndex;
use crate::receipt::TailCut;
use crate::reservation::Reservation;
use crate::scan::{CheckDepth, ReadWindow, Scan, ScanStep};
use crate::segment::{JournalPosition, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::Storage;
use crate::watermarks;

/// What recovery found in the segments.
#[derive(Default)]
pub(crate) struct RecoveryFindings {
    /// Segments that are complete, and their bytes.
    pub sealed: usize,
    pub sealed_bytes: u64,
    pub first_offset: u64,
    /// Identity and newest epoch; `None` for a journal without a whole segment header.
    pub written_by: Option<(JournalIdentity, u64)>,
    /// The end of the last whole batch.
    pub end: JournalPosition,
    /// The segment to write next: a new one, or the last if it has no batch.
    pub active: SegmentId,
    /// How many offsets directly before the active segment no message gets.
    pub skipped: u64,
    /// All offsets of the journal that no message has, ascending.
    pub left_out: Vec<Range<u64>>,
    /// The index of the last segment, when its header is whole and it is not the active one.
    pub index: Option<(SegmentHeader, SegmentIndex)>,
    pub bytes_read: u64,
    pub cut: Option<TailCut>,
    pub damage: Vec<Damage>,
}

/// Reads the last segment only: the others were synced whole before it was created.
pub(crate) fn recover(storage: &mut dyn Storage) -> Result<RecoveryFindings, OpenError> {
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
        // Offsets before the first segment are no part of the journal.
        if segment.offset > found.first_offset {
            let skipped = headers::skipped(storage, segment)?;
            found.leave_out(segment, skipped);
        }
    }
    found.leave_out(active, found.skipped);
    Ok(found)
}

impl RecoveryFindings {
    /// Notes that the `count` offsets directly before a segment belong to no message.
    fn leave_out(&mut self, before: SegmentId, count: u64) {
        if count > 0 {
            self.left_out.push(before.offset - count..before.offset);
        }
    }
}

fn empty() -> RecoveryFindings {
    let end = JournalPosition::first(SegmentId::default());
    RecoveryFindings { end, ..RecoveryFindings::default() }
}

fn recover_last(
    storage: &mut dyn Storage,
    last: SegmentId,
    before: &[SegmentId],
) -> Result<RecoveryFindings, OpenError> {
    let (mut found, mut whole_header) = (empty(), None);
    match find_header(storage, last)? {
        FoundHeader::Whole(header) => {
            found.written_by = Some((header.identity, header.epoch));
            whole_header = Some(header);
        }
        FoundHeader::Short => found.written_by = known_writer(storage, before)?,
        FoundHeader::Damaged(damage) => match known_writer(storage, before)? {
            None => return Err(damage.into()),
            written_by => {
                found.written_by = written_by;
                found.damage.push(damage);
            }
        },
    }
    found.bytes_read = storage.size(last)?;
    let noted = NotedEnds::read(storage, found.written_by)?;
    let tail = settle_tail(storage, last, &noted)?;
    (found.end, found.cut) = (tail.index.end.in_segment(last), tail.cut);
    found.damage.extend(tail.damage);
    let unused = found.end == JournalPosition::first(last) && found.damage.is_empty();
    found.active = if unused { last } else { last.next(found.end.offset) };
    if let Some(ahead) = noted.ahead_of(found.end) {
        let flaw = found.cut.as_ref().map_or(Flaw::Missing, |cut| cut.flaw);
        found.damage.push(found.end.damage(ahead.offset, flaw));
        found.active = ahead.segment.next(ahead.offset);
    }
    let unused = noted.first_unused(found.active.offset);
    if unused > found.active.offset {
        found.skipped = unused - found.active.offset;
        found.active = SegmentId { offset: unused, part: 0 };
    } else if found.active == last {
        // The segment is created again, and keeps what its header said.
        found.skipped = headers::skipped(storage, last)?;
    }
    let header = whole_header.filter(|_| found.active != last);
    found.index = header.map(|header| (header, tail.index));
    Ok(found)
}

/// How far the journal had come, as the files beside the segments say.
struct NotedEnds {
    /// Everything before it was synced. `None` if there is no such file: an older Slipring wrote the
    /// journal.
    durable: Option<JournalPosition>,
    snapshot: Option<JournalPosition>,
    /// Offsets below it may have been given.
    reserved: Option<Result<u64, Flaw>>,
}

impl NotedEnds {
    /// Reads no file while the journal has no identity: they would be of another one.
    fn read(storage: &dyn Storage, written_by: Option<(JournalIdentity, u64)>) -> io::Result<Self> {
        let Some((identity, _)) = written_by else {
            return Ok(Self { durable: None, snapshot: None, reserved: None });
        };
        let snapshot = storage.get(SNAPSHOT)?;
        Ok(Self {
            durable: watermarks::durable(storage, identity)?.and_then(Result::ok),
            snapshot: snapshot.and_then(|bytes| snapshot::position(&bytes, identity).ok()),
            reserved: watermarks::reserved(storage, identity)?,
        })
    }

    /// The first offset that was never given. The segments reach up to `end`.
    fn first_unused(&self, end: u64) -> u64 {
        let reserved = self.reserved.unwrap_or(Ok(end));
        reserved.unwrap_or_else(|_| Reservation::most_after(end)).max(end)
    }

    /// The position that the files note beyond the end of the segments: synced bytes were lost. The
    /// offsets before it must not be given again, and the next segment must come after it.
    fn ahead_of(&self, end: JournalPosition) -> Option<JournalPosition> {
        let known = self.snapshot.max(self.durable);
        known.filter(|known| *known > end && known.offset >= end.offset)
    }

    /// Up to which byte a segment was synced, as far as `durable` says.
    fn synced_bytes(&self, segment: SegmentId) -> u64 {
        match self.durable {
            Some(durable) if durable.segment < segment => 0,
            Some(durable) if durable.segment == segment => durable.position,
            // `durable` is in a later segment, which was created after this one was synced. Or there is
            // no such file: then nothing counts as torn.
            _ => u64::MAX,
        }
    }
}

/// Identity and epoch for a segment whose own header is unreadable: from the other segments, or else from
/// the files beside them, which hold no epoch.
fn known_writer(
    storage: &dyn Storage,
    others: &[SegmentId],
) -> Result<Option<(JournalIdentity, u64)>, OpenError> {
    match headers::newest(others, |segment| find_header(storage, segment))? {
        None => Ok(watermarks::owner(storage)?.map(|identity| (identity, 0))),
        Some(header) => Ok(Some((header.identity, header.epoch))),
    }
}

/// The header as recovery needs it: another version, or the header of another segment, is an error.
fn find_header(storage: &dyn Storage, segment: SegmentId) -> Result<FoundHeader, OpenError> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES + 1];
    let length = storage.read_at(segment, 0, &mut bytes)?;
    let damaged = |flaw| JournalPosition::first(segment).header_damage(flaw);
    match SegmentHeader::decode(&bytes[..length]) {
        Ok((FORMAT_VERSION, header)) if header.segment == segment => Ok(FoundHeader::Whole(header)),
        Ok((FORMAT_VERSION, _)) => Err(damaged(Flaw::WrongOffset).into()),
        Ok((version, _)) => Err(OpenError::Version { segment, version }),
        Err(_) if is_torn(&bytes[..length]) => Ok(FoundHeader::Short),
        Err(flaw) => Ok(FoundHeader::Damaged(damaged(flaw))),
    }
}

/// Segments are created whole, with their header. A file that is shorter, or holds 64 zeros and nothing
/// else, is a creation that a crash cut off.
fn is_torn(bytes: &[u8]) -> bool {
    let is_blank = bytes.iter().all(|byte| *byte == 0);
    bytes.len() < SEGMENT_HEADER_BYTES || (bytes.len() == SEGMENT_HEADER_BYTES && is_blank)
}

/// The last segment, as recovery leaves it.
struct SettledTail {
    index: SegmentIndex,
    cut: Option<TailCut>,
    /// Damage before the end.
    damage: Vec<Damage>,
}

/// Finds the end of the last segment. Steps over damage in what was synced, and cuts off what a crash left
/// half written. Then syncs the segment: the process that wrote it may have been killed before it did, and
/// the next segment must not be created earlier.
///
/// A hole is damage when something proves that it was synced: the file `durable`, or a batch behind it
/// that was appended later. Otherwise a power cut wrote some pages and lost others. Then nothing from the
/// hole on was acknowledged, and keeping a part of it would not leave a prefix of what was sent. So the rest
/// is cut off and set aside.
///
/// An example: batches at the bytes 64, 164, 264 and 364. The header of the last one says that when it was
/// appended, all but the 100 bytes before it was synced. So a flaw at 164 is damage, and the batches at 264
/// and 364 are kept. A flaw at 264 may be a torn write, and `durable` decides: if it is at 364, the flaw is
/// damage; if it is at 264, recovery cuts the segment there.
fn settle_tail(
    storage: &mut dyn Storage,
    segment: SegmentId,
    noted: &NotedEnds,
) -> io::Result<SettledTail> {
    let Walked { mut index, mut damage, flaw, witnessed } = walk(storage, segment)?;
    let synced = witnessed.max(noted.synced_bytes(segment));
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
            // Synced bytes may have been acknowledged, so a person may want to look at them.
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
) -> io::Result<TailCut> {
    let bytes = storage.size(segment)?.saturating_sub(position);
    if set_aside {
        storage.set_aside(segment, position)?;
    }
    storage.truncate(segment, position)?;
    Ok(TailCut { segment, position, bytes, flaw, set_aside })
}

/// What a walk over a segment found.
struct Walked {
    index: SegmentIndex,
    /// Damage with whole batches behind it.
    damage: Vec<Damage>,
    /// What is wrong behind the last whole batch.
    flaw: Option<Flaw>,
    /// Everything before this byte was synced, as the headers of later batches say.
    witnessed: u64,
}

fn walk(storage: &dyn Storage, segment: SegmentId) -> io::Result<Walked> {
    let mut window = ReadWindow::default();
    let mut scan = Scan { source: storage, window: &mut window };
    let (mut index, mut damage, mut witnessed) = (SegmentIndex::new(segment), Vec::new(), 0);
    loop {
        let at = index.end.in_segment(segment);
        match scan.step(at, CheckDepth::Bodies)? {
            ScanStep::Batch(header) => {
                let synced = header.unsynced.and_then(|back| at.position.checked_sub(back.into()));
                witnessed = witnessed.max(synced.unwrap_or(0));
                index.pass(at.position, &header);
            }
            ScanStep::Damage(found, resume) => {
                damage.push(found);
                index.skip(at.position, resume.position, resume.offset);
            }
            ScanStep::Tail(flaw) => return Ok(Walked { index, damage, flaw, witnessed }),
        }
    }
}
