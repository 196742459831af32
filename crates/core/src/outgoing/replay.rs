//! Retained messages for new subscriptions: found filter by filter, so that many cost little memory.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_wire::QoS;

use crate::{Delivery, Identifiers, Message, RetainedPage};

/// The retained messages of one filter, still to be found and sent.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Which.
    pub filter: Box<str>,
    /// The best quality to deliver at.
    pub qos: QoS,
    /// The subscription's identifier.
    pub identifiers: Identifiers,
    /// The newest retained message when it was asked for: later ones are published to the client.
    pub until: u64,
}

/// How far replays have come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// A filter's messages are on their way up to this topic.
    To(Box<str>, Arc<str>),
    /// They all are.
    Done(Box<str>),
}

/// Looks up a page of the retained messages of a replay, behind a topic.
pub(super) type Find<'a> = &'a mut dyn FnMut(&Replay, Option<&str>) -> RetainedPage;

/// Pages that are looked up in one take: many topics that a filter does not match are work, too.
const PAGES_MAX: usize = 4;

/// A replay, the topic after which it begins, and its place in the order: when so many messages have left
/// the queue. What was in the queue when it was asked for is older than what is retained.
#[derive(Debug)]
struct Waiting {
    replay: Replay,
    after: Option<Arc<str>>,
    place: u64,
}

/// A page of retained messages: those not sent yet, and the topic after which the next page begins.
#[derive(Debug)]
struct Found {
    messages: std::iter::Peekable<std::vec::IntoIter<Arc<Message>>>,
    next: Option<Arc<str>>,
}

/// Replays in the order they were asked for.
#[derive(Debug, Default)]
pub(super) struct Replays {
    waiting: VecDeque<Waiting>,
    /// The page of the first one that is being sent.
    found: Option<Found>,
    /// Pages looked up in this take.
    pages: usize,
    /// Whether a further topic of the first one is on its way, since somebody asked.
    moved: bool,
    /// Filters whose replay ended, since somebody asked.
    done: Vec<Box<str>>,
}

impl Replays {
    /// Adds a replay that is due when so many messages have left the queue, and goes on after a topic. One
    /// of the same filter that has not begun is replaced, so that there are never more than subscriptions.
    pub fn push(&mut self, replay: Replay, after: Option<Arc<str>>, place: u64) {
        // A message at QoS 0 does not go by the queue.
        let place = if replay.qos == QoS::AtMostOnce { 0 } else { place };
        let replay = Waiting { replay, after, place };
        let begun = usize::from(self.found.is_some());
        let mut others = self.waiting.iter_mut().skip(begun);
        match others.find(|other| other.is_of(&replay.replay.filter) && other.after.is_none()) {
            Some(other) => *other = replay,
            None => self.waiting.push_back(replay),
        }
    }

    /// The client is back: what is retained now comes after all that wait in the queue now.
    pub fn restart(&mut self, until: u64, place: u64) {
        self.found = None;
        for waiting in &mut self.waiting {
            waiting.replay.until = until;
            if waiting.replay.qos > QoS::AtMostOnce {
                waiting.place = place;
            }
        }
    }

    /// Gives up the replay of a filter that is no longer subscribed to.
    pub fn cancel(&mut self, filter: &str) {
        if self.waiting.front().is_some_and(|first| first.is_of(filter)) {
            self.found = None;
            self.moved = false;
        }
        self.waiting.retain(|waiting| !waiting.is_of(filter));
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether the next one is due, now that so many messages have left the queue.
    pub fn is_due(&self, gone: u64) -> bool {
        self.waiting.front().is_some_and(|first| first.place <= gone)
    }

    /// A new take begins.
    pub fn begin_take(&mut self) {
        self.pages = 0;
    }

    /// Whether this take has looked up as many pages as it may: the next one goes on.
    pub fn is_paused(&self) -> bool {
        self.pages >= PAGES_MAX && self.found.is_none() && !self.waiting.is_empty()
    }

    /// The next message to send, without taking it, now that so many messages have left the queue.
    pub fn peek(&mut self, gone: u64, find: Find<'_>) -> Option<Delivery> {
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

    /// Moves past the message that was peeked.
    pub fn advance(&mut self) {
        let message = self.found.as_mut().and_then(|found| found.messages.next());
        if let (Some(message), Some(first)) = (message, self.waiting.front_mut()) {
            first.after = Some(Arc::clone(message.topic()));
            self.moved = true;
        }
    }

    /// How far it has come since the last time. A filter that was asked for again meanwhile is told
    /// of when that has ended too.
    pub fn progress(&mut self) -> Vec<Progress> {
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

impl Waiting {
    fn is_of(&self, filter: &str) -> bool {
        *self.replay.filter == *filter
    }

    fn find(&self, find: Find<'_>) -> Found {
        let RetainedPage { messages, next } = find(&self.replay, self.after.as_deref());
        Found { messages: messages.into_iter().peekable(), next }
    }
}
