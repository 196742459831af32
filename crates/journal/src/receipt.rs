//! What recovery found and did. Its text form is one line for a person.

use std::fmt;
use std::ops::Range;

use crate::error::Damage;
use crate::format::{Flaw, JournalIdentity};
use crate::segment::SegmentId;

/// What recovery found when the journal was opened for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoveryReceipt {
    /// Which journal it is.
    pub identity: JournalIdentity,
    /// The number of this opening for writing: its time, or one more than the last one if that is larger.
    pub epoch: u64,
    /// The oldest offset.
    pub first_offset: u64,
    /// The offset the next message gets.
    pub next_offset: u64,
    /// Offsets in between that no message has, ascending: they were reserved when a broker crashed.
    pub left_out: Vec<Range<u64>>,
    /// Segment files, the active one included.
    pub segments: usize,
    /// Bytes that were read and checked.
    pub bytes_read: u64,
    /// What was cut off the end, if anything.
    pub cut: Option<TailCut>,
    /// Damage that was left as it is. [`crate::JournalReader::follow`] may find more.
    pub damage: Vec<Damage>,
    /// The mode that the folder had, if others could read it; that right was taken from them.
    pub narrowed: Option<u32>,
}

impl RecoveryReceipt {
    /// How many offsets no message has.
    pub fn skipped(&self) -> u64 {
        self.left_out.iter().map(|range| range.end - range.start).sum()
    }

    /// Messages in the journal, including damaged ones.
    pub(crate) fn messages(&self) -> u64 {
        (self.next_offset - self.first_offset).saturating_sub(self.skipped())
    }
}

impl fmt::Display for RecoveryReceipt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first_offset, next_offset, segments, .. } = self;
        write!(out, "journal {}: {} messages kept", self.identity, self.messages())?;
        write!(out, ", offsets {first_offset} to {next_offset}, {segments} segments, ")?;
        match &self.cut {
            None => out.write_str("nothing cut")?,
            Some(cut) => cut.fmt(out)?,
        }
        self.damage.iter().try_for_each(|damage| write!(out, "; {damage}"))
    }
}

/// The bytes that recovery cut off the end of the last segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TailCut {
    /// The segment.
    pub segment: SegmentId,
    /// The size of the segment after the cut.
    pub position: u64,
    /// Bytes cut off.
    pub bytes: u64,
    /// What is wrong with them.
    pub flaw: Flaw,
    /// Whether the bytes were copied to a `.cut` file: there were whole batches among them, or they may have
    /// been synced.
    pub set_aside: bool,
}

impl fmt::Display for TailCut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segment, position, bytes, flaw, .. } = self;
        write!(out, "{bytes} bytes cut from segment {segment}.seg at byte {position}: {flaw}")?;
        if self.set_aside {
            write!(out, "; the bytes are kept in {segment}.{position}.cut")?;
        }
        Ok(())
    }
}
