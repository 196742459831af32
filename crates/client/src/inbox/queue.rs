//! One subscription's messages: those its reader has not taken, and the tags of those it took and is
//! not done with.

use std::collections::VecDeque;

use slipring_protocol::{DeliveryTag, ReceivedMessage};
use slipring_wire::QoS;

pub(super) struct SubscriptionQueue {
    pub messages: VecDeque<ReceivedMessage>,
    pub bytes: usize,
    /// The reader found the queue empty, and waits for a `Readable` event.
    pub awaited: bool,
    /// Above QoS 0: messages that the reader took and is not done with. A message that came at QoS 0
    /// has no tag, but is counted by the reader all the same.
    pub taken: VecDeque<Option<DeliveryTag>>,
    qos: QoS,
}

impl SubscriptionQueue {
    pub fn new(qos: QoS) -> Self {
        let (messages, taken) = (VecDeque::new(), VecDeque::new());
        Self { messages, bytes: 0, awaited: false, taken, qos }
    }

    /// Puts a message at the end; returns the memory it holds.
    pub fn add(&mut self, message: ReceivedMessage) -> usize {
        let bytes = message.bytes();
        self.bytes += bytes;
        self.messages.push_back(message);
        bytes
    }

    /// Notes messages as taken. A reader at QoS 0 is done with them at once: their tags are returned.
    pub fn hand_out(&mut self, messages: &[ReceivedMessage]) -> Vec<DeliveryTag> {
        let tags = messages.iter().map(|message| message.tag);
        if self.qos == QoS::AtMostOnce {
            return tags.flatten().collect();
        }
        self.taken.extend(tags);
        Vec::new()
    }

    pub fn take(&mut self, count_max: usize, bytes_max: usize) -> (Vec<ReceivedMessage>, usize) {
        let (mut count, mut bytes) = (0, 0);
        for message in self.messages.iter().take(count_max) {
            if bytes >= bytes_max {
                break;
            }
            bytes += message.bytes();
            count += 1;
        }
        self.awaited = self.messages.is_empty();
        self.bytes -= bytes;
        (self.messages.drain(..count).collect(), bytes)
    }
}
