//! Messages at QoS 1 and 2 that arrived: acknowledged when their readers are done with them, in
//! the order of arrival (MQTT-4.6.0-2, MQTT-4.6.0-3). Never holds a message itself.

use std::collections::{HashMap, HashSet, VecDeque};

use slipring_wire::{PacketId, Publish, QoS, Reason, Violation};

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
    /// Its reader went without being done with it: the broker keeps it, and sends it again to the
    /// next connection.
    abandoned: bool,
    /// Whether it came on this connection, where it can be acknowledged.
    here: bool,
}

/// What a message that arrives is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    New(Receipt),
    /// Here already, from an earlier connection.
    Known,
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
    pub fn arrive(&mut self, publish: &Publish<'_>, readers: usize) -> Result<Arrival, Violation> {
        let packet_id = publish.packet_id.expect("QoS 1 and 2 have an identifier");
        if self.received.contains(&packet_id) {
            return Ok(Arrival::Received);
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
        Ok(Arrival::New(Receipt(self.newest)))
    }

    /// An identifier that is known: the same message on a new connection, if it says so.
    fn arrive_again(
        &mut self,
        number: u64,
        dup: bool,
        readers: usize,
    ) -> Result<Option<Arrival>, Violation> {
        let slot = self.slots.get_mut(&number).expect("a slot for each identifier");
        if slot.here {
            return Err(Violation::protocol("a packet identifier that is in use"));
        }
        if !dup {
            // The broker has settled it by itself, and uses the identifier for another message.
            self.slots.remove(&number);
            return Ok(None);
        }
        slot.here = true;
        self.order.push_back(number);
        if std::mem::take(&mut slot.abandoned) {
            slot.readers = readers;
            return Ok(Some(Arrival::New(Receipt(number))));
        }
        Ok(Some(Arrival::Known))
    }

    /// Another connection. In a new session, acknowledgements of the old one mean nothing.
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

    /// The reader of a message goes, and is not done with it.
    pub fn abandon(&mut self, receipt: Receipt) {
        if let Some(slot) = self.slots.get_mut(&receipt.0) {
            slot.abandoned = true;
        }
    }

    /// One reader is done with a message.
    pub fn done(&mut self, receipt: Receipt) {
        if let Some(slot) = self.slots.get_mut(&receipt.0) {
            slot.readers = slot.readers.saturating_sub(1);
        }
    }

    /// The next acknowledgement to send.
    pub fn next_due(&mut self) -> Option<Due> {
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

    fn acknowledge(&mut self, number: u64) -> Due {
        let slot = self.slots.remove(&number).expect("found by the caller");
        self.by_id.remove(&slot.packet_id);
        if slot.qos == QoS::ExactlyOnce {
            self.received.insert(slot.packet_id);
            return Due::PubRec(slot.packet_id);
        }
        Due::PubAck(slot.packet_id)
    }

    /// PUBREL: whether the message was known.
    pub fn release(&mut self, packet_id: PacketId) -> bool {
        self.received.remove(&packet_id)
    }
}
