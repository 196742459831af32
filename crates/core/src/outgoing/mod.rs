//! The outbound messages of one client: QoS 0, retained, queued and in flight.
//!
//! They outlive a connection. Publishers push messages, and the connection's task takes them; every part is bounded.

mod aliases;
mod answers;
mod bounds;
mod drain;
mod durable;
mod ends;
mod forgotten;
mod lane;
mod levels;
mod load;
mod outbox;
mod pace;
mod push;
mod queue;
mod ranked;
mod recheck;
mod replay;
mod shortage;
mod take;
mod window;

pub use answers::AnswerTerms;
pub use push::{Dropped, Pushed};
pub use replay::Replay;
pub use shortage::SHORT_BYTES;
pub use take::Taken;

use std::sync::Arc;

use slipring_wire::{PacketId, QoS, Version};

use crate::access::ClientRights;
use crate::{ConnectionKey, Limits, Priority, Victims};
use aliases::Aliases;
use answers::Answers;
use bounds::Bounds;
use durable::Durable;
use outbox::Outbox;
use pace::Pace;
use queue::QueueEntry;
use ranked::Queue;
use replay::Replays;
use window::{Gone, Received, Window, WindowMax};

/// What happens when the outbox or queue of a subscriber is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The oldest messages are dropped.
    #[default]
    DropOldest,
    /// The new message is dropped.
    DropNewest,
    /// The client is disconnected.
    Disconnect,
}

/// What a connected client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Its version of MQTT.
    pub version: Version,
    /// QoS 1 and 2 messages that may be in flight at once (MQTT-3.1.2-24).
    pub receive_max: u16,
    /// The largest packet that it accepts.
    pub packet_bytes: u32,
    /// Topic aliases that it accepts.
    pub topic_aliases: u16,
}

/// The client at the other end of a connection.
#[derive(Debug)]
struct Peer {
    /// Identifies the connection; an older one must not change the session any more.
    key: ConnectionKey,
    terms: Terms,
    aliases: Aliases,
}

/// The priority of frames, samples and chunks, and that which the selections of this connection want.
#[derive(Clone, Copy, Debug, Default)]
struct MadePriority {
    priority: Priority,
    wanted: Option<Priority>,
    /// Whether anything was made.
    is_used: bool,
}

/// The outbound messages of one client.
#[derive(Debug)]
pub struct Outgoing {
    bounds: Bounds,
    /// None while the client is away.
    peer: Option<Peer>,
    outbox: Outbox,
    answers: Answers,
    replays: Replays,
    queue: Queue,
    window: Window,
    /// The priority of what the broker makes for the client.
    made: MadePriority,
    /// The records of a durable session.
    durable: Option<Box<Durable>>,
    /// Whether the client's task was woken, and has not taken since.
    woken: bool,
    /// Whether messages wait because the in-flight window is full; reported once until no message waits.
    held: bool,
    /// Messages that were dropped, expired or lost on their way out of the queue, since the last take.
    dropped: u64,
    expired: u64,
    lost: u64,
    /// Dropped messages that the client does not know of.
    unreported: u64,
    /// How soon it acknowledges.
    pace: Pace,
    /// Dropped messages that their publishers do not know of.
    victims: Option<Box<Victims>>,
    /// Set while messages wait that were queued under other rights.
    recheck: Option<Arc<ClientRights>>,
}

impl Outgoing {
    /// The queue of a client that is not connected yet.
    pub fn new(limits: &Limits) -> Self {
        Self {
            bounds: Bounds::from(limits),
            peer: None,
            outbox: Outbox::default(),
            answers: Answers::default(),
            replays: Replays::default(),
            queue: Queue::default(),
            window: Window::new(),
            made: MadePriority::default(),
            recheck: None,
            durable: None,
            woken: false,
            held: false,
            dropped: 0,
            expired: 0,
            lost: 0,
            unreported: 0,
            pace: Pace::default(),
            victims: None,
        }
    }

    /// A connection begins; an earlier one loses the session.
    pub fn attach(&mut self, key: ConnectionKey, terms: Terms, limits: &Limits) {
        self.bounds = Bounds::from(limits);
        let aliases = Aliases::new(terms.topic_aliases.min(limits.topic_aliases));
        self.peer = Some(Peer { key, terms, aliases });
        self.forget_connection();
        self.unreported += self.window.restart();
        self.queue.begin();
    }

    /// The connection with this key ended; messages wait for the next one.
    pub fn detach(&mut self, key: ConnectionKey) {
        if self.is_attached(key) {
            self.peer = None;
            self.forget_connection();
            if self.durable.is_some() {
                self.queue.unload();
                self.window.unload();
            }
            self.window.rest();
        }
    }

    fn forget_connection(&mut self) {
        self.outbox = Outbox::default();
        self.made = MadePriority::default();
        self.answers = Answers::default();
        (self.woken, self.held) = (false, false);
        if let Some(durable) = &mut self.durable {
            durable.loading = false;
        }
    }

    /// The session is over: nothing is sent any more.
    pub fn end(&mut self) {
        self.peer = None;
        self.forget_connection();
        self.replays = Replays::default();
        self.queue = Queue::default();
        self.window = Window::new();
        self.durable = None;
    }

