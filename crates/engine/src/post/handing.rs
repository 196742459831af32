//! Gives messages to subscribers that may still have them, and counts what could not be given.

use std::sync::Arc;

use slipring_core::{Delivery, Dropped, Limit, Pushed};
use slipring_wire::{QoS, Reason};

use super::Post;
use crate::broker::Broker;
use crate::client::Client;
use crate::message_events::tell_handed_over;

impl Post {
    /// Notes which routes the messages of the next batch take.
    pub fn set_generation(&mut self, generation: u64) {
        (self.generation, self.is_outdated) = (generation, false);
    }

    /// Looks whether rights may have changed since the routes of this batch were found.
    pub fn look_at_rights(&mut self, broker: &Broker) {
        self.is_outdated = broker.topics.generation() != self.generation
            && broker.plan.load().access.is_enforced();
    }

    /// Gives a message to a subscriber, which is woken at the end of the batch.
    pub fn hand_over(&mut self, broker: &Broker, client: &Arc<Client>, delivery: Delivery) {
        let rights = self.is_outdated.then(|| client.rights(&broker.plan));
        if let (Some(rights), QoS::AtMostOnce) = (&rights, delivery.qos) {
            if !rights.allow_receiving(delivery.message.topic()) {
                return;
            }
        }
        let told = self.is_told.then(|| (Arc::clone(delivery.message.topic()), delivery.qos));
        let mut outgoing = client.outgoing();
        let pushed = if delivery.qos > QoS::AtMostOnce {
            let pushed = outgoing.push(delivery);
            if let Some(rights) = rights {
                outgoing.check_queued(rights); // before it is sent: the journal has it as queued
            }
            pushed
        } else {
            self.encoded.push_kept(&delivery, &mut outgoing)
        };
        if matches!(pushed, Pushed::Dropped(_) | Pushed::Overflow(_)) {
            outgoing.take_drops(&mut self.lost);
            outgoing.take_victims(&mut self.victims);
        }
        if let Some((topic, qos)) = told {
            tell_handed_over(broker, client, &outgoing, pushed, (&topic, qos));
        }
        drop(outgoing);
        self.pushed(broker, client, pushed);
    }

    /// Adds packets of the broker's own for a client, which is woken at the end of the batch.
    pub fn push_packets(&mut self, broker: &Broker, client: &Arc<Client>, packets: &[u8]) {
        let pushed = client.outgoing().push_packets(packets);
        self.pushed(broker, client, pushed);
    }

    #[inline]
    pub(super) fn pushed(&mut self, broker: &Broker, client: &Arc<Client>, pushed: Pushed) {
        match pushed {
            Pushed::Quiet => {}
            Pushed::Wake => self.woken.push(Arc::clone(client)),
            lost => self.lose(broker, client, lost),
        }
    }

    /// Counts a limit that was reached for a client.
    #[cold]
    fn lose(&mut self, broker: &Broker, client: &Arc<Client>, pushed: Pushed) {
        match pushed {
            Pushed::Held => broker.monitor.reached.count(Limit::Inflight),
            Pushed::Dropped(dropped) => {
                broker.monitor.count_dropped(client, dropped);
                if matches!(dropped.limit, Some(Limit::OutboxBytes | Limit::MemoryBytes)) {
                    broker.table.missed(client);
                }
                if dropped.limit == Some(Limit::MemoryBytes) {
                    broker.shortage.count_outbox(dropped.messages);
                }
                if dropped.wake {
                    self.woken.push(Arc::clone(client));
                }
            }
            Pushed::Overflow(limit) => {
                let dropped = Dropped { limit: Some(limit), messages: 1, wake: false };
                broker.monitor.count_dropped(client, dropped);
                client.close(Reason::QuotaExceeded);
            }
            Pushed::EndsConnection(limit) => {
                broker.monitor.reached.count(limit);
                client.close(Reason::QuotaExceeded);
            }
            Pushed::Quiet | Pushed::Wake => {}
        }
    }
}
