//! Messages as columns in Arrow's layout, filled directly from a batch's bytes. Knows nothing of files.

use crate::batch::{RawMessage, split_publisher, take_message};
use crate::excerpt::{ReadLimits, TakeBatch};
use crate::format::BatchHeader;

/// A column of byte strings: value `i` is `data[ends[i]..ends[i + 1]]`.
#[derive(Debug, PartialEq, Eq)]
pub struct BytesColumn {
    /// One entry more than there are values; the first is 0.
    pub ends: Vec<i32>,
    /// The values one after the other.
    pub data: Vec<u8>,
}

impl Default for BytesColumn {
    fn default() -> Self {
        Self { ends: vec![0], data: Vec::new() }
    }
}

impl BytesColumn {
    /// Panics beyond 2 GiB, which the byte limit of `MessageColumns` prevents.
    fn push(&mut self, value: &[u8]) {
        self.data.extend_from_slice(value);
        self.ends.push(i32::try_from(self.data.len()).expect("columns are cut below 2 GiB"));
    }

    /// Value `index`, for tests and small reads.
    pub fn get(&self, index: usize) -> &[u8] {
        let end = |at: usize| usize::try_from(self.ends[at]).expect("ends are not negative");
        &self.data[end(index)..end(index + 1)]
    }
}

/// Messages in the order of their offsets. All columns have the same length.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MessageColumns {
    /// Where the next read starts: after the last message here, and after offsets that no message has.
    pub end: u64,
    /// How many messages before `end` a broker has withheld from this reader.
    pub withheld: u64,
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
    pub publisher: BytesColumn,
    /// Topic (UTF-8).
    pub topic: BytesColumn,
    /// MQTT 5 properties as they came, without their length.
    pub properties: BytesColumn,
    /// Payload.
    pub payload: BytesColumn,
}

/// The result of taking a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TakeOutcome {
    All,
    /// The byte limit was reached.
    Full,
    Malformed,
}

impl MessageColumns {
    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.offset.len()
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.offset.is_empty()
    }

    fn data_bytes(&self) -> usize {
        let columns = [&self.publisher, &self.topic, &self.properties, &self.payload];
        columns.into_iter().map(|column| column.data.len()).sum()
    }

    /// Whether another message fits. The first one always does, so that every read makes progress.
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

impl TakeBatch for MessageColumns {
    fn take(&mut self, header: &BatchHeader, body: &[u8], limits: &ReadLimits) -> TakeOutcome {
        let ReadLimits { offsets: range, bytes_max } = limits;
        let Some((publisher, mut rest)) = split_publisher(header.split(body).0) else {
            return TakeOutcome::Malformed;
        };
        for offset in header.offsets() {
            if offset >= range.end {
                return TakeOutcome::All;
            }
            let Some(message) = take_message(&mut rest) else { return TakeOutcome::Malformed };
            if offset < range.start {
                continue;
            }
            if !self.has_room(publisher, &message, *bytes_max) {
                return TakeOutcome::Full;
            }
            self.push(offset, header.receive_ns, publisher, &message);
        }
        if rest.is_empty() { TakeOutcome::All } else { TakeOutcome::Malformed }
    }

    fn is_empty(&self) -> bool {
        self.offset.is_empty()
    }
}
