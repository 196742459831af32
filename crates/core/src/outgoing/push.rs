//! Adding messages for a client: which bound leaves no room, and what the engine has to do then.

use slipring_wire::QoS;

use super::lane::Encoded;
use super::outbox::Room;
use super::queue::QueueEntry;
use super::{Bounds, Outgoing, Overflow};
use crate::packets::packet_length;
use crate::streams::ChunkBudget;
use crate::table::PlainRoom;
use crate::{Delivery, Expiry, JournalVictim, Limit, Priority, SharedBytes, Victims, memory};

/// What the engine has to do after a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pushed {
    /// Nothing: the client is away, or its task is awake already.
    Quiet,
    /// Wake the client's task.
    Wake,
    /// Count the messages that were dropped.
    Dropped(Dropped),
    /// The queue is full: the message is dropped, and the policy is to end the connection.
    Overflow(Limit),
    /// Ends of requests wait that the client does not take, more than may: this one waits, too, and the connection ends.
    EndsConnection(Limit),
    /// Count it: messages begin to wait, because the in-flight window is full.
    Held,
}

/// Messages that were dropped because there was no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The limit that was reached; None for the client's own limit of the packet size.
    pub limit: Option<Limit>,
    /// How many.
    pub messages: u32,
    /// Whether to wake the client's task, too.
    pub wake: bool,
}

/// A client keeps up while its outbox has no more than this.
const DRAINED_BYTES: usize = 64 << 10;

impl Pushed {
    /// What the engine has to do after two pushes to the same client.
    fn and(self, next: Self) -> Self {
        match (self, next) {
            (Self::Overflow(limit), _) | (_, Self::Overflow(limit)) => Self::Overflow(limit),
            (Self::Dropped(first), Self::Dropped(second)) => Self::Dropped(Dropped {
                limit: second.limit,
                messages: first.messages + second.messages,
                wake: first.wake || second.wake,
            }),
            (Self::Dropped(dropped), Self::Wake) | (Self::Wake, Self::Dropped(dropped)) => {
                Self::Dropped(Dropped { wake: true, ..dropped })
            }
            (Self::Dropped(dropped), _) | (_, Self::Dropped(dropped)) => Self::Dropped(dropped),
            (Self::Wake, _) | (_, Self::Wake) => Self::Wake,
            (first, _) => first,
        }
    }
}

/// From so many waiting bytes on a subscriber does not keep up; one that reads has fewer.
const FAR_BEHIND_BYTES: usize = 128 << 10;

/// Bytes of read buffers that messages for one client may keep allocated. Such a buffer holds other messages, too, and
/// most of them are already sent.
const READ_BUFFERS_BYTES_MAX: usize = 1 << 20;

impl Outgoing {
    /// Adds an encoded QoS 0 message. A client that is away does not get it.
    #[inline]
    pub fn push_encoded(
        &mut self,
        message: &[u8],
        expiry: Option<Expiry>,
        priority: Priority,
    ) -> Pushed {
        self.push_lane(Encoded { bytes: message, payload: None, expiry }, priority)
    }

    /// Whether so many bytes wait at QoS 0 that the subscriber does not keep up.
    #[inline]
    pub fn is_far_behind(&self) -> bool {
        self.outbox.queued_bytes() >= FAR_BEHIND_BYTES
    }

    /// Whether a message may stay in the buffer that it was read into, instead of being copied.
    #[inline]
    pub fn can_hold_part(&self, buffer: &SharedBytes) -> bool {
        self.outbox.buffers_bytes_with(buffer) <= READ_BUFFERS_BYTES_MAX
    }

