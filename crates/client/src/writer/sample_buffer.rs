//! The samples that a writer has taken and not sent, as frames that grow. Pure, bounded.
//!
//! One frame is open: new samples go into it. It is sealed when it is full, when it is due, or by a
//! flush; sealed frames wait in order until the sender takes them.

use std::collections::VecDeque;
use std::time::Instant;

use slipring_wire::frame::{FrameBuf, Header, Hops, PushError, Sample};

use super::WriteError;
use super::beat::Beat;
use super::block::Block;
use super::loose::{LooseSamples, loose_bytes};

/// Bytes of one frame's samples, even if the broker takes more; a single larger value is a frame of
/// its own.
const FRAME_BYTES_MAX: usize = 1 << 20;
/// Samples and runs of one frame: what a broker takes.
const FRAME_SAMPLES_MAX: usize = 1 << 15;
const FRAME_RUNS_MAX: usize = 4_096;
/// Bytes of a frame that is deflated: what a broker inflates at most.
pub(super) const DEFLATED_BYTES_MAX: usize = 256 << 10;
/// Samples that came one by one become runs when they hold so much memory.
const LOOSE_BYTES_MAX: usize = 1 << 18;

/// The bounds of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleBufferLimits {
    /// Bytes of all samples; at the bound, more are refused with `Full`.
    pub bytes_max: usize,
    /// Bytes of one frame, as far as the broker sets a limit.
    pub frame_bytes_max: usize,
    /// Whether frames are deflated.
    pub deflate: bool,
}

/// Samples until they are sent.
#[derive(Debug)]
pub(super) struct SampleBuffer {
    beat: Beat,
    bounds: SampleBufferLimits,
    loose: LooseSamples,
    /// The frame that still grows.
    open: FrameBuf,
    /// Frames that wait. No more samples are added to them.
    sealed: VecDeque<FrameBuf>,
    /// A frame that was sent, whose memory the next one uses.
    spare: Option<FrameBuf>,
    sealed_bytes: usize,
    /// Frames that were taken or forgotten.
    gone: u64,
    /// When the next frame is to be sent; `None` while there are no samples.
    due: Option<Instant>,
    table: u32,
    sequence: u32,
    skew_ns: Option<i64>,
    wants_room: bool,
}

impl SampleBuffer {
    /// An empty buffer.
    pub fn new(table: u32, beat: Beat, bounds: SampleBufferLimits) -> Self {
        Self {
            beat,
            bounds,
            loose: LooseSamples::default(),
            open: FrameBuf::new(),
            sealed: VecDeque::new(),
            spare: None,
            sealed_bytes: 0,
            gone: 0,
            due: None,
            table,
            sequence: 0,
            skew_ns: None,
            wants_room: false,
        }
    }

    /// Takes all of a block, or nothing.
    pub fn block(&mut self, block: &Block<'_>, now: Instant) -> Result<(), WriteError> {
        self.check_room()?;
        block.check()?;
        self.settle_loose();
        self.add_block(*block);
        self.begin(now);
        Ok(())
    }

