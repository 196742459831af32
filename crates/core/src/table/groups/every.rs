//! Groups that get every sample, or every sample that differs from the last one sent, gathered for a beat.
//!
//! An example with a beat of 20 ms: after a pause, a sample at 1,000 ms is due at once and is sent. That
//! starts a beat, so samples at 1,005 and 1,015 ms are gathered and are due together at 1,020 ms. The newest
//! of them waited 5 ms. So the next beat counts from 1,019 ms (a quarter of the wait earlier) and ends at
//! 1,039 ms; after some beats they end when a steady publisher's frames arrive.

use slipring_wire::frame::{FrameBuf, RangeSet, RunView};

use super::TableState;
use super::format::{FrameContext, PacketFormat, SampleHops};
use super::gathered::GatheredBytes;
use super::group::changed;
use super::last_sent::LastSent;
use super::members::{Member, Recipients};
use super::packets::{GroupPackets, PacketPosition};
use super::scratch::GroupScratch;
use crate::table::frame_filler::FrameFiller;
use crate::table::rows::Rows;
use crate::table::{Millis, Needs};

/// A group that has gathered more bytes than this sends them at once.
const GATHERED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The next beat begins earlier by the wait of the newest sample, divided by this.
const WAIT_DIVISOR: Millis = 4;

#[derive(Debug)]
pub(super) struct EveryFlow {
    buf: FrameBuf,
    packets: GroupPackets,
    beat_ms: Millis,
    /// When the gathered samples are to be sent; None if there are none.
    pub due_ms: Option<Millis>,
    /// When the current beat began.
    last_ms: Option<Millis>,
    /// When the newest gathered sample arrived.
    newest_ms: Millis,
    /// The hops of the newest sample in `buf`.
    newest_hops: Option<SampleHops>,
    pub sent: Option<LastSent>,
    /// The bytes that are counted for this group.
    held_bytes: usize,
}

impl EveryFlow {
    pub fn new(needs: &Needs, beat_ms: u16, sent: Option<LastSent>) -> Self {
        Self {
            buf: FrameBuf::new(),
            packets: GroupPackets::deferred(),
            beat_ms: needs.beat_ms.unwrap_or(beat_ms).into(),
            due_ms: None,
            last_ms: None,
            newest_ms: 0,
            newest_hops: None,
            sent,
            held_bytes: 0,
        }
    }

    /// When the current beat ends. A sample that arrives after that is due at once.
    fn next_ms(&self) -> Millis {
        self.last_ms.map_or(0, |last_ms| last_ms + self.beat_ms)
    }

    /// Begins the next beat, at the end of this one even if samples were sent late: else all later beats would
    /// end later too. If the newest sample had to wait, the next beat begins somewhat earlier.
    fn start_next_beat(&mut self) {
        let Some(due_ms) = self.due_ms.take() else { return };
        let next_ms = self.next_ms();
        let waited_ms = due_ms.saturating_sub(self.newest_ms);
        let was_quiet = self.last_ms.is_none() || due_ms >= next_ms + self.beat_ms;
        self.last_ms =
            Some(if was_quiet { due_ms } else { due_ms.min(next_ms) - waited_ms / WAIT_DIVISOR });
    }

    /// Changes the beat, also for samples that wait for its end.
    pub fn set_beat_ms(&mut self, beat_ms: Millis) {
        let next_ms = self.next_ms();
        self.beat_ms = beat_ms;
        if self.due_ms == Some(next_ms) {
            self.due_ms = Some(self.next_ms());
        }
    }

    /// Adds the chosen samples of a run.
    pub fn gather(
        &mut self,
        run: &RunView<'_>,
        chosen: &RangeSet,
        format: &PacketFormat,
        context: &FrameContext<'_>,
    ) {
        let mut frame_hops = self.begin(context);
        let Self { buf, packets, sent, .. } = self;
        let mut full = |buf: &mut FrameBuf| frame_hops.seal(packets, buf, format, context);
        let mut filler = FrameFiller::new(buf, format.body_max, &mut full);
        match sent {
            None => filler.part(run, chosen),
            Some(sent) => {
                let mut worth = Vec::new();
                let TableState { current, names, .. } = context.state;
                run.visit(|sample| {
                    worth.extend(sent.take(&sample, current, names).then_some(sample));
                });
                sent.end_batch();
                filler.samples(run.kind, &mut worth);
            }
        }
        self.gathered(&frame_hops, context.state.now_ms);
    }

    fn begin(&self, context: &FrameContext<'_>) -> FrameHops {
        FrameHops {
            before: self.newest_hops,
            samples: self.buf.samples(),
            now: context.newest_hops,
        }
    }

    fn gathered(&mut self, frame_hops: &FrameHops, now_ms: Millis) {
        let bytes = self.packets.bytes() + self.buf.bytes();
        if bytes == 0 {
            return;
        }
        self.newest_hops = frame_hops.newest_hops(&self.buf);
        let next_ms = self.next_ms();
        self.newest_ms = now_ms;
        let due_ms = *self.due_ms.get_or_insert(now_ms.max(next_ms));
        if bytes > GATHERED_BYTES_MAX {
            self.due_ms = Some(due_ms.min(now_ms));
        }
    }

    /// Reports the bytes that this group holds, with the spare capacity of its buffers.
    pub fn count(&mut self, all: &mut GatheredBytes) {
        let now = self.packets.held_bytes() + self.buf.bytes();
        all.recount(std::mem::replace(&mut self.held_bytes, now), now);
    }

    /// Makes the gathered samples due now.
    pub fn make_due(&mut self, now_ms: Millis) {
        self.due_ms = self.due_ms.map(|due_ms| due_ms.min(now_ms));
    }

