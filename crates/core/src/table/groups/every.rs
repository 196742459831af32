//! Every sample of what is chosen, gathered for a beat; or every one that is not as the last one sent.

use slipring_wire::frame::{FrameBuf, RangeSet, RunView};

use super::Scene;
use super::audience::{Audience, Member};
use super::gathered::Gathered;
use super::group::{Tools, changed};
use super::outlet::{Mark, Origin, Outlet, Packets, Stamp};
use super::sent::Sent;
use crate::table::rows::Rows;
use crate::table::spill::Spill;
use crate::table::{Millis, Needs};

/// More than this is not gathered: it is due at once.
const GATHERED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A beat is shorter by this part of what its newest sample would have waited.
const SOONER: Millis = 4;

#[derive(Debug)]
pub(super) struct Every {
    buf: FrameBuf,
    packets: Packets,
    beat_ms: Millis,
    /// When what was gathered is sent; none where nothing was.
    due_ms: Option<Millis>,
    /// When the beat began that is running.
    last_ms: Option<Millis>,
    /// When the newest of what was gathered came.
    newest_ms: Millis,
    /// Of what was gathered and is not in packets yet.
    origin: Option<Origin>,
    pub sent: Option<Sent>,
    /// What is counted of this group.
    held_bytes: usize,
}

impl Every {
    pub fn new(needs: &Needs, beat_ms: u16, sent: Option<Sent>) -> Self {
        Self {
            buf: FrameBuf::new(),
            packets: Packets::deferred(),
            beat_ms: needs.beat_ms.unwrap_or(beat_ms).into(),
            due_ms: None,
            last_ms: None,
            newest_ms: 0,
            origin: None,
            sent,
            held_bytes: 0,
        }
    }

    pub fn due_ms(&self) -> Option<Millis> {
        self.due_ms
    }

    /// When the next may be sent. What comes after a quiet beat does not wait for another one.
    fn next_ms(&self) -> Millis {
        self.last_ms.map_or(0, |last_ms| last_ms + self.beat_ms)
    }

    /// Begins the next beat. What came late does not move it, or all that comes later would wait; and
    /// where the newest of this beat had to wait, the next ends somewhat sooner, until beats end when a
    /// steady publisher's frames come.
    fn beat_on(&mut self) {
        let Some(due_ms) = self.due_ms.take() else { return };
        let next_ms = self.next_ms();
        let waited_ms = due_ms.saturating_sub(self.newest_ms);
        let was_quiet = self.last_ms.is_none() || due_ms >= next_ms + self.beat_ms;
        self.last_ms =
            Some(if was_quiet { due_ms } else { due_ms.min(next_ms) - waited_ms / SOONER });
    }

    /// What waits for the end of a beat waits for that of the new one.
    pub fn set_beat_ms(&mut self, beat_ms: Millis) {
        let next_ms = self.next_ms();
        self.beat_ms = beat_ms;
        if self.due_ms == Some(next_ms) {
            self.due_ms = Some(self.next_ms());
        }
    }

    /// Adds what is chosen of a run.
    pub fn gather(
        &mut self,
        run: &RunView<'_>,
        chosen: &RangeSet,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
    ) {
        let mut told = self.begin(stamp);
        let Self { buf, packets, sent, .. } = self;
        let mut full = |buf: &mut FrameBuf| told.seal(packets, buf, outlet, stamp);
        let mut spill = Spill::new(buf, outlet.body_max, &mut full);
        match sent {
            None => spill.part(run, chosen),
            Some(sent) => {
                let mut worth = Vec::new();
                let Scene { current, names, .. } = stamp.scene;
                run.visit(|sample| {
                    worth.extend(sent.take(&sample, current, names).then_some(sample));
                });
                sent.number_on();
                spill.samples(run.kind, &mut worth);
            }
        }
        self.gathered(&told, stamp.scene.now_ms);
    }

    fn begin(&self, stamp: &Stamp<'_>) -> Told {
        Told { before: self.origin, samples: self.buf.samples(), now: stamp.origin }
    }

    fn gathered(&mut self, told: &Told, now_ms: Millis) {
        let bytes = self.packets.bytes() + self.buf.bytes();
        if bytes == 0 {
            return;
        }
        self.origin = told.origin(&self.buf);
        let next_ms = self.next_ms();
        self.newest_ms = now_ms;
        let due_ms = *self.due_ms.get_or_insert(now_ms.max(next_ms));
        if bytes > GATHERED_BYTES_MAX {
            self.due_ms = Some(due_ms.min(now_ms));
        }
    }

    /// Counts what was gathered, and the memory that waits for more.
    pub fn count(&mut self, all: &mut Gathered) {
        let now = self.packets.held_bytes() + self.buf.bytes();
        all.recount(std::mem::replace(&mut self.held_bytes, now), now);
    }

    /// What waits is due at once.
    pub fn hurry(&mut self, now_ms: Millis) {
        self.due_ms = self.due_ms.map(|due_ms| due_ms.min(now_ms));
    }

