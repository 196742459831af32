//! Delivers the messages of one publisher: QoS 0 at once, QoS 1 when the journal has given the message an offset,
//! QoS 2 when the message is safe, so that no crash can deliver it twice.

mod handing;
mod later;

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_core::ledger::{Deliveries, DeliveryManner};
use slipring_core::{
    Delivery, Durability, Expiry, JournalPlace, Message, Millis, Offset, Priority, SessionKey,
    Victims, expiry,
};
use slipring_wire::{PropertyId, Publish, QoS};

use crate::broker::Broker;
use crate::client::Client;
use crate::encoded::{Encoded, Form};
use crate::gates::Gate;
use crate::message_events::tell_handed_over;
use crate::routes::Target;

/// Bytes of QoS 2 messages of one publisher that may wait for the journal; then the broker reads no more from it.
const LATER_BYTES_MAX: usize = 16 << 20;
/// Bytes counted for each message beyond its own: what a small one takes in memory.
const LATER_ENTRY_BYTES: usize = 256;

/// The deliveries of one publisher: those of its batch, and earlier ones that wait for the journal.
#[derive(Default)]
pub(crate) struct Post {
    /// Whether the log has an event for each message; read once for each batch.
    pub is_told: bool,
    /// The message being delivered.
    pub encoded: Encoded,
    expires_ms: Option<Millis>,
    /// The priority that it names, and that of its topic.
    priority: Option<Priority>,
    topic_priority: Priority,
    /// Its index in the batch, if the journal must make it safe, and its durability.
    place: Option<u32>,
    level: Durability,
    /// Whether it is in `kept` already.
    is_kept: bool,
    /// Messages of this batch at QoS 1 and 2, and the subscribers that get them.
    kept: Vec<Kept>,
    parcels: Vec<Parcel>,
    /// The deliveries of this batch to sessions that outlive the broker, for the journal.
    pub deliveries: Deliveries,
    /// QoS 2 messages of earlier batches that are not safe yet.
    later: VecDeque<Later>,
    later_bytes: usize,
    /// The gate of the first of them, once it will wake the publisher.
    awaited: Option<Gate>,
    /// The session whose messages these are.
    pub publisher: SessionKey,
    /// Stored messages that had to be dropped, for their publishers.
    victims: Victims,
    /// Records of messages that sessions which outlive the broker have lost.
    lost: Vec<u8>,
    /// The number of the last change of subscriptions and rights that the routes of this batch follow.
    generation: u64,
    /// Whether rights may have changed since those routes were found: each delivery is checked again.
    is_outdated: bool,
    /// Subscribers to wake at the end of the batch.
    pub woken: Vec<Arc<Client>>,
}

/// Messages that go when a gate is open.
struct Later {
    gate: Gate,
    /// That of the batch they belong to.
    generation: u64,
    deliveries: Vec<(Arc<Client>, Delivery)>,
}

/// Memory of a message that goes later, with its entry.
fn later_bytes(delivery: &Delivery) -> usize {
    delivery.message.bytes() + LATER_ENTRY_BYTES
}

/// A message of this batch that waits for its offset.
struct Kept {
    message: Message,
    place: Option<u32>,
    level: Durability,
}

impl Kept {
    fn placed(self, first_offset: Offset) -> Arc<Message> {
        let Self { message, place, level: durability } = self;
        Arc::new(match place {
            Some(place) => {
                message.at(JournalPlace { offset: first_offset.plus(place), durability })
            }
            None => message,
        })
    }
}

/// One message for one subscriber.
struct Parcel {
    client: Arc<Client>,
    /// The index of the message in `kept`.
    message: usize,
    manner: DeliveryManner,
}

impl Post {
    /// Begins with a message for so many subscribers.
    pub fn begin(
        &mut self,
        broker: &Broker,
        message: &Publish<'_>,
        place: Option<u32>,
        level: Durability,
        subscribers: usize,
    ) {
        self.encoded.begin(message, subscribers);
        (self.place, self.level, self.is_kept) = (place, level, false);
        (self.expires_ms, self.priority) = (None, None);
        self.topic_priority = Priority::Normal;
        if message.properties.has(PropertyId::MessageExpiryInterval) {
            self.expires_ms = expiry(message.properties, broker.clock.now_ms());
        }
        self.priority = Priority::of(message.properties);
    }

    /// Sets the priority of the topic of the message that was begun; without it, it is normal.
    #[inline]
    pub fn set_topic_priority(&mut self, priority: Priority) {
        self.topic_priority = priority;
    }

