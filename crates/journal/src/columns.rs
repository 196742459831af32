//! Messages as columns in Arrow's layout, filled straight from a batch's bytes.
//! Knows nothing of files.

use std::ops::Range;

use crate::batch::{RawMessage, split_publisher, take_message};
use crate::format::BatchHeader;

/// Byte strings one after the other; value `i` is `data[ends[i]..ends[i + 1]]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Bytes {
    /// One more than there are values; begins with 0.
    pub ends: Vec<i32>,
    /// The values.
    pub data: Vec<u8>,
}

impl Default for Bytes {
    fn default() -> Self {
        Self { ends: vec![0], data: Vec::new() }
    }
}

impl Bytes {
    /// Panics beyond `i32`: `Columns` is cut long before by its byte limit.
    fn push(&mut self, value: &[u8]) {
        self.data.extend_from_slice(value);
        self.ends.push(i32::try_from(self.data.len()).expect("columns are cut below 2 GiB"));
    }

    /// Value `index`, for tests and small reads.
    pub fn get(&self, index: usize) -> &[u8] {
        let place = |at: usize| usize::try_from(self.ends[at]).expect("ends are not negative");
        &self.data[place(index)..place(index + 1)]
    }
}

/// A run of messages. All columns have the same length.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The offset after the last message here: where to read on.
    pub end: u64,
    /// Offset of each message.
    pub offset: Vec<i64>,
    /// Receive time, nanoseconds since the Unix epoch, UTC.
    pub receive_ns: Vec<i64>,
    /// Receive time in microseconds, rounded down: what Spark's timestamps hold.
    pub receive_us: Vec<i64>,
    /// The quality of service the publisher used.
    pub qos: Vec<u8>,
    /// The publisher's retain flags, one bit each, lowest bit first.
    pub retain: Vec<u8>,
    /// Client id of the publisher (UTF-8).
    pub publisher: Bytes,
    /// Topic (UTF-8).
    pub topic: Bytes,
    /// MQTT 5 properties as they came, without their length.
    pub properties: Bytes,
    /// Payload.
    pub payload: Bytes,
}

/// What became of a batch offered to `Columns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    All,
    /// The byte limit was reached.
    Full,
    Malformed,
}

impl Columns {
    /// Messages here.
    pub fn len(&self) -> usize {
        self.offset.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.offset.is_empty()
    }

    /// Takes the messages of a batch that lie in `range`, until `bytes_max` is reached.
    pub(crate) fn take_batch(
        &mut self,
        header: &BatchHeader,
        messages: &[u8],
        range: &Range<u64>,
        bytes_max: usize,
    ) -> Taken {
        let Some((publisher, mut rest)) = split_publisher(messages) else {
            return Taken::Malformed;
        };
        for offset in header.offsets() {
            if offset >= range.end {
                return Taken::All;
            }
            let Some(message) = take_message(&mut rest) else { return Taken::Malformed };
            if offset < range.start {
                continue;
            }
            if !self.has_room(publisher, &message, bytes_max) {
                return Taken::Full;
            }
            self.push(offset, header.receive_ns, publisher, &message);
        }
        if rest.is_empty() { Taken::All } else { Taken::Malformed }
    }

    fn data_bytes(&self) -> usize {
        let columns = [&self.publisher, &self.topic, &self.properties, &self.payload];
        columns.into_iter().map(|column| column.data.len()).sum()
    }

    /// The first message always has room, so that a reader gets on.
    fn has_room(&self, publisher: &[u8], message: &RawMessage<'_>, bytes_max: usize) -> bool {
        let RawMessage { topic, properties, payload, .. } = message;
        let more = publisher.len() + topic.len() + properties.len() + payload.len();
        self.is_empty() || self.data_bytes() + more <= bytes_max
    }

    fn push(&mut self, offset: u64, receive_ns: i64, publisher: &[u8], message: &RawMessage<'_>) {
        self.push_retain(message.flags.retain());
        self.offset.push(i64::try_from(offset).expect("fewer than 2^63 messages"));
        self.receive_ns.push(receive_ns);
        self.receive_us.push(receive_ns.div_euclid(1000));
        self.qos.push(message.flags.qos());
        self.publisher.push(publisher);
        self.topic.push(message.topic);
        self.properties.push(message.properties);
        self.payload.push(message.payload);
        self.end = offset + 1;
    }

    fn push_retain(&mut self, retain: bool) {
        let bit = self.len() % 8;
        if bit == 0 {
            self.retain.push(0);
        }
        *self.retain.last_mut().expect("pushed above") |= u8::from(retain) << bit;
    }
}
