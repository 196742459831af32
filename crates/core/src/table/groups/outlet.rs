//! What all packets of a group have alike, what is each subscriber's own, and packets made of gathered runs.

use slipring_wire::frame::{Bounds, CONTENT_TYPE, FrameBuf, FrameView, Header, Hops, RangeSet};
use slipring_wire::{Packet, PropertiesBuf, PropertyId, Publish, Value, Version};

use super::super::Deliver;
use super::super::text::Plain;
use super::front::{front_bytes, put_varint};
use super::key::Key;
use super::letters::TextTerms;
use super::{Choice, Scene};

/// A frame to a subscriber is at most about so long.
const FRAME_BYTES_MAX: usize = 256 * 1024;
/// Frames of which text is written later hold about so much.
const TEXT_BODY_MAX: usize = 16 * 1024;
/// A frame's header with hops.
const HEADER_BYTES: usize = 48;
/// The first byte of a PUBLISH at QoS 0 and its longest length.
const FIXED_BYTES: usize = 5;
/// A sample in a frame is at most so long, with its share of the rest, without its text.
const FRAMED_BYTES: usize = 64;
/// A message of one sample is at most so long, without topic and text.
const PLAIN_BYTES: usize = 512;
/// How much longer a text can be in JSON.
const ESCAPED: usize = 6;
/// Where a frame has its sequence.
const SEQUENCE_AT: usize = 12;
const WHATEVER: Bounds = Bounds { samples_max: usize::MAX, raw_bytes_max: usize::MAX };

/// The topic that frames for a filter have: one that the filter matches.
pub fn frame_topic(filter: &str) -> String {
    let topic = match filter {
        "#" => "*",
        "/#" => "/",
        _ => filter.strip_suffix("/#").unwrap_or(filter),
    };
    topic.replace('+', "*")
}

/// How a group's packets look.
#[derive(Debug)]
pub(super) struct Outlet {
    deliver: Deliver,
    identifier: u32,
    packet_bytes_max: usize,
    /// The longest head of its subscribers: so much room is before each frame.
    pub head_bytes: usize,
    /// Bytes of runs that a frame takes.
    pub body_max: usize,
}

/// What is one subscriber's own of the packets that it gets.
#[derive(Debug, Default)]
pub(super) struct Cover {
    /// Topic and properties of a frame's packet; empty where it gets no frames.
    pub head: Vec<u8>,
    packet_bytes_max: usize,
    /// The number of its next frame. Frames are counted for each subscriber, from 0 at its join, so
    /// that a gap always means that one was lost on its way.
    pub sequence: u32,
}

impl Cover {
    pub fn new(choice: &Choice) -> Self {
        let head = match choice.needs.deliver {
            Deliver::Frame => head(&frame_topic(&choice.filter), choice.identifier),
            _ => Vec::new(),
        };
        Self { head, packet_bytes_max: choice.packet_bytes_max, sequence: 0 }
    }

    /// Bytes of runs that a frame takes. Many subscribers have the same, whatever their heads.
    pub fn body_max(&self) -> usize {
        if self.head.is_empty() {
            return TEXT_BODY_MAX;
        }
        let most = self.packet_bytes_max.saturating_sub(FIXED_BYTES + self.head.len());
        most.min(FRAME_BYTES_MAX).saturating_sub(HEADER_BYTES)
    }

    /// Writes what comes before a frame, right in front of it; where that begins.
    fn put(&self, frame: &Framed, bytes: &mut [u8]) -> usize {
        let start = frame.at - front_bytes(self.head.len(), frame.length);
        let head_at = frame.at - self.head.len();
        bytes[head_at..frame.at].copy_from_slice(&self.head);
        bytes[start] = 0x30;
        put_varint((self.head.len() + frame.length) as u32, &mut bytes[start + 1..head_at]);
        start
    }
}

/// What is put on packets when they are made.
#[derive(Clone, Copy)]
pub(super) struct Stamp<'a> {
    pub table: u32,
    pub origin: Option<Origin>,
    pub scene: Scene<'a>,
}

impl Stamp<'_> {
    fn header(&self) -> Header {
        let hops = self.origin.map(|origin| origin.hops);
        Header { table: self.table, sequence: 0, sent_ns: self.scene.now_ns, hops }
    }
}

/// Where the newest of some samples has been. A frame tells it of its newest sample, so that the age
/// of that one is right whoever else contributed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub time_ns: i64,
    pub hops: Hops,
}

