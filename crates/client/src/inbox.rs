//! What arrived and was not taken yet: one queue for each subscription, one for notices.
//!
//! Bounded in bytes over all subscriptions. Nothing is dropped at the bound: the driver stops
//! reading the socket until half of it is free again.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::machine::{Event, Message, Notice, SubscriptionId};
use crate::wake::Wake;

/// Messages a subscriber has not taken; `awaited` once it found none.
#[derive(Default)]
struct Queue {
    messages: VecDeque<Message>,
    bytes: usize,
    awaited: bool,
}

#[derive(Default)]
struct State {
    notices: Vec<Notice>,
    queues: HashMap<SubscriptionId, Queue>,
    bytes: usize,
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

    pub fn open(&self, id: SubscriptionId) {
        self.lock().queues.insert(id, Queue::default());
    }

    /// Forgets a subscription and what it did not take.
    pub fn close(&self, id: SubscriptionId) {
        let mut state = self.lock();
        let bytes = state.queues.remove(&id).map_or(0, |queue| queue.bytes);
        self.release(state, bytes);
    }

    pub fn push(&self, events: &mut Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let mut state = self.lock();
        let notices = state.notices.len();
        for event in events.drain(..) {
            match event {
                Event::Message { subscriptions, message } => state.add(&subscriptions, message),
                Event::Notice(notice) => state.notices.push(notice),
            }
        }
        let told = state.notices.len() > notices;
        drop(state);
        if told {
            self.wake.raise();
        }
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
    /// When there are none, a `Readable` notice tells of the next.
    pub fn take(&self, id: SubscriptionId, count_max: usize, bytes_max: usize) -> Vec<Message> {
        let mut state = self.lock();
        let Some(queue) = state.queues.get_mut(&id) else { return Vec::new() };
        let (messages, bytes) = queue.take(count_max, bytes_max);
        self.release(state, bytes);
        messages
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
    fn add(&mut self, subscriptions: &[SubscriptionId], message: Message) {
        let Some((last, others)) = subscriptions.split_last() else { return };
        for id in others {
            self.add_one(*id, message.clone());
        }
        self.add_one(*last, message);
    }

    /// A subscription that was closed meanwhile has no queue, and its message no reader.
    fn add_one(&mut self, id: SubscriptionId, message: Message) {
        let Some(queue) = self.queues.get_mut(&id) else { return };
        let bytes = message.bytes();
        self.bytes += bytes;
        queue.bytes += bytes;
        queue.messages.push_back(message);
        if std::mem::take(&mut queue.awaited) {
            self.notices.push(Notice::Readable(id));
        }
    }
}

impl Queue {
    fn take(&mut self, count_max: usize, bytes_max: usize) -> (Vec<Message>, usize) {
        let (mut count, mut bytes) = (0, 0);
        for message in self.messages.iter().take(count_max) {
            if bytes >= bytes_max {
                break;
            }
            bytes += message.bytes();
            count += 1;
        }
        self.awaited = self.messages.is_empty();
        self.bytes -= bytes;
        (self.messages.drain(..count).collect(), bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    const A: SubscriptionId = SubscriptionId(1);
    const B: SubscriptionId = SubscriptionId(2);

    fn message(text: &str) -> Message {
        let payload = text.as_bytes().into();
        Message { topic: "t".into(), payload, retain: false, properties: Box::default() }
    }

    fn push(inbox: &Inbox, to: &[SubscriptionId], text: &str) {
        let event = Event::Message { subscriptions: Arc::from(to), message: message(text) };
        inbox.push(&mut vec![event]);
    }

    fn taken(inbox: &Inbox, id: SubscriptionId, count_max: usize) -> Vec<Vec<u8>> {
        let messages = inbox.take(id, count_max, usize::MAX);
        messages.into_iter().map(|message| message.payload.into()).collect()
    }

    #[test]
    fn each_subscription_gets_its_messages_in_order() {
        let inbox = Inbox::new(1 << 20).unwrap();
        inbox.open(A);
        inbox.open(B);
        push(&inbox, &[A, B], "1");
        push(&inbox, &[A], "2");
        assert_eq!(taken(&inbox, A, 1), [b"1"]);
        assert_eq!(taken(&inbox, A, 9), [b"2"]);
        assert_eq!(taken(&inbox, B, 9), [b"1"]);
        assert_eq!(inbox.bytes(), 0);
    }

    #[test]
    fn room_made_before_the_inbox_was_full_does_not_count() {
        let inbox = Inbox::new(1000).unwrap();
        inbox.open(A);
        let text = "x".repeat(600);
        push(&inbox, &[A], &text);
        taken(&inbox, A, 9);
        push(&inbox, &[A], &text);
        push(&inbox, &[A], &text);
        assert!(inbox.is_full());
        let mut context = Context::from_waker(Waker::noop());
        let mut room = pin!(inbox.room());
        assert!(room.as_mut().poll(&mut context).is_pending());
        taken(&inbox, A, 9);
        assert!(room.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn a_reader_that_found_nothing_is_told_once() {
        let inbox = Inbox::new(1 << 20).unwrap();
        inbox.open(A);
        assert!(taken(&inbox, A, 9).is_empty());
        push(&inbox, &[A], "1");
        push(&inbox, &[A], "2");
        assert_eq!(inbox.notices(), [Notice::Readable(A)]);
        assert_eq!(taken(&inbox, A, 9).len(), 2);
        push(&inbox, &[A], "3");
        assert!(inbox.notices().is_empty());
    }

    #[test]
    fn a_batch_ends_soon_after_its_bytes_but_holds_one_message_at_least() {
        let inbox = Inbox::new(1 << 20).unwrap();
        inbox.open(A);
        push(&inbox, &[A], "large");
        push(&inbox, &[A], "next");
        assert_eq!(inbox.take(A, 9, 1).len(), 1);
    }

    #[tokio::test]
    async fn a_full_inbox_has_room_again_at_half() {
        let inbox = Inbox::new(2 * message("x").bytes()).unwrap();
        inbox.open(A);
        push(&inbox, &[A], "x");
        assert!(!inbox.is_full());
        push(&inbox, &[A], "y");
        assert!(inbox.is_full());
        taken(&inbox, A, 1);
        inbox.room().await;
    }

    #[tokio::test]
    async fn a_subscription_given_up_frees_what_it_held() {
        let inbox = Inbox::new(1).unwrap();
        inbox.open(A);
        push(&inbox, &[A], "x");
        inbox.close(A);
        inbox.room().await;
        push(&inbox, &[A], "late");
        assert_eq!(inbox.bytes(), 0);
    }
}
