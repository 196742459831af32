//! The messages on their way to one client: QoS 0, retained, queued and in flight.
//!
//! It outlives a connection. Publishers push, the connection's task takes; every part is bounded.

mod aliases;
mod answers;
mod durable;
mod lane;
mod load;
mod push;
mod queue;
mod replay;
mod shortage;
mod take;
mod window;

pub use answers::{ASKED_MAX, AnswerTerms};
pub use push::{Dropped, Pushed};
pub use replay::Replay;
pub use shortage::SHORT_BYTES;
pub use take::Taken;
pub use window::Settled;

use slipring_wire::{PacketId, QoS, Version};

use crate::{ConnectionKey, Limits};
use aliases::Aliases;
use answers::Answers;
use durable::Durable;
use lane::Lane;
use queue::Queue;
use replay::Replays;
use window::{Gone, Received, Window, WindowMax};

/// What happens to a subscriber whose queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The oldest messages go.
    #[default]
    DropOldest,
    /// The message that found no room goes.
    DropNewest,
    /// The client is disconnected.
    Disconnect,
}

/// What a connected client allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The version it speaks.
    pub version: Version,
    /// Unsettled QoS 1 and 2 messages it takes at once (MQTT-3.1.2-24).
    pub receive_max: u16,
    /// The largest packet it takes.
    pub packet_bytes: u32,
    /// Topic aliases it takes.
    pub topic_aliases: u16,
}

/// The client at the other end of a connection.
#[derive(Debug)]
struct Peer {
    /// Which connection this is; an older one must not touch the session any more.
    key: ConnectionKey,
    terms: Terms,
    aliases: Aliases,
}

/// The bounds, and what happens there.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    outbox_bytes: usize,
    queue_messages: usize,
    queue_bytes: usize,
    inflight: usize,
    qos0: Overflow,
    qos12: Overflow,
}

/// The messages on their way to one client.
#[derive(Debug)]
pub struct Outgoing {
    bounds: Bounds,
    /// None while the client is away.
    peer: Option<Peer>,
    lane: Lane,
    answers: Answers,
    replays: Replays,
    queue: Queue,
    window: Window,
    /// What is written down, where the session outlives the broker.
    durable: Option<Box<Durable>>,
    /// The client's task was told that there is something to do.
    woken: bool,
    /// Messages wait because as many as may be are in flight; counted once until none waits.
    held: bool,
    /// While messages were taken, since the last take.
    dropped: u64,
    expired: u64,
    lost: u64,
    /// Dropped and not told to the client yet.
    untold: u64,
}

impl Outgoing {
    /// A queue for a client that is not connected yet.
    pub fn new(limits: &Limits) -> Self {
        Self {
            bounds: Bounds::from(limits),
            peer: None,
            lane: Lane::default(),
            answers: Answers::default(),
            replays: Replays::default(),
            queue: Queue::default(),
            window: Window::new(),
            durable: None,
            woken: false,
            held: false,
            dropped: 0,
            expired: 0,
            lost: 0,
            untold: 0,
        }
    }

    /// A connection begins, and any earlier one has lost the session.
    pub fn attach(&mut self, key: ConnectionKey, terms: Terms, limits: &Limits) {
        self.bounds = Bounds::from(limits);
        let aliases = Aliases::new(terms.topic_aliases.min(limits.topic_aliases));
        self.peer = Some(Peer { key, terms, aliases });
        self.forget_connection();
        self.window.restart();
    }

