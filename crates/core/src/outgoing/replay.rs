//! Retained messages for new subscriptions: searched page by page, so that many take little memory.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_wire::QoS;

use crate::{Delivery, Identifiers, Message, Priority, RetainedPage};

/// A search for the retained messages of one subscription, which the client gets.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The filter of the subscription.
    pub filter: Box<str>,
    /// The highest QoS to deliver with.
    pub qos: QoS,
    /// The subscription's identifier.
    pub identifiers: Identifiers,
    /// The number of the newest retained message at the time of the subscription: the client gets later ones live.
    pub until: u64,
}

/// The progress of replays.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// The messages of a filter were sent up to this topic.
    To(Box<str>, Arc<str>),
    /// All messages of a filter were sent.
    Done(Box<str>),
}

/// Searches for a page of retained messages, behind a topic.
pub(super) type Find<'a> = &'a mut dyn FnMut(&Replay, Option<&str>) -> RetainedPage;

/// Pages that one take searches for, because topics that a filter does not match are work, too.
const PAGES_MAX: usize = 4;

/// A replay with the topic after which it begins. It is due when `place` normal messages have left the queue, because
/// messages that were queued before the subscription are older than the retained ones.
#[derive(Debug)]
struct QueuedReplay {
    replay: Replay,
    after: Option<Arc<str>>,
    place: u64,
}

/// A page of retained messages that are not sent yet, and the topic after which the next page begins.
#[derive(Debug)]
struct Found {
    messages: std::iter::Peekable<std::vec::IntoIter<Arc<Message>>>,
    next: Option<Arc<str>>,
}

/// Replays in the order of their subscriptions.
#[derive(Debug, Default)]
pub(super) struct Replays {
    waiting: VecDeque<QueuedReplay>,
    /// The page that is being sent, of the first replay.
    found: Option<Found>,
    /// Pages searched for in this take, which begins with 0.
    pub pages: usize,
    /// Whether the first replay has sent messages since the last call of `progress`.
    moved: bool,
    /// Filters whose replay ended since then.
    done: Vec<Box<str>>,
}

impl Replays {
    /// Adds a replay that is due when `place` messages have left the queue, and begins after a topic. It replaces one of
    /// the same filter that has not begun, so that there are never more replays than subscriptions.
    pub(super) fn push(&mut self, replay: Replay, after: Option<Arc<str>>, place: u64) {
        // QoS 0 messages do not use the queue.
        let place = if replay.qos == QoS::AtMostOnce { 0 } else { place };
        let replay = QueuedReplay { replay, after, place };
        let begun = usize::from(self.found.is_some());
        let mut others = self.waiting.iter_mut().skip(begun);
        match others.find(|other| other.is_of(&replay.replay.filter) && other.after.is_none()) {
            Some(other) => *other = replay,
            None => self.waiting.push_back(replay),
        }
    }

    /// The client is back: retained messages are sent after all messages that are queued now.
    pub(super) fn restart(&mut self, until: u64, place: u64) {
        self.found = None;
        for waiting in &mut self.waiting {
            waiting.replay.until = until;
            if waiting.replay.qos > QoS::AtMostOnce {
                waiting.place = place;
            }
        }
    }

    /// Cancels the replay of a filter whose subscription ended.
    pub(super) fn cancel(&mut self, filter: &str) {
        if self.waiting.front().is_some_and(|first| first.is_of(filter)) {
            self.found = None;
            self.moved = false;
        }
        self.waiting.retain(|waiting| !waiting.is_of(filter));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the next replay is due after `gone` messages have left the queue.
    pub(super) fn is_due(&self, gone: u64) -> bool {
        self.waiting.front().is_some_and(|first| first.place <= gone)
    }

    /// Whether this take has searched for as many pages as it may; the next take continues.
    pub(super) fn is_paused(&self) -> bool {
        self.pages >= PAGES_MAX && self.found.is_none() && !self.waiting.is_empty()
    }

    /// The next message to send after `gone` messages have left the queue. It is taken by `advance`.
    pub(super) fn peek(&mut self, gone: u64, find: Find<'_>) -> Option<Delivery> {
        loop {
            if self.is_paused() {
                return None;
            }
            let first = self.waiting.front_mut().filter(|first| first.place <= gone)?;
            let found = self.found.get_or_insert_with(|| {
                self.pages += 1;
                first.find(find)
            });
            if let Some(message) = found.messages.peek() {
                return Some(Delivery {
                    message: Arc::clone(message),
                    qos: message.qos.min(first.replay.qos),
                    retain: true, // MQTT-3.3.1-8
                    identifiers: first.replay.identifiers.clone(),
                    priority: Priority::Normal,
                    of_request: false,
                    by_topic: false,
                });
            }
            if let Some(next) = self.found.take().and_then(|found| found.next) {
                first.after = Some(next);
                continue;
            }
            self.moved = false;
            self.done.extend(self.waiting.pop_front().map(|first| first.replay.filter));
        }
    }

    /// Takes the message that `peek` returned.
    pub(super) fn advance(&mut self) {
        let message = self.found.as_mut().and_then(|found| found.messages.next());
        if let (Some(message), Some(first)) = (message, self.waiting.front_mut()) {
            first.after = Some(Arc::clone(message.topic()));
            self.moved = true;
        }
    }

    /// The progress since the last call. A filter with a further replay is reported when that ends, too.
    pub(super) fn progress(&mut self) -> Vec<Progress> {
        let mut done = std::mem::take(&mut self.done);
        done.retain(|filter| !self.waiting.iter().any(|waiting| waiting.is_of(filter)));
        let mut progress: Vec<Progress> = done.into_iter().map(Progress::Done).collect();
        if let (Some(first), true) = (self.waiting.front(), std::mem::take(&mut self.moved)) {
            let filter = &first.replay.filter;
            let is_asked_again = self.waiting.iter().skip(1).any(|waiting| waiting.is_of(filter));
            if let (Some(topic), false) = (&first.after, is_asked_again) {
                progress.push(Progress::To(filter.clone(), Arc::clone(topic)));
            }
        }
        progress
    }
}

impl QueuedReplay {
    fn is_of(&self, filter: &str) -> bool {
        *self.replay.filter == *filter
    }

    fn find(&self, find: Find<'_>) -> Found {
        let RetainedPage { messages, next } = find(&self.replay, self.after.as_deref());
        Found { messages: messages.into_iter().peekable(), next }
    }
}
