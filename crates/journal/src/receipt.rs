//! What recovery found and did: one line for a person when displayed. Holds no logic.

use std::fmt;
use std::ops::Range;

use crate::error::Damage;
use crate::format::{Flaw, Identity};
use crate::segment::SegmentId;

/// What was there when the journal was opened for writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Which journal it is.
    pub identity: Identity,
    /// The number of this opening for writing: its time, or more than all before.
    pub epoch: u64,
    /// The oldest offset.
    pub first_offset: u64,
    /// The offset the next message gets.
    pub next_offset: u64,
    /// Offsets in between that no message has, ascending: they are not given again after a crash.
    pub left_out: Vec<Range<u64>>,
    /// Segment files, the active one included.
    pub segments: usize,
    /// Bytes that were read and checked.
    pub bytes_read: u64,
    /// What was cut from the tail, if anything.
    pub cut: Option<Cut>,
    /// What cannot be read and was left as it is. Who follows the journal adds what is found then.
    pub damage: Vec<Damage>,
    /// The mode that the folder had, where others could read it; they cannot any more.
    pub narrowed: Option<u32>,
}

impl Receipt {
    /// How many offsets no message has.
    pub fn skipped(&self) -> u64 {
        self.left_out.iter().map(|range| range.end - range.start).sum()
    }

    /// Messages in the journal, those that are damaged included.
    pub fn records(&self) -> u64 {
        (self.next_offset - self.first_offset).saturating_sub(self.skipped())
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first_offset, next_offset, segments, .. } = self;
        write!(out, "journal {}: {} messages kept", self.identity, self.records())?;
        write!(out, ", offsets {first_offset} to {next_offset}, {segments} segments, ")?;
        match &self.cut {
            None => out.write_str("nothing cut")?,
            Some(cut) => cut.fmt(out)?,
        }
        self.damage.iter().try_for_each(|damage| write!(out, "; {damage}"))
    }
}

/// The tail that recovery cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The segment.
    pub segment: SegmentId,
    /// Where the cut was made.
    pub position: u64,
    /// Bytes cut.
    pub bytes: u64,
    /// Why.
    pub flaw: Flaw,
    /// Whether the bytes were copied to a `.cut` file: whole batches stood among them, or they may have
    /// been synced.
    pub set_aside: bool,
}

impl fmt::Display for Cut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { segment, position, bytes, flaw, .. } = self;
        write!(out, "{bytes} bytes cut from segment {segment}.seg at byte {position}: {flaw}")?;
        if self.set_aside {
            write!(out, "; the bytes are kept in {segment}.{position}.cut")?;
        }
        Ok(())
    }
}
