//! The report of a journal check. Plain values.

use std::fmt;
use std::ops::ControlFlow;

use crate::consumers::Consumer;
use crate::error::Damage;
use crate::format::{Flaw, JournalIdentity};
use crate::index_file::IndexFlaw;
use crate::segment::{JournalPosition, SegmentId};

/// Called with the bytes read and the bytes in all; a break ends a check or a salvage.
pub(crate) type ByteProgress<'a> = &'a mut dyn FnMut(u64, u64) -> ControlFlow<()>;

/// Damage that a report lists; further damage is only counted.
const DAMAGE_MAX: usize = 1000;

/// The condition of a whole journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Which journal it is; `None` if no segment has a whole header.
    pub identity: Option<JournalIdentity>,
    /// The segments, oldest first.
    pub segments: Vec<SegmentReport>,
    /// The oldest offset.
    pub first_offset: u64,
    /// One past the newest offset.
    pub end_offset: u64,
    /// Messages that can be read.
    pub messages: u64,
    /// Whole batches, those without messages included.
    pub batches: u64,
    /// Bytes of records of state.
    pub record_bytes: u64,
    /// Bytes of all segments.
    pub bytes: u64,
    /// Damage in order, up to `DAMAGE_MAX` entries.
    pub damage: Vec<Damage>,
    /// Damage beyond those entries.
    pub more_damage: u64,
    /// The bytes behind the last whole batch: torn, or just being written.
    pub tail: Option<Damage>,
    /// How many bytes that are.
    pub tail_bytes: u64,
    /// The snapshot of the state.
    pub snapshot: SnapshotState,
    /// The consumers of the journal.
    pub consumers: Vec<Consumer>,
}

impl CheckReport {
    /// Whether everything that was ever synced can be read.
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.segments.iter().all(|one| one.header.is_whole())
    }

    pub(crate) fn add_damage(&mut self, damage: Damage) {
        list_damage(&mut self.damage, &mut self.more_damage, damage);
    }
}

/// Adds damage to a report's list, or only counts it if the list is full.
pub(crate) fn list_damage(list: &mut Vec<Damage>, more: &mut u64, damage: Damage) {
    if list.len() < DAMAGE_MAX {
        list.push(damage);
    } else {
        *more += 1;
    }
}

/// The condition of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentReport {
    /// Its name.
    pub id: SegmentId,
    /// Its size.
    pub bytes: u64,
    /// Messages that can be read.
    pub messages: u64,
    /// The oldest and the newest receive time, if there is a batch.
    pub times_ns: Option<(i64, i64)>,
    /// The condition of its header.
    pub header: HeaderState,
    /// The condition of its index.
    pub index: IndexState,
}

/// The condition of a segment's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderState {
    /// A header of this journal, with its epoch.
    Whole(u64),
    /// The segment is just being created.
    Torn,
    /// A header that cannot be trusted.
    Damaged(Flaw),
    /// The header of another journal; the segment is not read.
    Foreign(JournalIdentity),
    /// Another version of the format; the segment is not read.
    Version(u32),
}

impl HeaderState {
    fn is_whole(self) -> bool {
        matches!(self, Self::Whole(_) | Self::Torn)
    }
}

impl fmt::Display for HeaderState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(epoch) => write!(out, "whole, of epoch {epoch}"),
            Self::Torn => out.write_str("the file ends inside the header"),
            Self::Damaged(flaw) => flaw.fmt(out),
            Self::Foreign(identity) => write!(out, "it belongs to journal {identity}"),
            Self::Version(version) => write!(out, "it has format version {version}"),
        }
    }
}

/// The condition of a segment's index. Without a good one the segment is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// It matches the segment.
    Good,
    /// There is none; the segment being written never has one.
    Absent,
    /// It cannot be used.
    Unused(IndexFlaw),
    /// It is whole, but does not match the segment.
    Wrong,
}

impl fmt::Display for IndexState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good => out.write_str("good"),
            Self::Absent => out.write_str("absent"),
            Self::Unused(flaw) => flaw.fmt(out),
            Self::Wrong => out.write_str("the index does not match the segment"),
        }
    }
}

/// The condition of the snapshot. Without a good one recovery follows the journal from its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SnapshotState {
    /// There is none.
    #[default]
    Absent,
    /// It is whole.
    Whole {
        /// The position whose state it holds.
        at: JournalPosition,
        /// Bytes of the state.
        bytes: u64,
    },
    /// It cannot be used, and why.
    Damaged(String),
}
