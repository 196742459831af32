//! QoS 1 and 2 messages that were sent and are not settled: in the order sent, found by identifier.

use std::collections::VecDeque;

use slipring_wire::{PacketId, QoS};

use crate::Delivery;

/// How many packet identifiers there are: 1 to 65,535.
const IDENTIFIERS: usize = 65_535;

/// How far one message has come.
#[derive(Clone, Debug)]
enum State {
    /// Sent, not answered.
    Sent(Delivery),
    /// PUBREC came, PUBREL is sent; the message itself is the client's now (MQTT-4.3.3-8).
    Released,
    /// Settled; the place waits for those before it.
    Settled,
}

#[derive(Clone, Debug)]
struct Slot {
    state: State,
    /// Whether it counts against what the client lets us send on this connection.
    counted: bool,
}

/// Identifiers are given in turn, so that a message's place follows from its identifier.
#[derive(Debug)]
pub(super) struct Window {
    slots: VecDeque<Slot>,
    /// The identifier of the first slot.
    first: u16,
    /// How many slots count.
    outstanding: usize,
    /// The next slot to send again on this connection.
    resent: usize,
    /// Bytes of the messages held.
    bytes: usize,
}

/// What to send again.
pub(super) enum Again {
    Publish(PacketId, Delivery),
    Release(PacketId),
}

/// What an answer of the client settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Nothing is known under this identifier.
    Unknown,
    /// It is on its way, or done.
    Known,
}

impl Window {
    pub fn new() -> Self {
        Self { slots: VecDeque::new(), first: 1, outstanding: 0, resent: 0, bytes: 0 }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether another message may be sent.
    pub fn has_room(&self, most: usize) -> bool {
        self.outstanding < most && self.slots.len() < IDENTIFIERS && !self.is_resending()
    }

    /// Whether as many as these are on their way.
    pub fn is_full(&self, most: usize) -> bool {
        self.outstanding >= most
    }

    /// Whether something of an earlier connection has not been sent again yet.
    pub fn is_resending(&self) -> bool {
        self.resent < self.slots.len()
    }

    /// Enters a message; the identifier to send it with.
    pub fn send(&mut self, delivery: Delivery) -> PacketId {
        let id = self.id_at(self.slots.len());
        self.bytes += delivery.message.bytes();
        self.slots.push_back(Slot { state: State::Sent(delivery), counted: true });
        self.outstanding += 1;
        self.resent = self.slots.len();
        id
    }

    /// PUBACK: a message at QoS 1 is settled; one at QoS 2 is not (MQTT-4.3.3-3).
    pub fn acked(&mut self, id: PacketId) -> Settled {
        match self.find(id).map(|at| &self.slots[at].state) {
            Some(State::Sent(delivery)) if delivery.qos == QoS::AtLeastOnce => self.settle(id),
            _ => Settled::Unknown,
        }
    }

    /// The message is settled: it was refused, or was never sent.
    pub fn settle(&mut self, id: PacketId) -> Settled {
        let Some(at) = self.find(id) else { return Settled::Unknown };
        self.finish(at)
    }

    /// PUBREC: the client has the message; PUBREL follows.
    pub fn received(&mut self, id: PacketId) -> Settled {
        let Some(at) = self.find(id) else { return Settled::Unknown };
        match &self.slots[at].state {
            State::Sent(delivery) if delivery.qos == QoS::ExactlyOnce => {
                self.bytes -= delivery.message.bytes();
                self.slots[at].state = State::Released;
                Settled::Known
            }
            State::Released => Settled::Known,
            _ => Settled::Unknown,
        }
    }

    /// PUBCOMP: all is done.
    pub fn completed(&mut self, id: PacketId) -> Settled {
        match self.find(id) {
            Some(at) if matches!(self.slots[at].state, State::Released) => self.finish(at),
            _ => Settled::Unknown,
        }
    }

    /// A new connection: everything unsettled is to be sent again (MQTT-4.4.0-1).
    pub fn restart(&mut self) {
        self.resent = 0;
        self.outstanding = 0;
        self.slots.iter_mut().for_each(|slot| slot.counted = false);
    }

    /// The next thing to send again, within what the client allows.
    pub fn resend(&mut self, most: usize) -> Option<Again> {
        while self.resent < self.slots.len() {
            let at = self.resent;
            let id = self.id_at(at);
            let slot = &mut self.slots[at];
            match &slot.state {
                State::Sent(_) if self.outstanding >= most => return None,
                State::Sent(delivery) => {
                    slot.counted = true;
                    self.outstanding += 1;
                    self.resent += 1;
                    return Some(Again::Publish(id, delivery.clone()));
                }
                State::Released => {
                    self.resent += 1;
                    return Some(Again::Release(id));
                }
                State::Settled => self.resent += 1,
            }
        }
        None
    }

    fn finish(&mut self, at: usize) -> Settled {
        let slot = &mut self.slots[at];
        match std::mem::replace(&mut slot.state, State::Settled) {
            State::Settled => return Settled::Unknown,
            State::Sent(delivery) => self.bytes -= delivery.message.bytes(),
            State::Released => {}
        }
        self.outstanding -= usize::from(std::mem::take(&mut slot.counted));
        while matches!(self.slots.front(), Some(Slot { state: State::Settled, .. })) {
            self.slots.pop_front();
            self.first = self.first % u16::MAX + 1;
            self.resent = self.resent.saturating_sub(1);
        }
        Settled::Known
    }

    fn find(&self, id: PacketId) -> Option<usize> {
        let at = (usize::from(id.get()) + IDENTIFIERS - usize::from(self.first)) % IDENTIFIERS;
        (at < self.slots.len()).then_some(at)
    }

    fn id_at(&self, at: usize) -> PacketId {
        let number = (usize::from(self.first) - 1 + at) % IDENTIFIERS + 1;
        PacketId::new(number as u16).expect("1 to 65,535")
    }
}
