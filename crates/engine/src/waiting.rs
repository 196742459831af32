//! Messages that wait for their first subscriber (T3): stored, delivered once, by priority.

use std::sync::{Arc, MutexGuard, PoisonError};

use slipring_core::ledger::{KeptWaiting, Manner, Record};
use slipring_core::{
    Change, Delivery, Durability, Limit, Message, Millis, Place, Priority, Waited, Waiting,
    asks_to_wait,
};
use slipring_journal::Reader;
use slipring_wire::{Publish, QoS, shared};

use crate::broker::Broker;
use crate::client::Client;
use crate::feed::Feed;
use crate::post::Post;
use crate::routes::Group;

/// A message of this batch that nobody wants yet.
pub(crate) struct Unclaimed {
    message: Message,
    priority: Priority,
    /// Its place in the batch and what it is promised, if it is journaled.
    place: Option<(u32, Durability)>,
    publisher: u64,
}

impl Unclaimed {
    /// A message that has no subscriber, if it asks to wait for one; the limit in its way.
    pub fn new(
        broker: &Broker,
        message: &Publish<'_>,
        place: Option<(u32, Durability)>,
        publisher: u64,
    ) -> Result<Option<Self>, Limit> {
        if message.properties.is_empty() {
            return Ok(None);
        }
        let Some(priority) = asks_to_wait(message.properties) else { return Ok(None) };
        let message = Message::new(message, message.topic.into(), broker.now_ms());
        broker.waiting().check_room(&message, priority, &broker.plan.load().limits)?;
        Ok(Some(Self { message, priority, place, publisher }))
    }

    /// What the journal has to know.
    pub fn record(&self, broker: &Broker, receive_ns: i64) -> Option<Record<'static>> {
        let (index, _) = self.place?;
        let left_ms = self.message.expires_ms.map(|at| at.saturating_sub(broker.now_ms()));
        let expires_ns = left_ms.map(|left| {
            receive_ns
                .saturating_add(i64::try_from(left).unwrap_or(i64::MAX).saturating_mul(1_000_000))
        });
        Some(Record::Waiting { index, priority: self.priority, expires_ns })
    }
}

impl Broker {
    /// The messages that wait, locked.
    pub fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message with its offset waits from now on. Who subscribed meanwhile gets it at once.
    pub fn let_wait(&self, unclaimed: Unclaimed, first_offset: u64, post: &mut Post) {
        let Unclaimed { message, priority, place, publisher } = unclaimed;
        let message = Arc::new(match place {
            Some((index, durability)) => {
                message.at(Place { offset: first_offset + u64::from(index), durability })
            }
            None => message,
        });
        let pushed = self.waiting().push(Arc::clone(&message), priority, &self.plan.load().limits);
        match pushed {
            Ok(victims) => self.forget_waiting(&victims, Some(Limit::WaitingMessages)),
            Err(limit) => {
                let lost = [Waited { message, priority }];
                return self.forget_waiting(&lost, Some(limit));
            }
        }
        let audience = self.audience(message.topic(), publisher);
        if audience.len() > 0 && self.waiting().remove(&message) {
            for target in audience.targets.iter().chain(audience.groups.iter().map(Group::choose)) {
                let qos = message.qos.min(target.qos);
                let manner = Manner { qos, retain: false, identifiers: target.identifiers.clone() };
                self.claim(&target.client, &message, manner, post);
            }
            self.forget_waiting(&[Waited { message, priority }], None);
        }
    }

    /// A client gets a message that waited.
    fn claim(&self, client: &Arc<Client>, message: &Arc<Message>, manner: Manner, post: &mut Post) {
        let mut records = Vec::new();
        if let Some(record) = delivered(client, message, &manner) {
            record.encode(&mut records);
            self.note_all(&mut records);
        }
        post.hand_over(self, client, Delivery::new(Arc::clone(message), manner));
    }

    /// These wait no longer; a limit is why.
    fn forget_waiting(&self, gone: &[Waited], limit: Option<Limit>) {
        let mut records = Vec::new();
        for Waited { message, .. } in gone {
            if let Some(limit) = limit {
                self.reached.count(limit);
            }
            if let Some(place) = message.place {
                Record::Taken { offset: place.offset }.encode(&mut records);
            }
        }
        self.note_all(&mut records);
    }

    /// Forgets what nobody wanted in time.
    pub fn expire_waiting(&self, now_ms: Millis) {
        let expired = self.waiting().expire(now_ms);
        self.forget_waiting(&expired, None);
    }

    /// Takes up the messages that waited when the broker ended.
    pub fn take_up_waiting<'a>(
        &self,
        reader: &mut Reader,
        waiting: impl Iterator<Item = (u64, &'a KeptWaiting)>,
    ) -> usize {
        let (offsets, kept): (Vec<u64>, Vec<&KeptWaiting>) = waiting.unzip();
        let limits = self.plan.load().limits;
        let found = reader.messages(&offsets).into_iter().zip(kept).filter_map(|(found, kept)| {
            let message = Arc::new(self.restored(&found.ok()?)?);
            let room = self.waiting().push(message, kept.priority, &limits);
            room.ok()
        });
        found.count()
    }
}

impl Feed {
    /// A new subscription gets what waited for it.
    pub fn claim_waiting(&mut self, broker: &Broker, client: &Arc<Client>, change: &Change) {
        let filter = match shared(&change.filter) {
            Some(Ok((_, topics))) => topics,
            _ => &*change.filter,
        };
        if broker.waiting().is_empty() {
            return;
        }
        let most = broker.plan.load().limits.queue_messages;
        let identifier = change.options.identifier;
        for Waited { message, .. } in broker.waiting().take(filter, broker.now_ms(), most) {
            let qos = message.qos.min(change.options.qos);
            let identifiers = (identifier > 0).then(|| Arc::from([identifier]));
            let manner = Manner { qos, retain: false, identifiers };
            if let Some(record) = delivered(client, &message, &manner) {
                self.record(&record, Durability::Memory);
            }
            if let Some(place) = message.place {
                self.record(&Record::Taken { offset: place.offset }, Durability::Memory);
            }
            self.post.hand_over(broker, client, Delivery::new(message, manner));
        }
    }
}

/// What the journal has to know of a message for a session that outlives the broker.
fn delivered(client: &Client, message: &Message, manner: &Manner) -> Option<Record<'static>> {
    let place = message.place.filter(|_| client.is_durable() && manner.qos > QoS::AtMostOnce)?;
    Some(Record::DeliveredAt {
        session: client.key,
        offset: place.offset,
        count: 1,
        bytes: message.bytes() as u32,
        manner: manner.clone(),
    })
}
