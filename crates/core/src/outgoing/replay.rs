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

/// Replays in the order they were asked for.
#[derive(Debug, Default)]
pub(super) struct Replays {
    waiting: VecDeque<Replay>,
    /// What was found for the first one.
    found: Option<std::iter::Peekable<std::vec::IntoIter<Arc<Message>>>>,
}

impl Replays {
    /// Adds a replay; one of the same filter that has not begun is replaced, so that there are never
    /// more than subscriptions.
    pub fn push(&mut self, replay: Replay) {
        match self.waiting.iter_mut().skip(1).find(|other| other.filter == replay.filter) {
            Some(other) => *other = replay,
            None => self.waiting.push_back(replay),
        }
    }

    /// Gives up the replay of a filter that is no longer subscribed to.
    pub fn cancel(&mut self, filter: &str) {
        if self.waiting.front().is_some_and(|first| *first.filter == *filter) {
            self.found = None;
        }
        self.waiting.retain(|replay| *replay.filter != *filter);
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The next message to send, without taking it; `find` looks up the messages of a filter.
    pub fn peek(&mut self, find: &mut dyn FnMut(&str) -> Vec<Arc<Message>>) -> Option<Delivery> {
        loop {
            let replay = self.waiting.front()?;
            let found =
                self.found.get_or_insert_with(|| find(&replay.filter).into_iter().peekable());
            if let Some(message) = found.peek() {
                return Some(Delivery {
                    message: Arc::clone(message),
                    qos: message.qos.min(replay.qos),
                    retain: true, // MQTT-3.3.1-8
                    identifiers: replay.identifiers.clone(),
                });
            }
            self.found = None;
            self.waiting.pop_front();
        }
    }

    /// Moves past the message that was peeked.
    pub fn advance(&mut self) {
        if let Some(found) = &mut self.found {
            found.next();
        }
    }
}
