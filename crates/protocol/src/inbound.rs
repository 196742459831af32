//! The inbound window: messages at QoS 1 and 2 that arrived and are not acknowledged.
//!
//! A message is acknowledged when all its readers are done with it, in the order of arrival
//! (MQTT-4.6.0-2, MQTT-4.6.0-3). For example, messages 7, 8 and 9 arrive; the reader is done with 8
//! first: nothing is sent. Then it is done with 7: PUBACK 7 and PUBACK 8 go out. The window keeps
//! packet identifiers, never a message itself.

use std::collections::{HashMap, HashSet, VecDeque};

use slipring_wire::{PacketId, Publish, QoS, Reason, Violation};

/// Messages the broker may send without an acknowledgement; said in CONNECT.
pub(super) const RECEIVE_MAX: u16 = 4096;

/// Names a message that arrived at QoS 1 or 2; a reader gives it back when it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeliveryTag(pub u64);

#[derive(Debug)]
struct Slot {
    packet_id: PacketId,
    qos: QoS,
    /// Readers that are not done with it.
    readers: usize,
    /// Its reader left without being done with it: it stays unacknowledged, so that the broker sends
    /// it again on the next connection.
    abandoned: bool,
    /// Whether it came on this connection, where it can be acknowledged.
    here: bool,
}

/// Whether a message that arrives was seen before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InboundMessage {
    New(DeliveryTag),
    /// It came on an earlier connection, and its readers have it.
    Known,
    /// At QoS 2: PUBREC was sent for it before, and may have been lost.
    Received,
}

#[derive(Debug, Default)]
pub(super) struct InboundWindow {
    slots: HashMap<u64, Slot>,
    by_id: HashMap<PacketId, u64>,
    /// The messages that came on this connection and are not acknowledged.
    order: VecDeque<u64>,
    /// At QoS 2: PUBREC is sent, PUBREL has not come.
    received: HashSet<PacketId>,
    newest: u64,
}

impl InboundWindow {
    /// Notes a message that came for so many readers.
    pub fn arrive(
        &mut self,
        publish: &Publish<'_>,
        readers: usize,
    ) -> Result<InboundMessage, Violation> {
        let packet_id = publish.packet_id.expect("QoS 1 and 2 have an identifier");
        if self.received.contains(&packet_id) {
            return Ok(InboundMessage::Received);
        }
        if self.order.len() + self.received.len() >= usize::from(RECEIVE_MAX) {
            let reason = Reason::ReceiveMaximumExceeded; // MQTT-3.3.4-9
            return Err(Violation { reason, what: "more messages than this client takes at once" });
        }
        if let Some(number) = self.by_id.get(&packet_id).copied() {
            if let Some(arrival) = self.arrive_again(number, publish.dup, readers)? {
                return Ok(arrival);
            }
        }
        self.newest += 1;
        let (qos, abandoned, here) = (publish.qos, false, true);
        self.slots.insert(self.newest, Slot { packet_id, qos, readers, abandoned, here });
        self.by_id.insert(packet_id, self.newest);
        self.order.push_back(self.newest);
        Ok(InboundMessage::New(DeliveryTag(self.newest)))
    }

    /// Handles a known identifier: the same message on a new connection, if it has the DUP flag.
    fn arrive_again(
        &mut self,
        number: u64,
        dup: bool,
        readers: usize,
    ) -> Result<Option<InboundMessage>, Violation> {
        let slot = self.slots.get_mut(&number).expect("a slot for each identifier");
        if slot.here {
            return Err(Violation::protocol("a packet identifier that is in use"));
        }
        if !dup {
            // The broker has given up the old message, and uses the identifier for another one.
            self.slots.remove(&number);
            return Ok(None);
        }
        slot.here = true;
        self.order.push_back(number);
        if std::mem::take(&mut slot.abandoned) {
            slot.readers = readers;
            return Ok(Some(InboundMessage::New(DeliveryTag(number))));
        }
        Ok(Some(InboundMessage::Known))
    }

    /// Prepares for another connection. A new session forgets what the old one sent.
    pub fn restart(&mut self, same_session: bool) {
        self.order.clear();
        if same_session {
            self.slots.values_mut().for_each(|slot| slot.here = false);
        } else {
            self.slots.clear();
            self.by_id.clear();
            self.received.clear();
        }
    }

    /// The reader of a message leaves, and is not done with it.
    pub fn abandon(&mut self, tag: DeliveryTag) {
        if let Some(slot) = self.slots.get_mut(&tag.0) {
            slot.abandoned = true;
        }
    }

    /// One reader is done with a message.
    pub fn done(&mut self, tag: DeliveryTag) {
        if let Some(slot) = self.slots.get_mut(&tag.0) {
            slot.readers = slot.readers.saturating_sub(1);
        }
    }

    /// The next message to acknowledge: its identifier and its QoS.
    pub fn next_due(&mut self) -> Option<(PacketId, QoS)> {
        loop {
            let number = *self.order.front()?;
            match self.slots.get(&number) {
                Some(slot) if slot.readers > 0 && !slot.abandoned => return None,
                Some(slot) if !slot.abandoned => {
                    self.order.pop_front();
                    return Some(self.acknowledge(number));
                }
                _ => self.order.pop_front(),
            };
        }
    }

    fn acknowledge(&mut self, number: u64) -> (PacketId, QoS) {
        let slot = self.slots.remove(&number).expect("found by the caller");
        self.by_id.remove(&slot.packet_id);
        if slot.qos == QoS::ExactlyOnce {
            self.received.insert(slot.packet_id);
        }
        (slot.packet_id, slot.qos)
    }

    /// PUBREL. Returns whether the message was known.
    pub fn release(&mut self, packet_id: PacketId) -> bool {
        self.received.remove(&packet_id)
    }
}
