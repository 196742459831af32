//! A batch under construction: the messages one publisher sent in one read. Never does I/O.

use crate::format::{BATCH_HEADER_BYTES, BatchHeader, Flags};

/// Owned and reused by a connection, so that a warm batch allocates nothing per message.
#[derive(Debug, Default)]
pub struct Batch {
    body: Vec<u8>,
    count: u32,
    receive_ns: i64,
}

impl Batch {
    /// An empty batch; `begin` it before the first message.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the publisher (its client id) and the time its messages were received.
    ///
    /// Panics when messages wait in the batch: append or clear them first.
    pub fn begin(&mut self, publisher: &str, receive_ns: i64) {
        assert!(self.is_empty(), "a batch was begun before its messages were appended");
        self.body.clear();
        self.receive_ns = receive_ns;
        put_short(&mut self.body, publisher.as_bytes());
    }

    /// Adds one message. `properties` are its MQTT 5 properties as they came, without their length.
    ///
    /// Panics when the batch was not begun, or when the topic is longer than MQTT allows.
    pub fn push(&mut self, flags: Flags, topic: &str, properties: &[u8], payload: &[u8]) {
        assert!(!self.body.is_empty(), "a message was pushed before the batch was begun");
        self.body.reserve(11 + topic.len() + properties.len() + payload.len());
        self.body.push(flags.bits());
        put_short(&mut self.body, topic.as_bytes());
        put_long(&mut self.body, properties);
        put_long(&mut self.body, payload);
        self.count += 1;
    }

    /// Messages in the batch.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no message in the batch.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes the batch takes in the journal.
    pub fn bytes(&self) -> usize {
        BATCH_HEADER_BYTES + self.body.len()
    }

    /// Drops the messages; keeps the memory.
    pub fn clear(&mut self) {
        self.body.clear();
        self.count = 0;
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    pub(crate) fn header(&self, base_offset: u64, body_checksum: u32) -> BatchHeader {
        BatchHeader {
            body_bytes: self.body.len() as u32,
            base_offset,
            count: self.count,
            receive_ns: self.receive_ns,
            body_checksum,
        }
    }
}

fn put_short(body: &mut Vec<u8>, bytes: &[u8]) {
    let length = u16::try_from(bytes.len()).expect("MQTT strings have at most 65,535 bytes");
    body.extend_from_slice(&length.to_le_bytes());
    body.extend_from_slice(bytes);
}

fn put_long(body: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).expect("MQTT packets have at most 256 MiB");
    body.extend_from_slice(&length.to_le_bytes());
    body.extend_from_slice(bytes);
}

/// One message inside a batch's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message<'a> {
    pub flags: Flags,
    pub topic: &'a [u8],
    pub properties: &'a [u8],
    pub payload: &'a [u8],
}

/// The publisher and the encoded messages after it, or `None` when the body is malformed.
pub(crate) fn split_publisher(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = body;
    Some((take_short(&mut rest)?, rest))
}

/// The first message of `rest`, which then begins after it; `None` when it is malformed.
pub(crate) fn take_message<'a>(rest: &mut &'a [u8]) -> Option<Message<'a>> {
    let flags = Flags::from_bits(take(rest, 1)?[0])?;
    let topic = take_short(rest)?;
    let properties = take_long(rest)?;
    let payload = take_long(rest)?;
    Some(Message { flags, topic, properties, payload })
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(count)?;
    *rest = after;
    Some(taken)
}

fn take_short<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u16::from_le_bytes(take(rest, 2)?.try_into().ok()?);
    take(rest, usize::from(length))
}

fn take_long<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(take(rest, 4)?.try_into().ok()?);
    take(rest, length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Sent = (u8, bool, String, Vec<u8>, Vec<u8>);

    fn messages() -> impl Strategy<Value = Vec<Sent>> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..20);
        prop::collection::vec((0..3_u8, any::<bool>(), ".{0,12}", bytes(), bytes()), 0..8)
    }

    proptest! {
        #[test]
        fn a_body_holds_what_was_pushed(publisher in ".{0,9}", sent in messages()) {
            let mut batch = Batch::new();
            batch.begin(&publisher, 1);
            for (qos, retain, topic, properties, payload) in &sent {
                batch.push(Flags::new(*qos, *retain), topic, properties, payload);
            }
            let (who, mut rest) = split_publisher(batch.body()).unwrap();
            prop_assert_eq!(who, publisher.as_bytes());
            for (qos, retain, topic, properties, payload) in &sent {
                let flags = Flags::new(*qos, *retain);
                let topic = topic.as_bytes();
                let expected = Message { flags, topic, properties, payload };
                prop_assert_eq!(take_message(&mut rest), Some(expected));
            }
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Some((_, mut rest)) = split_publisher(&bytes) {
                while take_message(&mut rest).is_some() {}
            }
        }
    }

    #[test]
    fn clearing_keeps_the_memory() {
        let mut batch = Batch::new();
        batch.begin("a", 1);
        batch.push(Flags::new(0, false), "t", &[], &[0; 1000]);
        let capacity = batch.body.capacity();
        batch.clear();
        assert!(batch.is_empty());
        assert_eq!(batch.body.capacity(), capacity);
    }
}
