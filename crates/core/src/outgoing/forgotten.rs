//! Messages in flight whose bytes are freed because memory is short. They can be acknowledged, but not sent again.

use super::queue::{QueueEntry, stored};
use super::window::{FlightState, Window};
use crate::{Delivery, Priority};

impl Window {
    /// Bytes of the messages that are in memory.
    pub(super) fn here_bytes(&self) -> usize {
        let here = self.slots.iter().map(|slot| match &slot.state {
            FlightState::Sent(QueueEntry::Here(delivery)) => delivery.message.bytes(),
            _ => 0,
        });
        here.sum()
    }

    /// Frees messages of a priority, the oldest first, until no more than `keep_bytes` are in memory. Returns those that
    /// are lost. One of a durable session that the journal has stays as its offset: its end must be recorded.
    pub(super) fn forget(
        &mut self,
        priority: Priority,
        keep_bytes: usize,
        is_durable: bool,
    ) -> Vec<Delivery> {
        let (mut here_bytes, mut forgotten) = (self.here_bytes(), Vec::new());
        for slot in self.slots.range_mut(..self.resent) {
            let FlightState::Sent(QueueEntry::Here(delivery)) = &slot.state else { continue };
            let is_kept = delivery.of_request; // it must be told
            if is_kept || here_bytes <= keep_bytes || delivery.priority != priority {
                continue;
            }
            let (bytes, qos) = (delivery.message.bytes(), delivery.qos);
            here_bytes -= bytes;
            if let Some(span) = stored(delivery, None).filter(|_| is_durable) {
                slot.state = FlightState::Sent(QueueEntry::Stored(span));
                continue;
            }
            self.bytes -= bytes;
            if let FlightState::Sent(QueueEntry::Here(delivery)) =
                std::mem::replace(&mut slot.state, FlightState::Forgotten(qos))
            {
                forgotten.push(delivery);
            }
        }
        forgotten
    }
}
