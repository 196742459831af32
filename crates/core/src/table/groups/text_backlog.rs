//! The backlog of samples that are due and still have to be written as text, one message for each.
//!
//! Text takes twenty times as long to write as a frame. So a group that delivers text only makes frames, and
//! the backlog turns them into messages in slices of [`SLICE`] samples, oldest first, with other work between
//! the slices. An example: a group of 10,000 parameters with two subscribers is due. Its frames join the
//! backlog as one job with two recipients. Ten turns each write about 1,000 messages once and send them to
//! both.

use std::collections::{HashMap, HashSet, VecDeque};

use slipring_wire::frame::{FrameBounds, FrameView};
use slipring_wire::{PacketSplit, split_packet};

use super::SendPackets;
use crate::SessionKey;
use crate::memory::{self, Counted};
use crate::table::sample_text::SampleWriter;
use crate::table::{Deliver, Names};

/// Samples that are written without a pause, about a third of a millisecond.
const SLICE: usize = 1_024;
/// Writing one byte of text takes as long as copying this many bytes.
const WRITTEN_WEIGHT: usize = 16;
/// The most bytes of waiting frames. Beyond it the oldest job is dropped, and its recipients get newest values.
const BYTES_MAX: usize = 64 << 20;
/// The first bytes of a job, which include the header of its first frame.
const HEAD_BYTES: usize = 32;

/// How a group's text messages are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextTerms {
    pub group: u64,
    pub deliver: Deliver,
    pub identifier: u32,
    pub packet_bytes_max: usize,
}

/// Frames of one group, and the subscribers that get their samples as text.
#[derive(Debug)]
struct TextJob {
    terms: TextTerms,
    /// Packets with one frame each. Packets that are written are removed from the front.
    frames: Vec<u8>,
    /// Address and length of the frames when they were added: subscribers of the same packets share one job.
    source: (usize, usize),
    recipients: Vec<SessionKey>,
    /// How many samples of the first frame have been written.
    written: usize,
}

/// The messages of some samples of the first job.
#[derive(Debug, Default)]
struct TextSlice {
    bytes: Vec<u8>,
    messages: u32,
    /// How many of the recipients it has been sent to.
    given: usize,
}

/// All waiting jobs.
#[derive(Debug, Default)]
pub(super) struct TextBacklog {
    waiting: VecDeque<TextJob>,
    bytes: usize,
    counted: Counted,
    /// How many jobs each subscriber waits for.
    pending: HashMap<SessionKey, usize>,
    /// How many of the newest jobs can still get further recipients.
    open: usize,
    /// The messages of the first job that are being sent.
    slice: TextSlice,
    plain: SampleWriter,
    inflated: Vec<u8>,
    /// Messages that were dropped, or were too large for their subscriber.
    pub lost: u64,
    /// Groups and subscribers whose jobs were dropped.
    dropped: Vec<(u64, SessionKey)>,
}

impl TextBacklog {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn is_waited_for(&self, subscriber: SessionKey) -> bool {
        self.pending.contains_key(&subscriber)
    }

    /// The subscribers with waiting jobs.
    pub fn subscribers(&self) -> HashSet<SessionKey> {
        self.pending.keys().copied().collect()
    }

    /// Adds packets with frames for a subscriber, to an open job with the same packets if there is one.
    pub fn add(&mut self, terms: TextTerms, subscriber: SessionKey, frames: &[u8]) {
        let source = (frames.as_ptr() as usize, frames.len());
        let mut open = self.waiting.iter_mut().rev().take(self.open);
        *self.pending.entry(subscriber).or_default() += 1;
        // The buffer is reused, but a frame's header has the number of its batch: equal bytes are the same packets.
        let head = &frames[..frames.len().min(HEAD_BYTES)];
        let is_same = |job: &&mut TextJob| job.source == source && job.frames.starts_with(head);
        if let Some(same) = open.find(is_same) {
            return same.recipients.push(subscriber);
        }
        let (frames, recipients) = (frames.to_vec(), vec![subscriber]);
        self.bytes += frames.len();
        self.waiting.push_back(TextJob { terms, frames, source, recipients, written: 0 });
        self.open += 1;
        self.counted.set(self.bytes);
        while (self.bytes > BYTES_MAX || memory::is_short()) && self.waiting.len() > 1 {
            self.drop_oldest();
        }
    }

