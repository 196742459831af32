//! Messages that wait for their first subscriber (T3): stored, then delivered once, in the order of their priority.

use std::sync::Arc;

use slipring_core::access::Right;
use slipring_core::ledger::{DeliveryManner, DeliveryRecord, KeptWaiting, StockRecord};
use slipring_core::{
    Delivery, Durability, JournalPlace, Limit, Message, Millis, Offset, Owner, Principal, Priority,
    SessionKey, SubscriptionChange, Victims, WaitingMessage, asks_to_wait, memory,
};
use slipring_journal::JournalReader;
use slipring_wire::{Publish, QoS, served};

use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;
use crate::feed::Feed;
use crate::post::Post;
use crate::routes::{Audience, topics_of};

/// Named in events of messages that no client has.
const BROKER: &str = "broker";

/// A message of this batch that has no subscriber yet.
pub(crate) struct Unclaimed {
    message: Message,
    priority: Priority,
    /// Its index in the batch and its durability, if it is journaled.
    place: Option<(u32, Durability)>,
    publisher: SessionKey,
    owner: Owner,
}

impl Unclaimed {
    /// Makes a message without a subscriber wait, if it asks to. Fails with the limit that is reached.
    pub fn new(
        broker: &Broker,
        message: &Publish<'_>,
        topic_priority: Priority,
        place: Option<(u32, Durability)>,
        from: &Principal<'_>,
    ) -> Result<Option<Self>, Limit> {
        let Some(priority) = asks_to_wait(message.properties, topic_priority) else {
            return Ok(None);
        };
        let message = Message::new(message, message.topic.into(), broker.clock.now_ms());
        let message = message.by(from.session);
        if !can_keep(message.bytes(), priority) {
            return Err(Limit::MemoryBytes);
        }
        let limits = broker.plan.load().limits_for(from.subject());
        broker.topics.waiting().check_room(&message, priority, from.owner, &limits)?;
        let (publisher, owner) = (from.session, from.owner.clone());
        Ok(Some(Self { message, priority, place, publisher, owner }))
    }

    /// The record for the journal.
    pub fn record(&self, broker: &Broker, receive_ns: i64) -> Option<StockRecord<'static>> {
        let (index, _) = self.place?;
        let left_ms = self.message.expires_ms.map(|at| at.saturating_sub(broker.clock.now_ms()));
        let expires_ns = left_ms.map(|left| {
            receive_ns
                .saturating_add(i64::try_from(left).unwrap_or(i64::MAX).saturating_mul(1_000_000))
        });
        Some(StockRecord::Waiting { index, priority: self.priority, expires_ns })
    }

    /// Lets the message wait, now that it has its offset. A client that subscribed meanwhile gets it at once.
    pub fn let_wait(self, broker: &Broker, first_offset: Offset, post: &mut Post) {
        let Self { message, priority, place, publisher, owner } = self;
        let message = Arc::new(match place {
            Some((index, durability)) => {
                message.at(JournalPlace { offset: first_offset.plus(index), durability })
            }
            None => message,
        });
        let limits = broker.plan.load().limits;
        let pushed = broker.topics.waiting().push(Arc::clone(&message), priority, &owner, &limits);
        match pushed {
            Ok(victims) => {
                let victims: Vec<_> = victims.into_iter().map(|waited| waited.message).collect();
                forget(broker, &victims, Some(Limit::WaitingMessages));
            }
            Err(limit) => return forget(broker, &[message], Some(limit)),
        }
        let policy = &broker.plan.load().access;
        let audience = broker.topics.audience(message.topic(), publisher, policy);
        if audience.len() > 0 {
            let taken = broker.topics.waiting().remove(&message);
            if let Some(waited) = taken {
                hand_out(broker, waited, &audience, post);
            }
        }
    }
}

