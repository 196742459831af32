//! Outbound messages at every QoS, and the acknowledgements that come back for them.

use slipring_wire::{Ack, Packet, PacketId, Publish, QoS, Reason, Version, Violation, check_topic};

use super::outbound::{EncodedPublish, OutboundPacket};
use super::properties::reason_string;
use super::tally::{AckOwner, PublishOutcome, PublishTally};
use super::{BatchId, ClientProtocol, ProtocolEvent, PublishId, SendError};

impl ClientProtocol {
    /// Accepts one message. At QoS 1 and 2 a `Published` event with this id tells its outcome; at QoS 0
    /// there is no event.
    pub fn publish(&mut self, publish: &Publish<'_>) -> Result<Option<PublishId>, SendError> {
        if publish.qos == QoS::AtMostOnce {
            return self.publish_qos0(publish).map(|()| None);
        }
        let id = PublishId(self.newest_id + 1);
        self.publish_acknowledged(publish, AckOwner::One(id))?;
        self.newest_id += 1;
        Ok(Some(id))
    }

    /// Accepts a message that means nothing in another session, as a request and its answer: there it is
    /// not sent again. At QoS 1 and 2 a `Published` event tells of a fault, and of nothing else.
    pub fn publish_in_session(
        &mut self,
        publish: &Publish<'_>,
    ) -> Result<Option<PublishId>, SendError> {
        if publish.qos == QoS::AtMostOnce {
            return self.publish_qos0(publish).map(|()| None);
        }
        let id = PublishId(self.newest_id + 1);
        self.publish_acknowledged(publish, AckOwner::Session(id))?;
        self.newest_id += 1;
        Ok(Some(id))
    }

    /// Begins a batch: messages whose acknowledgements are counted, not reported one by one.
    pub fn open_batch(&mut self) -> BatchId {
        self.newest_id += 1;
        let id = BatchId(self.newest_id);
        self.tallies.open(id);
        id
    }

    /// Accepts one message of a batch.
    pub fn publish_in(&mut self, batch: BatchId, publish: &Publish<'_>) -> Result<(), SendError> {
        self.publish_counted(batch, publish, |position| AckOwner::Batch(batch, position))
    }

    /// Accepts a message that a tally counts. `owner` gets the position of the message in its batch.
    pub(super) fn publish_counted(
        &mut self,
        batch: BatchId,
        publish: &Publish<'_>,
        owner: impl FnOnce(u64) -> AckOwner,
    ) -> Result<(), SendError> {
        let awaited = publish.qos != QoS::AtMostOnce;
        if awaited {
            self.publish_acknowledged(publish, owner(self.tallies.next(batch)))?;
        } else {
            self.publish_qos0(publish)?;
        }
        self.tallies.accept(batch, awaited);
        Ok(())
    }

    /// How far a batch has come.
    pub fn tally(&self, batch: BatchId) -> PublishTally {
        self.tallies.get(batch)
    }

    /// Forgets a batch. Its messages are sent all the same.
    pub fn close_batch(&mut self, batch: BatchId) {
        self.tallies.close(batch);
    }

    /// Bytes of messages at QoS 1 and 2 that the broker has not acknowledged.
    pub fn unacknowledged_bytes(&self) -> usize {
        self.outbound.bytes()
    }

    fn publish_qos0(&mut self, publish: &Publish<'_>) -> Result<(), SendError> {
        self.check_publish(publish)?;
        let start = self.output.len();
        self.append(&Packet::Publish(Publish { packet_id: None, dup: false, ..*publish }))?;
        self.qos0_bytes += self.output.len() - start;
        Ok(())
    }

    fn publish_acknowledged(
        &mut self,
        publish: &Publish<'_>,
        owner: AckOwner,
    ) -> Result<(), SendError> {
        self.check_publish(publish)?;
        let mut packet = Vec::new();
        // A placeholder identifier, overwritten when the message is sent.
        let publish = Publish { packet_id: PacketId::new(1), dup: false, ..*publish };
        Packet::Publish(publish).encode(Version::V5, &mut packet);
        if packet.len() > self.granted.packet_bytes_max {
            return Err(SendError::TooLarge(packet.len(), self.granted.packet_bytes_max));
        }
        // The identifier follows the header, whose length has one to four bytes, and the topic.
        let length_bytes = packet[1..].iter().take_while(|byte| **byte >= 0x80).count() + 1;
        let id_at = 1 + length_bytes + 2 + publish.topic.len();
        self.outbound.push(EncodedPublish { packet, id_at, qos: publish.qos, owner });
        self.send_waiting();
        Ok(())
    }

    fn check_publish(&self, publish: &Publish<'_>) -> Result<(), SendError> {
        self.check_open()?;
        check_topic(publish.topic)
            .map_err(|error| SendError::Topic(publish.topic.to_owned(), error))?;
        if publish.qos > self.granted.qos_max {
            return Err(SendError::QoS(publish.qos as u8, self.granted.qos_max as u8));
        }
        if publish.retain && !self.granted.retain_available {
            return Err(SendError::Retain);
        }
        let bytes = publish.topic.len() + publish.payload.len();
        self.check_size(bytes + publish.properties.encoded().len())
    }

    /// Sends messages that wait, as many as the in-flight window has room for.
    pub(super) fn send_waiting(&mut self) {
        while self.outbound.can_send() {
            let packet_id = self.outbound.next_id().unwrap_or_else(|| self.free_id());
            match self.outbound.send_next(packet_id) {
                OutboundPacket::Publish(packet) => self.output.extend_from_slice(packet),
                OutboundPacket::Release(id) => self.write_ack(Packet::PubRel, id, Reason::Success),
            }
        }
    }

    pub(super) fn receive_pubrec(
        &mut self,
        ack: &Ack<'_>,
        events: &mut Vec<ProtocolEvent>,
    ) -> Result<(), Violation> {
        if ack.reason.is_error() {
            let owner = self.outbound.refuse(ack.packet_id)?;
            self.settle(owner, outcome(ack), events);
            return Ok(());
        }
        let known = self.outbound.receive(ack.packet_id)?;
        let reason = if known { Reason::Success } else { Reason::PacketIdentifierNotFound };
        self.write_ack(Packet::PubRel, ack.packet_id, reason);
        Ok(())
    }

    /// Sends again what an earlier connection left unacknowledged.
    pub(super) fn resend(&mut self, same_session: bool, events: &mut Vec<ProtocolEvent>) {
        for (owner, outcome) in self.outbound.restart(same_session) {
            self.settle(Some(owner), outcome, events);
        }
        self.send_waiting();
    }

    /// Counts and reports the outcome of a message; `None` if it was settled before.
    pub(super) fn settle(
        &mut self,
        owner: Option<AckOwner>,
        outcome: PublishOutcome,
        events: &mut Vec<ProtocolEvent>,
    ) {
        let Some(owner) = owner else { return };
        // Counted before it is reported, so that the tally is right when the owner reads the event.
        while let Some(passed) = self.outbound.retire() {
            self.tallies.pass(passed);
        }
        events.extend(self.tallies.settle(owner, outcome).map(ProtocolEvent::Client));
        self.send_waiting();
        self.leave_when_drained();
    }
}

pub(super) fn outcome(ack: &Ack<'_>) -> PublishOutcome {
    if ack.reason.is_error() {
        return PublishOutcome::Refused { reason: ack.reason, text: reason_string(ack.properties) };
    }
    PublishOutcome::Acknowledged
}
