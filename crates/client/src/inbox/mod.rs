//! The inbox: messages that arrived and were not taken, one queue for each subscription; and events.
//!
//! Bounded in bytes over all subscriptions. Nothing is dropped at the bound: the driver stops reading
//! the socket until half of the bytes are free again.

mod queue;
#[cfg(test)]
mod tests;
mod unclaimed;

use std::collections::HashMap;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard};

use slipring_protocol::{ClientEvent, DeliveryTag, ProtocolEvent, ReceivedMessage, SubscriptionId};
use slipring_wire::QoS;
use tokio::sync::Notify;

use crate::clock::now_ns;
use crate::wake::Wake;
use queue::SubscriptionQueue;
use unclaimed::UnclaimedMessages;

#[derive(Default)]
struct State {
    events: Vec<ClientEvent>,
    queues: HashMap<SubscriptionId, SubscriptionQueue>,
    bytes: usize,
    unclaimed: UnclaimedMessages,
}

pub(crate) struct Inbox {
    /// The driver fills it, the owner's threads empty it. Locked to move messages, never to wait.
    state: Mutex<State>,
    wake: Wake,
    room: Notify,
    bytes_max: usize,
}

impl Inbox {
    pub fn new(bytes_max: usize) -> io::Result<Self> {
        let state = Mutex::default();
        Ok(Self { state, wake: Wake::new()?, room: Notify::new(), bytes_max })
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    pub fn is_full(&self) -> bool {
        self.bytes() >= self.bytes_max
    }

    /// Resolves when a full inbox has room again.
    pub async fn room(&self) {
        // A permit may be left over from room that was made while nobody waited, so look again.
        while self.bytes() > self.bytes_max / 2 {
            self.room.notified().await;
        }
    }

    /// Makes a queue for a subscription, with the unclaimed messages that match its filters.
    pub fn open(&self, id: SubscriptionId, qos: QoS, filters: &[&str]) {
        let mut state = self.lock();
        let mut queue = SubscriptionQueue::new(qos);
        for message in state.unclaimed.claim(filters) {
            queue.add(message);
        }
        state.bytes += queue.bytes;
        state.queues.insert(id, queue);
    }

    /// Removes the queue of a subscription that stays with the session. Messages that its reader did
    /// not take are kept for the next one; the tags of those it took and was not done with are
    /// returned.
    pub fn detach(&self, id: SubscriptionId) -> Vec<DeliveryTag> {
        let mut state = self.lock();
        let Some(queue) = state.queues.remove(&id) else { return Vec::new() };
        let mut abandoned: Vec<_> = queue.taken.into_iter().flatten().collect();
        for message in queue.messages {
            abandoned.extend(state.unclaimed.keep(message, self.bytes_max));
        }
        self.release(state, queue.bytes);
        abandoned
    }

    /// Drops unclaimed messages that match these filters.
    pub fn give_up(&self, filters: &[&str]) -> Vec<DeliveryTag> {
        let claimed = self.lock().unclaimed.claim(filters);
        claimed.into_iter().filter_map(|message| message.tag).collect()
    }

    /// How many messages no subscription has claimed, and the topic of the first.
    pub fn unclaimed(&self) -> (usize, Option<Arc<str>>) {
        self.lock().unclaimed.shown()
    }

    /// Removes the queue of a subscription with its messages. Returns the tags of all messages that its
    /// reader was not done with.
    pub fn close(&self, id: SubscriptionId) -> Vec<DeliveryTag> {
        let mut state = self.lock();
        let Some(queue) = state.queues.remove(&id) else { return Vec::new() };
        self.release(state, queue.bytes);
        let untaken = queue.messages.into_iter().map(|message| message.tag);
        queue.taken.into_iter().chain(untaken).flatten().collect()
    }

    /// Puts messages into their queues. Returns the tags of messages that exceed the bound of unclaimed
    /// messages, and stay unacknowledged.
    #[must_use]
    pub fn push(&self, events: &mut Vec<ProtocolEvent>) -> Vec<DeliveryTag> {
        let mut refused = Vec::new();
        if events.is_empty() {
            return refused;
        }
        stamp(events);
        let mut state = self.lock();
        let before = state.events.len();
        for event in events.drain(..) {
            match event {
                ProtocolEvent::Message { subscriptions, message } if subscriptions.is_empty() => {
                    refused.extend(state.keep(message, self.bytes_max));
                }
                ProtocolEvent::Message { subscriptions, message } => {
                    state.add(&subscriptions, message);
                }
                ProtocolEvent::Client(event) => state.events.push(event),
            }
        }
        let told = state.events.len() > before;
        drop(state);
        if told {
            self.wake.raise();
        }
        refused
    }

    pub fn notify(&self, event: ClientEvent) {
        self.lock().events.push(event);
        self.wake.raise();
    }

    /// The events so far, in order.
    pub fn events(&self) -> Vec<ClientEvent> {
        self.wake.clear();
        std::mem::take(&mut self.lock().events)
    }

    /// The oldest messages of a subscription: at most so many, and about so many bytes.
    ///
    /// When there are none, a `Readable` event announces the next. Also returns the tags of messages
    /// that need no [`Self::done`]: those of a reader at QoS 0.
    pub fn take(
        &self,
        id: SubscriptionId,
        count_max: usize,
        bytes_max: usize,
    ) -> (Vec<ReceivedMessage>, Vec<DeliveryTag>) {
        let mut state = self.lock();
        let Some(queue) = state.queues.get_mut(&id) else { return Default::default() };
        let (messages, bytes) = queue.take(count_max, bytes_max);
        let done = queue.hand_out(&messages);
        self.release(state, bytes);
        (messages, done)
    }

    /// The tags of the oldest messages that were taken and not counted yet.
    pub fn done(&self, id: SubscriptionId, count: usize) -> Vec<DeliveryTag> {
        let mut state = self.lock();
        let Some(queue) = state.queues.get_mut(&id) else { return Vec::new() };
        let count = count.min(queue.taken.len());
        queue.taken.drain(..count).flatten().collect()
    }

    fn release(&self, mut state: MutexGuard<'_, State>, bytes: usize) {
        let before = state.bytes;
        state.bytes -= bytes;
        let half = self.bytes_max / 2;
        if before > half && state.bytes <= half {
            self.room.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while the inbox is locked")
    }
}

impl State {
    /// Keeps a message that no subscription asks for.
    fn keep(&mut self, message: ReceivedMessage, bytes_max: usize) -> Option<DeliveryTag> {
        let first = self.unclaimed.is_empty();
        let refused = self.unclaimed.keep(message, bytes_max);
        if first && !self.unclaimed.is_empty() {
            self.events.push(ClientEvent::Unclaimed);
        }
        refused
    }

    fn add(&mut self, subscriptions: &[SubscriptionId], message: ReceivedMessage) {
        let Some((last, others)) = subscriptions.split_last() else { return };
        for id in others {
            self.add_one(*id, message.clone());
        }
        self.add_one(*last, message);
    }

    fn add_one(&mut self, id: SubscriptionId, message: ReceivedMessage) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        self.bytes += queue.add(message);
        if std::mem::take(&mut queue.awaited) {
            self.events.push(ClientEvent::Readable(id));
        }
    }
}

/// Notes when messages with properties arrived. Frames have a content type; for other messages nobody
/// asks for the time.
fn stamp(events: &mut [ProtocolEvent]) {
    let mut now = None;
    for event in events {
        if let ProtocolEvent::Message { message, .. } = event {
            if let Some(properties) = &mut message.properties {
                properties.arrived_ns = *now.get_or_insert_with(now_ns);
            }
        }
    }
}
