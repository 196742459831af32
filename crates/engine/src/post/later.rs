//! Deliveries of earlier batches that wait until the journal has made them safe.

use std::sync::Arc;

use slipring_core::Delivery;

use super::{LATER_BYTES_MAX, Later, Post, later_bytes};
use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::gates::Gate;

impl Post {
    /// Sends messages when a gate is open, after those that wait already.
    pub fn send_after(
        &mut self,
        broker: &Broker,
        gate: Gate,
        deliveries: Vec<(Arc<Client>, Delivery)>,
    ) {
        self.later_bytes +=
            deliveries.iter().map(|(_, delivery)| later_bytes(delivery)).sum::<usize>();
        let generation = self.generation;
        self.later.push_back(Later { gate, generation, deliveries });
        self.release(broker);
    }

    /// Sends messages that are safe by now, and has the publisher woken for the next: its answers may wait for
    /// other gates.
    pub fn release_for(&mut self, broker: &Broker, connection: &Arc<ConnectionHandle>) {
        self.release(broker);
        let first = self.later.front().map(|later| later.gate);
        if self.awaited != first {
            self.awaited = first;
            if let Some(gate) = first {
                broker.journal.gates.wait(gate, connection);
            }
        }
    }

    fn release(&mut self, broker: &Broker) {
        while self.later.front().is_some_and(|later| broker.journal.gates.is_open(later.gate)) {
            self.send_next(broker);
        }
    }

    fn send_next(&mut self, broker: &Broker) {
        let Some(Later { generation, deliveries, .. }) = self.later.pop_front() else { return };
        let newest = std::mem::replace(&mut self.generation, generation);
        self.look_at_rights(broker);
        for (client, delivery) in deliveries {
            self.later_bytes -= later_bytes(&delivery);
            self.hand_over(broker, &client, delivery);
        }
        self.set_generation(newest);
        self.tell(broker);
    }

    pub fn is_behind(&self) -> bool {
        self.later_bytes > LATER_BYTES_MAX
    }

    /// Takes the messages that are not safe yet.
    pub fn take_later(&mut self) -> Option<Self> {
        if self.later.is_empty() {
            return None;
        }
        let later = std::mem::take(&mut self.later);
        let later_bytes = std::mem::take(&mut self.later_bytes);
        Some(Self { later, later_bytes, is_told: self.is_told, ..Self::default() })
    }

    /// Sends each message when it is safe. Ends if the journal fails.
    pub async fn settle(mut self, broker: Arc<Broker>) {
        while let Some(gate) = self.later.front().map(|later| later.gate) {
            if !broker.journal.gates.passed(gate).await {
                return;
            }
            self.send_next(&broker);
        }
    }
}
