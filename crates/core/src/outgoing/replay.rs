//! Retained messages for new subscriptions: found filter by filter, so that many cost little memory.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_wire::QoS;

use crate::{Delivery, Identifiers, Message};

/// The retained messages of one filter, still to be found and sent.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Which.
    pub filter: Box<str>,
    /// The best quality to deliver at.
    pub qos: QoS,
    /// The subscription's identifier.
    pub identifiers: Identifiers,
}

/// How far replays have come.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// A filter's messages are on their way up to this topic.
    To(Box<str>, Arc<str>),
    /// They all are.
    Done(Box<str>),
}

/// A replay, and the topic after which it begins.
#[derive(Debug)]
struct Waiting {
    replay: Replay,
    after: Option<Box<str>>,
}

/// Replays in the order they were asked for.
#[derive(Debug, Default)]
pub(super) struct Replays {
    waiting: VecDeque<Waiting>,
    /// What was found for the first one.
    found: Option<std::iter::Peekable<std::vec::IntoIter<Arc<Message>>>>,
    /// The last topic of the first one that is on its way, since somebody asked.
    last: Option<Arc<str>>,
    /// Filters whose replay ended, since somebody asked.
    done: Vec<Box<str>>,
}

impl Replays {
    /// Adds a replay; one of the same filter that has not begun is replaced, so that there are never
    /// more than subscriptions.
    pub fn push(&mut self, replay: Replay) {
        self.push_after(replay, None);
    }

    /// Adds a replay that goes on after this topic.
    pub fn push_after(&mut self, replay: Replay, after: Option<Box<str>>) {
        let replay = Waiting { replay, after };
        match self.waiting.iter_mut().skip(1).find(|other| other.is_of(&replay.replay.filter)) {
            Some(other) => *other = replay,
            None => self.waiting.push_back(replay),
        }
    }

    /// Gives up the replay of a filter that is no longer subscribed to.
    pub fn cancel(&mut self, filter: &str) {
        if self.waiting.front().is_some_and(|first| first.is_of(filter)) {
            self.found = None;
            self.last = None;
        }
        self.waiting.retain(|waiting| !waiting.is_of(filter));
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next message to send, without taking it; `find` looks up the messages of a filter.
    pub fn peek(&mut self, find: &mut dyn FnMut(&str) -> Vec<Arc<Message>>) -> Option<Delivery> {
        loop {
            let first = self.waiting.front()?;
            let found = self.found.get_or_insert_with(|| first.find(find).into_iter().peekable());
            if let Some(message) = found.peek() {
                return Some(Delivery {
                    message: Arc::clone(message),
                    qos: message.qos.min(first.replay.qos),
                    retain: true, // MQTT-3.3.1-8
                    identifiers: first.replay.identifiers.clone(),
                });
            }
            self.found = None;
            self.last = None;
            self.done.extend(self.waiting.pop_front().map(|first| first.replay.filter));
        }
    }

    /// Moves past the message that was peeked.
    pub fn advance(&mut self) {
        let message = self.found.as_mut().and_then(Iterator::next);
        self.last = message.map(|message| Arc::clone(message.topic())).or(self.last.take());
    }

    /// How far it has come since the last time. A filter that was asked for again meanwhile is told
    /// of when that has ended too.
    pub fn progress(&mut self) -> Vec<Progress> {
        let mut done = std::mem::take(&mut self.done);
        done.retain(|filter| !self.waiting.iter().any(|waiting| waiting.is_of(filter)));
        let mut progress: Vec<Progress> = done.into_iter().map(Progress::Done).collect();
        if let (Some(first), Some(topic)) = (self.waiting.front(), self.last.take()) {
            let filter = &first.replay.filter;
            if !self.waiting.iter().skip(1).any(|waiting| waiting.is_of(filter)) {
                progress.push(Progress::To(filter.clone(), topic));
            }
        }
        progress
    }
}

impl Waiting {
    fn is_of(&self, filter: &str) -> bool {
        *self.replay.filter == *filter
    }

    fn find(&self, find: &mut dyn FnMut(&str) -> Vec<Arc<Message>>) -> Vec<Arc<Message>> {
        let mut found = find(&self.replay.filter);
        if let Some(after) = &self.after {
            found.retain(|message| **message.topic() > **after);
        }
        found
    }
}
