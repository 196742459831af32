//! The in-flight window: QoS 1 and 2 messages that were sent and are not settled, in the order of sending.

use std::collections::VecDeque;
use std::sync::Arc;

use slipring_wire::{PacketId, QoS};

use super::queue::{QueueEntry, stored};
use crate::ledger::{DeliveryManner, InFlight};
use crate::memory::Counted;
use crate::{Delivery, Message, Offset};

/// How many packet identifiers there are: 1 to 65,535.
const IDENTIFIERS: usize = 65_535;
/// Slots that an empty window keeps allocated.
const SLOTS_KEPT: usize = 64;

/// The state of one message.
#[derive(Clone, Debug)]
pub(super) enum FlightState {
    /// Sent, and not acknowledged.
    Sent(QueueEntry),
    /// Sent, and not acknowledged; its bytes were freed because memory was short. On the next connection it is lost.
    Forgotten(QoS),
    /// PUBREC was received and PUBREL sent; the client has the message (MQTT-4.3.3-8).
    Released,
    /// Settled; the slot is removed after those in front of it.
    Settled,
}

#[derive(Clone, Debug)]
pub(super) struct FlightSlot {
    pub state: FlightState,
    /// Whether it counts against the client's receive maximum on this connection.
    counted: bool,
}

/// The window. Identifiers are used in turn, so that an identifier determines the position of its slot.
#[derive(Debug)]
pub(super) struct Window {
    pub slots: VecDeque<FlightSlot>,
    /// The identifier of the first slot.
    first: u16,
    /// How many slots are `counted`.
    outstanding: usize,
    /// The next slot to send again on this connection.
    pub resent: usize,
    /// Bytes of the messages in it.
    pub bytes: usize,
    /// The memory of the slots. Messages count themselves.
    counted: Counted,
}

/// The most messages in flight, and their bytes, which the last message may exceed.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowMax {
    pub messages: usize,
    pub bytes: usize,
}

/// A packet to send again.
pub(super) enum Again {
    Publish(PacketId, Delivery),
    Release(PacketId),
}

/// A message that is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone {
    /// Its offset; None if it is not in the journal, or the client has it.
    pub offset: Option<Offset>,
    pub qos: QoS,
}

/// The effect of a PUBREC.
pub(super) enum Received {
    /// None: there is no such message.
    Unknown,
    /// The client has received the message.
    Now(QueueEntry),
    /// The client had received it before.
    Before,
}

