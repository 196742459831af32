//! Messages of the session that came before a program has subscribed to them again, as after its
//! restart. Kept unacknowledged and bounded by bytes; what exceeds the bound stays with the broker.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_protocol::{DeliveryTag, ReceivedMessage, filter_matches};

#[derive(Default)]
pub(super) struct UnclaimedMessages {
    messages: VecDeque<ReceivedMessage>,
    bytes: usize,
}

impl UnclaimedMessages {
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Keeps a message; one without a tag is dropped, because QoS 0 promises nothing. Returns the tag
    /// if there is no room.
    pub fn keep(&mut self, message: ReceivedMessage, bytes_max: usize) -> Option<DeliveryTag> {
        let tag = message.tag?;
        if self.bytes >= bytes_max {
            return Some(tag);
        }
        self.bytes += message.bytes();
        self.messages.push_back(message);
        None
    }

    /// Takes the messages that match one of these filters.
    pub fn claim(&mut self, filters: &[&str]) -> Vec<ReceivedMessage> {
        let wanted = |message: &ReceivedMessage| {
            filters.iter().any(|filter| filter_matches(filter, &message.topic))
        };
        let all = std::mem::take(&mut self.messages);
        let (claimed, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(wanted);
        self.bytes -= claimed.iter().map(ReceivedMessage::bytes).sum::<usize>();
        self.messages = rest.into();
        claimed
    }

    /// How many there are, and the topic of the first.
    pub fn shown(&self) -> (usize, Option<Arc<str>>) {
        (self.messages.len(), self.messages.front().map(|message| message.topic.clone()))
    }
}