    /// The connection with this key has ended; messages wait for the next one.
    pub fn detach(&mut self, key: ConnectionKey) {
        if self.is_linked(key) {
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
        self.lane = Lane::default();
        self.answers = Answers::default();
        self.woken = false;
        self.held = false;
        if let Some(durable) = &mut self.durable {
            durable.loading = false;
        }
    }

    /// The session is over: nothing will be sent any more, whoever still knows of it.
    pub fn end(&mut self) {
        self.peer = None;
        self.forget_connection();
        self.replays = Replays::default();
        self.queue = Queue::default();
        self.window = Window::new();
        self.durable = None;
    }

    /// Whether the connection with this key still has the session.
    pub fn is_linked(&self, key: ConnectionKey) -> bool {
        self.peer.as_ref().is_some_and(|peer| peer.key == key)
    }

    /// The version the client speaks; None while it is away.
    pub fn version(&self) -> Option<Version> {
        self.peer.as_ref().map(|peer| peer.terms.version)
    }

    /// Messages and bytes that wait or are in flight.
    pub fn waiting(&self) -> (usize, usize) {
        let messages = self.queue.len() + self.window.len();
        let own = self.window.bytes() + self.lane.queued_bytes() + self.answers.bytes();
        (messages, self.queue.bytes().saturating_add(own))
    }

    /// Messages sent and not settled.
    pub fn inflight(&self) -> usize {
        self.window.len()
    }

    /// Whether a shared subscription had better choose another member.
    pub fn is_busy(&self) -> bool {
        !self.queue.is_empty() || self.lane.queued_bytes() > self.bounds.outbox_bytes / 2
    }

    /// Asks for the retained messages of a new subscription: they come after what waits already, which is
    /// older, and before what comes later.
    pub fn push_replay(&mut self, replay: Replay) {
        self.replays.push(replay, None, self.queue.end());
    }

    /// The client is back: retained messages that it was not sent yet are looked up anew, up to this one.
    pub fn restart_replays(&mut self, until: u64) {
        self.replays.restart(until, self.queue.end());
    }

    /// Gives up the retained messages of a filter that is no longer subscribed to.
    pub fn cancel_replay(&mut self, filter: &str) {
        self.replays.cancel(filter);
    }

    /// PUBACK.
    pub fn acked(&mut self, id: PacketId) -> Settled {
        let gone = self.window.acked(id);
        self.note_settled(id, gone)
    }

    /// PUBREC; `refused` is a reason of 0x80 or above.
    pub fn received(&mut self, id: PacketId, refused: bool) -> Settled {
        if refused {
            let gone = self.window.settle(id);
            return self.note_settled(id, gone);
        }
        match self.window.received(id) {
            Received::Unknown => return Settled::Unknown,
            Received::Before => {}
            Received::Now(message) => {
                if let Some(durable) = &mut self.durable {
                    durable.received(id, &message);
                }
            }
        }
        Settled::Known
    }

    /// PUBCOMP.
    pub fn completed(&mut self, id: PacketId) -> Settled {
        let gone = self.window.completed(id);
        self.note_settled(id, gone)
    }

    #[inline]
    fn note_settled(&mut self, id: PacketId, gone: Option<Gone>) -> Settled {
        let Some(gone) = gone else { return Settled::Unknown };
        if let Some(durable) = &mut self.durable {
            match gone.qos {
                QoS::ExactlyOnce => durable.completed(id),
                _ => durable.settled(gone.offset, gone.qos),
            }
        }
        Settled::Known
    }

    /// A message in flight cannot be sent again. Whether its identifier is to be released: a client
    /// that has the message at QoS 2 would take the next one with it for the same.
    fn give_up(&mut self, id: PacketId) -> bool {
        match self.window.sent(id).map(queue::QueueEntry::qos) {
            Some(QoS::ExactlyOnce) => self.received(id, false) == Settled::Known,
            Some(_) => {
                self.acked(id);
                false
            }
            None => false,
        }
    }

    /// Whether a take could give anything.
    pub fn has_work(&self) -> bool {
        let asked = !self.replays.is_empty() || !self.answers.is_empty();
        if self.woken || asked || !self.lane.is_empty() || self.is_wanting() {
            return true;
        }
        let waits = self.window.is_resending() || (!self.queue.is_empty() && self.has_window());
        waits && !self.is_blocked()
    }

    fn has_window(&self) -> bool {
        self.peer.as_ref().is_some_and(|peer| self.window.has_room(self.window_max(&peer.terms)))
    }

    /// What may be in flight, as far as it is our decision: its bytes have the same bound as the queue's.
    fn window_bounds(&self) -> WindowMax {
        WindowMax { messages: self.bounds.inflight, bytes: self.bounds.queue_bytes }
    }

    fn window_max(&self, terms: &Terms) -> WindowMax {
        let most = self.window_bounds();
        WindowMax { messages: most.messages.min(usize::from(terms.receive_max)), ..most }
    }
}

impl From<&Limits> for Bounds {
    fn from(limits: &Limits) -> Self {
        Self {
            outbox_bytes: limits.outbox_bytes,
            queue_messages: limits.queue_messages,
            queue_bytes: limits.queue_bytes,
            inflight: limits.inflight,
            qos0: limits.qos0_full,
            qos12: limits.qos12_full,
        }
    }
}