impl Window {
    pub(super) fn new() -> Self {
        Self {
            slots: VecDeque::new(),
            first: 1,
            outstanding: 0,
            resent: 0,
            bytes: 0,
            counted: Counted::default(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether another message may be sent.
    pub(super) fn has_room(&self, most: WindowMax) -> bool {
        !self.is_full(most) && self.slots.len() < IDENTIFIERS && !self.is_resending()
    }

    /// Whether so many messages or bytes are in flight.
    pub(super) fn is_full(&self, most: WindowMax) -> bool {
        self.outstanding >= most.messages || self.bytes >= most.bytes
    }

    /// Whether packets of an earlier connection are still to be sent again.
    pub(super) fn is_resending(&self) -> bool {
        self.resent < self.slots.len()
    }

    /// The identifier to send the next message with.
    pub(super) fn next_id(&self) -> PacketId {
        self.id_at(self.slots.len())
    }

    /// Adds a message that was sent with the next identifier.
    pub(super) fn send(&mut self, delivery: Delivery) {
        self.bytes += delivery.message.bytes();
        let state = FlightState::Sent(QueueEntry::Here(delivery));
        self.slots.push_back(FlightSlot { state, counted: true });
        self.counted.set(self.slots.capacity() * size_of::<FlightSlot>());
        self.outstanding += 1;
        self.resent = self.slots.len();
    }

    /// PUBACK: settles a QoS 1 message, not a QoS 2 one (MQTT-4.3.3-3).
    pub(super) fn acked(&mut self, id: PacketId) -> Option<Gone> {
        let at = self.find(id)?;
        match &self.slots[at].state {
            FlightState::Sent(entry) if entry.qos() == QoS::AtLeastOnce => self.finish(at),
            FlightState::Forgotten(QoS::AtLeastOnce) => self.finish(at),
            _ => None,
        }
    }

    /// Settles a message that the client refused.
    pub(super) fn settle(&mut self, id: PacketId) -> Option<Gone> {
        self.finish(self.find(id)?)
    }

    /// PUBREC: the client has the message, and gets PUBREL.
    pub(super) fn received(&mut self, id: PacketId) -> Received {
        match self.find(id).map(|at| &mut self.slots[at].state) {
            Some(FlightState::Released) => Received::Before,
            Some(state @ FlightState::Forgotten(QoS::ExactlyOnce)) => {
                *state = FlightState::Released;
                Received::Before
            }
            Some(state) if matches!(&*state, FlightState::Sent(sent) if sent.qos() == QoS::ExactlyOnce) =>
            {
                let FlightState::Sent(entry) = std::mem::replace(state, FlightState::Released)
                else {
                    return Received::Unknown;
                };
                self.bytes -= entry.bytes();
                Received::Now(entry)
            }
            _ => Received::Unknown,
        }
    }

    /// PUBCOMP: settles a QoS 2 message.
    pub(super) fn completed(&mut self, id: PacketId) -> Option<Gone> {
        let at = self.find(id)?;
        if matches!(self.slots[at].state, FlightState::Released) { self.finish(at) } else { None }
    }

    /// The message that was sent with this identifier and is not acknowledged.
    pub(super) fn sent(&self, id: PacketId) -> Option<&QueueEntry> {
        match &self.slots[self.find(id)?].state {
            FlightState::Sent(entry) => Some(entry),
            _ => None,
        }
    }

    /// A new connection: everything unsettled is sent again (MQTT-4.4.0-1). Returns how many messages cannot be sent
    /// again. The identifier of one at QoS 2 is released, because the client may have the message.
    pub(super) fn restart(&mut self) -> u64 {
        let mut lost = 0;
        self.resent = 0;
        self.outstanding = 0;
        for slot in &mut self.slots {
            slot.counted = false;
            if let FlightState::Forgotten(qos) = slot.state {
                lost += 1;
                slot.state = if qos == QoS::ExactlyOnce {
                    FlightState::Released
                } else {
                    FlightState::Settled
                };
            }
        }
        self.drop_settled();
        lost
    }

    /// Whether the next message to send again has to be loaded.
    pub(super) fn is_stored(&self) -> bool {
        let mut rest = self.slots.range(self.resent..).map(|slot| &slot.state);
        let next = rest.find(|state| !matches!(state, FlightState::Settled));
        matches!(next, Some(FlightState::Sent(QueueEntry::Stored(_))))
    }

    /// Frees the messages that can be loaded again.
    pub(super) fn unload(&mut self) {
        for slot in &mut self.slots {
            let FlightState::Sent(QueueEntry::Here(delivery)) = &slot.state else { continue };
            if let Some(span) = stored(delivery, None) {
                slot.state = FlightState::Sent(QueueEntry::Stored(span));
            }
        }
    }

    /// Frees the memory of many slots when the window is empty.
    pub(super) fn rest(&mut self) {
        if self.slots.is_empty() && self.slots.capacity() > SLOTS_KEPT {
            self.slots = VecDeque::new();
            self.counted.set(0);
        }
    }

    /// The messages to send again that are not in memory: each with its offset and bytes.
    pub(super) fn stored(&self) -> impl Iterator<Item = (Offset, u32)> {
        self.slots.range(self.resent..).filter_map(|slot| match &slot.state {
            FlightState::Sent(QueueEntry::Stored(span)) => Some((span.first, span.bytes)),
            _ => None,
        })
    }

    /// Adds loaded messages; returns the identifiers of those that the journal does not have.
    pub(super) fn fill(
        &mut self,
        find: impl Fn(Offset) -> Option<Option<Arc<Message>>>,
    ) -> Vec<PacketId> {
        let mut lost = Vec::new();
        for at in 0..self.slots.len() {
            let id = self.id_at(at);
            let FlightState::Sent(entry) = &mut self.slots[at].state else { continue };
            let QueueEntry::Stored(span) = &*entry else { continue };
            match find(span.first) {
                None => {}
                Some(None) => lost.push(id),
                Some(Some(message)) => {
                    self.bytes -= entry.bytes();
                    self.bytes += message.bytes();
                    let manner = DeliveryManner::clone(&span.manner);
                    *entry = QueueEntry::Here(Delivery::new(message, manner));
                }
            }
        }
        lost
    }

    /// The window as the records describe it; identifiers that are not in use stay free.
    pub(super) fn restore(inflight: &VecDeque<InFlight>) -> Self {
        let mut window = Self::new();
        let Some(first) = inflight.front() else { return window };
        window.first = first.packet_id.get();
        for sent in inflight {
            // Identifiers were used in turn, but settled ones are missing: their slots are filled in.
            let at = window.distance(sent.packet_id);
            while window.slots.len() <= at {
                window.slots.push_back(FlightSlot { state: FlightState::Settled, counted: false });
            }
            let entry = sent.message.clone().map(QueueEntry::Stored);
            window.bytes += entry.as_ref().map_or(0, QueueEntry::bytes);
            window.slots[at].state = entry.map_or(FlightState::Released, FlightState::Sent);
        }
        window
    }

    /// The next packet to send again, within the client's receive maximum.
    pub(super) fn resend(&mut self, messages_max: usize) -> Option<Again> {
        while self.resent < self.slots.len() {
            let at = self.resent;
            let id = self.id_at(at);
            let slot = &mut self.slots[at];
            match &slot.state {
                FlightState::Sent(QueueEntry::Stored(_)) => return None,
                FlightState::Sent(_) if self.outstanding >= messages_max => return None,
                FlightState::Sent(QueueEntry::Here(delivery)) => {
                    slot.counted = true;
                    self.outstanding += 1;
                    self.resent += 1;
                    return Some(Again::Publish(id, delivery.clone()));
                }
                FlightState::Released => {
                    self.resent += 1;
                    return Some(Again::Release(id));
                }
                FlightState::Settled | FlightState::Forgotten(_) => self.resent += 1,
            }
        }
        None
    }

    fn finish(&mut self, at: usize) -> Option<Gone> {
        let slot = &mut self.slots[at];
        let gone = match std::mem::replace(&mut slot.state, FlightState::Settled) {
            FlightState::Settled => return None,
            FlightState::Sent(entry) => {
                self.bytes -= entry.bytes();
                Gone { offset: entry.offset(), qos: entry.qos() }
            }
            FlightState::Forgotten(qos) => Gone { offset: None, qos },
            FlightState::Released => Gone { offset: None, qos: QoS::ExactlyOnce },
        };
        self.outstanding -= usize::from(std::mem::take(&mut slot.counted));
        self.drop_settled();
        Some(gone)
    }

    fn drop_settled(&mut self) {
        while matches!(self.slots.front(), Some(FlightSlot { state: FlightState::Settled, .. })) {
            self.slots.pop_front();
            self.first = self.first % u16::MAX + 1;
            self.resent = self.resent.saturating_sub(1);
        }
    }

    fn find(&self, id: PacketId) -> Option<usize> {
        let at = self.distance(id);
        (at < self.slots.len()).then_some(at)
    }

    fn distance(&self, id: PacketId) -> usize {
        (usize::from(id.get()) + IDENTIFIERS - usize::from(self.first)) % IDENTIFIERS
    }

    fn id_at(&self, at: usize) -> PacketId {
        let number = (usize::from(self.first) - 1 + at) % IDENTIFIERS + 1;
        PacketId::new(number as u16).expect("1 to 65,535")
    }
}
