//! Delivers the messages of one publisher: QoS 0 at once, QoS 1 when the journal has given the message an offset,
//! QoS 2 when the message is safe, so that no crash can deliver it twice.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_core::ledger::{Deliveries, DeliveryManner};
use slipring_core::{
    Delivery, Dropped, Durability, JournalPlace, Limit, Message, Millis, Offset, Pushed, expiry,
};
use slipring_wire::{Publish, QoS, Reason};

use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::encoded::{Encoded, Form};
use crate::gates::Gate;
use crate::routes::Target;

/// Bytes of QoS 2 messages of one publisher that may wait for the journal; then the broker reads no more from it.
const LATER_BYTES_MAX: usize = 16 << 20;
/// Bytes counted for each message beyond its own: what a small one takes in memory.
const LATER_ENTRY_BYTES: usize = 256;

/// The deliveries of one publisher: those of its batch, and earlier ones that wait for the journal.
#[derive(Default)]
pub(crate) struct Post {
    /// The message being delivered.
    pub encoded: Encoded,
    expires_ms: Option<Millis>,
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
    /// Records of messages that sessions which outlive the broker have lost.
    lost: Vec<u8>,
    /// Subscribers to wake at the end of the batch.
    pub woken: Vec<Arc<Client>>,
}

/// Messages that go when a gate is open.
type Later = (Gate, Vec<(Arc<Client>, Delivery)>);

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
        let has_properties = !message.properties.is_empty();
        let expires = || expiry(message.properties, broker.clock.now_ms());
        self.expires_ms = has_properties.then(expires).flatten();
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
        if qos == QoS::AtMostOnce && (message.qos < QoS::ExactlyOnce || self.place.is_none()) {
            let identifiers = to.identifiers.as_deref().unwrap_or_default();
            let form = Form { retain, identifiers, expires_ms: self.expires_ms };
            let mut outgoing = to.client.outgoing();
            let pushed = self.encoded.push(message, &form, &mut outgoing);
            drop(outgoing);
            return self.pushed(broker, &to.client, pushed);
        }
        let manner = DeliveryManner { qos, retain, identifiers: to.identifiers.clone() };
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
            self.kept.push(Kept { message, place, level });
        }
        let at = self.kept.len() - 1;
        if let (Some(place), true) = (place, manner.qos > QoS::AtMostOnce && to.client.is_durable) {
            let bytes = self.kept[at].message.bytes() as u32;
            self.deliveries.push(to.client.key, place, bytes, manner.clone());
        }
        self.parcels.push(Parcel { client: Arc::clone(&to.client), message: at, manner });
    }

    /// Sends the messages of a batch that has its offsets; QoS 2 messages that are not safe yet go later.
    pub fn send(&mut self, broker: &Broker, first_offset: Offset, gate: Gate) {
        if self.parcels.is_empty() {
            return self.tell(broker);
        }
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
            if wait && message.qos == QoS::ExactlyOnce && message.place.is_some() {
                self.later_bytes += later_bytes(&delivery);
                later.push((client, delivery));
            } else {
                self.hand_over(broker, &client, delivery);
            }
        }
        drop(messages);
        (self.parcels, self.kept) = (parcels, kept);
        if !later.is_empty() {
            self.later.push_back((gate, later));
        }
        self.tell(broker);
    }

    /// Sends messages when a gate is open, after those that wait already.
    pub fn send_after(
        &mut self,
        broker: &Broker,
        gate: Gate,
        deliveries: Vec<(Arc<Client>, Delivery)>,
    ) {
        self.later_bytes +=
            deliveries.iter().map(|(_, delivery)| later_bytes(delivery)).sum::<usize>();
        self.later.push_back((gate, deliveries));
        self.release(broker);
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

    /// Sends messages that are safe by now, and has the publisher woken for the next: its answers may wait for
    /// other gates.
    pub fn release_for(&mut self, broker: &Broker, connection: &Arc<ConnectionHandle>) {
        self.release(broker);
        let first = self.later.front().map(|(gate, _)| *gate);
        if self.awaited != first {
            self.awaited = first;
            if let Some(gate) = first {
                broker.journal.gates.wait(gate, connection);
            }
        }
    }

    fn release(&mut self, broker: &Broker) {
        while self.later.front().is_some_and(|(gate, _)| broker.journal.gates.is_open(*gate)) {
            self.send_next(broker);
        }
    }

    fn send_next(&mut self, broker: &Broker) {
        let Some((_, parcels)) = self.later.pop_front() else { return };
        for (client, delivery) in parcels {
            self.later_bytes -= later_bytes(&delivery);
            self.hand_over(broker, &client, delivery);
        }
        self.tell(broker);
    }

    pub fn is_behind(&self) -> bool {
        self.later_bytes > LATER_BYTES_MAX
    }

    /// Takes the messages that are not safe yet.
    pub fn take_later(&mut self) -> Option<Self> {
        if self.later.is_empty() {
            return None;
        }
        let later = std::mem::take(&mut self.later);
        let later_bytes = std::mem::take(&mut self.later_bytes);
        Some(Self { later, later_bytes, ..Self::default() })
    }

    /// Sends each message when it is safe. Ends if the journal fails.
    pub async fn settle(mut self, broker: Arc<Broker>) {
        while let Some(gate) = self.later.front().map(|(gate, _)| *gate) {
            if !broker.journal.gates.passed(gate).await {
                return;
            }
            self.send_next(&broker);
        }
    }

    /// Wakes the subscribers, and records their losses.
    fn tell(&mut self, broker: &Broker) {
        broker.shortage.relieve(broker);
        self.wake();
        if !self.lost.is_empty() {
            broker.journal.note_all(&mut self.lost);
        }
    }

    pub fn wake(&mut self) {
        self.encoded.release();
        for client in self.woken.drain(..) {
            client.wake();
        }
    }

    /// Gives a message to a subscriber, which is woken at the end of the batch.
    pub fn hand_over(&mut self, broker: &Broker, client: &Arc<Client>, delivery: Delivery) {
        let mut outgoing = client.outgoing();
        let pushed = if delivery.qos > QoS::AtMostOnce {
            outgoing.push(delivery)
        } else {
            self.encoded.push_kept(&delivery, &mut outgoing)
        };
        if matches!(pushed, Pushed::Dropped(_) | Pushed::Overflow(_)) {
            outgoing.take_drops(&mut self.lost);
        }
        drop(outgoing);
        self.pushed(broker, client, pushed);
    }

    /// Adds packets of the broker's own for a client, which is woken at the end of the batch.
    pub fn push_packets(&mut self, broker: &Broker, client: &Arc<Client>, packets: &[u8]) {
        let pushed = client.outgoing().push_packets(packets);
        self.pushed(broker, client, pushed);
    }

    #[inline]
    fn pushed(&mut self, broker: &Broker, client: &Arc<Client>, pushed: Pushed) {
        match pushed {
            Pushed::Quiet => {}
            Pushed::Wake => self.woken.push(Arc::clone(client)),
            lost => self.lose(broker, client, lost),
        }
    }

    /// Counts a limit that was reached for a client.
    #[cold]
    fn lose(&mut self, broker: &Broker, client: &Arc<Client>, pushed: Pushed) {
        match pushed {
            Pushed::Held => broker.monitor.reached.count(Limit::Inflight),
            Pushed::Dropped(dropped) => {
                broker.monitor.count_dropped(client, dropped);
                if matches!(dropped.limit, Some(Limit::OutboxBytes | Limit::MemoryBytes)) {
                    broker.table.missed(client);
                }
                if dropped.wake {
                    self.woken.push(Arc::clone(client));
                }
            }
            Pushed::Overflow(limit) => {
                let dropped = Dropped { limit: Some(limit), messages: 1, wake: false };
                broker.monitor.count_dropped(client, dropped);
                client.close(Reason::QuotaExceeded);
            }
            Pushed::Quiet | Pushed::Wake => {}
        }
    }
}

#[cfg(test)]
#[path = "post_tests.rs"]
mod tests;
