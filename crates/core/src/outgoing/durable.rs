//! What a session that outlives the broker writes down as its messages go: its records.

use slipring_wire::{PacketId, QoS};

use super::queue::QueueEntry;
use super::replay::Progress;
use super::{Outgoing, Replay, Window};
use crate::ledger::{DeliveryManner, DeliveryRecord, KeptSession, SessionRecord};
use crate::{Delivery, Durability, Limits, Offset, SessionKey};

/// The part of a session that is written down.
#[derive(Debug)]
pub(super) struct Durable {
    /// The level at which identifiers are kept: the highest that any message can have. A client that
    /// holds an identifier we forgot would take the next message with it for one it has.
    level: Durability,
    /// What happened to messages that were sent.
    notes: Notes,
    /// What happened to messages that found no room; publishers take these.
    drops: Notes,
    /// The level at which `notes` must be before what was taken is sent.
    gate: Option<Durability>,
    /// Messages are being loaded.
    pub loading: bool,
}

/// Records of one session, with the settled messages gathered into spans.
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

    /// Where the next record goes, behind what was settled before.
    fn records(&mut self) -> &mut Vec<u8> {
        self.flush();
        &mut self.records
    }

    fn settle(&mut self, offset: Offset, qos: QoS) {
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
    pub fn new(session: SessionKey, level: Durability) -> Self {
        let (notes, drops) = (Notes::new(session), Notes::new(session));
        Self { level, notes, drops, gate: None, loading: false }
    }

    /// A message that waited is delivered, or will not be.
    pub fn settled(&mut self, offset: Option<Offset>, qos: QoS) {
        if let Some(offset) = offset {
            self.notes.settle(offset, qos);
        }
    }

    /// A message found no room.
    pub fn dropped(&mut self, offset: Option<Offset>, qos: QoS) {
        if let Some(offset) = offset {
            self.drops.settle(offset, qos);
        }
    }

    /// A retained message is sent, and waits for its answer from now on.
    pub fn replayed(&mut self, delivery: &Delivery) {
        let Some(place) = delivery.message.place else { return };
        let Delivery { qos, retain, ref identifiers, .. } = *delivery;
        let delivered = DeliveryRecord::DeliveredAt {
            session: self.notes.session,
            offset: place.offset,
            count: 1,
            bytes: delivery.message.bytes() as u32,
            manner: DeliveryManner { qos, retain, identifiers: identifiers.clone() },
        };
        delivered.encode(self.notes.records());
    }

    /// A QoS 2 message is sent with this identifier.
    pub fn sent(&mut self, packet_id: PacketId, delivery: &Delivery) {
        let offset = delivery.message.place.map(|place| place.offset);
        let session = self.notes.session;
        DeliveryRecord::Sent { session, packet_id, offset }.encode(self.notes.records());
        self.wait_for(self.level);
    }

    /// A part of the QoS 2 exchange is sent again, on the strength of records that are perhaps not safe
    /// yet: the connection that waited for them is gone.
    pub fn again(&mut self) {
        self.wait_for(self.level);
    }

    /// The client has a QoS 2 message.
    pub fn received(&mut self, packet_id: PacketId, message: &QueueEntry) {
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

    /// An identifier is free again.
    pub fn completed(&mut self, packet_id: PacketId) {
        let session = self.notes.session;
        DeliveryRecord::Completed { session, packet_id }.encode(self.notes.records());
    }

    /// Retained messages are on their way.
    pub fn progress(&mut self, progress: &Progress) {
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
    /// The queue of a session that outlives the broker. `level` is the highest durability that a
    /// message can have: identifiers are kept at it.
    pub fn durable(limits: &Limits, session: SessionKey, level: Durability) -> Self {
        Self { durable: Some(Box::new(Durable::new(session, level))), ..Self::new(limits) }
    }

    /// The same, as the records tell it. The messages themselves are loaded when the client is here.
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
                let options = subscription.options;
                let identifier = options.identifier;
                let replay = Replay {
                    filter: filter.clone(),
                    qos: options.qos,
                    identifiers: (identifier > 0).then(|| [identifier].into()),
                    until: u64::MAX,
                };
                let after = pending.after.as_deref().map(Into::into);
                outgoing.replays.push(replay, after, outgoing.queue.end());
            }
        }
        outgoing
    }

    /// Whether the session outlives the broker.
    pub fn is_durable(&self) -> bool {
        self.durable.is_some()
    }

    /// Moves the records of what happened to the end of `out`: to be called after a take and after the
    /// client's answers, by the client's own task, and appended in that order.
    ///
    /// What was taken, and what answers the client, must wait until these records and all that were
    /// appended before are as safe as this level, also where there are no new ones; None need not wait.
    pub fn take_records(&mut self, out: &mut Vec<u8>) -> Option<Durability> {
        let durable = self.durable.as_mut()?;
        durable.notes.drain(out);
        durable.drops.drain(out);
        durable.gate.take()
    }

    /// Moves the records of messages that found no room to the end of `out`. A publisher that was told
    /// of a drop puts them into its next batch: they need no order among other records.
    pub fn take_drops(&mut self, out: &mut Vec<u8>) {
        if let Some(durable) = &mut self.durable {
            durable.drops.drain(out);
        }
    }
}