    /// Ends the open jobs: packets that are added later start a new job, even at the same address.
    pub fn close(&mut self) {
        self.open = 0;
    }

    fn drop_oldest(&mut self) {
        let Some(job) = self.pop() else { return };
        self.lost += job.recipients.len() as u64;
        let group = job.terms.group;
        self.dropped.extend(job.recipients.iter().map(|subscriber| (group, *subscriber)));
    }

    /// Removes the first job.
    fn pop(&mut self) -> Option<TextJob> {
        let job = self.waiting.pop_front()?;
        self.open = self.open.min(self.waiting.len());
        self.bytes -= job.frames.len();
        self.counted.set(self.bytes);
        job.recipients.iter().for_each(|subscriber| count_down(&mut self.pending, *subscriber));
        self.slice = TextSlice::default();
        Some(job)
    }

    /// Groups and subscribers whose jobs were dropped since the last call.
    pub fn take_dropped(&mut self) -> Vec<(u64, SessionKey)> {
        std::mem::take(&mut self.dropped)
    }

    /// Removes a subscriber from a group's jobs; returns whether it was in one.
    pub fn forget(&mut self, group: u64, subscriber: SessionKey) -> bool {
        if !self.is_waited_for(subscriber) {
            return false;
        }
        let mut has_waited = false;
        let Self { waiting, pending, slice, .. } = self;
        for (at, job) in waiting.iter_mut().enumerate().filter(|(_, one)| one.terms.group == group)
        {
            let mut place = 0;
            job.recipients.retain(|other| {
                let is_kept = *other != subscriber;
                if !is_kept {
                    has_waited = true;
                    count_down(pending, subscriber);
                    slice.given -= usize::from(at == 0 && place < slice.given);
                }
                place += usize::from(is_kept);
                is_kept
            });
        }
        has_waited
    }

    /// Writes and sends until about `work_max` is done; returns the work.
    pub fn write(
        &mut self,
        work_max: usize,
        names: &dyn Names,
        send: &mut SendPackets<'_>,
    ) -> usize {
        let mut work = 0;
        while work < work_max {
            let Some(job) = self.waiting.front() else { break };
            let next = job.recipients.get(self.slice.given).copied();
            match (next, self.slice.bytes.is_empty()) {
                (Some(subscriber), false) => {
                    send(subscriber, &self.slice.bytes, self.slice.messages);
                    work += self.slice.bytes.len();
                    self.slice.given += 1;
                }
                (None, false) => self.slice = TextSlice::default(),
                (Some(_), true) if self.write_slice(names) => {
                    work += self.slice.bytes.len() * WRITTEN_WEIGHT + SLICE;
                }
                (_, true) => {
                    self.pop();
                }
            }
        }
        work
    }

    /// Writes the next slice of the first job; false if all of it is written.
    fn write_slice(&mut self, names: &dyn Names) -> bool {
        let Self { waiting, slice, plain, inflated, lost, bytes, .. } = self;
        let Some(job) = waiting.front_mut() else { return false };
        let Ok(PacketSplit::Whole(packet)) = split_packet(&job.frames, usize::MAX) else {
            return false;
        };
        // A packet that waits for text has no topic or properties: its body is the frame.
        let view = FrameView::decode(packet.body, inflated, &FrameBounds::NONE).expect("made here");
        let TextTerms { deliver, identifier, packet_bytes_max, .. } = job.terms;
        let (mut at, end) = (0, job.written + SLICE);
        for run in view.runs() {
            run.visit(|sample| {
                if (job.written..end).contains(&at) {
                    let start = slice.bytes.len();
                    let is_there =
                        plain.write(&sample, deliver, identifier, names, &mut slice.bytes);
                    if is_there && slice.bytes.len() - start <= packet_bytes_max {
                        slice.messages += 1;
                    } else {
                        slice.bytes.truncate(start); // MQTT-3.1.2-24
                        *lost += u64::from(is_there);
                    }
                }
                at += 1;
            });
        }
        job.written = end;
        if end >= at {
            let length = packet.length;
            job.frames.drain(..length);
            *bytes -= length;
            job.written = 0;
        }
        true
    }
}

/// A subscriber waits for one job less.
fn count_down(pending: &mut HashMap<SessionKey, usize>, subscriber: SessionKey) {
    if let Some(count) = pending.get_mut(&subscriber) {
        *count -= 1;
        if *count == 0 {
            pending.remove(&subscriber);
        }
    }
}