impl Origin {
    /// The one of the newer sample; of equally new ones the later.
    pub fn newer(before: Option<Self>, now: Option<Self>) -> Option<Self> {
        let is_older = |now: &Self| before.is_some_and(|before| before.time_ns > now.time_ns);
        now.filter(|now| !is_older(now)).or(before)
    }
}

impl Outlet {
    pub fn new(key: &Key) -> Self {
        let Key { identifier, packet_bytes_max, body_max, needs, .. } = *key;
        Self { deliver: needs.deliver, identifier, packet_bytes_max, head_bytes: 0, body_max }
    }

    /// How messages look where they are text.
    pub fn text_terms(&self, group: u64) -> Option<TextTerms> {
        let Self { deliver, identifier, packet_bytes_max, .. } = *self;
        let terms = TextTerms { group, deliver, identifier, packet_bytes_max };
        (deliver != Deliver::Frame).then_some(terms)
    }

    /// The first of some parameters, as many as surely find room for their newest samples; at least one.
    pub fn portion(&self, parameters: &RangeSet, room: usize, scene: &Scene<'_>) -> RangeSet {
        let Some(first) = parameters.indices().next() else { return RangeSet::new() };
        let end = self.first_beyond(parameters, room, scene).unwrap_or(u32::MAX);
        parameters.intersect(&std::iter::once(0..end.max(first + 1)).collect())
    }

    /// The first of some parameters whose newest sample surely finds no room any more; none where all do.
    pub fn first_beyond(
        &self,
        parameters: &RangeSet,
        room: usize,
        scene: &Scene<'_>,
    ) -> Option<u32> {
        let mut bytes = 0;
        parameters.indices().filter(|index| scene.current.columns.has(*index as usize)).find(
            |index| {
                bytes += self.bytes_at_most(*index, scene);
                bytes > room
            },
        )
    }

    fn bytes_at_most(&self, index: u32, scene: &Scene<'_>) -> usize {
        let value = scene.current.columns.text(index as usize).len();
        match self.deliver {
            Deliver::Frame => FRAMED_BYTES + value,
            _ => PLAIN_BYTES + scene.names.name(index).map_or(0, str::len) + ESCAPED * value,
        }
    }
}

/// What follows the fixed header of a frame's packet, up to the frame.
fn head(topic: &str, identifier: u32) -> Vec<u8> {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::ContentType, Value::Text(CONTENT_TYPE));
    if identifier > 0 {
        properties.push(PropertyId::SubscriptionIdentifier, Value::Varint(identifier));
    }
    let mut packet = Vec::new();
    let publish = Publish { properties: properties.borrow(), ..Publish::new(topic, &[]) };
    Packet::Publish(publish).encode(Version::V5, &mut packet);
    let length = packet[1..].iter().position(|byte| *byte < 0x80).expect("a length ends");
    packet.split_off(length + 2)
}

/// Packets that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Packets {
    bytes: Vec<u8>,
    /// Where frames are, in those bytes.
    frames: Vec<Framed>,
    messages: u32,
    /// Whether what is text stays in frames, and is written later.
    pub is_deferred: bool,
    /// How often they were cleared.
    batch: u32,
    /// Samples that were too large for a packet of these subscribers.
    lost: u64,
    frame: Vec<u8>,
    inflated: Vec<u8>,
    plain: Plain,
}

/// A frame among the packets that wait. What comes before it is each subscriber's own, written when it
/// is sent.
#[derive(Clone, Copy, Debug)]
struct Framed {
    /// Where the room before it begins.
    start: usize,
    at: usize,
    length: usize,
    samples: usize,
    is_text: bool,
}

/// How much there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mark {
    bytes: usize,
    frames: usize,
    messages: u32,
}

impl Packets {
    pub fn deferred() -> Self {
        Self { is_deferred: true, ..Self::default() }
    }

    /// Makes packets of what was gathered.
    pub fn seal(&mut self, buf: &mut FrameBuf, outlet: &Outlet, stamp: &Stamp<'_>) {
        if buf.is_empty() {
            return;
        }
        match outlet.deliver {
            Deliver::Frame => self.frame(buf, outlet, &stamp.header(), false),
            _ if self.is_deferred => {
                let header = Header { sequence: self.batch, ..stamp.header() };
                self.frame(buf, outlet, &header, true);
            }
            _ => self.plain(buf, outlet, stamp),
        }
    }

