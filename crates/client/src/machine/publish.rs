//! Messages going out, at every quality, and the acknowledgements that come back for them.

use slipring_wire::{Ack, Packet, PacketId, Publish, QoS, Reason, Version, Violation, check_topic};

use super::flight::{Next, Parcel};
use super::tally::{Outcome, Owner, Tally};
use super::{BatchId, Event, Machine, PropertyId, PublishId, SendError};

impl Machine {
    /// Accepts one message. At QoS 1 and 2 a `Published` notice with this id tells what became
    /// of it; at QoS 0 there is nothing to tell.
    pub fn publish(&mut self, publish: &Publish<'_>) -> Result<Option<PublishId>, SendError> {
        if publish.qos == QoS::AtMostOnce {
            return self.publish_once(publish).map(|()| None);
        }
        let id = PublishId(self.newest_id + 1);
        self.publish_acknowledged(publish, Owner::One(id))?;
        self.newest_id += 1;
        Ok(Some(id))
    }

    /// Begins a batch: messages whose acknowledgements are counted, not told one by one.
    pub fn open_batch(&mut self) -> BatchId {
        self.newest_id += 1;
        let id = BatchId(self.newest_id);
        self.tallies.open(id);
        id
    }

    /// Accepts one message of a batch.
    pub fn publish_in(&mut self, batch: BatchId, publish: &Publish<'_>) -> Result<(), SendError> {
        let awaited = publish.qos != QoS::AtMostOnce;
        if awaited {
            let owner = Owner::Batch(batch, self.tallies.next(batch));
            self.publish_acknowledged(publish, owner)?;
        } else {
            self.publish_once(publish)?;
        }
        self.tallies.accept(batch, awaited);
        Ok(())
    }

    /// How far a batch has come.
    pub fn tally(&self, batch: BatchId) -> Tally {
        self.tallies.get(batch)
    }

    /// Ends a batch; what was accepted is sent all the same.
    pub fn close_batch(&mut self, batch: BatchId) {
        self.tallies.close(batch);
    }

    /// Bytes of messages at QoS 1 and 2 that the broker has not acknowledged.
    pub fn unacknowledged_bytes(&self) -> usize {
        self.flight.bytes()
    }

    pub(super) fn publish_once(&mut self, publish: &Publish<'_>) -> Result<(), SendError> {
        self.check_publish(publish)?;
        let start = self.output.len();
        self.append(&Packet::Publish(Publish { packet_id: None, dup: false, ..*publish }))?;
        self.once_bytes += self.output.len() - start;
        Ok(())
    }

    pub(super) fn publish_acknowledged(
        &mut self,
        publish: &Publish<'_>,
        owner: Owner,
    ) -> Result<(), SendError> {
        self.check_publish(publish)?;
        let mut packet = Vec::new();
        // Any identifier, to be overwritten when the message is sent.
        let publish = Publish { packet_id: PacketId::new(1), dup: false, ..*publish };
        Packet::Publish(publish).encode(Version::V5, &mut packet);
        if packet.len() > self.session.packet_bytes_max {
            return Err(SendError::TooLarge(packet.len(), self.session.packet_bytes_max));
        }
        // The identifier follows the header, whose length has one to four bytes, and the topic.
        let length_bytes = packet[1..].iter().take_while(|byte| **byte >= 0x80).count() + 1;
        let id_at = 1 + length_bytes + 2 + publish.topic.len();
        self.flight.push(Parcel { packet, id_at, qos: publish.qos, owner });
        self.send_waiting();
        Ok(())
    }

    fn check_publish(&self, publish: &Publish<'_>) -> Result<(), SendError> {
        self.check_open()?;
        check_topic(publish.topic)
            .map_err(|error| SendError::Topic(publish.topic.to_owned(), error))?;
        if publish.qos > self.session.qos_max {
            return Err(SendError::QoS(publish.qos as u8, self.session.qos_max as u8));
        }
        if publish.retain && !self.session.retain_available {
            return Err(SendError::Retain);
        }
        let bytes = publish.topic.len() + publish.payload.len();
        self.check_size(bytes + publish.properties.encoded().len())
    }

    /// Sends what waits, as far as the broker's window goes.
    pub(super) fn send_waiting(&mut self) {
        while self.flight.can_send() {
            let packet_id = self.flight.next_id().unwrap_or_else(|| self.free_id());
            match self.flight.send_next(packet_id) {
                Next::Publish(packet) => self.output.extend_from_slice(packet),
                Next::Release(id) => self.write_ack(Packet::PubRel, id, Reason::Success),
            }
        }
    }

    pub(super) fn receive_puback(
        &mut self,
        ack: &Ack<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        let owner = self.flight.acknowledge(ack.packet_id)?;
        self.settle(owner, outcome(ack), events);
        Ok(())
    }

    pub(super) fn receive_pubrec(
        &mut self,
        ack: &Ack<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        if ack.reason.is_error() {
            let owner = self.flight.refuse(ack.packet_id)?;
            self.settle(owner, outcome(ack), events);
            return Ok(());
        }
        let known = self.flight.receive(ack.packet_id)?;
        let reason = if known { Reason::Success } else { Reason::PacketIdentifierNotFound };
        self.write_ack(Packet::PubRel, ack.packet_id, reason);
        Ok(())
    }

    pub(super) fn receive_pubcomp(
        &mut self,
        ack: &Ack<'_>,
        events: &mut Vec<Event>,
    ) -> Result<(), Violation> {
        // Whatever it says: the broker had the message at its PUBREC.
        let owner = self.flight.complete(ack.packet_id)?;
        self.settle(owner, Outcome::Acknowledged, events);
        Ok(())
    }

    /// Sends again what an earlier connection left open.
    pub(super) fn resend(&mut self, same_session: bool, events: &mut Vec<Event>) {
        for (owner, outcome) in self.flight.restart(same_session) {
            self.settle(Some(owner), outcome, events);
        }
        self.send_waiting();
    }

    fn settle(&mut self, owner: Option<Owner>, outcome: Outcome, events: &mut Vec<Event>) {
        let Some(owner) = owner else { return };
        // Counted before it is told, so that who is told sees it.
        while let Some(passed) = self.flight.retire() {
            self.tallies.pass(passed);
        }
        if let Some(notice) = self.tallies.settle(owner, outcome) {
            events.push(Event::Notice(notice));
        }
        self.send_waiting();
        self.leave_when_drained();
    }
}

fn outcome(ack: &Ack<'_>) -> Outcome {
    if ack.reason.is_error() {
        let text = ack.properties.text(PropertyId::ReasonString).map(str::to_owned);
        return Outcome::Refused { reason: ack.reason, text };
    }
    Outcome::Acknowledged
}
