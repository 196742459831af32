//! Packets of a group that wait to be sent. Frames are encoded once, with room for a head before each.

use slipring_wire::frame::{FrameBounds, FrameBuf, FrameView, Header};

use super::format::{FrameContext, PacketFormat};
use super::head::{HEADER_BYTES, PublishHead, bytes_before};
use crate::table::Deliver;
use crate::table::sample_text::SampleWriter;

/// About the most bytes of a frame to a subscriber.
pub(super) const FRAME_BYTES_MAX: usize = 256 * 1024;
/// Where a frame has its sequence.
const SEQUENCE_AT: usize = 12;

/// Packets that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct GroupPackets {
    bytes: Vec<u8>,
    /// The frames in `bytes`.
    frames: Vec<QueuedFrame>,
    messages: u32,
    /// Whether samples that are delivered as text stay in frames for now, and are written later.
    pub is_deferred: bool,
    /// How often the packets were cleared.
    batch: u32,
    /// Samples that were too large for a packet of their subscriber.
    lost: u64,
    frame: Vec<u8>,
    inflated: Vec<u8>,
    plain: SampleWriter,
}

/// A frame that waits to be sent, with room for a subscriber's head before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueuedFrame {
    /// Where the room for the head begins.
    start: usize,
    pub at: usize,
    pub length: usize,
    samples: usize,
    is_text: bool,
}

/// A position among the packets: how much there was at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PacketPosition {
    bytes: usize,
    frames: usize,
    messages: u32,
}

impl GroupPackets {
    pub fn deferred() -> Self {
        Self { is_deferred: true, ..Self::default() }
    }

    /// Makes packets of the gathered samples.
    pub fn seal(&mut self, buf: &mut FrameBuf, format: &PacketFormat, context: &FrameContext<'_>) {
        if buf.is_empty() {
            return;
        }
        match format.deliver {
            Deliver::Frame => self.frame(buf, format, &context.header(), false),
            _ if self.is_deferred => {
                let header = Header { sequence: self.batch, ..context.header() };
                self.frame(buf, format, &header, true);
            }
            _ => self.plain(buf, format, context),
        }
    }

    fn frame(&mut self, buf: &mut FrameBuf, format: &PacketFormat, header: &Header, is_text: bool) {
        let header_bytes = if header.hops.is_some() { HEADER_BYTES } else { HEADER_BYTES / 2 };
        let (start, samples) = (self.bytes.len(), buf.samples());
        let length = header_bytes + buf.bytes();
        let at = start + bytes_before(format.head_bytes, length);
        self.bytes.resize(at, 0);
        buf.finish(header, false, &mut self.bytes);
        debug_assert_eq!(self.bytes.len() - at, length);
        self.frames.push(QueuedFrame { start, at, length, samples, is_text });
        self.messages += if is_text { samples as u32 } else { 1 };
    }

    fn plain(&mut self, buf: &mut FrameBuf, format: &PacketFormat, context: &FrameContext<'_>) {
        let mut frame = std::mem::take(&mut self.frame);
        let mut inflated = std::mem::take(&mut self.inflated);
        frame.clear();
        buf.finish(&context.header(), false, &mut frame);
        let view = FrameView::decode(&frame, &mut inflated, &FrameBounds::NONE).expect("made here");
        for run in view.runs() {
            run.visit(|sample| {
                let PacketFormat { deliver, identifier, .. } = *format;
                let start = self.bytes.len();
                let out = &mut self.bytes;
                if self.plain.write(&sample, deliver, identifier, context.state.names, out) {
                    self.keep(start, format);
                }
            });
        }
        (self.frame, self.inflated) = (frame, inflated);
    }

    /// Counts the packet that begins at `start`, or drops it if it is too large (MQTT-3.1.2-24).
    fn keep(&mut self, start: usize, format: &PacketFormat) {
        if self.bytes.len() - start <= format.packet_bytes_max {
            self.messages += 1;
        } else {
            self.bytes.truncate(start);
            self.lost += 1;
        }
    }

    /// The bytes of all packets.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The capacity of their buffer.
    pub fn held_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// The number of frames and of messages from a position on.
    pub fn count_since(&self, from: PacketPosition) -> (u32, u32) {
        ((self.frames.len() - from.frames) as u32, self.messages - from.messages)
    }

    /// The position behind all packets.
    pub fn end(&self) -> PacketPosition {
        let (bytes, frames) = (self.bytes.len(), self.frames.len());
        PacketPosition { bytes, frames, messages: self.messages }
    }

    /// Sends one subscriber the packets from a position on, with its own head before each frame: in one piece if
    /// its heads fill the room before each frame. Packets that are too large for it are dropped (MQTT-3.1.2-24).
    pub fn send_to(
        &mut self,
        from: PacketPosition,
        head: &mut PublishHead,
        send: &mut dyn FnMut(&[u8], u32),
    ) {
        let frames = &self.frames[from.frames..];
        let fills_room = frames.iter().all(|frame| frame.fills_room(head));
        for frame in frames {
            if !frame.fits(head) {
                self.lost += frame.samples as u64;
                continue;
            }
            if !frame.is_text {
                let at = frame.at + SEQUENCE_AT;
                self.bytes[at..at + 4].copy_from_slice(&head.sequence.to_le_bytes());
                head.sequence = head.sequence.wrapping_add(1);
            }
            let start = head.put(frame, &mut self.bytes);
            if !fills_room {
                send(&self.bytes[start..frame.at + frame.length], 1);
            }
        }
        let messages = self.messages - from.messages;
        if fills_room && messages > 0 {
            send(&self.bytes[from.bytes..], messages);
        }
    }

    /// Removes the packets and shrinks a large buffer; returns how many samples were lost.
    pub fn clear(&mut self) -> u64 {
        self.bytes.clear();
        self.bytes.shrink_to(8 * FRAME_BYTES_MAX);
        self.frames.clear();
        self.messages = 0;
        self.batch = self.batch.wrapping_add(1);
        std::mem::take(&mut self.lost)
    }
}

impl QueuedFrame {
    fn fits(&self, head: &PublishHead) -> bool {
        let length = bytes_before(head.bytes.len(), self.length) + self.length;
        self.is_text || length <= head.packet_bytes_max
    }

    /// Whether the head fills the room before the frame.
    fn fills_room(&self, head: &PublishHead) -> bool {
        self.at - self.start == bytes_before(head.bytes.len(), self.length) && self.fits(head)
    }
}