/// Delivers a message that just began to wait to clients that subscribed meanwhile.
fn hand_out(broker: &Broker, waited: WaitingMessage, audience: &Audience, post: &mut Post) {
    let message = &waited.message;
    let (mut deliveries, mut records) = (Vec::new(), Vec::new());
    let balance = broker.plan.load().requests.balance(message.topic());
    let chosen = audience.shares.iter().map(|share| share.choose(balance).0);
    for target in audience.targets.iter().chain(chosen) {
        let qos = message.qos.min(target.qos);
        let (identifiers, priority) =
            (target.identifiers.clone(), waited_for(&waited, target.priority));
        let manner = DeliveryManner { identifiers, priority, ..DeliveryManner::plain(qos) };
        if let Some(record) = delivered(&target.client, message, &manner) {
            record.encode(&mut records);
        }
        let delivery = Delivery::new(Arc::clone(message), manner);
        deliveries.push((Arc::clone(&target.client), delivery));
    }
    if let Some(place) = message.place {
        StockRecord::Taken { offset: place.offset }.encode(&mut records);
    }
    match broker.journal.record_all(&mut records, claim_level(message)) {
        Some(gate) => post.send_after(broker, gate, deliveries),
        None => broker.topics.waiting().put_back(waited),
    }
}

/// The priority of a message that waited, for a subscription.
fn waited_for(waited: &WaitingMessage, subscription: Option<Priority>) -> Priority {
    let own = Priority::of(waited.message.publish().properties);
    Priority::of_delivery(own, subscription, waited.priority)
}

/// Records that messages wait no longer, perhaps because of a limit.
fn forget(broker: &Broker, gone: &[Arc<Message>], limit: Option<Limit>) {
    let mut records = Vec::new();
    let mut victims = Victims::default();
    for message in gone {
        if let Some(limit) = limit {
            broker.monitor.reached.count(limit);
            let why = format!("it waited for a subscriber ({})", limit.path());
            let kind = EventKind::MessageDiscarded;
            broker.monitor.tell_message(kind, BROKER, message.topic(), &why);
            victims.add(message, limit);
        }
        note_taken(message, &mut records);
    }
    broker.journal.note_all(&mut records);
    broker.monitor.victims.add(&mut victims, broker.clock.now_ns());
}

/// Adds the record that a message waits no longer, if it is journaled.
pub(crate) fn note_taken(message: &Message, records: &mut Vec<u8>) {
    if let Some(place) = message.place {
        StockRecord::Taken { offset: place.offset }.encode(records);
    }
}

/// Whether the memory budget lets so many bytes more be kept for subscribers to come. For what has a high priority others
/// are dropped, so it is kept until that was not enough.
pub(crate) fn can_keep(bytes: usize, priority: Priority) -> bool {
    match priority {
        Priority::High => !memory::is_exhausted(),
        Priority::Low | Priority::Normal => !memory::is_short() && memory::has_room(bytes),
    }
}

/// Forgets messages that have expired.
pub(crate) fn expire(broker: &Broker, now_ms: Millis) {
    let expired = broker.topics.waiting().expire(now_ms);
    let expired: Vec<_> = expired.into_iter().map(|waited| waited.message).collect();
    for message in &expired {
        let (kind, why) = (EventKind::MessageNotDelivered, "it expired before a client subscribed");
        broker.monitor.tell_message(kind, BROKER, message.topic(), why);
    }
    forget(broker, &expired, None);
}

/// Restores the messages that waited when the broker stopped. Returns how many there was room for.
pub(crate) fn restore<'a>(
    broker: &Broker,
    reader: &mut JournalReader,
    waiting: impl Iterator<Item = (Offset, &'a KeptWaiting)>,
) -> usize {
    let (offsets, kept): (Vec<u64>, Vec<&KeptWaiting>) =
        waiting.map(|(offset, kept)| (offset.get(), kept)).unzip();
    let plan = broker.plan.load();
    let limits = plan.limits.undivided();
    let found = reader.messages(&offsets).into_iter().zip(kept).filter_map(|(found, kept)| {
        let found = found.ok()?;
        let message = broker.journal.restored(&found, &plan, broker.clock.now_ms())?;
        let publisher = broker.sessions.key_of(&found.publisher);
        let message = Arc::new(message.by(publisher.unwrap_or_default()));
        let owner = kept.owner.clone().unwrap_or_else(|| Owner::unknown(None));
        let room = broker.topics.waiting().push(message, kept.priority, &owner, &limits);
        room.ok()
    });
    found.count()
}

