//! Messages at QoS 1 and 2 that the broker has not acknowledged, in the order of the calls: those
//! on their way, and behind them those that wait for a place. Never writes to the output itself.
//!
//! A message is kept as its packet until the broker has it, so that it can be sent again.

use std::collections::{HashMap, VecDeque};

use slipring_wire::{PacketId, QoS, Violation};

use super::tally::{Outcome, Owner};

/// On their way at once, whatever the broker allows; leaves identifiers for requests.
const FLIGHT_MAX: usize = 16_384;

/// The flag of a message that was sent before.
const DUP: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Not acknowledged at all.
    Publish,
    /// At QoS 2: the broker has it, and is told to let go of the identifier.
    Release,
    /// Acknowledged; only its place is left, until those before it are settled too.
    Done,
}

#[derive(Debug)]
struct Slot {
    packet: Vec<u8>,
    /// Where the identifier stands in the packet.
    id_at: usize,
    packet_id: Option<PacketId>,
    qos: QoS,
    step: Step,
    owner: Owner,
}

/// What is to be sent next.
pub(super) enum Next<'a> {
    Publish(&'a [u8]),
    Release(PacketId),
}

impl Slot {
    /// The broker has forgotten the session; what that means for this message, if it is the end.
    fn forget(&mut self) -> Option<Outcome> {
        let outcome = match (self.step, self.qos, self.packet_id.take()) {
            // It had the message when it asked for the release.
            (Step::Release, ..) => Outcome::Acknowledged,
            // Sent again it might be there twice; left out it might be missing.
            (_, QoS::ExactlyOnce, Some(_)) => Outcome::Unknown,
            _ => {
                self.packet[0] &= !DUP;
                return None;
            }
        };
        self.step = Step::Done;
        Some(outcome)
    }
}

/// A PUBLISH with room for its identifier.
#[derive(Debug)]
pub(super) struct Parcel {
    pub packet: Vec<u8>,
    pub id_at: usize,
    pub qos: QoS,
    pub owner: Owner,
}

#[derive(Debug, Default)]
pub(super) struct Flight {
    slots: VecDeque<Slot>,
    /// The number of the first slot; slots are numbered in the order of the calls.
    first: u64,
    /// Slots before this one were sent on this connection.
    sent: usize,
    /// Sent on this connection and not settled.
    under_way: usize,
    window: usize,
    by_id: HashMap<PacketId, u64>,
    /// Messages of streams that a new session found unanswered, until their stream goes on.
    withheld: Vec<Parcel>,
    bytes: usize,
    waiting_bytes: usize,
}