    /// Takes all of these samples, or nothing.
    pub fn samples(&mut self, samples: &[Sample<'_>], now: Instant) -> Result<(), WriteError> {
        self.check_room()?;
        if samples.iter().any(|sample| sample.index == u32::MAX) {
            return Err(PushError::Ranges.into()); // u32::MAX is not an index
        }
        for sample in samples {
            let bytes = self.loose.bytes() + loose_bytes(&sample.value);
            if bytes > self.frame_bytes().min(LOOSE_BYTES_MAX) {
                self.settle_loose();
            }
            self.loose.add(sample);
        }
        if !samples.is_empty() {
            self.begin(now);
        }
        Ok(())
    }

    /// When the next frame is to be sent; a sealed one at once.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Makes everything due now. Returns how many frames will be gone once all of it is sent.
    pub fn flush(&mut self, now: Instant) -> u64 {
        self.seal();
        if !self.sealed.is_empty() {
            self.due = Some(now);
        }
        self.gone + self.sealed.len() as u64
    }

    /// Frames that were taken or forgotten so far.
    pub fn gone(&self) -> u64 {
        self.gone
    }

    /// Which table the indices belong to.
    pub fn table(&self) -> u32 {
        self.table
    }

    /// Takes the oldest frame that is due, with its header.
    pub fn take(&mut self, now: Instant) -> Option<(FrameBuf, Header)> {
        if self.due.is_none_or(|due| due > now) {
            return None;
        }
        if self.sealed.is_empty() {
            self.seal();
        }
        let frame = self.sealed.pop_front()?;
        self.gone += 1;
        self.sealed_bytes -= frame.bytes();
        if self.sealed.is_empty() {
            let rest = !self.open.is_empty() || !self.loose.is_empty();
            self.due = rest.then(|| self.beat.after(now));
        }
        let hops = self.skew_ns.map(|skew_ns| Hops { skew_ns, ..Hops::default() });
        let header = Header { table: self.table, sequence: self.sequence, sent_ns: 0, hops };
        self.sequence = self.sequence.wrapping_add(1);
        Some((frame, header))
    }

    /// Takes back a frame that was encoded, to use its memory again.
    pub fn give_back(&mut self, mut frame: FrameBuf) {
        frame.clear();
        self.spare = Some(frame);
    }

    /// Bytes of all samples.
    pub fn bytes(&self) -> usize {
        self.sealed_bytes + self.open.bytes() + self.loose.bytes()
    }

    /// Whether a caller that found the buffer full may try again. Returns true once.
    #[must_use]
    pub fn has_room_again(&mut self) -> bool {
        self.bytes() <= self.bounds.bytes_max / 2 && std::mem::take(&mut self.wants_room)
    }

    /// The broker's clock minus ours, if it is known.
    pub fn set_skew(&mut self, skew_ns: Option<i64>) {
        self.skew_ns = skew_ns;
    }

    /// The bytes of one frame that the broker of this connection takes.
    pub fn set_frame_bytes_max(&mut self, bytes: usize) {
        self.bounds.frame_bytes_max = bytes;
    }

    /// Continues with this table. Samples for another table are forgotten, because their indices mean
    /// nothing here; returns how many.
    pub fn set_table(&mut self, table: u32) -> usize {
        if std::mem::replace(&mut self.table, table) == table {
            return 0;
        }
        let sealed: usize = self.sealed.iter().map(FrameBuf::samples).sum();
        let samples = sealed + self.open.samples() + self.loose.samples();
        self.gone += self.sealed.len() as u64;
        self.sealed.clear();
        self.sealed_bytes = 0;
        self.open.clear();
        self.loose.clear();
        self.due = None;
        samples
    }

    fn check_room(&mut self) -> Result<(), WriteError> {
        self.wants_room |= self.bytes() >= self.bounds.bytes_max;
        if self.wants_room { Err(WriteError::Full) } else { Ok(()) }
    }

    fn begin(&mut self, now: Instant) {
        let due = if self.sealed.is_empty() { self.beat.after(now) } else { now };
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
    }

    fn add_block(&mut self, block: Block<'_>) {
        let fits = block.bytes() <= self.frame_bytes() && block.samples() <= FRAME_SAMPLES_MAX;
        if !fits && block.halves(&mut |half| self.add_block(half)) {
            return;
        }
        self.make_room(block.bytes(), block.samples(), 1);
        block.push_to(&mut self.open).expect("the whole block was checked");
    }

    /// Makes runs of the samples that came one by one, before later samples are added.
    fn settle_loose(&mut self) {
        if self.loose.is_empty() {
            return;
        }
        let samples = self.loose.samples();
        self.make_room(self.loose.bytes(), samples, samples); // each may be a run
        self.loose.push_to(&mut self.open).expect("the kinds and times fit");
    }

    /// Seals the open frame if it has no room for so much more.
    fn make_room(&mut self, bytes: usize, samples: usize, runs: usize) {
        let full = self.open.bytes() + bytes > self.frame_bytes()
            || self.open.samples() + samples > FRAME_SAMPLES_MAX
            || self.open.runs() + runs > FRAME_RUNS_MAX;
        if full {
            self.seal_open();
        }
    }

    fn seal(&mut self) {
        self.settle_loose();
        self.seal_open();
    }

    fn seal_open(&mut self) {
        if !self.open.is_empty() {
            self.sealed_bytes += self.open.bytes();
            let empty = self.spare.take().unwrap_or_default();
            self.sealed.push_back(std::mem::replace(&mut self.open, empty));
        }
    }

    fn frame_bytes(&self) -> usize {
        let most = if self.bounds.deflate { DEFLATED_BYTES_MAX } else { FRAME_BYTES_MAX };
        self.bounds.frame_bytes_max.min(most)
    }
}
