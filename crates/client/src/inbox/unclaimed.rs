//! Messages of the session that came before the subscription they are for, as after a restart of
//! the program. Kept unacknowledged, bounded by bytes; what goes beyond stays with the broker.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_wire::matches;

use crate::machine::routes::bare;
use crate::machine::{Message, Receipt};

#[derive(Default)]
pub(super) struct Unclaimed {
    messages: VecDeque<Message>,
    bytes: usize,
}

impl Unclaimed {
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Keeps a message, unless it is one that nobody has to acknowledge; or tells its receipt,
    /// where there is no room for it.
    pub fn keep(&mut self, message: Message, bytes_max: usize) -> Option<Receipt> {
        let receipt = message.receipt?;
        if self.bytes >= bytes_max {
            return Some(receipt);
        }
        self.bytes += message.bytes();
        self.messages.push_back(message);
        None
    }

    /// Takes out what matches one of these filters.
    pub fn claim(&mut self, filters: &[&str]) -> Vec<Message> {
        let wanted =
            |message: &Message| filters.iter().any(|filter| matches(bare(filter), &message.topic));
        let all = std::mem::take(&mut self.messages);
        let (claimed, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(wanted);
        self.bytes -= claimed.iter().map(Message::bytes).sum::<usize>();
        self.messages = rest.into();
        claimed
    }

    /// How many there are, and the topic of the first.
    pub fn shown(&self) -> (usize, Option<Arc<str>>) {
        (self.messages.len(), self.messages.front().map(|message| message.topic.clone()))
    }
}
