//! Recovery: what a journal holds when it is opened for writing, and what of its tail is cut.
//! Never gives up bytes that might be messages without setting them aside.

use std::io;

use crate::error::{Damage, OpenError};
use crate::format::{FORMAT_VERSION, Flaw, Identity, SEGMENT_HEADER_BYTES, SegmentHeader};
use crate::index::Index;
use crate::index_file::Of;
use crate::receipt::Cut;
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
    let sealed = segments.iter().filter(|segment| **segment != found.active);
    found.sealed = sealed.clone().count();
    found.sealed_bytes = sealed.map(|segment| storage.size(*segment)).sum::<io::Result<u64>>()?;
    found.first_offset = segments.first().map_or(found.active.offset, |first| first.offset);
    Ok(found)
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
        Head::Whole(SegmentHeader { identity, epoch, segment }) => {
            found.written_by = Some((identity, epoch));
            of = Some(Of { identity, epoch, segment });
        }
        Head::Torn => found.written_by = newest_writer(storage, before)?,
        // Who wrote it is known from the others, or not at all.
        Head::Damaged(damage) => match newest_writer(storage, before)? {
            None => return Err(damage.into()),
            written_by => {
                found.written_by = written_by;
                found.damage.push(damage);
            }
        },
    }
    found.bytes_read = storage.size(last)?;
    let (index, cut) = cut_tail(storage, last)?;
    (found.end, found.cut) = (index.end_in(last), cut);
    let unused = found.end == Position::first(last) && found.damage.is_empty();
    found.active = if unused { last } else { last.next(found.end.offset) };
    if let Some(ahead) = snapshot_ahead(storage, &found)? {
        let flaw = found.cut.as_ref().map_or(Flaw::Missing, |cut| cut.flaw);
        found.damage.push(found.end.damage(ahead.offset, flaw));
        found.active = ahead.segment.next(ahead.offset);
    }
    found.index = of.filter(|_| found.active != last).map(|of| (of, index));
    Ok(found)
}

/// Where the snapshot knows more than the segments: synced bytes were lost. The offsets it knows
/// must not be given again, and what is written next must come after it.
fn snapshot_ahead(storage: &dyn Storage, found: &Found) -> io::Result<Option<Position>> {
    let (Some(bytes), Some((identity, _))) = (storage.get(SNAPSHOT)?, found.written_by) else {
        return Ok(None);
    };
    let known = snapshot::position(&bytes, identity).ok();
    Ok(known.filter(|known| *known > found.end && known.offset >= found.end.offset))
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
        Err(_) if length <= SEGMENT_HEADER_BYTES => Ok(Head::Torn),
        Err(flaw) => Ok(Head::Damaged(damaged(flaw))),
    }
}

/// Cuts a segment behind its last whole batch in an unbroken run, and says where that is. What is
/// left is synced: who was killed before may not have done it, and the next segment must not exist
/// before.
fn cut_tail(storage: &mut dyn Storage, segment: SegmentId) -> io::Result<(Index, Option<Cut>)> {
    let (index, tail) = last_whole_batch(storage, segment)?;
    let end = index.end_in(segment);
    let cut = match tail {
        Step::Tail(None) | Step::Batch(_) => None,
        Step::Tail(Some(flaw)) => Some(cut(storage, end, flaw, false)?),
        Step::Damage(damage, _) => Some(cut(storage, end, damage.flaw, true)?),
    };
    storage.sync(segment)?;
    Ok((index, cut))
}

fn cut(
    storage: &mut dyn Storage,
    Position { segment, position, .. }: Position,
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

/// The unbroken run of batches, and what stands at its end.
fn last_whole_batch(storage: &dyn Storage, segment: SegmentId) -> io::Result<(Index, Step)> {
    let mut window = Window::default();
    let mut scan = Scan { source: storage, window: &mut window };
    let mut index = Index::new(segment);
    loop {
        let at = index.end_in(segment);
        match scan.step(at, Check::Bodies)? {
            Step::Batch(header) => index.pass(at.position, &header),
            tail => return Ok((index, tail)),
        }
    }
}