    #[inline]
    pub fn deliver(
        &mut self,
        broker: &Broker,
        to: &Target,
        message: &Publish<'_>,
        topic: &Arc<str>,
    ) {
        let retain = message.retain && to.retain_as_published; // MQTT-3.3.1-12, -13
        let qos = message.qos.min(to.qos); // MQTT-3.8.4-8
        let priority = Priority::of_delivery(self.priority, to.priority, self.topic_priority);
        if qos == QoS::AtMostOnce && (message.qos < QoS::ExactlyOnce || self.place.is_none()) {
            let identifiers = to.identifiers.as_deref().unwrap_or_default();
            let form =
                Form { retain, identifiers, expiry: Expiry::told(self.expires_ms), priority };
            let mut outgoing = to.client.outgoing();
            let pushed = self.encoded.push(message, &form, &mut outgoing);
            if self.is_told {
                tell_handed_over(broker, &to.client, &outgoing, pushed, (message.topic, qos));
            }
            drop(outgoing);
            return self.pushed(broker, &to.client, pushed);
        }
        let identifiers = to.identifiers.clone();
        let manner = DeliveryManner {
            qos,
            retain,
            identifiers,
            priority,
            of_request: false,
            by_topic: false,
        };
        self.keep(broker, to, message, topic, manner);
    }

    /// Keeps a message until the batch has its offsets.
    fn keep(
        &mut self,
        broker: &Broker,
        to: &Target,
        message: &Publish<'_>,
        topic: &Arc<str>,
        manner: DeliveryManner,
    ) {
        let Self { place, level, .. } = *self;
        if !std::mem::replace(&mut self.is_kept, true) {
            let message = self.encoded.keep(message, Arc::clone(topic), broker.clock.now_ms());
            let message = message.by(self.publisher);
            self.kept.push(Kept { message, place, level });
        }
        let at = self.kept.len() - 1;
        if let (Some(place), true) = (place, manner.qos > QoS::AtMostOnce && to.client.is_durable) {
            let bytes = self.kept[at].message.bytes() as u32;
            self.deliveries.push(to.client.key, place, bytes, manner.clone());
        }
        self.parcels.push(Parcel { client: Arc::clone(&to.client), message: at, manner });
    }

    /// Delivers the end of a request: at QoS 1 and 2 it goes when it is safe, and is never dropped for others.
    pub fn deliver_end(
        &mut self,
        broker: &Broker,
        to: &Target,
        message: &Publish<'_>,
        topic: &Arc<str>,
    ) {
        if message.qos == QoS::AtMostOnce {
            return self.deliver(broker, to, message, topic);
        }
        let priority = Priority::of_delivery(self.priority, to.priority, self.topic_priority);
        let plain = DeliveryManner::plain(message.qos);
        let manner = DeliveryManner { priority, of_request: true, ..plain };
        self.keep(broker, to, message, topic, manner);
    }

    /// Sends the messages of a batch that has its offsets; QoS 2 messages that are not safe yet go later.
    pub fn send(&mut self, broker: &Broker, first_offset: Offset, gate: Gate) {
        if self.parcels.is_empty() {
            return self.tell(broker);
        }
        self.look_at_rights(broker);
        let wait = !self.later.is_empty() || !broker.journal.gates.is_open(gate);
        let mut later = Vec::new();
        let mut parcels = std::mem::take(&mut self.parcels);
        let mut kept = std::mem::take(&mut self.kept);
        let mut messages = kept.drain(..).map(|kept| kept.placed(first_offset)).enumerate();
        let mut message = messages.next();
        for Parcel { client, message: wanted, manner } in parcels.drain(..) {
            while message.as_ref().is_some_and(|(at, _)| *at < wanted) {
                message = messages.next();
            }
            let Some((_, message)) = &message else { break };
            let delivery = Delivery::new(Arc::clone(message), manner);
            let must_be_safe = delivery.of_request || message.qos == QoS::ExactlyOnce;
            if wait && must_be_safe && message.place.is_some() {
                self.later_bytes += later_bytes(&delivery);
                later.push((client, delivery));
            } else {
                self.hand_over(broker, &client, delivery);
            }
        }
        drop(messages);
        (self.parcels, self.kept) = (parcels, kept);
        if !later.is_empty() {
            let generation = self.generation;
            self.later.push_back(Later { gate, generation, deliveries: later });
        }
        self.tell(broker);
    }

    /// Sends only messages that are not journaled: the journal refused the batch.
    pub fn send_unplaced(&mut self, broker: &Broker) {
        let kept = &self.kept;
        self.parcels.retain(|parcel| kept[parcel.message].place.is_none());
        self.send(broker, Offset::default(), Gate::OPEN);
    }

    /// Forgets the deliveries of this batch; those of earlier batches stay.
    pub fn forget_batch(&mut self) {
        self.parcels.clear();
        self.kept.clear();
        self.deliveries = Deliveries::default();
    }

    /// Wakes the subscribers, and records their losses.
    fn tell(&mut self, broker: &Broker) {
        self.wake();
        broker.shortage.relieve(broker); // a round may take long: the subscribers do not wait for it
        if !self.lost.is_empty() {
            broker.journal.note_all(&mut self.lost);
        }
        broker.monitor.victims.add(&mut self.victims, broker.clock.now_ns());
    }

    pub fn wake(&mut self) {
        self.encoded.release();
        for client in self.woken.drain(..) {
            client.wake();
        }
    }
}

#[cfg(test)]
#[path = "post_tests.rs"]
mod tests;
