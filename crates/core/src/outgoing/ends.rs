//! Requests for a service and the ends of requests for their asker: no other message displaces them.
//!
//! `limits.requests` bounds requests, because each stays open until its service has answered it, and the ends for a
//! client that is away. A request is closed when its end waits for an asker that is connected. So these have a bound
//! of their own: an asker that does not take them is disconnected.

use std::sync::Arc;

use super::queue::{LevelQueue, QueueEntry};
use super::ranked::Queue;
use super::window::{FlightState, Window};
use super::{Outgoing, Pushed};
use crate::requests::RequestKey;
use crate::{Delivery, Limit, Message, Priority};

impl Outgoing {
    /// Adds a request for a service, or the end of one for its asker.
    pub(super) fn push_of_request(&mut self, delivery: Delivery) -> Pushed {
        let most = self.bounds.queue_bytes.saturating_add(self.queue.found_bytes);
        let is_full = self.queue.end_bytes() > most && self.peer.is_some();
        let pushed = self.enqueue(delivery);
        if is_full { Pushed::EndsConnection(Limit::QueueBytes) } else { pushed }
    }

    /// Bytes of ends of requests in memory, queued or in flight: while the client is connected they stay.
    pub fn end_bytes(&self) -> usize {
        self.queue.end_bytes() + self.window.end_bytes()
    }

    /// Exchanges ends of a priority that wait in memory only, for a client that is away: `exchange` says for what, or
    /// None if the end stays. The client gets the other message in its place.
    pub fn exchange_ends(
        &mut self,
        priority: Priority,
        exchange: &mut dyn FnMut(&Message) -> Option<Message>,
    ) {
        let level = self.queue.levels.get_mut(priority).filter(|_| self.peer.is_none());
        if let Some(level) = level {
            level.exchange_ends(exchange);
        }
    }

    /// Drops queued requests that are over. Returns 0, because nobody loses a message by it.
    pub fn drop_withdrawn(&mut self) -> u32 {
        for entry in self.queue.drop_withdrawn() {
            if let Some(durable) = &mut self.durable {
                durable.dropped(entry.offset(), entry.qos());
            }
        }
        0
    }
}

/// The bytes of a message if it is the end of a request, else 0. The broker names the answer's topic in each request,
/// and in no end.
#[inline]
pub(super) fn end_bytes(delivery: &Delivery) -> usize {
    let is_end = delivery.of_request
        && RequestKey::of_request(delivery.message.publish().properties).is_none();
    if is_end { delivery.message.bytes() } else { 0 }
}

impl Queue {
    /// A client comes: what waits for it already does not count against it.
    pub(super) fn begin(&mut self) {
        self.found_bytes = self.end_bytes();
    }

    fn drop_withdrawn(&mut self) -> Vec<QueueEntry> {
        let mut dropped = Vec::new();
        self.levels.for_each(|level| dropped.append(&mut level.drop_withdrawn()));
        dropped
    }
}

impl LevelQueue {
    /// Drops the requests in memory that are over, which nobody gets any more. Returns them.
    fn drop_withdrawn(&mut self) -> Vec<QueueEntry> {
        if self.kept == 0 {
            return Vec::new();
        }
        self.drop_if(Delivery::is_over)
    }

    /// Exchanges ends of requests that are only in memory for others.
    fn exchange_ends(&mut self, exchange: &mut dyn FnMut(&Message) -> Option<Message>) {
        if self.end_bytes == 0 {
            return;
        }
        for entry in &mut self.entries {
            let QueueEntry::Here(delivery) = entry else { continue };
            let bytes = end_bytes(delivery);
            if bytes == 0 || delivery.offset().is_some() {
                continue;
            }
            let Some(other) = exchange(&delivery.message) else { continue };
            for sum in
                [&mut self.bytes, &mut self.here_bytes, &mut self.kept_bytes, &mut self.end_bytes]
            {
                *sum = sum.saturating_sub(bytes).saturating_add(other.bytes());
            }
            delivery.message = Arc::new(other);
        }
    }
}

impl Window {
    /// Bytes of the ends that are in memory.
    fn end_bytes(&self) -> usize {
        let here = self.slots.iter().map(|slot| match &slot.state {
            FlightState::Sent(QueueEntry::Here(delivery)) => end_bytes(delivery),
            _ => 0,
        });
        here.sum()
    }
}