    fn frame(&mut self, buf: &mut FrameBuf, outlet: &Outlet, header: &Header, is_text: bool) {
        let header_bytes = if header.hops.is_some() { HEADER_BYTES } else { HEADER_BYTES / 2 };
        let (start, samples) = (self.bytes.len(), buf.samples());
        let length = header_bytes + buf.bytes();
        let at = start + front_bytes(outlet.head_bytes, length);
        self.bytes.resize(at, 0);
        buf.finish(header, false, &mut self.bytes);
        debug_assert_eq!(self.bytes.len() - at, length);
        self.frames.push(Framed { start, at, length, samples, is_text });
        self.messages += if is_text { samples as u32 } else { 1 };
    }

    fn plain(&mut self, buf: &mut FrameBuf, outlet: &Outlet, stamp: &Stamp<'_>) {
        let mut frame = std::mem::take(&mut self.frame);
        let mut inflated = std::mem::take(&mut self.inflated);
        frame.clear();
        buf.finish(&stamp.header(), false, &mut frame);
        let view = FrameView::decode(&frame, &mut inflated, &WHATEVER).expect("made here");
        for run in view.runs() {
            run.visit(|sample| {
                let Outlet { deliver, identifier, .. } = *outlet;
                let start = self.bytes.len();
                let out = &mut self.bytes;
                if self.plain.write(&sample, deliver, identifier, stamp.scene.names, out) {
                    self.keep(start, outlet);
                }
            });
        }
        (self.frame, self.inflated) = (frame, inflated);
    }

    /// Counts the packet that begins here; one that is too large goes (MQTT-3.1.2-24).
    fn keep(&mut self, start: usize, outlet: &Outlet) {
        if self.bytes.len() - start <= outlet.packet_bytes_max {
            self.messages += 1;
        } else {
            self.bytes.truncate(start);
            self.lost += 1;
        }
    }

    /// The bytes that wait.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The memory that they have, used or not.
    pub fn held_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// How many frames and how many messages came after the mark.
    pub fn count_since(&self, mark: Mark) -> (u32, u32) {
        ((self.frames.len() - mark.frames) as u32, self.messages - mark.messages)
    }

    pub fn mark(&self) -> Mark {
        let (bytes, frames) = (self.bytes.len(), self.frames.len());
        Mark { bytes, frames, messages: self.messages }
    }

    /// Gives what came after the mark to one subscriber, its frames with its own cover: all at once if
    /// that takes all of the room before them. What is too large for it goes (MQTT-3.1.2-24).
    pub fn give(&mut self, mark: Mark, cover: &mut Cover, send: &mut dyn FnMut(&[u8], u32)) {
        let frames = &self.frames[mark.frames..];
        let is_even = frames.iter().all(|frame| frame.is_even(cover));
        for frame in frames {
            if !frame.fits(cover) {
                self.lost += frame.samples as u64;
                continue;
            }
            if !frame.is_text {
                let at = frame.at + SEQUENCE_AT;
                self.bytes[at..at + 4].copy_from_slice(&cover.sequence.to_le_bytes());
                cover.sequence = cover.sequence.wrapping_add(1);
            }
            let start = cover.put(frame, &mut self.bytes);
            if !is_even {
                send(&self.bytes[start..frame.at + frame.length], 1);
            }
        }
        let messages = self.messages - mark.messages;
        if is_even && messages > 0 {
            send(&self.bytes[mark.bytes..], messages);
        }
    }

    /// Forgets the packets, and most of a memory that has grown much; what was lost is returned.
    pub fn clear(&mut self) -> u64 {
        self.bytes.clear();
        self.bytes.shrink_to(8 * FRAME_BYTES_MAX);
        self.frames.clear();
        self.messages = 0;
        self.batch = self.batch.wrapping_add(1);
        std::mem::take(&mut self.lost)
    }
}

impl Framed {
    fn fits(&self, cover: &Cover) -> bool {
        let length = front_bytes(cover.head.len(), self.length) + self.length;
        self.is_text || length <= cover.packet_bytes_max
    }

    /// Whether it is sent with all of the room before it.
    fn is_even(&self, cover: &Cover) -> bool {
        self.at - self.start == front_bytes(cover.head.len(), self.length) && self.fits(cover)
    }
}
