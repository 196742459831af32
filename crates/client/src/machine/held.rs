//! Messages at QoS 1 and 2 that arrived: acknowledged when their readers are done with them, in
//! the order of arrival (MQTT-4.6.0-2, MQTT-4.6.0-3). Never holds a message itself.

use std::collections::{HashMap, HashSet, VecDeque};

use slipring_wire::{PacketId, QoS, Violation};

/// Messages the broker may send without an acknowledgement; said in CONNECT.
pub(super) const RECEIVE_MAX: u16 = 4096;

/// Says which message a reader is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Receipt(pub(crate) u64);

#[derive(Debug)]
struct Slot {
    packet_id: PacketId,
    qos: QoS,
    /// Readers that are not done with it.
    readers: usize,
}

/// What a message that arrives is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    New(Receipt),
    /// At QoS 2: acknowledged before, and the acknowledgement may have been lost.
    Received,
}

/// The acknowledgement that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    PubAck(PacketId),
    PubRec(PacketId),
}

#[derive(Debug, Default)]
pub(super) struct Held {
    slots: HashMap<u64, Slot>,
    by_id: HashMap<PacketId, u64>,
    /// What came on this connection and is not acknowledged.
    order: VecDeque<u64>,
    /// At QoS 2: acknowledged, not released by the broker.
    received: HashSet<PacketId>,
    newest: u64,
}

impl Held {
    /// A message came, for so many readers.
    pub fn arrive(
        &mut self,
        packet_id: PacketId,
        qos: QoS,
        readers: usize,
    ) -> Result<Arrival, Violation> {
        if self.received.contains(&packet_id) {
            return Ok(Arrival::Received);
        }
        if self.order.len() + self.received.len() >= usize::from(RECEIVE_MAX) {
            let reason = slipring_wire::Reason::ReceiveMaximumExceeded; // MQTT-3.3.4-9
            return Err(Violation { reason, what: "more messages than this client takes at once" });
        }
        if self.by_id.contains_key(&packet_id) {
            return Err(Violation::protocol("a packet identifier that is in use"));
        }
        self.newest += 1;
        self.slots.insert(self.newest, Slot { packet_id, qos, readers });
        self.by_id.insert(packet_id, self.newest);
        self.order.push_back(self.newest);
        Ok(Arrival::New(Receipt(self.newest)))
    }

    /// One reader is done with a message.
    pub fn done(&mut self, receipt: Receipt) {
        if let Some(slot) = self.slots.get_mut(&receipt.0) {
            slot.readers = slot.readers.saturating_sub(1);
        }
    }

    /// The next acknowledgement to send.
    pub fn next_due(&mut self) -> Option<Due> {
        let number = *self.order.front()?;
        if self.slots.get(&number).is_some_and(|slot| slot.readers > 0) {
            return None;
        }
        self.order.pop_front();
        let slot = self.slots.remove(&number)?;
        self.by_id.remove(&slot.packet_id);
        if slot.qos == QoS::ExactlyOnce {
            self.received.insert(slot.packet_id);
            return Some(Due::PubRec(slot.packet_id));
        }
        Some(Due::PubAck(slot.packet_id))
    }

    /// PUBREL: whether the message was known.
    pub fn release(&mut self, packet_id: PacketId) -> bool {
        self.received.remove(&packet_id)
    }
}