/// A message that waited, for the subscriber that has claimed it.
pub(crate) struct Claimed {
    client: Arc<Client>,
    waited: WaitingMessage,
    manner: DeliveryManner,
}

impl Feed {
    /// Claims waiting messages for a new subscription, which gets them when the batch is in the journal. Returns
    /// whether other messages for the client must wait until the claim is safe.
    pub fn claim_waiting(
        &mut self,
        broker: &Broker,
        client: &Arc<Client>,
        change: &SubscriptionChange,
    ) -> bool {
        if broker.topics.waiting().is_empty() || served(&change.filter).is_some() {
            return false;
        }
        let most = broker.plan.load().limits.queue_messages;
        let identifier = change.options.identifier;
        let mut level = Durability::Memory;
        let plan = broker.plan.load();
        let may_read = |topic: &str| client.may(&plan.access, Right::Subscribe, topic);
        let (filter, now_ms) = (topics_of(&change.filter), broker.clock.now_ms());
        let (taken, looked) = broker.topics.waiting().take(filter, now_ms, most, &may_read);
        self.work.add(looked);
        for waited in taken {
            let message = &waited.message;
            if self.post.is_told {
                let (kind, why) = (EventKind::MessageRestored, "it waited for a subscriber");
                broker.monitor.tell_message(kind, &client.name, message.topic(), why);
            }
            let qos = message.qos.min(change.options.qos);
            let identifiers = (identifier > 0).then(|| Arc::from([identifier]));
            let priority = waited_for(&waited, change.options.priority);
            let manner = DeliveryManner { identifiers, priority, ..DeliveryManner::plain(qos) };
            if let Some(record) = delivered(client, message, &manner) {
                record.encode(self.records(Durability::Memory));
            }
            if let Some(place) = message.place {
                level = level.max(claim_level(message));
                StockRecord::Taken { offset: place.offset }.encode(self.records(level));
            }
            if claim_level(message) == Durability::Memory {
                // At once, so that messages published from now on come after it.
                self.post.hand_over(broker, client, Delivery::new(waited.message, manner));
            } else {
                self.claimed.push(Claimed { client: Arc::clone(client), waited, manner });
            }
        }
        level > Durability::Memory
    }

    /// Delivers the claimed messages, now that the batch is in the journal.
    pub fn send_claimed(&mut self, broker: &Broker) {
        for Claimed { client, waited, manner } in self.claimed.drain(..) {
            self.post.hand_over(broker, &client, Delivery::new(waited.message, manner));
        }
    }

    /// Lets the claimed messages wait again, because the batch is not in the journal; with durability `memory` they
    /// are delivered all the same.
    pub fn give_up_claims(&mut self, broker: &Broker, need: Durability) {
        if need == Durability::Memory {
            return self.send_claimed(broker);
        }
        let mut waiting = broker.topics.waiting();
        self.claimed.drain(..).for_each(|claimed| waiting.put_back(claimed.waited));
    }
}

/// The durability that a claim needs before its message goes. If a QoS 2 message waited again after a crash, it would
/// be delivered twice; so its claim is synced. A QoS 1 message, or one of durability `memory`, may come again.
fn claim_level(message: &Message) -> Durability {
    match message.place {
        Some(place) if message.qos == QoS::ExactlyOnce && place.durability > Durability::Memory => {
            Durability::Disk
        }
        _ => Durability::Memory,
    }
}

/// The record of a delivery to a session that outlives the broker.
fn delivered(
    client: &Client,
    message: &Message,
    manner: &DeliveryManner,
) -> Option<DeliveryRecord> {
    let place = message.place.filter(|_| client.is_durable && manner.qos > QoS::AtMostOnce)?;
    Some(DeliveryRecord::DeliveredAt {
        session: client.key,
        offset: place.offset,
        count: 1,
        bytes: message.bytes() as u32,
        manner: manner.clone(),
    })
}