    /// A subscriber does not get what was gathered: its next frame shows a gap. How many messages.
    pub fn pass_over(&self, member: &mut Member) -> u64 {
        let (frames, messages) = self.packets.count_since(std::mem::take(&mut member.from));
        let open = u32::from(!self.buf.is_empty());
        let sequence = &mut member.cover.sequence;
        *sequence = sequence.wrapping_add(frames + open);
        u64::from(messages) + u64::from(open)
    }

    /// Drops what was gathered, with its memory.
    pub fn free(&mut self, all: &mut Gathered) {
        (self.buf, self.packets) = (FrameBuf::new(), Packets::deferred());
        (self.due_ms, self.origin) = (None, None);
        self.count(all);
    }

    /// All was sent; its memory waits for more unless there is little room.
    pub fn rest(&mut self, all: &mut Gathered) {
        self.buf.shrink_to(GATHERED_BYTES_MAX / 64);
        self.count(all);
        if all.is_much() {
            self.free(all);
        }
    }

    /// Adds the newest value of each of these; all are chosen.
    pub fn gather_newest(
        &mut self,
        parameters: &RangeSet,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
        tools: &mut Tools,
    ) {
        let worth = self.sent.as_mut().map(|sent| {
            let Scene { current, names, .. } = stamp.scene;
            let taken = sent.settle(current, parameters, 0, false, names).taken;
            taken.union(&parameters.intersect(&sent.left))
        });
        let worth = worth.as_ref().unwrap_or(parameters);
        self.add(worth, outlet, stamp, &mut tools.rows);
    }

    fn add(&mut self, parameters: &RangeSet, outlet: &Outlet, stamp: &Stamp<'_>, rows: &mut Rows) {
        let mut told = self.begin(stamp);
        let Self { buf, packets, .. } = self;
        let columns = &stamp.scene.current.columns;
        let mut full = |buf: &mut FrameBuf| told.seal(packets, buf, outlet, stamp);
        let mut spill = Spill::new(buf, outlet.body_max, &mut full);
        changed(columns, parameters, 0, &mut |span, index| {
            rows.add(columns, span, index, &mut spill);
        });
        rows.finish(columns, &mut spill);
        self.gathered(&told, stamp.scene.now_ms);
    }

    /// What was gathered is for those who are there already. For the new one the newest values are
    /// what was sent last, so the others get them too.
    pub fn before_join(
        &mut self,
        alone: bool,
        chosen: &RangeSet,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
        tools: &mut Tools,
    ) -> Mark {
        let scene = &stamp.scene;
        if let Some(sent) = &mut self.sent {
            let other = sent.settle(scene.current, chosen, 0, true, scene.names).taken;
            if !alone {
                self.add(&other, outlet, stamp, &mut tools.rows);
            }
        }
        self.seal(outlet, stamp);
        self.packets.mark()
    }

    fn seal(&mut self, outlet: &Outlet, stamp: &Stamp<'_>) {
        let stamp = Stamp { origin: self.origin.take(), ..*stamp };
        self.packets.seal(&mut self.buf, outlet, &stamp);
    }

    /// Knows no text as sent that is newest no more. What differs is gathered.
    pub fn let_go(&mut self, outlet: &Outlet, stamp: &Stamp<'_>, tools: &mut Tools) {
        let Some(sent) = &mut self.sent else { return };
        let other = sent.let_go(stamp.scene.current);
        self.add(&other, outlet, stamp, &mut tools.rows);
    }

    /// Sends what was gathered to one of them before the others get it.
    pub fn hand_over(
        &mut self,
        at: usize,
        audience: &mut Audience<'_, '_>,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
    ) {
        self.seal(outlet, stamp);
        let until = self.packets.mark();
        let from = std::mem::replace(&mut audience.members[at].from, until);
        audience.give(at, &mut self.packets, from);
    }

    /// Sends what was gathered; returns how many samples were too large for it.
    pub fn flush(
        &mut self,
        audience: &mut Audience<'_, '_>,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
    ) -> u64 {
        self.seal(outlet, stamp);
        for at in 0..audience.members.len() {
            let from = std::mem::take(&mut audience.members[at].from);
            audience.give(at, &mut self.packets, from);
        }
        self.beat_on();
        self.packets.clear()
    }
}

/// Where the newest sample of a frame has been, while further samples are added to it.
struct Told {
    /// Of the samples that were in the frame already, and how many those are.
    before: Option<Origin>,
    samples: usize,
    /// Of the further ones.
    now: Option<Origin>,
}

impl Told {
    fn origin(&self, buf: &FrameBuf) -> Option<Origin> {
        let added = buf.samples() > self.samples;
        if added { Origin::newer(self.before, self.now) } else { self.before }
    }

    /// The frame is full; the next one has further samples only.
    fn seal(
        &mut self,
        packets: &mut Packets,
        buf: &mut FrameBuf,
        outlet: &Outlet,
        stamp: &Stamp<'_>,
    ) {
        let origin = self.origin(buf);
        packets.seal(buf, outlet, &Stamp { origin, ..*stamp });
        (self.before, self.samples) = (None, 0);
    }
}
