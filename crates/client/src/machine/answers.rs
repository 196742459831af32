//! Packet identifiers in use, and what each one's answer will be about.

use std::collections::HashMap;

use slipring_wire::PacketId;

use super::SubscriptionId;

/// Requests that may wait for an answer at once; one more is refused.
pub(super) const WAITING_MAX: usize = 1024;

/// What an answer will be about.
#[derive(Debug)]
pub(super) enum Request {
    Subscribe { id: SubscriptionId, filters: Vec<String> },
    Unsubscribe,
}

#[derive(Debug, Default)]
pub(super) struct Answers {
    newest: u16,
    waiting: HashMap<PacketId, Request>,
}

impl Answers {
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING_MAX
    }

    /// An identifier that is not in use (MQTT-2.2.1-3), for this request.
    pub fn expect(&mut self, request: Request) -> PacketId {
        loop {
            self.newest = self.newest.wrapping_add(1);
            match PacketId::new(self.newest) {
                Some(packet_id) if !self.waiting.contains_key(&packet_id) => {
                    self.waiting.insert(packet_id, request);
                    return packet_id;
                }
                _ => {}
            }
        }
    }

    pub fn take(&mut self, packet_id: PacketId) -> Option<Request> {
        self.waiting.remove(&packet_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_in_use_is_passed_over() {
        let mut answers = Answers::default();
        let first = answers.expect(Request::Unsubscribe);
        answers.newest = u16::MAX;
        let second = answers.expect(Request::Unsubscribe);
        assert_eq!((first.get(), second.get()), (1, 2));
        assert!(answers.take(first).is_some());
        assert!(answers.take(first).is_none());
    }
}
