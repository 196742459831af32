//! Messages as they come out of the journal, with their text checked. Knows nothing of files.

use std::str;
use std::sync::Arc;

use crate::batch::{RawMessage, split_publisher, take_message};
use crate::format::{BatchHeader, Flags};

/// A message in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// How it was sent.
    pub flags: Flags,
    /// Where to.
    pub topic: &'a str,
    /// Its MQTT 5 properties as they came, without their length.
    pub properties: &'a [u8],
    /// What.
    pub payload: &'a [u8],
}

impl<'a> Message<'a> {
    fn checked(raw: RawMessage<'a>) -> Option<Self> {
        let RawMessage { flags, topic, properties, payload } = raw;
        Some(Self { flags, topic: str::from_utf8(topic).ok()?, properties, payload })
    }
}

/// A message with its own bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its number in the journal.
    pub offset: u64,
    /// When it was received, nanoseconds since the Unix epoch, UTC.
    pub receive_ns: i64,
    /// How it was sent.
    pub flags: Flags,
    /// Client id of the publisher.
    pub publisher: Arc<str>,
    /// Where to.
    pub topic: Arc<str>,
    /// Its MQTT 5 properties as they came, without their length.
    pub properties: Vec<u8>,
    /// What.
    pub payload: Vec<u8>,
}

/// A batch's publisher and messages, as they stand in its body.
#[derive(Clone, Debug)]
pub(crate) struct Messages<'a> {
    pub publisher: &'a str,
    offset: u64,
    left: u32,
    rest: &'a [u8],
}

impl<'a> Messages<'a> {
    /// From the first part of a body; none when it does not begin with a publisher.
    pub fn new(header: &BatchHeader, messages: &'a [u8]) -> Option<Self> {
        let (publisher, rest) = split_publisher(messages)?;
        let publisher = str::from_utf8(publisher).ok()?;
        Some(Self { publisher, offset: header.base_offset, left: header.count, rest })
    }

    /// Whether all of it can be read.
    pub fn are_whole(&self) -> bool {
        let mut all = self.clone();
        all.by_ref().count();
        all.left == 0 && all.rest.is_empty()
    }
}

/// Ends early where the content does not add up.
impl<'a> Iterator for Messages<'a> {
    type Item = (u64, Message<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let left = self.left.checked_sub(1)?;
        let message = Message::checked(take_message(&mut self.rest)?)?;
        let offset = self.offset;
        (self.left, self.offset) = (left, offset + 1);
        Some((offset, message))
    }
}
