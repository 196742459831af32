//! Scratch buffers in which packets of a group are made.

use slipring_wire::frame::FrameBuf;

use super::format::{FrameContext, PacketFormat};
use super::gathered::GatheredBytes;
use super::members::Member;
use super::packets::{GroupPackets, PacketPosition};
use super::remembered::RememberedBytes;
use super::{FirstValues, GroupLimits};
use crate::table::columns::Columns;
use crate::table::frame_filler::FrameFiller;
use crate::table::rows::Rows;

/// Scratch buffers that groups use one after the other, and the counters they share.
#[derive(Debug)]
pub(super) struct GroupScratch {
    pub buf: FrameBuf,
    pub packets: GroupPackets,
    pub rows: Rows,
    pub lost: u64,
    pub gathered: GatheredBytes,
    pub remembered: RememberedBytes,
}

impl GroupScratch {
    pub fn new(room: GroupLimits) -> Self {
        let (buf, packets, rows) = (FrameBuf::new(), GroupPackets::default(), Rows::default());
        let gathered = GatheredBytes::new(room.gathered_bytes);
        let remembered = RememberedBytes::new(room.remembered_bytes);
        Self { buf, packets, rows, lost: 0, gathered, remembered }
    }

    /// Makes packets of samples in columns; `each` adds the spans of positions to write, each with the index of
    /// its first parameter.
    pub fn write(
        &mut self,
        columns: &Columns,
        format: &PacketFormat,
        context: &FrameContext<'_>,
        each: impl FnOnce(&mut dyn FnMut(std::ops::Range<usize>, u32)),
    ) {
        let Self { buf, packets, rows, .. } = self;
        let mut full = |buf: &mut FrameBuf| packets.seal(buf, format, context);
        let mut filler = FrameFiller::new(buf, format.body_max, &mut full);
        each(&mut |span, index| rows.add(columns, span, index, &mut filler));
        rows.finish(columns, &mut filler);
        filler.pass_on();
    }

    /// Takes the packets as the first values of a new member.
    pub fn first(&mut self, member: &mut Member) -> FirstValues {
        let mut first = FirstValues::default();
        self.packets.send_to(
            PacketPosition::default(),
            &mut member.head,
            &mut |packets, messages| {
                first.packets.extend_from_slice(packets);
                first.messages += messages;
            },
        );
        self.lost += self.packets.clear();
        first
    }
}
