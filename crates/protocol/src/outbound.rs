//! The in-flight window: messages at QoS 1 and 2 that the broker has not acknowledged, in the order
//! of the calls: first the sent ones, behind them those that wait for room in the window.
//!
//! A message is kept as its packet until the broker has it, so that it can be sent again. For
//! example, the broker's receive maximum is 2 and messages A, B, C are published: A and B are sent,
//! C waits. PUBACK for B makes room, so C is sent; B's slot stays until A is acknowledged too, because
//! `settled` counts from the front. If the connection breaks now, the next one sends A and C again,
//! with the DUP flag. This file never writes to the output itself.

use std::collections::{HashMap, VecDeque};

use slipring_wire::{PacketId, QoS, Violation};

use super::tally::{AckOwner, PublishOutcome};

/// Messages in flight at once, however many the broker allows; leaves identifiers for requests.
const IN_FLIGHT_MAX: usize = 16_384;

/// The flag of a message that was sent before.
const DUP: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Not acknowledged at all.
    Publish,
    /// At QoS 2: PUBREC came, PUBREL follows.
    Release,
    /// Acknowledged; the slot stays until all before it are done too.
    Done,
}

#[derive(Debug)]
struct Slot {
    publish: EncodedPublish,
    packet_id: Option<PacketId>,
    step: Step,
}

/// The packet to send next.
pub(super) enum OutboundPacket<'a> {
    Publish(&'a [u8]),
    Release(PacketId),
}

impl Slot {
    /// The broker has forgotten the session: the outcome of this message, or `None` if it is sent again
    /// as a new one.
    fn forget(&mut self) -> Option<PublishOutcome> {
        let outcome = match (self.step, self.publish.qos, self.packet_id.take()) {
            // The broker's PUBREC said that it has the message.
            (Step::Release, ..) => PublishOutcome::Acknowledged,
            // If it were sent again, the broker might have it twice; if not, the broker may not have it.
            (_, QoS::ExactlyOnce, Some(_)) => PublishOutcome::Unknown,
            // It belongs to the session that is gone.
            _ if matches!(self.publish.owner, AckOwner::Session(_)) => PublishOutcome::Unknown,
            _ => {
                self.publish.packet[0] &= !DUP;
                return None;
            }
        };
        self.step = Step::Done;
        Some(outcome)
    }
}

/// A PUBLISH with room for its packet identifier.
#[derive(Debug)]
pub(super) struct EncodedPublish {
    pub packet: Vec<u8>,
    /// Where the identifier is in the packet.
    pub id_at: usize,
    pub qos: QoS,
    pub owner: AckOwner,
}

#[derive(Debug, Default)]
pub(super) struct OutboundWindow {
    slots: VecDeque<Slot>,
    /// The number of the first slot; slots are numbered in the order of the calls.
    first: u64,
    /// Slots before this one were sent on this connection.
    sent: usize,
    /// Sent on this connection and not done.
    in_flight: usize,
    in_flight_max: usize,
    by_id: HashMap<PacketId, u64>,
    /// Frames that a new session found unacknowledged, until their writers resume.
    withheld: Vec<EncodedPublish>,
    bytes: usize,
    waiting_bytes: usize,
}

