//! What one subscription has not taken, and what it took and is not done with.

use std::collections::VecDeque;

use slipring_wire::QoS;

use crate::machine::{Message, Receipt};

/// Messages a subscriber has not taken; `awaited` once it found none.
pub(super) struct Queue {
    pub messages: VecDeque<Message>,
    pub bytes: usize,
    pub awaited: bool,
    /// Above QoS 0: what was taken, until the reader is done with it; none for a message at QoS 0.
    pub taken: VecDeque<Option<Receipt>>,
    qos: QoS,
}

impl Queue {
    pub fn new(qos: QoS) -> Self {
        let (messages, taken) = (VecDeque::new(), VecDeque::new());
        Self { messages, bytes: 0, awaited: false, taken, qos }
    }

    /// Puts a message at the end; the memory it holds.
    pub fn add(&mut self, message: Message) -> usize {
        let bytes = message.bytes();
        self.bytes += bytes;
        self.messages.push_back(message);
        bytes
    }

    /// A reader at QoS 0 is done with a message when it has it, however the message came.
    pub fn hand_out(&mut self, messages: &[Message]) -> Vec<Receipt> {
        let receipts = messages.iter().map(|message| message.receipt);
        if self.qos == QoS::AtMostOnce {
            return receipts.flatten().collect();
        }
        self.taken.extend(receipts);
        Vec::new()
    }

    pub fn take(&mut self, count_max: usize, bytes_max: usize) -> (Vec<Message>, usize) {
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
