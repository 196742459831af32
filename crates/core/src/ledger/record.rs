//! What is written about sessions and the table: one record for each change, in the journal beside the
//! messages.

use std::borrow::Cow;

use slipring_wire::frame::RangeSet;
use slipring_wire::{PacketId, QoS};

use super::Manner;
use crate::{Options, Priority, WillMessage};

/// The will of a client, with its delay.
pub type Will<'a> = Option<Cow<'a, WillMessage>>;

/// One change. A record of a session that is not known, or is over, means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "session, filter and packet_id mean the same everywhere")]
pub enum Record<'a> {
    /// A snapshot begins: the highest session number given, and the time it knows of.
    Known { session: u64, newest_ns: i64 },
    /// A client came, and has a new session. An earlier session of the same client is over.
    Opened {
        session: u64,
        client_id: &'a str,
        /// Only this user may have the session.
        user: Option<&'a str>,
        /// Seconds to keep it when the client is away; 0 is not at all.
        expiry_s: u32,
        will: Will<'a>,
    },
    /// The client came back to its session.
    Resumed { session: u64, expiry_s: u32, will: Will<'a> },
    /// The client went; a will that is still here waits for its delay.
    Left { session: u64, at_ns: i64, expiry_s: u32, will: Will<'a> },
    /// The will was published, or will not be.
    Willed { session: u64 },
    /// The session is over.
    Ended { session: u64 },
    /// A subscription was entered or replaced.
    Subscribed {
        session: u64,
        filter: &'a str,
        options: Options,
        /// Retained messages are to be sent.
        replay: bool,
        /// The parameters of a list, where the filter names one.
        list: Option<Cow<'a, RangeSet>>,
    },
    /// A subscription was removed.
    Unsubscribed { session: u64, filter: &'a str },
    /// The retained messages of a filter are on their way, up to this topic.
    ReplayedTo { session: u64, filter: &'a str, topic: &'a str },
    /// The retained messages of a filter are all on their way.
    Replayed { session: u64, filter: &'a str },
    /// Messages of this batch wait for a session.
    Delivered {
        session: u64,
        /// The index of the first of them in this batch.
        first: u32,
        count: u32,
        /// Bytes of each.
        bytes: u32,
        manner: Manner,
    },
    /// Messages from elsewhere in the journal wait for a session.
    DeliveredAt { session: u64, offset: u64, count: u32, bytes: u32, manner: Manner },
    /// A QoS 2 message is sent with this identifier; without an offset it is only in memory.
    Sent { session: u64, packet_id: PacketId, offset: Option<u64> },
    /// The client has the QoS 2 message (PUBREC).
    Received { session: u64, packet_id: PacketId },
    /// The identifier of a QoS 2 message is free again (PUBCOMP).
    Completed { session: u64, packet_id: PacketId },
    /// Messages that waited are delivered, or will not be.
    Settled { session: u64, offset: u64, count: u32, qos: QoS },
    /// A QoS 2 message came from the client.
    Incoming { session: u64, packet_id: PacketId },
    /// The client released the identifier (PUBREL), or we refused its message.
    Released { session: u64, packet_id: PacketId },
    /// A message of this batch asked to be retained, and was not.
    Unretained { index: u32 },
    /// A retained message in full. Only in snapshots.
    RetainedAt { offset: u64, receive_ns: i64, message: RetainedMessage<'a> },
    /// A message of this batch waits for its first subscriber.
    Waiting { index: u32, priority: Priority, expires_ns: Option<i64> },
    /// The same for a message from elsewhere in the journal. Only in snapshots.
    WaitingAt { offset: u64, priority: Priority, expires_ns: Option<i64> },
    /// A message waits no longer: it has a subscriber, is too old, or had to make room.
    Taken { offset: u64 },
    /// The table is this one, and so far: what follows leads to this revision. One of another id begins
    /// anew.
    TableIs { id: u32, revision: u64, end: u32 },
    /// A parameter is there: new, again, or described anew.
    Declared { parameter: u32, name: &'a str, definition: &'a str },
    /// A parameter is gone; what it was is remembered.
    Removed { parameter: u32 },
    /// A message of this batch is a frame.
    Framed { index: u32 },
    /// A message of this batch is a sample of a parameter.
    Sampled { index: u32, parameter: u32 },
    /// Newest values, as a frame. Only in snapshots.
    ValuesAt { receive_ns: i64, frame: &'a [u8] },
    /// A stream is there: new, or described anew.
    StreamDeclared { stream: u32, name: &'a str, definition: &'a str },
    /// A stream is gone, and its index is never given again.
    StreamRemoved { stream: u32 },
    /// Who holds what follows in this batch, and its retained messages: a session, a waiting message, a
    /// parameter, a stream. An empty name is nobody's.
    Owner { owner: &'a str },
    /// A session has declared these, too: they are its own while it lives, and they are there.
    Publishes { session: u64, parameters: Cow<'a, RangeSet>, streams: Cow<'a, RangeSet> },
}

/// What is kept of a retained message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetainedMessage<'a> {
    /// As published.
    pub topic: &'a str,
    /// As published.
    pub qos: QoS,
    /// As published, encoded; checked when a message is made of it.
    pub properties: &'a [u8],
    /// As published; empty forgets the topic.
    pub payload: &'a [u8],
}

macro_rules! kinds {
    ($($name:ident = $byte:literal,)*) => {
        /// The kind of a record, in the low bits of its first byte; one that has no room there is the
        /// second byte, and those bits are 0.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Kind { $($name = $byte,)* }

        impl Kind {
            fn from_number(number: u8) -> Option<Self> {
                match number { $($byte => Some(Self::$name),)* _ => None }
            }
        }
    };
}

kinds! {
    Known = 1,
    Opened = 2,
    Resumed = 3,
    Left = 4,
    Willed = 5,
    Ended = 6,
    Subscribed = 7,
    Unsubscribed = 8,
    ReplayedTo = 9,
    Replayed = 10,
    Delivered = 11,
    DeliveredAt = 12,
    Sent = 13,
    Received = 14,
    Completed = 15,
    Settled = 16,
    Incoming = 17,
    Released = 18,
    Unretained = 19,
    RetainedAt = 20,
    Waiting = 21,
    WaitingAt = 22,
    Taken = 23,
    TableIs = 24,
    Declared = 25,
    Removed = 26,
    Framed = 27,
    Sampled = 28,
    ValuesAt = 29,
    StreamDeclared = 30,
    StreamRemoved = 31,
    Publishes = 32,
    Owner = 33,
}

impl Kind {
    /// The bits of the first byte that are the kind; the others are flags.
    pub const BITS: u8 = 0x1f;

    /// The kind that a first byte says.
    pub fn from_bits(byte: u8) -> Option<Self> {
        Self::from_number(byte & Self::BITS)
    }

    /// The kind that a second byte says.
    pub fn from_second(byte: u8) -> Option<Self> {
        if byte > Self::BITS { Self::from_number(byte) } else { None }
    }
}

/// Flags in the first byte of a record; what they mean depends on its kind.
pub(super) mod flag {
    /// An optional field is there: user, offset, expiry.
    pub const SOME: u8 = 0x20;
    /// A will is there.
    pub const WILL: u8 = 0x40;
    /// QoS 2, not 1.
    pub const EXACTLY: u8 = 0x20;
    /// The retain flag.
    pub const RETAIN: u8 = 0x40;
    /// Subscription identifiers are there.
    pub const IDENTIFIED: u8 = 0x80;
}