    /// Whether the connection with this key still has the session.
    pub fn is_attached(&self, key: ConnectionKey) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.key == key)
    }

    /// The client's version of MQTT; None while it is away.
    pub fn version(&self) -> Option<Version> {
        self.peer.as_ref().map(|peer| peer.terms.version)
    }

    /// The number of messages, and bytes, that wait or are in flight.
    pub fn waiting(&self) -> (usize, usize) {
        let messages = self.queue.len() + self.window.len();
        let own = self.window.bytes + self.outbox.queued_bytes() + self.answers.bytes();
        (messages, self.queue.bytes().saturating_add(own))
    }

    /// The number of messages in flight.
    pub fn inflight(&self) -> usize {
        self.window.len()
    }

    /// The QoS 1 and 2 messages that it may have in flight: the broker's bound, and the client's.
    pub fn window_messages(&self) -> u16 {
        let most = self.peer.as_ref().map_or(1, |peer| self.window_max(&peer.terms).messages);
        u16::try_from(most).unwrap_or(u16::MAX)
    }

    /// Whether the client accepts a packet of so many bytes; one that is away may.
    pub fn takes_packet(&self, bytes: usize) -> bool {
        self.peer.as_ref().is_none_or(|peer| bytes <= peer.terms.packet_bytes as usize)
    }

    /// Whether earlier messages wait, so that a shared subscription should choose another member.
    pub fn is_busy(&self) -> bool {
        !self.queue.is_empty() || self.outbox.queued_bytes() > self.bounds.outbox_bytes / 2
    }

    /// Adds the retained messages of a new subscription: they are sent after the messages that wait already, which
    /// are older, and before later ones.
    pub fn push_replay(&mut self, replay: Replay) {
        self.replays.push(replay, None, self.queue.end());
    }

    /// The client is back: searches again for retained messages that were not sent, up to the number `until`.
    pub fn restart_replays(&mut self, until: u64) {
        self.replays.restart(until, self.queue.end());
    }

    /// Cancels the retained messages of a filter whose subscription ended.
    pub fn cancel_replay(&mut self, filter: &str) {
        self.replays.cancel(filter);
    }

    /// The topic of a message in flight; None if there is none, or the journal alone has it.
    pub fn topic_in_flight(&self, id: PacketId) -> Option<&str> {
        match self.window.sent(id)? {
            QueueEntry::Here(delivery) => Some(delivery.message.topic()),
            QueueEntry::Stored(_) => None,
        }
    }

    /// Takes a PUBACK; returns whether its identifier is known.
    pub fn acked(&mut self, id: PacketId) -> bool {
        let gone = self.window.acked(id);
        self.note_settled(id, gone)
    }

    /// Takes a PUBREC, which refuses the message if its reason is 0x80 or above; returns whether its identifier is
    /// known.
    pub fn received(&mut self, id: PacketId, refused: bool) -> bool {
        if refused {
            let gone = self.window.settle(id);
            return self.note_settled(id, gone);
        }
        match self.window.received(id) {
            Received::Unknown => return false,
            Received::Before => {}
            Received::Now(message) => {
                if let Some(durable) = &mut self.durable {
                    durable.received(id, &message);
                }
            }
        }
        true
    }

    /// Takes a PUBCOMP; returns whether its identifier is known.
    pub fn completed(&mut self, id: PacketId) -> bool {
        let gone = self.window.completed(id);
        self.note_settled(id, gone)
    }

    #[inline]
    fn note_settled(&mut self, id: PacketId, gone: Option<Gone>) -> bool {
        let Some(gone) = gone else { return false };
        self.pace.settled(id);
        if let Some(durable) = &mut self.durable {
            match gone.qos {
                QoS::ExactlyOnce => durable.completed(id),
                _ => durable.settled(gone.offset, gone.qos),
            }
        }
        true
    }

    /// A message in flight cannot be sent again. Returns whether its identifier must be released: a client that has the
    /// QoS 2 message would drop the next one with its identifier as a duplicate.
    fn give_up(&mut self, id: PacketId) -> bool {
        match self.window.sent(id).map(QueueEntry::qos) {
            Some(QoS::ExactlyOnce) => self.received(id, false),
            Some(_) => {
                self.acked(id);
                false
            }
            None => false,
        }
    }

    /// Whether a take would find something to do.
    pub fn has_work(&self) -> bool {
        let asked = !self.replays.is_empty() || !self.answers.is_empty();
        if self.woken || asked || !self.outbox.is_empty() || self.is_wanting() {
            return true;
        }
        let waits = self.window.is_resending() || (!self.queue.is_empty() && self.has_window());
        waits && !self.is_blocked()
    }

    fn has_window(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| self.window.has_room(self.window_max(&peer.terms)))
    }

    /// The broker's own bounds of the window; its bytes have the same bound as the queue's.
    fn window_bounds(&self) -> WindowMax {
        WindowMax { messages: self.bounds.inflight, bytes: self.bounds.queue_bytes }
    }

    fn window_max(&self, terms: &Terms) -> WindowMax {
        let most = self.window_bounds();
        WindowMax { messages: most.messages.min(usize::from(terms.receive_max)), ..most }
    }
}
