//! What a check found in a journal, for a person or a program. Holds no logic.

use std::fmt;

use crate::consumers::Consumer;
use crate::error::Damage;
use crate::format::{Flaw, Identity};
use crate::index_file::IndexFlaw;
use crate::segment::{Position, SegmentId};

/// So many damaged places are named; the others are counted.
pub const DAMAGE_MAX: usize = 1000;

/// A whole journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Which journal it is; none when no segment has a whole header.
    pub identity: Option<Identity>,
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
    /// What cannot be read, in order, up to `DAMAGE_MAX` places.
    pub damage: Vec<Damage>,
    /// Damaged places that are not named.
    pub more_damage: u64,
    /// What stands behind the last whole batch: torn, or just being written.
    pub tail: Option<Tail>,
    /// The snapshot of the state.
    pub snapshot: SnapshotState,
    /// Who reads the journal.
    pub consumers: Vec<Consumer>,
}

impl Report {
    /// Whether everything that was ever synced can be read.
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.segments.iter().all(|one| one.head.is_whole())
    }
}

impl Report {
    pub(crate) fn new(identity: Option<Identity>) -> Self {
        Self {
            identity,
            segments: Vec::new(),
            first_offset: 0,
            end_offset: 0,
            messages: 0,
            batches: 0,
            record_bytes: 0,
            bytes: 0,
            damage: Vec::new(),
            more_damage: 0,
            tail: None,
            snapshot: SnapshotState::Absent,
            consumers: Vec::new(),
        }
    }

    pub(crate) fn add_damage(&mut self, damage: Damage) {
        if self.damage.len() < DAMAGE_MAX {
            self.damage.push(damage);
        } else {
            self.more_damage += 1;
        }
    }
}

/// One segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentReport {
    /// Its name.
    pub id: SegmentId,
    /// Its size.
    pub bytes: u64,
    /// Messages that can be read.
    pub messages: u64,
    /// The oldest and the newest receive time, where there is a batch.
    pub times_ns: Option<(i64, i64)>,
    /// How its header is.
    pub head: Head,
    /// How its index is.
    pub index: IndexState,
}

/// What stands at the start of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A header of this journal, with the epoch.
    Whole(u64),
    /// The segment is being born.
    Torn,
    /// A header that cannot be trusted.
    Damaged(Flaw),
    /// The header of another journal; the segment is not looked at.
    Foreign(Identity),
    /// Another version of the format; the segment is not looked at.
    Version(u32),
}

impl Head {
    fn is_whole(self) -> bool {
        matches!(self, Self::Whole(_) | Self::Torn)
    }
}

impl fmt::Display for Head {
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

/// How the index of a segment is. Without a good one the segment is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexState {
    /// It says what the segment says.
    Good,
    /// There is none; the segment being written never has one.
    Absent,
    /// It is not used.
    Unused(IndexFlaw),
    /// It is whole, but the segment says something else.
    Wrong,
}

impl fmt::Display for IndexState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good => out.write_str("good"),
            Self::Absent => out.write_str("absent"),
            Self::Unused(flaw) => flaw.fmt(out),
            Self::Wrong => out.write_str("the index says something else than the segment"),
        }
    }
}

/// Bytes behind the last whole batch of the last segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tail {
    /// Where they begin.
    pub at: Position,
    /// How many they are.
    pub bytes: u64,
    /// Why they are no batch.
    pub flaw: Flaw,
}

/// How the snapshot of the state is. Without a good one everything is followed from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotState {
    /// There is none.
    Absent,
    /// It is whole.
    Whole {
        /// What it holds the state up to.
        at: Position,
        /// Bytes of the state.
        bytes: u64,
    },
    /// It cannot be used, and why.
    Damaged(String),
}