impl OutboundWindow {
    /// Memory held for messages that are not acknowledged.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Of these, what waits for room in the window.
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
        self.in_flight_max = usize::from(receive_max).min(IN_FLIGHT_MAX);
    }

    pub fn push(&mut self, publish: EncodedPublish) {
        self.bytes += publish.packet.len() + size_of::<Slot>();
        self.waiting_bytes += publish.packet.len();
        self.add(publish);
    }

    fn add(&mut self, publish: EncodedPublish) {
        self.slots.push_back(Slot { publish, packet_id: None, step: Step::Publish });
    }

    /// Whether a message waits and the broker would take it.
    pub fn can_send(&mut self) -> bool {
        while self.slots.get(self.sent).is_some_and(|slot| slot.step == Step::Done) {
            self.sent += 1;
        }
        self.sent < self.slots.len() && self.in_flight < self.in_flight_max
    }

    /// The identifier that the next message has from an earlier connection.
    pub fn next_id(&self) -> Option<PacketId> {
        self.slots.get(self.sent)?.packet_id
    }

    /// The next packet to send, under this identifier.
    pub fn send_next(&mut self, packet_id: PacketId) -> OutboundPacket<'_> {
        self.by_id.insert(packet_id, self.first + self.sent as u64);
        let slot = &mut self.slots[self.sent];
        self.sent += 1;
        self.in_flight += 1;
        let publish = &mut slot.publish;
        self.waiting_bytes -= publish.packet.len();
        let again = slot.packet_id.replace(packet_id).is_some();
        if slot.step == Step::Release {
            return OutboundPacket::Release(packet_id);
        }
        if again {
            publish.packet[0] |= DUP;
        }
        let id = packet_id.get().to_be_bytes();
        publish.packet[publish.id_at..publish.id_at + 2].copy_from_slice(&id);
        OutboundPacket::Publish(&publish.packet)
    }

    /// Prepares for another connection: unacknowledged messages are to be sent again. In the same
    /// session they keep their identifiers (MQTT-4.4.0-1). In a new session they are new messages;
    /// those that cannot be sent again are done, and returned with their outcome.
    pub fn restart(&mut self, same_session: bool) -> Vec<(AckOwner, PublishOutcome)> {
        self.sent = 0;
        self.in_flight = 0;
        let mut settled = Vec::new();
        if !same_session {
            self.by_id.clear();
            self.withhold();
            let slots = self.slots.iter_mut().filter(|slot| slot.step != Step::Done);
            for slot in slots {
                if let Some(outcome) = slot.forget() {
                    self.bytes -= std::mem::take(&mut slot.publish.packet).len();
                    settled.push((slot.publish.owner, outcome));
                }
            }
        }
        let withheld: usize = self.withheld.iter().map(|publish| publish.packet.len()).sum();
        let waiting: usize = self.slots.iter().map(|slot| slot.publish.packet.len()).sum();
        self.waiting_bytes = withheld + waiting;
        settled
    }

    /// Keeps back the unacknowledged frames of writers: the broker of a new session may not know
    /// their tables yet. No identifier is in use, so the other slots may move up.
    fn withhold(&mut self) {
        let is_frame = |slot: &Slot| {
            matches!(slot.publish.owner, AckOwner::Writer(_)) && slot.step != Step::Done
        };
        let (frames, others): (Vec<_>, Vec<_>) = self.slots.drain(..).partition(is_frame);
        self.slots = others.into();
        self.withheld.extend(frames.into_iter().map(|mut slot| {
            slot.publish.packet[0] &= !DUP;
            slot.publish
        }));
    }

    /// Queues the withheld frames of a writer again, as new messages in their order.
    pub fn release_withheld(&mut self, owner: AckOwner) {
        for publish in self.take_withheld(owner) {
            self.add(publish);
        }
    }

    /// Forgets the withheld frames of a writer. Returns how many.
    pub fn drop_withheld(&mut self, owner: AckOwner) -> usize {
        let dropped = self.take_withheld(owner);
        for publish in &dropped {
            self.bytes -= publish.packet.len() + size_of::<Slot>();
            self.waiting_bytes -= publish.packet.len();
        }
        dropped.len()
    }

    fn take_withheld(&mut self, owner: AckOwner) -> Vec<EncodedPublish> {
        let (taken, others): (Vec<_>, Vec<_>) =
            self.withheld.drain(..).partition(|publish| publish.owner == owner);
        self.withheld = others;
        taken
    }

    /// PUBACK: the owner of the message; `None` if it was acknowledged before.
    pub fn acknowledge(&mut self, packet_id: PacketId) -> Result<Option<AckOwner>, Violation> {
        self.settle(packet_id, QoS::AtLeastOnce, Step::Publish)
    }

    /// PUBREC with success. Returns whether a PUBREL has to follow.
    pub fn receive(&mut self, packet_id: PacketId) -> Result<bool, Violation> {
        let Some(slot) = self.find(packet_id) else { return Ok(false) };
        if slot.publish.qos != QoS::ExactlyOnce {
            return Err(other_qos());
        }
        slot.step = Step::Release;
        self.drop_packet(packet_id);
        Ok(true)
    }

    /// PUBREC with a refusal.
    pub fn refuse(&mut self, packet_id: PacketId) -> Result<Option<AckOwner>, Violation> {
        self.settle(packet_id, QoS::ExactlyOnce, Step::Publish)
    }

    /// PUBCOMP.
    pub fn complete(&mut self, packet_id: PacketId) -> Result<Option<AckOwner>, Violation> {
        self.settle(packet_id, QoS::ExactlyOnce, Step::Release)
    }

    fn settle(
        &mut self,
        packet_id: PacketId,
        qos: QoS,
        step: Step,
    ) -> Result<Option<AckOwner>, Violation> {
        let Some(slot) = self.find(packet_id) else { return Ok(None) };
        if slot.publish.qos != qos || slot.step != step {
            return Err(other_qos());
        }
        let owner = slot.publish.owner;
        slot.step = Step::Done;
        if self.drop_packet(packet_id) {
            self.in_flight -= 1;
        }
        self.by_id.remove(&packet_id);
        Ok(Some(owner))
    }

    /// Frees the packet of a message that the broker has. Returns whether it was sent on this connection.
    fn drop_packet(&mut self, packet_id: PacketId) -> bool {
        let position = (self.by_id[&packet_id] - self.first) as usize;
        let bytes = std::mem::take(&mut self.slots[position].publish.packet).len();
        self.bytes -= bytes;
        let sent = position < self.sent;
        if !sent {
            self.waiting_bytes -= bytes;
        }
        sent
    }

    /// Removes the first slot once it is done. Returns the owner of its message.
    pub fn retire(&mut self) -> Option<AckOwner> {
        let slot = self.slots.front().filter(|slot| slot.step == Step::Done)?;
        let owner = slot.publish.owner;
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

fn other_qos() -> Violation {
    Violation::protocol("an acknowledgement of another QoS than the message's")
}
