//! Samples that wait to be written as text: a message for each, some at a time.
//!
//! Text takes twenty times as long to write as a frame. So groups of text hand over frames, and what is due
//! is written from them in slices, in the order it came; others run between them.

use std::collections::{HashMap, HashSet, VecDeque};

use slipring_wire::frame::{Bounds, FrameView};
use slipring_wire::{Framed, frame};

use super::Send;
use crate::memory::{self, Counted};
use crate::table::text::Plain;
use crate::table::{Deliver, Names};

/// Samples that are written at once, about a third of a millisecond.
const SLICE: usize = 1_024;
/// A byte of text that is written takes as long as so many bytes that are copied.
const WRITTEN_WEIGHT: usize = 16;
/// Bytes of frames that wait. Beyond it the oldest go, and who misses them gets newest values.
const BYTES_MAX: usize = 64 << 20;
/// Bytes with the header of the first frame.
const HEAD_BYTES: usize = 32;
const ANY: Bounds = Bounds { samples_max: usize::MAX, raw_bytes_max: usize::MAX };

/// How messages of text look, and whose they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextTerms {
    pub group: u64,
    pub deliver: Deliver,
    pub identifier: u32,
    pub packet_bytes_max: usize,
}

/// Frames of a group, and who gets their samples as text.
#[derive(Debug)]
struct Letter {
    terms: TextTerms,
    /// Packets with frames, one after the other; what is written is taken away at the front.
    frames: Vec<u8>,
    /// Where the frames lay when they came: who gets the same has the same place.
    place: (usize, usize),
    recipients: Vec<u64>,
    /// How many samples of the first frame are written.
    written: usize,
}

/// A part of a letter that is text.
#[derive(Debug, Default)]
struct Slice {
    bytes: Vec<u8>,
    messages: u32,
    /// How many of the recipients have it.
    given: usize,
}

/// All that waits.
#[derive(Debug, Default)]
pub(super) struct Letters {
    waiting: VecDeque<Letter>,
    bytes: usize,
    counted: Counted,
    /// How many letters each subscriber waits for.
    pending: HashMap<u64, usize>,
    /// How many of the last letters are still given further recipients.
    open: usize,
    /// Of the first letter.
    slice: Slice,
    plain: Plain,
    inflated: Vec<u8>,
    /// Messages that were too large for their subscriber, or were dropped.
    pub lost: u64,
    /// Groups and subscribers that miss something.
    dropped: Vec<(u64, u64)>,
}

impl Letters {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub fn is_waited_for(&self, subscriber: u64) -> bool {
        self.pending.contains_key(&subscriber)
    }

    /// Those who wait for letters.
    pub fn subscribers(&self) -> HashSet<u64> {
        self.pending.keys().copied().collect()
    }

    /// Adds packets with frames for a subscriber.
    pub fn add(&mut self, terms: TextTerms, subscriber: u64, frames: &[u8]) {
        let place = (frames.as_ptr() as usize, frames.len());
        let mut open = self.waiting.iter_mut().rev().take(self.open);
        *self.pending.entry(subscriber).or_default() += 1;
        // The header of a frame has the number of its batch: what lies at the same place later is another.
        let head = &frames[..frames.len().min(HEAD_BYTES)];
        let is_same =
            |letter: &&mut Letter| letter.place == place && letter.frames.starts_with(head);
        if let Some(same) = open.find(is_same) {
            return same.recipients.push(subscriber);
        }
        let (frames, recipients) = (frames.to_vec(), vec![subscriber]);
        self.bytes += frames.len();
        self.waiting.push_back(Letter { terms, frames, place, recipients, written: 0 });
        self.open += 1;
        self.counted.set(self.bytes);
        while (self.bytes > BYTES_MAX || memory::is_short()) && self.waiting.len() > 1 {
            self.drop_oldest();
        }
    }

    /// Letters that come from now on are others, wherever they lie.
    pub fn close(&mut self) {
        self.open = 0;
    }

    fn drop_oldest(&mut self) {
        let Some(letter) = self.pop() else { return };
        self.lost += letter.recipients.len() as u64;
        let group = letter.terms.group;
        self.dropped.extend(letter.recipients.iter().map(|subscriber| (group, *subscriber)));
    }

    /// Takes the first letter out.
    fn pop(&mut self) -> Option<Letter> {
        let letter = self.waiting.pop_front()?;
        self.open = self.open.min(self.waiting.len());
        self.bytes -= letter.frames.len();
        self.counted.set(self.bytes);
        letter.recipients.iter().for_each(|subscriber| settle(&mut self.pending, *subscriber));
        self.slice = Slice::default();
        Some(letter)
    }

    /// Groups and subscribers that miss something, since this was last asked.
    pub fn take_dropped(&mut self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.dropped)
    }

    /// A subscriber gets nothing more of a group; whether something of it waited.
    pub fn forget(&mut self, group: u64, subscriber: u64) -> bool {
        if !self.is_waited_for(subscriber) {
            return false;
        }
        let mut has_waited = false;
        let Self { waiting, pending, slice, .. } = self;
        for (at, letter) in
            waiting.iter_mut().enumerate().filter(|(_, one)| one.terms.group == group)
        {
            let mut place = 0;
            letter.recipients.retain(|other| {
                let is_kept = *other != subscriber;
                if !is_kept {
                    has_waited = true;
                    settle(pending, subscriber);
                    slice.given -= usize::from(at == 0 && place < slice.given);
                }
                place += usize::from(is_kept);
                is_kept
            });
        }
        has_waited
    }

    /// Writes and sends until about so much work is done; how much it was.
    pub fn write(&mut self, work_max: usize, names: &dyn Names, send: &mut Send<'_>) -> usize {
        let mut work = 0;
        while work < work_max {
            let Some(letter) = self.waiting.front() else { break };
            let next = letter.recipients.get(self.slice.given).copied();
            match (next, self.slice.bytes.is_empty()) {
                (Some(subscriber), false) => {
                    send(subscriber, &self.slice.bytes, self.slice.messages);
                    work += self.slice.bytes.len();
                    self.slice.given += 1;
                }
                (None, false) => self.slice = Slice::default(),
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

    /// Writes the next samples of the first letter; false where there are none.
    fn write_slice(&mut self, names: &dyn Names) -> bool {
        let Self { waiting, slice, plain, inflated, lost, bytes, .. } = self;
        let Some(letter) = waiting.front_mut() else { return false };
        let Ok(Framed::Whole(packet)) = frame(&letter.frames, usize::MAX) else { return false };
        // A packet of text has no head: its body is the frame.
        let view = FrameView::decode(packet.body, inflated, &ANY).expect("made here");
        let TextTerms { deliver, identifier, packet_bytes_max, .. } = letter.terms;
        let (mut at, end) = (0, letter.written + SLICE);
        for run in view.runs() {
            run.visit(|sample| {
                if (letter.written..end).contains(&at) {
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
        letter.written = end;
        if end >= at {
            let length = packet.length;
            letter.frames.drain(..length);
            *bytes -= length;
            letter.written = 0;
        }
        true
    }
}

/// A subscriber waits for one letter less.
fn settle(pending: &mut HashMap<u64, usize>, subscriber: u64) {
    if let Some(count) = pending.get_mut(&subscriber) {
        *count -= 1;
        if *count == 0 {
            pending.remove(&subscriber);
        }
    }
}
