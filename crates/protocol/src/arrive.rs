//! Inbound messages at every QoS, and their acknowledgements.

use slipring_wire::{
    Ack, Packet, Properties, PropertyId, Publish, QoS, Reason, Version, Violation,
};

use super::inbound::InboundMessage;
use super::{ClientProtocol, DeliveryTag, Phase, ProtocolEvent, ReceivedMessage};

impl ClientProtocol {
    pub(super) fn receive_publish(
        &mut self,
        publish: &Publish<'_>,
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), Violation> {
        if publish.qos > self.qos_asked {
            let what = "a message above the QoS that was subscribed to"; // MQTT-3.8.4-8
            return Err(Violation { reason: Reason::QoSNotSupported, what });
        }
        if publish.properties.get(PropertyId::TopicAlias).is_some() {
            let what = "a topic alias, though none was offered"; // MQTT-3.1.2-27
            return Err(Violation { reason: Reason::TopicAliasInvalid, what });
        }
        if self.is_draining() {
            return Ok(());
        }
        let found = self.subscriptions.find(publish);
        let mut tag = None;
        if let Some(packet_id) = publish.packet_id {
            // A message that matches no subscription yet waits for one reader: the next to subscribe.
            let kept = usize::from(self.options.is_durable() && found.unclaimed);
            match self.inbound.arrive(publish, found.subscriptions.len().max(kept))? {
                InboundMessage::New(new) => tag = Some(new),
                InboundMessage::Known => {
                    self.send_due();
                    return Ok(());
                }
                InboundMessage::Received => {
                    self.write_ack(Packet::PubRec, packet_id, Reason::Success);
                    return Ok(());
                }
            }
        }
        let message = ReceivedMessage::new(found.topic, publish, tag);
        events.push(ProtocolEvent::Message { subscriptions: found.subscriptions, message });
        // A message without a reader is acknowledged at once.
        self.send_due();
        Ok(())
    }

    /// Notes that readers are done with these messages. Messages without another reader are acknowledged.
    pub fn done(&mut self, tags: &[DeliveryTag]) {
        for tag in tags {
            self.inbound.done(*tag);
        }
        self.send_due();
    }

    /// Notes that readers left before they were done with these messages: the broker keeps them for
    /// another connection of the session.
    pub fn abandon(&mut self, tags: &[DeliveryTag]) {
        for tag in tags {
            self.inbound.abandon(*tag);
        }
        self.send_due();
    }

    fn send_due(&mut self) {
        if !matches!(self.phase, Phase::Open | Phase::Draining { .. }) {
            return;
        }
        while let Some((packet_id, qos)) = self.inbound.next_due() {
            let kind = if qos == QoS::ExactlyOnce { Packet::PubRec } else { Packet::PubAck };
            self.write_ack(kind, packet_id, Reason::Success);
        }
    }

    pub(super) fn receive_pubrel(&mut self, ack: &Ack<'_>) {
        let known = self.inbound.release(ack.packet_id);
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
