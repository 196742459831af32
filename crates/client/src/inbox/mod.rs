//! What arrived and was not taken yet: one queue for each subscription, one for notices.
//!
//! Bounded in bytes over all subscriptions. Nothing is dropped at the bound: the driver stops
//! reading the socket until half of it is free again.

mod queue;
#[cfg(test)]
mod tests;
mod unclaimed;

use std::collections::HashMap;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard};

use slipring_wire::QoS;
use tokio::sync::Notify;

use crate::clock::now_ns;
use crate::machine::{Event, Message, Notice, Receipt, SubscriptionId};
use crate::wake::Wake;
use queue::Queue;
use unclaimed::Unclaimed;

#[derive(Default)]
struct State {
    notices: Vec<Notice>,
    queues: HashMap<SubscriptionId, Queue>,
    bytes: usize,
    unclaimed: Unclaimed,
}

pub(crate) struct Inbox {
    /// Filled by the driver, emptied by the owner's threads; held to move messages, never to wait.
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

    pub fn fd(&self) -> RawFd {
        self.wake.fd()
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
        // Room that was made while nobody waited left a permit behind, which says nothing of now.
        while self.bytes() > self.bytes_max / 2 {
            self.room.notified().await;
        }
    }

    /// A queue for a subscription, with what came for it before.
    pub fn open(&self, id: SubscriptionId, qos: QoS, filters: &[&str]) {
        let mut state = self.lock();
        let mut queue = Queue::new(qos);
        for message in state.unclaimed.claim(filters) {
            queue.add(message);
        }
        state.bytes += queue.bytes;
        state.queues.insert(id, queue);
    }

    /// Forgets a subscription that goes on without a reader; what it did not take is kept for the
    /// next one, what it took and was not done with is told.
    pub fn detach(&self, id: SubscriptionId) -> Vec<Receipt> {
        let mut state = self.lock();
        let Some(queue) = state.queues.remove(&id) else { return Vec::new() };
        let mut abandoned: Vec<_> = queue.taken.into_iter().flatten().collect();
        for message in queue.messages {
            abandoned.extend(state.unclaimed.keep(message, self.bytes_max));
        }
        self.release(state, queue.bytes);
        abandoned
    }

    /// Forgets what was kept for these filters.
    pub fn give_up(&self, filters: &[&str]) -> Vec<Receipt> {
        let claimed = self.lock().unclaimed.claim(filters);
        claimed.into_iter().filter_map(|message| message.receipt).collect()
    }

    /// How many messages are kept for a subscription still to come, and the topic of the first.
    pub fn unclaimed(&self) -> (usize, Option<Arc<str>>) {
        self.lock().unclaimed.shown()
    }

    /// Forgets a subscription and what it did not take; the receipts of all it was not done with.
    pub fn close(&self, id: SubscriptionId) -> Vec<Receipt> {
        let mut state = self.lock();
        let Some(queue) = state.queues.remove(&id) else { return Vec::new() };
        self.release(state, queue.bytes);
        let untaken = queue.messages.into_iter().map(|message| message.receipt);
        queue.taken.into_iter().chain(untaken).flatten().collect()
    }

    /// Puts messages into their queues; the receipts of those that go beyond a bound, and that the
    /// broker keeps.
    #[must_use]
    pub fn push(&self, events: &mut Vec<Event>) -> Vec<Receipt> {
        let mut refused = Vec::new();
        if events.is_empty() {
            return refused;
        }
        stamp(events);
        let mut state = self.lock();
        let notices = state.notices.len();
        for event in events.drain(..) {
            match event {
                Event::Message { subscriptions, message } if subscriptions.is_empty() => {
                    refused.extend(state.keep(message, self.bytes_max));
                }
                Event::Message { subscriptions, message } => state.add(&subscriptions, message),
                Event::Notice(notice) => state.notices.push(notice),
            }
        }
        let told = state.notices.len() > notices;
        drop(state);
        if told {
            self.wake.raise();
        }
        refused
    }

    pub fn notify(&self, notice: Notice) {
        self.lock().notices.push(notice);
        self.wake.raise();
    }

    /// The notices so far, in order.
    pub fn notices(&self) -> Vec<Notice> {
        self.wake.clear();
        std::mem::take(&mut self.lock().notices)
    }

    /// The oldest messages of a subscription: at most so many, and about so many bytes.
    ///
    /// When there are none, a `Readable` notice tells of the next. With them come the receipts of
    /// those that are done with by being taken.
    pub fn take(
        &self,
        id: SubscriptionId,
        count_max: usize,
        bytes_max: usize,
    ) -> (Vec<Message>, Vec<Receipt>) {
        let mut state = self.lock();
        let Some(queue) = state.queues.get_mut(&id) else { return Default::default() };
        let (messages, bytes) = queue.take(count_max, bytes_max);
        let done = queue.hand_out(&messages);
        self.release(state, bytes);
        (messages, done)
    }

    /// The receipts of the oldest messages that were taken and not counted yet.
    pub fn done(&self, id: SubscriptionId, count: usize) -> Vec<Receipt> {
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
    /// A message that no subscription asks for.
    fn keep(&mut self, message: Message, bytes_max: usize) -> Option<Receipt> {
        let first = self.unclaimed.is_empty();
        let refused = self.unclaimed.keep(message, bytes_max);
        if first && !self.unclaimed.is_empty() {
            self.notices.push(Notice::Unclaimed);
        }
        refused
    }

    fn add(&mut self, subscriptions: &[SubscriptionId], message: Message) {
        let Some((last, others)) = subscriptions.split_last() else { return };
        for id in others {
            self.add_one(*id, message.clone());
        }
        self.add_one(*last, message);
    }

    fn add_one(&mut self, id: SubscriptionId, message: Message) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        self.bytes += queue.add(message);
        if std::mem::take(&mut queue.awaited) {
            self.notices.push(Notice::Readable(id));
        }
    }
}

/// Notes when messages came, where that matters: frames have a content type.
fn stamp(events: &mut [Event]) {
    let mut now = None;
    for event in events {
        if let Event::Message { message, .. } = event {
            if let Some(extras) = &mut message.extras {
                extras.arrived_ns = *now.get_or_insert_with(now_ns);
            }
        }
    }
}
