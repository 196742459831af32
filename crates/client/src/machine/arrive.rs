//! Messages coming in, at every quality, and their acknowledgements.

use slipring_wire::{Ack, Packet, Properties, PropertyId, Publish, Reason, Version, Violation};

use super::held::{Arrival, Due};
use super::{Event, Machine, Message, Phase, Receipt};

impl Machine {
    pub(super) fn receive_publish(
        &mut self,
        publish: &Publish<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        if publish.qos > self.qos_asked {
            let what = "a message above the quality that was subscribed to"; // MQTT-3.8.4-8
            return Err(Violation { reason: Reason::QoSNotSupported, what });
        }
        if publish.properties.get(PropertyId::TopicAlias).is_some() {
            let what = "a topic alias, though none was offered"; // MQTT-3.1.2-27
            return Err(Violation { reason: Reason::TopicAliasInvalid, what });
        }
        if self.is_draining() {
            return Ok(());
        }
        let route = self.routes.find(publish);
        let mut receipt = None;
        if let Some(packet_id) = publish.packet_id {
            // What may be for a subscription still to come has one reader, whoever it will be.
            let kept = usize::from(self.greeting.is_durable() && route.unclaimed);
            match self.held.arrive(publish, route.subscriptions.len().max(kept))? {
                Arrival::New(new) => receipt = Some(new),
                Arrival::Known => {
                    self.send_due();
                    return Ok(());
                }
                Arrival::Received => {
                    self.write_ack(Packet::PubRec, packet_id, Reason::Success);
                    return Ok(());
                }
            }
        }
        let message = Message::new(route.topic, publish, receipt);
        events.push(Event::Message { subscriptions: route.subscriptions, message });
        // Nobody may want it.
        self.send_due();
        Ok(())
    }

    /// Readers are done with these messages; those that nobody else reads are acknowledged.
    pub fn done(&mut self, receipts: &[Receipt]) {
        for receipt in receipts {
            self.held.done(*receipt);
        }
        self.send_due();
    }

    /// Readers go and are not done with these messages: the broker keeps them for another
    /// connection of the session.
    pub fn abandon(&mut self, receipts: &[Receipt]) {
        for receipt in receipts {
            self.held.abandon(*receipt);
        }
        self.send_due();
    }

    fn send_due(&mut self) {
        if !matches!(self.phase, Phase::Open | Phase::Draining { .. }) {
            return;
        }
        while let Some(due) = self.held.next_due() {
            match due {
                Due::PubAck(id) => self.write_ack(Packet::PubAck, id, Reason::Success),
                Due::PubRec(id) => self.write_ack(Packet::PubRec, id, Reason::Success),
            }
        }
    }

    pub(super) fn receive_pubrel(&mut self, ack: &Ack<'_>) {
        let known = self.held.release(ack.packet_id);
        let reason = if known { Reason::Success } else { Reason::PacketIdentifierNotFound };
        self.write_ack(Packet::PubComp, ack.packet_id, reason);
    }

    pub(super) fn write_ack(
        &mut self,
        kind: fn(Ack<'static>) -> Packet<'static>,
        packet_id: slipring_wire::PacketId,
        reason: Reason,
    ) {
        let properties = Properties::NONE;
        kind(Ack { packet_id, reason, properties }).encode(Version::V5, &mut self.output);
    }
}
