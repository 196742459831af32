//! Messages read from the journal, whose topics are checked to be UTF-8. Knows nothing of files.

use std::str;
use std::sync::Arc;

use crate::batch::{RawMessage, split_publisher, take_message};
use crate::format::{BatchHeader, MessageFlags};

/// A message in the journal, borrowed from its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalMessage<'a> {
    /// QoS and retain.
    pub flags: MessageFlags,
    /// The topic.
    pub topic: &'a str,
    /// Its MQTT 5 properties as they came, without their length.
    pub properties: &'a [u8],
    /// The payload.
    pub payload: &'a [u8],
}

/// A message that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its offset.
    pub offset: u64,
    /// When it was received, nanoseconds since the Unix epoch, UTC.
    pub receive_ns: i64,
    /// QoS and retain.
    pub flags: MessageFlags,
    /// Client id of the publisher.
    pub publisher: Arc<str>,
    /// The topic.
    pub topic: Arc<str>,
    /// Its MQTT 5 properties as they came, without their length.
    pub properties: Vec<u8>,
    /// The payload.
    pub payload: Vec<u8>,
}

/// A message in the journal, with its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundMessage<'a> {
    /// Its offset.
    pub offset: u64,
    /// When it was received, nanoseconds since the Unix epoch, UTC.
    pub receive_ns: i64,
    /// Client id of the publisher.
    pub publisher: &'a str,
    /// The message itself.
    pub message: JournalMessage<'a>,
}

impl FoundMessage<'_> {
    /// A copy that owns its bytes. `publisher` is its publisher again, to be shared.
    pub(crate) fn to_stored(self, publisher: Arc<str>) -> StoredMessage {
        let JournalMessage { flags, topic, properties, payload } = self.message;
        StoredMessage {
            offset: self.offset,
            receive_ns: self.receive_ns,
            flags,
            publisher,
            topic: topic.into(),
            properties: properties.into(),
            payload: payload.into(),
        }
    }
}

/// The publisher and the messages of an encoded batch.
#[derive(Clone, Debug)]
pub(crate) struct Messages<'a> {
    pub publisher: &'a str,
    offset: u64,
    left: u32,
    rest: &'a [u8],
}

impl<'a> Messages<'a> {
    /// Reads the first part of a body; `None` if it does not begin with a publisher.
    pub fn new(header: &BatchHeader, messages: &'a [u8]) -> Option<Self> {
        let (publisher, rest) = split_publisher(messages)?;
        let publisher = str::from_utf8(publisher).ok()?;
        Some(Self { publisher, offset: header.base_offset, left: header.count, rest })
    }

    /// Whether all messages can be read, and nothing follows them.
    pub fn are_whole(&self) -> bool {
        let mut all = self.clone();
        all.by_ref().count();
        all.left == 0 && all.rest.is_empty()
    }
}

/// Ends early at a malformed message.
impl<'a> Iterator for Messages<'a> {
    type Item = (u64, JournalMessage<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.left.checked_sub(1)?;
        let RawMessage { flags, topic, properties, payload } = take_message(&mut self.rest)?;
        let topic = str::from_utf8(topic).ok()?;
        let message = JournalMessage { flags, topic, properties, payload };
        let offset = self.offset;
        (self.left, self.offset) = (left, offset + 1);
        Some((offset, message))
    }
}