impl Flight {
    /// Memory held for messages that are not acknowledged.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Of these, what waits for a place on the way.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// Whether every message is acknowledged.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    pub fn uses(&self, packet_id: PacketId) -> bool {
        self.by_id.contains_key(&packet_id)
    }

    /// How many the broker takes at once without an acknowledgement (MQTT-3.3.4-9).
    pub fn set_window(&mut self, receive_max: u16) {
        self.window = usize::from(receive_max).min(FLIGHT_MAX);
    }

    pub fn push(&mut self, parcel: Parcel) {
        self.bytes += parcel.packet.len() + size_of::<Slot>();
        self.waiting_bytes += parcel.packet.len();
        self.add(parcel);
    }

    fn add(&mut self, parcel: Parcel) {
        let Parcel { packet, id_at, qos, owner } = parcel;
        let step = Step::Publish;
        self.slots.push_back(Slot { packet, id_at, packet_id: None, qos, step, owner });
    }

    /// Whether a message waits and the broker would take it.
    pub fn can_send(&mut self) -> bool {
        while self.slots.get(self.sent).is_some_and(|slot| slot.step == Step::Done) {
            self.sent += 1;
        }
        self.sent < self.slots.len() && self.under_way < self.window
    }

    /// The identifier that the next message has from an earlier connection.
    pub fn next_id(&self) -> Option<PacketId> {
        self.slots.get(self.sent)?.packet_id
    }

    /// The next packet to send, under this identifier.
    pub fn send_next(&mut self, packet_id: PacketId) -> Next<'_> {
        self.by_id.insert(packet_id, self.first + self.sent as u64);
        let slot = &mut self.slots[self.sent];
        self.sent += 1;
        self.under_way += 1;
        self.waiting_bytes -= slot.packet.len();
        let again = slot.packet_id.replace(packet_id).is_some();
        if slot.step == Step::Release {
            return Next::Release(packet_id);
        }
        if again {
            slot.packet[0] |= DUP;
        }
        slot.packet[slot.id_at..slot.id_at + 2].copy_from_slice(&packet_id.get().to_be_bytes());
        Next::Publish(&slot.packet)
    }

    /// Another connection: what is not settled is to be sent again. In the same session it keeps
    /// its identifiers (MQTT-4.4.0-1); in a new one it is a new message, and what cannot be one is
    /// settled.
    pub fn restart(&mut self, same_session: bool) -> Vec<(Owner, Outcome)> {
        self.sent = 0;
        self.under_way = 0;
        let mut settled = Vec::new();
        if !same_session {
            self.by_id.clear();
            self.withhold();
            let slots = self.slots.iter_mut().filter(|slot| slot.step != Step::Done);
            for slot in slots {
                if let Some(outcome) = slot.forget() {
                    self.bytes -= slot.packet.len();
                    slot.packet = Vec::new();
                    settled.push((slot.owner, outcome));
                }
            }
        }
        let withheld: usize = self.withheld.iter().map(|parcel| parcel.packet.len()).sum();
        let waiting: usize = self.slots.iter().map(|slot| slot.packet.len()).sum();
        self.waiting_bytes = withheld + waiting;
        settled
    }

    /// Keeps what streams have not settled back: the broker may not take it in a new session yet.
    /// No identifier is in use, so that the places of the others do not matter.
    fn withhold(&mut self) {
        let open = |slot: &Slot| matches!(slot.owner, Owner::Stream(_)) && slot.step != Step::Done;
        let (kept, others): (Vec<_>, Vec<_>) = self.slots.drain(..).partition(open);
        self.slots = others.into();
        self.withheld.extend(kept.into_iter().map(|mut slot| {
            slot.packet[0] &= !DUP;
            Parcel { packet: slot.packet, id_at: slot.id_at, qos: slot.qos, owner: slot.owner }
        }));
    }

    /// Lets what was withheld of a stream go, as new messages in their order.
    pub fn release_withheld(&mut self, owner: Owner) {
        for parcel in self.take_withheld(owner) {
            self.add(parcel);
        }
    }

    /// Forgets what was withheld of a stream; how many messages.
    pub fn drop_withheld(&mut self, owner: Owner) -> usize {
        let dropped = self.take_withheld(owner);
        for parcel in &dropped {
            self.bytes -= parcel.packet.len() + size_of::<Slot>();
            self.waiting_bytes -= parcel.packet.len();
        }
        dropped.len()
    }

    fn take_withheld(&mut self, owner: Owner) -> Vec<Parcel> {
        let (taken, others): (Vec<_>, Vec<_>) =
            self.withheld.drain(..).partition(|parcel| parcel.owner == owner);
        self.withheld = others;
        taken
    }

    /// PUBACK: whose message it was; nobody's, if it was acknowledged before.
    pub fn acknowledge(&mut self, packet_id: PacketId) -> Result<Option<Owner>, Violation> {
        self.settle(packet_id, QoS::AtLeastOnce, Step::Publish)
    }

    /// PUBREC with success: whether a PUBREL has to follow.
    pub fn receive(&mut self, packet_id: PacketId) -> Result<bool, Violation> {
        let Some(slot) = self.find(packet_id) else { return Ok(false) };
        if slot.qos != QoS::ExactlyOnce {
            return Err(other_quality());
        }
        slot.step = Step::Release;
        self.drop_packet(packet_id);
        Ok(true)
    }

    /// PUBREC with a refusal.
    pub fn refuse(&mut self, packet_id: PacketId) -> Result<Option<Owner>, Violation> {
        self.settle(packet_id, QoS::ExactlyOnce, Step::Publish)
    }

    /// PUBCOMP.
    pub fn complete(&mut self, packet_id: PacketId) -> Result<Option<Owner>, Violation> {
        self.settle(packet_id, QoS::ExactlyOnce, Step::Release)
    }

    fn settle(
        &mut self,
        packet_id: PacketId,
        qos: QoS,
        step: Step,
    ) -> Result<Option<Owner>, Violation> {
        let Some(slot) = self.find(packet_id) else { return Ok(None) };
        if slot.qos != qos || slot.step != step {
            return Err(other_quality());
        }
        let owner = slot.owner;
        slot.step = Step::Done;
        if self.drop_packet(packet_id) {
            self.under_way -= 1;
        }
        self.by_id.remove(&packet_id);
        Ok(Some(owner))
    }

    /// The broker has it; tells whether it was sent on this connection.
    fn drop_packet(&mut self, packet_id: PacketId) -> bool {
        let position = (self.by_id[&packet_id] - self.first) as usize;
        let bytes = std::mem::take(&mut self.slots[position].packet).len();
        self.bytes -= bytes;
        let sent = position < self.sent;
        if !sent {
            self.waiting_bytes -= bytes;
        }
        sent
    }

    /// Forgets the first message, once it is settled; tells whose it was.
    pub fn retire(&mut self) -> Option<Owner> {
        let slot = self.slots.front().filter(|slot| slot.step == Step::Done)?;
        let owner = slot.owner;
        self.slots.pop_front();
        self.first += 1;
        self.sent = self.sent.saturating_sub(1);
        self.bytes -= size_of::<Slot>();
        Some(owner)
    }

    fn find(&mut self, packet_id: PacketId) -> Option<&mut Slot> {
        let number = *self.by_id.get(&packet_id)?;
        self.slots.get_mut((number - self.first) as usize)
    }
}

fn other_quality() -> Violation {
    Violation::protocol("an acknowledgement of another quality than the message's")
}