    /// Skips the gathered samples for a subscriber, whose next frame then shows a gap in its sequence. Returns the
    /// number of messages skipped.
    pub fn skip_for(&self, member: &mut Member) -> u64 {
        let (frames, messages) = self.packets.count_since(std::mem::take(&mut member.from));
        let open = u32::from(!self.buf.is_empty());
        let sequence = &mut member.head.sequence;
        *sequence = sequence.wrapping_add(frames + open);
        u64::from(messages) + u64::from(open)
    }

    /// Drops the gathered samples and their buffers.
    pub fn free(&mut self, all: &mut GatheredBytes) {
        (self.buf, self.packets) = (FrameBuf::new(), GroupPackets::deferred());
        (self.due_ms, self.newest_hops) = (None, None);
        self.count(all);
    }

    /// After everything was sent, keeps the buffers for later samples unless memory is short.
    pub fn shrink(&mut self, all: &mut GatheredBytes) {
        self.buf.shrink_to(GATHERED_BYTES_MAX / 64);
        self.count(all);
        if all.is_half_full() {
            self.free(all);
        }
    }

    /// Adds the newest value of each of these parameters, which are all chosen.
    pub fn gather_newest(
        &mut self,
        parameters: &RangeSet,
        format: &PacketFormat,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) {
        let worth = self.sent.as_mut().map(|sent| {
            let TableState { current, names, .. } = context.state;
            let taken = sent.take_changed(current, parameters, 0, false, names).taken;
            taken.union(&parameters.intersect(&sent.uncompared))
        });
        let worth = worth.as_ref().unwrap_or(parameters);
        self.add(worth, format, context, &mut scratch.rows);
    }

    fn add(
        &mut self,
        parameters: &RangeSet,
        format: &PacketFormat,
        context: &FrameContext<'_>,
        rows: &mut Rows,
    ) {
        let mut frame_hops = self.begin(context);
        let Self { buf, packets, .. } = self;
        let columns = &context.state.current.columns;
        let mut full = |buf: &mut FrameBuf| frame_hops.seal(packets, buf, format, context);
        let mut filler = FrameFiller::new(buf, format.body_max, &mut full);
        changed(columns, parameters, 0, &mut |span, index| {
            rows.add(columns, span, index, &mut filler);
        });
        rows.finish(columns, &mut filler);
        self.gathered(&frame_hops, context.state.now_ms);
    }

    /// Closes the open frame, because the gathered samples are only for the present members; returns where a new
    /// member's packets begin. The new member gets the newest values, so with a change memory the others must get
    /// them too: all members then have the same last values.
    pub fn before_join(
        &mut self,
        alone: bool,
        chosen: &RangeSet,
        format: &PacketFormat,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) -> PacketPosition {
        let state = &context.state;
        if let Some(sent) = &mut self.sent {
            let other = sent.take_changed(state.current, chosen, 0, true, state.names).taken;
            if !alone {
                self.add(&other, format, context, &mut scratch.rows);
            }
        }
        self.seal(format, context);
        self.packets.end()
    }

    fn seal(&mut self, format: &PacketFormat, context: &FrameContext<'_>) {
        let context = FrameContext { newest_hops: self.newest_hops.take(), ..*context };
        self.packets.seal(&mut self.buf, format, &context);
    }

    /// Forgets texts that are no longer the newest, and gathers the values that differ.
    pub fn forget_old_texts(
        &mut self,
        format: &PacketFormat,
        context: &FrameContext<'_>,
        scratch: &mut GroupScratch,
    ) {
        let Some(sent) = &mut self.sent else { return };
        let other = sent.forget_old_texts(context.state.current);
        self.add(&other, format, context, &mut scratch.rows);
    }

    /// Sends the gathered samples to one member before the others get them.
    pub fn send_early(
        &mut self,
        at: usize,
        recipients: &mut Recipients<'_, '_>,
        format: &PacketFormat,
        context: &FrameContext<'_>,
    ) {
        self.seal(format, context);
        let until = self.packets.end();
        let from = std::mem::replace(&mut recipients.members[at].from, until);
        recipients.send_to(at, &mut self.packets, from);
    }

    /// Sends the gathered samples; returns how many were too large for a packet.
    pub fn flush(
        &mut self,
        recipients: &mut Recipients<'_, '_>,
        format: &PacketFormat,
        context: &FrameContext<'_>,
    ) -> u64 {
        self.seal(format, context);
        for at in 0..recipients.members.len() {
            let from = std::mem::take(&mut recipients.members[at].from);
            recipients.send_to(at, &mut self.packets, from);
        }
        self.start_next_beat();
        self.packets.clear()
    }
}

/// The hops of a frame's newest sample, while samples are added to the frame.
struct FrameHops {
    /// The hops and the number of the samples that the frame already had.
    before: Option<SampleHops>,
    samples: usize,
    /// The hops of the samples that are added.
    now: Option<SampleHops>,
}

impl FrameHops {
    fn newest_hops(&self, buf: &FrameBuf) -> Option<SampleHops> {
        let added = buf.samples() > self.samples;
        if added { SampleHops::newer(self.before, self.now) } else { self.before }
    }

    /// Makes a packet of the full frame; the next frame has only added samples.
    fn seal(
        &mut self,
        packets: &mut GroupPackets,
        buf: &mut FrameBuf,
        format: &PacketFormat,
        context: &FrameContext<'_>,
    ) {
        let newest_hops = self.newest_hops(buf);
        packets.seal(buf, format, &FrameContext { newest_hops, ..*context });
        (self.before, self.samples) = (None, 0);
    }
}
