//! Records about messages that belong to no session: retained ones, and those that wait for a subscriber.

use slipring_wire::QoS;

use super::fields::{RecordCursor, RecordField, What};
use super::head::record_family;
use crate::{Offset, Priority};

record_family! {
    /// A change of the retained or the waiting messages.
    #[allow(missing_docs, reason = "index, offset, priority and times mean the same everywhere")]
    StockRecord<'a> {
        /// A message of this batch had the retain flag, and was not retained.
        Unretained = 19 { index: u32; }
        /// A retained message in full. Only in snapshots.
        RetainedAt = 20 { offset: Offset; receive_ns: i64, message: RetainedMessage<'a>, }
        /// A message of this batch waits for its first subscriber.
        Waiting = 21 { index: u32; priority: Priority, expires_ns: Option<i64>, }
        /// A message from elsewhere in the journal waits for its first subscriber. Only in snapshots.
        WaitingAt = 22 { offset: Offset; priority: Priority, expires_ns: Option<i64>, }
        /// A message no longer waits: it got a subscriber, expired, or had to make room.
        Taken = 23 { offset: Offset; }
        /// The retained message of a topic was dropped, if it is still the one with this offset.
        RetainedDropped = 48 { offset: Offset; topic: &'a str, }
    }
}

/// What is kept of a retained message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetainedMessage<'a> {
    /// As published.
    pub topic: &'a str,
    /// As published.
    pub qos: QoS,
    /// As published, encoded; checked when a message is made of it.
    pub properties: &'a [u8],
    /// As published; an empty payload removes the topic's retained message.
    pub payload: &'a [u8],
}

impl<'a> RecordField<'a> for RetainedMessage<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.qos as u8);
        self.topic.put(out);
        self.properties.put(out);
        self.payload.put(out);
    }

    fn read(_: u8, cursor: &mut RecordCursor<'a>) -> Result<Self, What> {
        let qos = QoS::from_bits(cursor.byte()?).map_err(|violation| violation.what)?;
        let (topic, properties, payload) = (cursor.text()?, cursor.bytes()?, cursor.bytes()?);
        Ok(Self { topic, qos, properties, payload })
    }
}

impl RecordField<'_> for Priority {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }

    fn read(_: u8, cursor: &mut RecordCursor<'_>) -> Result<Self, What> {
        Self::from_byte(cursor.byte()?).ok_or("there is no such priority")
    }
}