    /// Adds a QoS 0 message with a shared payload; `head` is the packet in front of it.
    pub fn push_shared(
        &mut self,
        head: &[u8],
        payload: &SharedBytes,
        expiry: Option<Expiry>,
        priority: Priority,
    ) -> Pushed {
        self.push_lane(Encoded { bytes: head, payload: Some(payload), expiry }, priority)
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it runs for each subscriber of each message")]
    fn push_lane(&mut self, message: Encoded<'_>, priority: Priority) -> Pushed {
        let Some(peer) = &self.peer else { return Pushed::Quiet };
        if message.len() > peer.terms.packet_bytes as usize {
            return self.lose(None, 1, false); // MQTT-3.1.2-25
        }
        if memory::is_short() {
            return self.push_short(message, priority);
        }
        let Bounds { outbox_bytes, qos0, .. } = self.bounds;
        let room = self.outbox.push(message, priority, outbox_bytes, qos0);
        self.pushed(room, Limit::OutboxBytes)
    }

    #[cold]
    fn push_short(&mut self, message: Encoded<'_>, priority: Priority) -> Pushed {
        let (bytes_max, policy, limit) = self.short_bounds(message.len());
        let room = self.outbox.push(message, priority, bytes_max, policy);
        self.pushed(room, limit)
    }

    #[inline]
    fn pushed(&mut self, room: Room, limit: Limit) -> Pushed {
        match room {
            Room::Kept => self.wake(),
            Room::Dropped(count) => self.lose(Some(limit), count, true),
            Room::Overflow => self.overflow(limit),
        }
    }

    /// The client has a selection or a stream with this priority. What it gets of all of them has the highest.
    pub fn select(&mut self, priority: Option<Priority>) {
        self.made.wanted = self.made.wanted.max(Some(priority.unwrap_or_default()));
    }

    /// Adds several encoded QoS 0 messages that the broker made: frames, samples, chunks.
    pub fn push_packets(&mut self, mut packets: &[u8]) -> Pushed {
        let wanted = self.made.wanted.unwrap_or_default();
        // Frames of a new priority do not overtake earlier ones, because they have an order.
        if self.made.priority != wanted
            && !(self.made.is_used && self.outbox.has(self.made.priority))
        {
            self.made.priority = wanted;
        }
        self.made.is_used |= !packets.is_empty();
        let priority = self.made.priority;
        let mut result = Pushed::Quiet;
        while !packets.is_empty() {
            let length = packet_length(packets).min(packets.len());
            result = result.and(self.push_encoded(&packets[..length], None, priority));
            packets = &packets[length..];
        }
        result
    }

    /// The largest packet that the client accepts and its outbox holds; None while it is away.
    pub fn packet_bytes_max(&self) -> Option<usize> {
        let peer = self.peer.as_ref()?;
        Some(self.bounds.outbox_bytes.min(peer.terms.packet_bytes as usize))
    }

    /// Whether so few bytes wait for the client's socket that a further frame may follow.
    pub fn is_drained(&self) -> bool {
        self.bytes_before_made() <= DRAINED_BYTES.min(self.bounds.outbox_bytes / 2)
    }

    /// Bytes that go before a frame or chunk that is added now.
    fn bytes_before_made(&self) -> usize {
        self.outbox.bytes_before(self.made.priority)
    }

    /// How many bytes of samples may be added.
    pub fn plain_room(&self) -> PlainRoom {
        let Some(newest) = self.stream_room() else {
            let kept = self.bounds.outbox_bytes / 2;
            let every = kept.saturating_sub(self.bytes_before_made());
            return PlainRoom { every: if self.peer.is_some() { every } else { 0 }, newest: 0 };
        };
        PlainRoom { every: newest.most / 2, newest: newest.bytes }
    }

    /// How many bytes of streams, or of values sent again, may be added; None while the client is away or does not keep
    /// up.
    pub fn stream_room(&self) -> Option<ChunkBudget> {
        let most = self.bounds.outbox_bytes.saturating_sub(self.bytes_before_made());
        let room = ChunkBudget { bytes: memory::slice_bytes().min(most), most };
        (self.peer.is_some() && self.is_drained()).then_some(room)
    }

    /// Adds a QoS 1 or 2 message, for a client that is connected or away.
    pub fn push(&mut self, delivery: Delivery) -> Pushed {
        debug_assert!(delivery.qos > QoS::AtMostOnce);
        if delivery.of_request {
            return self.push_of_request(delivery);
        }
        match self.bound_reached_by(&delivery) {
            None => self.enqueue(delivery),
            Some(limit) => self.push_beyond(delivery, limit),
        }
    }

    /// The limit that this message would exceed.
    fn bound_reached_by(&self, delivery: &Delivery) -> Option<Limit> {
        if self.queue.len() >= self.bounds.queue_messages {
            return Some(Limit::QueueMessages);
        }
        let bytes = self.queue.bytes().saturating_add(delivery.message.bytes());
        (bytes > self.bounds.queue_bytes).then_some(Limit::QueueBytes)
    }

    /// The queue is full: the policy decides.
    #[cold]
    fn push_beyond(&mut self, delivery: Delivery, limit: Limit) -> Pushed {
        let policy = self.bounds.qos12;
        if policy == Overflow::Disconnect && self.peer.is_some() {
            self.note_dropped(&QueueEntry::Here(delivery), limit);
            return self.overflow(limit);
        }
        if !self.can_make_room(&delivery, policy) {
            self.note_dropped(&QueueEntry::Here(delivery), limit);
            return self.lose(Some(limit), 1, false);
        }
        let mut dropped = 0;
        while self.bound_reached_by(&delivery).is_some() {
            let Some(victim) = self.queue.drop_for(delivery.priority, policy) else { break };
            self.note_dropped(&victim, limit);
            dropped += 1;
        }
        let wake = self.enqueue(delivery) == Pushed::Wake;
        self.unreported += u64::from(dropped);
        Pushed::Dropped(Dropped { limit: Some(limit), messages: dropped, wake })
    }

    /// Whether there would be room for a message without those that make room for it.
    fn can_make_room(&self, delivery: &Delivery, policy: Overflow) -> bool {
        let (messages, bytes) = self.queue.droppable(delivery.priority, policy);
        let rest =
            self.queue.bytes().saturating_sub(bytes).saturating_add(delivery.message.bytes());
        self.queue.len() - messages < self.bounds.queue_messages && rest <= self.bounds.queue_bytes
    }

    pub(super) fn enqueue(&mut self, delivery: Delivery) -> Pushed {
        if self.durable.is_some() && (self.peer.is_none() || memory::is_short()) {
            self.queue.push_away(delivery);
        } else {
            self.queue.push(delivery);
        }
        if self.peer.is_none() {
            return Pushed::Quiet;
        }
        if self.has_window() {
            return self.wake();
        }
        if self.hold() { Pushed::Held } else { Pushed::Quiet }
    }

    /// Whether messages begin to wait because the in-flight window has reached the broker's own bound.
    pub(super) fn hold(&mut self) -> bool {
        let full = self.peer.is_some() && self.window.is_full(self.window_bounds());
        full && !std::mem::replace(&mut self.held, true)
    }

    /// Notes a dropped message for the journal, and for its publisher.
    pub(super) fn note_dropped(&mut self, dropped: &QueueEntry, limit: Limit) {
        if let Some(durable) = &mut self.durable {
            durable.dropped(dropped.offset(), dropped.qos());
        }
        let victims = self.victims.get_or_insert_default();
        match dropped {
            QueueEntry::Here(delivery) => victims.add(&delivery.message, limit),
            QueueEntry::Stored(span) => {
                let (offset, bytes) = (span.first, u64::from(span.bytes));
                victims.add_in_journal(JournalVictim { offset, bytes, limit });
            }
        }
    }

    /// Moves what was dropped since the last call to the end of `victims`, for the publishers.
    pub fn take_victims(&mut self, victims: &mut Victims) {
        if let Some(own) = &mut self.victims {
            victims.append(own);
        }
    }

    pub(super) fn lose(&mut self, limit: Option<Limit>, messages: u32, wake: bool) -> Pushed {
        self.unreported += u64::from(messages);
        let wake = wake && self.wake() == Pushed::Wake;
        Pushed::Dropped(Dropped { limit, messages, wake })
    }

    pub(super) fn overflow(&mut self, limit: Limit) -> Pushed {
        self.unreported += 1;
        Pushed::Overflow(limit)
    }

    pub(super) fn wake(&mut self) -> Pushed {
        if self.peer.is_none() || std::mem::replace(&mut self.woken, true) {
            Pushed::Quiet
        } else {
            Pushed::Wake
        }
    }
}
