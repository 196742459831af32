//! A batch under construction: the messages that one publisher sent in one read, and the records of the
//! state changes that belong to them. Also splits encoded batches into messages. Never does I/O.

use std::mem;

use crate::format::{BATCH_HEADER_BYTES, BatchHeader, MessageFlags};

/// The publisher of a batch without messages: an empty name.
const NOBODY: [u8; 2] = [0; 2];

/// A batch. A connection reuses one, so that a message allocates nothing once the buffers have grown.
#[derive(Debug, Default)]
pub struct Batch {
    /// Room for the header, then the publisher and the messages as in the encoded body. Empty before `begin`.
    messages: Vec<u8>,
    records: Vec<u8>,
    count: u32,
    receive_ns: i64,
    retained: bool,
    is_urgent: bool,
}

impl Batch {
    /// An empty batch; call `begin` before the first message.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the publisher (its client id) and the time its messages were received. The batch may already hold
    /// records.
    ///
    /// Panics when the batch holds messages: append or clear them first.
    pub fn begin(&mut self, publisher: &str, receive_ns: i64) {
        assert!(self.count == 0, "a batch was begun before its messages were appended");
        self.messages.clear();
        self.receive_ns = receive_ns;
        self.messages.resize(BATCH_HEADER_BYTES, 0);
        put_short(&mut self.messages, publisher.as_bytes());
    }

    /// Sets the time of a batch that is not begun, because it holds records only.
    pub fn at(&mut self, receive_ns: i64) {
        self.receive_ns = receive_ns;
    }

    /// Adds one message. `properties` are its MQTT 5 properties as they came, without their length.
    ///
    /// Panics when the batch was not begun, or when the topic is longer than MQTT allows.
    pub fn push(&mut self, flags: MessageFlags, topic: &str, properties: &[u8], payload: &[u8]) {
        assert!(!self.messages.is_empty(), "a message was pushed before the batch was begun");
        self.messages.reserve(11 + topic.len() + properties.len() + payload.len());
        self.messages.push(flags.bits());
        put_short(&mut self.messages, topic.as_bytes());
        put_long(&mut self.messages, properties);
        put_long(&mut self.messages, payload);
        self.count += 1;
        self.retained |= flags.retain();
    }

    /// Lets the batch use the reserve of a journal that is behind, and so overtake batches that wait.
    pub fn hurry(&mut self) {
        self.is_urgent = true;
    }

    pub(crate) fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    /// The buffer for records: opaque bytes, kept or lost together with the messages.
    pub fn records(&mut self) -> &mut Vec<u8> {
        &mut self.records
    }

    /// Messages in the batch.
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are messages in the batch.
    pub fn has_messages(&self) -> bool {
        self.count > 0
    }

    /// Whether there is neither a message nor a record in the batch.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.records.is_empty()
    }

    /// Bytes the batch takes in the journal.
    pub fn bytes(&self) -> usize {
        BATCH_HEADER_BYTES + self.body_bytes()
    }

    /// Removes messages and records; keeps the memory.
    pub fn clear(&mut self) {
        self.messages.clear();
        self.records.clear();
        self.count = 0;
        self.retained = false;
        self.is_urgent = false;
    }

    pub(crate) fn body_bytes(&self) -> usize {
        self.body().iter().map(|part| part.len()).sum()
    }

    /// The two parts of the body: publisher and messages, then the records.
    pub(crate) fn body(&self) -> [&[u8]; 2] {
        [self.messages.get(BATCH_HEADER_BYTES..).unwrap_or(&NOBODY), &self.records]
    }

    /// The whole encoded batch, in the memory of this batch, which gets the empty buffer `next` instead.
    pub(crate) fn take_encoded(&mut self, header: &BatchHeader, next: Vec<u8>) -> Vec<u8> {
        let mut encoded = mem::replace(&mut self.messages, next);
        if encoded.is_empty() {
            encoded.resize(BATCH_HEADER_BYTES, 0);
            encoded.extend_from_slice(&NOBODY);
        }
        encoded[..BATCH_HEADER_BYTES].copy_from_slice(&header.encode());
        encoded.extend_from_slice(&self.records);
        encoded
    }

    pub(crate) fn checksum(&self) -> u32 {
        self.body().into_iter().fold(0, crc32c::crc32c_append)
    }

    pub(crate) fn header(
        &self,
        base_offset: u64,
        unsynced: Option<u32>,
        body_checksum: u32,
    ) -> BatchHeader {
        BatchHeader {
            body_bytes: self.body_bytes() as u32,
            base_offset,
            count: self.count,
            receive_ns: self.receive_ns,
            state_bytes: self.records.len() as u32,
            retained: self.retained,
            unsynced,
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

/// A message in a batch's body; its topic may not be UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawMessage<'a> {
    pub flags: MessageFlags,
    pub topic: &'a [u8],
    pub properties: &'a [u8],
    pub payload: &'a [u8],
}

/// The publisher, and the encoded messages behind it; `None` when the body is malformed.
pub(crate) fn split_publisher(body: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = body;
    Some((take_short(&mut rest)?, rest))
}

/// Takes the first message off `rest`; `None` when it is malformed.
pub(crate) fn take_message<'a>(rest: &mut &'a [u8]) -> Option<RawMessage<'a>> {
    let flags = MessageFlags::from_bits(take(rest, 1)?[0])?;
    let topic = take_short(rest)?;
    let properties = take_long(rest)?;
    let payload = take_long(rest)?;
    Some(RawMessage { flags, topic, properties, payload })
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
        fn a_body_holds_what_was_pushed(
            publisher in ".{0,9}",
            sent in messages(),
            records in prop::collection::vec(any::<u8>(), 0..20),
        ) {
            let mut batch = Batch::new();
            batch.records().extend(&records);
            batch.begin(&publisher, 1);
            for (qos, retain, topic, properties, payload) in &sent {
                batch.push(MessageFlags::new(*qos, *retain), topic, properties, payload);
            }
            let (body, header) = (batch.body().concat(), batch.header(7, None, batch.checksum()));
            prop_assert_eq!(crc32c::crc32c(&body), header.body_checksum);
            prop_assert_eq!(header.retained, sent.iter().any(|message| message.1));
            let (messages, state) = header.split(&body);
            prop_assert_eq!(state, records);
            let (who, mut rest) = split_publisher(messages).unwrap();
            prop_assert_eq!(who, publisher.as_bytes());
            for (qos, retain, topic, properties, payload) in &sent {
                let flags = MessageFlags::new(*qos, *retain);
                let topic = topic.as_bytes();
                let expected = RawMessage { flags, topic, properties, payload };
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
        batch.push(MessageFlags::new(0, true), "t", &[], &[0; 1000]);
        batch.records().extend([1; 300]);
        let capacity = (batch.messages.capacity(), batch.records.capacity());
        batch.clear();
        assert!(batch.is_empty());
        assert!(!batch.header(0, None, 0).retained);
        assert_eq!((batch.messages.capacity(), batch.records.capacity()), capacity);
    }

    #[test]
    fn a_batch_of_records_alone_has_no_publisher() {
        let mut batch = Batch::new();
        batch.at(5);
        assert!(batch.is_empty());
        batch.records().push(9);
        assert!(!batch.is_empty());
        let header = batch.header(0, None, batch.checksum());
        assert_eq!((header.count, header.receive_ns, header.state_bytes), (0, 5, 1));
        assert_eq!(split_publisher(&batch.body().concat()), Some((&b""[..], &[9][..])));
    }
}
