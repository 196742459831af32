//! The records that a durable session writes as its messages are sent and settled.

use slipring_wire::{PacketId, QoS};

use super::queue::QueueEntry;
use super::replay::Progress;
use super::{Outgoing, Replay, Window};
use crate::ledger::{DeliveryRecord, KeptSession, SessionRecord};
use crate::{Delivery, Durability, Limits, Offset, Options, SessionKey};

/// The records of one session that are not in the journal yet.
#[derive(Debug)]
pub(super) struct Durable {
    /// The durability of packet identifiers: the highest that a message can have. If the broker lost an identifier
    /// that the client still holds, the client would drop the next message with it as a duplicate.
    level: Durability,
    /// Records of messages that were sent or settled.
    notes: Notes,
    /// Records of messages that were dropped; publishers take these.
    drops: Notes,
    /// The durability that `notes` must have before the bytes of the last take are sent.
    gate: Option<Durability>,
    /// Whether messages are being loaded from the journal.
    pub loading: bool,
}

/// Records of one session; settled messages with consecutive offsets share a record.
#[derive(Debug)]
struct Notes {
    session: SessionKey,
    records: Vec<u8>,
    settled: Option<(Offset, u32, QoS)>,
}

impl Notes {
    fn new(session: SessionKey) -> Self {
        Self { session, records: Vec::new(), settled: None }
    }

    /// The buffer for the next record, behind the one of earlier settled messages.
    fn records(&mut self) -> &mut Vec<u8> {
        self.flush();
        &mut self.records
    }

    fn settle(&mut self, offset: Option<Offset>, qos: QoS) {
        let Some(offset) = offset else { return };
        match &mut self.settled {
            Some((first, count, same))
                if first.plus(*count) == offset && *same == qos && *count < u32::MAX =>
            {
                *count += 1;
            }
            _ => {
                self.flush();
                self.settled = Some((offset, 1, qos));
            }
        }
    }

    fn flush(&mut self) {
        if let Some((offset, count, qos)) = self.settled.take() {
            let session = self.session;
            DeliveryRecord::Settled { session, offset, count, qos }.encode(&mut self.records);
        }
    }

    fn drain(&mut self, out: &mut Vec<u8>) {
        self.flush();
        out.append(&mut self.records);
    }
}

impl Durable {
    pub(super) fn new(session: SessionKey, level: Durability) -> Self {
        let (notes, drops) = (Notes::new(session), Notes::new(session));
        Self { level, notes, drops, gate: None, loading: false }
    }

    /// A queued message was delivered, or will never be.
    pub(super) fn settled(&mut self, offset: Option<Offset>, qos: QoS) {
        self.notes.settle(offset, qos);
    }

    /// A message was dropped.
    pub(super) fn dropped(&mut self, offset: Option<Offset>, qos: QoS) {
        self.drops.settle(offset, qos);
    }

    /// A retained message was sent, and is in flight.
    pub(super) fn replayed(&mut self, delivery: &Delivery) {
        let Some(offset) = delivery.offset() else { return };
        let (session, bytes) = (self.notes.session, delivery.message.bytes() as u32);
        let manner = delivery.manner();
        DeliveryRecord::DeliveredAt { session, offset, count: 1, bytes, manner }
            .encode(self.notes.records());
    }

    /// A QoS 2 message was sent with this identifier.
    pub(super) fn sent(&mut self, packet_id: PacketId, delivery: &Delivery) {
        let (session, offset) = (self.notes.session, delivery.offset());
        DeliveryRecord::Sent { session, packet_id, offset }.encode(self.notes.records());
        self.wait_for(self.level);
    }

    /// PUBLISH or PUBREL at QoS 2 is sent again. It must wait for the records of the first time, which may not be safe
    /// yet if the earlier connection ended before they were.
    pub(super) fn again(&mut self) {
        self.wait_for(self.level);
    }

    /// The client has received a QoS 2 message (PUBREC).
    pub(super) fn received(&mut self, packet_id: PacketId, message: &QueueEntry) {
        if message.offset().is_none() {
            return;
        }
        let session = self.notes.session;
        DeliveryRecord::Received { session, packet_id }.encode(self.notes.records());
        self.wait_for(match message {
            QueueEntry::Here(delivery) => {
                delivery.message.place.map_or(Durability::Memory, |place| place.durability)
            }
            QueueEntry::Stored(_) => self.level,
        });
    }

    /// The identifier of a QoS 2 message is free again.
    pub(super) fn completed(&mut self, packet_id: PacketId) {
        let session = self.notes.session;
        DeliveryRecord::Completed { session, packet_id }.encode(self.notes.records());
    }

    /// A replay has sent further retained messages.
    pub(super) fn progress(&mut self, progress: &Progress) {
        let session = self.notes.session;
        let replayed = match progress {
            Progress::To(filter, topic) => SessionRecord::ReplayedTo { session, filter, topic },
            Progress::Done(filter) => SessionRecord::Replayed { session, filter },
        };
        replayed.encode(self.notes.records());
    }

    fn wait_for(&mut self, level: Durability) {
        if level > Durability::Memory {
            self.gate = self.gate.max(Some(level));
        }
    }
}

impl Outgoing {
    /// The queue of a durable session. `level` is the highest durability that a message can have: packet identifiers
    /// have it.
    pub fn durable(limits: &Limits, session: SessionKey, level: Durability) -> Self {
        Self { durable: Some(Box::new(Durable::new(session, level))), ..Self::new(limits) }
    }

    /// The same, as the records describe it. Messages are loaded when the client is connected.
    pub fn restore(
        limits: &Limits,
        session: SessionKey,
        level: Durability,
        kept: &KeptSession,
    ) -> Self {
        let mut outgoing = Self::durable(limits, session, level);
        outgoing.window = Window::restore(&kept.inflight);
        kept.queue().for_each(|span| outgoing.queue.push_span(span.clone()));
        for (filter, subscription) in &kept.subscriptions {
            if let Some(pending) = &subscription.replay {
                let Options { qos, identifier, .. } = subscription.options;
                let replay = Replay {
                    filter: filter.clone(),
                    qos,
                    identifiers: (identifier > 0).then(|| [identifier].into()),
                    until: u64::MAX,
                };
                let after = pending.after.as_deref().map(Into::into);
                outgoing.replays.push(replay, after, outgoing.queue.end());
            }
        }
        outgoing
    }

    /// Whether the session is durable: it survives the end of the broker.
    pub fn is_durable(&self) -> bool {
        self.durable.is_some()
    }

    /// Moves the records to the end of `out`. The client's own task calls this after a take and after the client's
    /// acknowledgements, and appends the records to the journal in that order.
    ///
    /// Returns the durability that these and all earlier records must have before the taken bytes and the answers to
    /// the client may be sent, even if there are no new records; None if they need not wait.
    pub fn take_records(&mut self, out: &mut Vec<u8>) -> Option<Durability> {
        let durable = self.durable.as_mut()?;
        durable.notes.drain(out);
        durable.drops.drain(out);
        durable.gate.take()
    }

    /// Moves the records of dropped messages to the end of `out`. The publisher whose push dropped them adds them to
    /// its next batch; they need no order among other records.
    pub fn take_drops(&mut self, out: &mut Vec<u8>) {
        if let Some(durable) = &mut self.durable {
            durable.drops.drain(out);
        }
    }
}
