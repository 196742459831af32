//! A journal in memory that loses unsynced batches when the broker crashes.

use std::sync::Arc;

use proptest::prelude::prop;
use slipring_core::ledger::{
    BatchHead, DeliveryManner, DeliveryRecord, Ledger, Record, SessionRecord,
};
use slipring_core::{Durability, JournalPlace, Message, Offset, Priority, SessionKey};
use slipring_wire::{Publish, QoS};

/// The priority of a message: all levels occur.
pub fn priority(number: u32) -> Priority {
    [Priority::Normal, Priority::High, Priority::Normal, Priority::Low][number as usize % 4]
}

/// The key of the only session.
pub const SESSION: SessionKey = SessionKey::new(7);

/// A batch: at most one message, and records.
#[derive(Clone, Debug, Default)]
struct Batch {
    base_offset: Offset,
    message: Option<(QoS, u32)>,
    records: Vec<u8>,
}

/// Batches in order; a prefix of them is safe.
#[derive(Debug, Default)]
pub struct Disk {
    batches: Vec<Batch>,
    pub synced: usize,
}

impl Disk {
    /// A journal with one session, whose record is synced.
    pub fn new() -> Self {
        let mut disk = Self::default();
        let (client_id, user) = ("client", None);
        let opened = Record::Session(SessionRecord::Opened {
            session: SESSION,
            client_id,
            user,
            expiry_s: 60,
            will: None,
        });
        disk.append(None, &[opened]);
        disk.sync();
        disk
    }

    /// The number of batches.
    pub fn len(&self) -> usize {
        self.batches.len()
    }

    pub fn sync(&mut self) {
        self.synced = self.len();
    }

    /// Appends a batch; returns the offset of its message.
    pub fn append(&mut self, message: Option<(QoS, u32)>, records: &[Record<'_>]) -> Offset {
        let mut bytes = Vec::new();
        for record in records {
            record.encode(&mut bytes);
        }
        self.append_encoded(message, bytes)
    }

    pub fn append_encoded(&mut self, message: Option<(QoS, u32)>, records: Vec<u8>) -> Offset {
        let base_offset = self.next_offset();
        self.batches.push(Batch { base_offset, message, records });
        base_offset
    }

    /// Appends a message for the session.
    pub fn deliver(&mut self, qos: QoS, number: u32) -> Arc<Message> {
        let manner = DeliveryManner { priority: priority(number), ..DeliveryManner::plain(qos) };
        let message = message(qos, number);
        let bytes = message.bytes() as u32;
        let record = Record::Delivery(DeliveryRecord::Delivered {
            session: SESSION,
            first: 0,
            count: 1,
            bytes,
            manner,
        });
        let offset = self.append(Some((qos, number)), &[record]);
        Arc::new(message.at(place(offset)))
    }

    /// Appends a message to be retained.
    pub fn retain(&mut self, number: u32) -> Arc<Message> {
        let offset = self.append(Some((QoS::ExactlyOnce, number)), &[]);
        Arc::new(message(QoS::ExactlyOnce, number).at(place(offset)))
    }

    /// The numbers of all messages.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.batches.iter().filter_map(|batch| Some(batch.message?.1))
    }

    /// The message at an offset.
    pub fn load(&self, offset: Offset) -> Arc<Message> {
        let mut all = self.batches.iter();
        let found = all.find(|batch| batch.base_offset == offset && batch.message.is_some());
        let (qos, number) = found.and_then(|batch| batch.message).expect("it was appended");
        Arc::new(message(qos, number).at(place(offset)))
    }

    /// The broker crashes, and loses some of the unsynced batches.
    pub fn crash(&mut self, kept: prop::sample::Index) {
        let lost = kept.index(self.len() - self.synced + 1);
        self.batches.truncate(self.len() - lost);
        self.sync();
    }

    /// The ledger after recovery, with a snapshot made before batch number `snapshot`.
    pub fn recover(&self, snapshot: usize) -> Ledger {
        let mut ledger = Ledger::default();
        for (number, batch) in self.batches.iter().enumerate() {
            if number == snapshot {
                let mut records = Vec::new();
                ledger.snapshot(&mut records);
                ledger = Ledger::restore(&records).expect("our own records");
            }
            let messages = u32::from(batch.message.is_some());
            let head = BatchHead { base_offset: batch.base_offset, messages, receive_ns: 0 };
            ledger.apply(head, &batch.records).expect("our own records");
        }
        ledger
    }

    fn next_offset(&self) -> Offset {
        let last = self.batches.last();
        last.map_or(Offset::default(), |batch| {
            batch.base_offset.plus(u32::from(batch.message.is_some()))
        })
    }
}

fn place(offset: Offset) -> JournalPlace {
    JournalPlace { offset, durability: Durability::Disk }
}

/// A message with its number as payload.
pub fn message(qos: QoS, number: u32) -> Message {
    let payload = number.to_be_bytes();
    let topic = format!("t/{number}");
    let publish = Publish { qos, ..Publish::new(&topic, &payload) };
    Message::new(&publish, topic.as_str().into(), 0)
}
