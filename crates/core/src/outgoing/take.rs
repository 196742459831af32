//! Taking a client's messages as bytes: within its in-flight window, its packet size and its topic aliases.

use slipring_wire::{Ack, Packet, PacketId, Properties, Publish, QoS, Reason};

use super::replay::Find;
use super::window::Again;
use super::{Outgoing, Peer, Replay, Terms};
use crate::delivery::{self, TopicAlias};
use crate::{Delivery, Extras, Millis, Packets, Priority, RetainedPage, SharedBytes, memory};

/// The most bytes taken at one time for a client that gets messages of several priorities.
const RANKED_SLICE_BYTES: usize = 64 << 10;

/// Messages encoded at one time, so that a take is no longer than a turn.
pub(super) const ENCODED_MAX: u64 = 512;

/// The result of a take, and the losses since the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Messages that were taken.
    pub messages: u64,
    /// Messages that were handled one by one: encoded now, or expired.
    pub encoded: u64,
    /// Messages that were dropped because the client accepts no packet of their size.
    pub dropped: u64,
    /// Messages that expired before they could be sent.
    pub expired: u64,
    /// Messages that are not in the journal any more.
    pub lost: u64,
    /// Whether messages begin to wait because the in-flight window is full.
    pub held: bool,
    /// Whether the next message has to be loaded: see `wanted`.
    pub wants: bool,
    /// Whether the next take continues to search for retained messages.
    pub looks: bool,
}

/// The source of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The queue.
    Queue,
    /// The retained messages.
    Retained,
}

impl Outgoing {
    /// Appends the packets that can be sent now to `out`; `find` searches for a page of retained messages of a filter.
    ///
    /// First come packets that are sent again, then messages of high priority, then the queue with retained messages in
    /// their places, then QoS 0, and last the answers to requests.
    pub fn take(
        &mut self,
        now_ms: Millis,
        find: &mut dyn FnMut(&Replay, Option<&str>) -> RetainedPage,
        out: &mut Packets,
    ) -> Taken {
        self.woken = false;
        let mut taken = Taken::default();
        if let Some(mut peer) = self.peer.take() {
            self.take_again(&mut peer, now_ms, &mut taken, out);
            self.take_high(&mut peer, now_ms, &mut taken, out);
            self.replays.pages = 0;
            self.take_replays(&mut peer, now_ms, find, &mut taken, out);
            while self.take_queue(&mut peer, now_ms, &mut taken, out) && !self.replays.is_paused() {
                self.take_replays(&mut peer, now_ms, find, &mut taken, out);
            }
            self.take_outbox(&mut peer, now_ms, &mut taken, out);
            self.answers.take(out);
            self.peer = Some(peer);
            taken.held = !self.queue.is_empty() && self.hold();
            self.held &= !self.queue.is_empty();
            taken.wants = self.is_wanting();
            taken.looks = self.replays.is_paused();
            self.end_recheck();
        }
        taken.dropped = std::mem::take(&mut self.dropped);
        taken.expired = std::mem::take(&mut self.expired);
        taken.lost = std::mem::take(&mut self.lost);
        taken
    }

    /// Bytes taken at one time. They are fewer if messages of another priority wait, or have waited lately: a message
    /// cannot overtake what was taken before it.
    pub(super) fn slice_bytes(&self) -> usize {
        let is_plain = self.outbox.is_plain() && self.queue.is_plain();
        let most = memory::slice_bytes();
        if is_plain { most } else { most.min(RANKED_SLICE_BYTES) }
    }

    fn has_room(&self, taken: &Taken, out: &Packets) -> bool {
        out.len() < self.slice_bytes() && taken.encoded < ENCODED_MAX
    }

    /// Whether there is room beside what lower levels get in any case.
    fn has_room_for_high(&self, taken: &Taken, out: &Packets) -> bool {
        out.len() < self.slice_bytes() / 16 * 15 && taken.encoded < ENCODED_MAX / 16 * 15
    }

    fn take_again(&mut self, peer: &mut Peer, now: Millis, taken: &mut Taken, out: &mut Packets) {
        let most = self.window_max(&peer.terms);
        while self.has_room(taken, out) {
            match self.window.resend(most.messages) {
                None => return,
                Some(Again::Publish(id, delivery)) => {
                    taken.encoded += 1;
                    if !delivery.is_over()
                        && self.may_still_have(&delivery)
                        && self.encode(peer, &delivery, Some((id, true)), now, out)
                    {
                        taken.messages += 1;
                        self.note_again(delivery.qos);
                    } else if self.give_up(id) {
                        release(id, &peer.terms, out.tail());
                    }
                }
                Some(Again::Release(id)) => {
                    release(id, &peer.terms, out.tail());
                    self.note_again(QoS::ExactlyOnce);
                }
            }
        }
    }

    /// Takes messages of high priority, while it is their turn.
    fn take_high(&mut self, peer: &mut Peer, now: Millis, taken: &mut Taken, out: &mut Packets) {
        // While retained messages are sent, the lower levels of the outbox have no turn that high ones could wait for.
        let is_alone = !self.replays.is_empty();
        while (self.outbox.next() == Priority::High
            || (is_alone && self.outbox.has(Priority::High)))
            && self.has_room_for_high(taken, out)
        {
            let bytes = self.slice_bytes() / 16 * 15;
            self.take_turn(peer, Priority::High, now, bytes, taken, out);
        }
        let most = self.window_max(&peer.terms);
        while self.has_room_for_high(taken, out) && self.window.has_room(most) {
            let is_due = self.replays.is_due(self.queue.gone());
            if self.queue.next(is_due) != Priority::High {
                return;
            }
            let Some(delivery) = self.queue.pop(Priority::High, is_due) else { return };
            self.deliver(peer, delivery, Source::Queue, now, taken, out);
        }
    }

    fn take_replays(
        &mut self,
        peer: &mut Peer,
        now: Millis,
        find: Find<'_>,
        taken: &mut Taken,
        out: &mut Packets,
    ) {
        if self.replays.is_empty() {
            return;
        }
        let most = self.window_max(&peer.terms);
        while self.has_room(taken, out) {
            let Some(delivery) = self.replays.peek(self.queue.gone(), find) else { break };
            if delivery.qos > QoS::AtMostOnce && !self.window.has_room(most) {
                break;
            }
            self.replays.advance();
            self.queue.took(Priority::Normal, delivery.message.bytes(), true);
            self.deliver(peer, delivery, Source::Retained, now, taken, out);
        }
        let progress = self.replays.progress();
        if let Some(durable) = &mut self.durable {
            for step in &progress {
                durable.progress(step);
            }
        }
    }

    /// Returns true if the next messages in the order are retained ones.
    fn take_queue(
        &mut self,
        peer: &mut Peer,
        now: Millis,
        taken: &mut Taken,
        out: &mut Packets,
    ) -> bool {
        let most = self.window_max(&peer.terms);
        while self.has_room(taken, out) && self.window.has_room(most) {
            let is_due = self.replays.is_due(self.queue.gone());
            let level = self.queue.next(is_due);
            if is_due && level == Priority::Normal {
                return true;
            }
            let Some(delivery) = self.queue.pop(level, is_due) else { return false };
            self.deliver(peer, delivery, Source::Queue, now, taken, out);
        }
        false
    }

    fn deliver(
        &mut self,
        peer: &mut Peer,
        delivery: Delivery,
        source: Source,
        now: Millis,
        taken: &mut Taken,
        out: &mut Packets,
    ) {
        taken.encoded += 1;
        let is_late = delivery.is_over() || delivery.message.is_expired(now);
        if is_late || !self.may_still_have(&delivery) {
            self.expired += 1;
            return self.note_gone(&delivery, source);
        }
        let id = (delivery.qos > QoS::AtMostOnce).then(|| self.window.next_id());
        let sent = self.encode(peer, &delivery, id.map(|id| (id, false)), now, out);
        taken.messages += u64::from(sent);
        match id {
            Some(id) if sent => {
                self.note_sent(id, &delivery, source);
                self.pace.sent(id, now);
                self.window.send(delivery);
            }
            Some(_) => self.note_gone(&delivery, source),
            None => {}
        }
    }

    /// Records that a message was sent.
    #[inline]
    fn note_sent(&mut self, id: PacketId, delivery: &Delivery, source: Source) {
        let Some(durable) = &mut self.durable else { return };
        if source == Source::Retained {
            durable.replayed(delivery);
        }
        if delivery.qos == QoS::ExactlyOnce {
            durable.sent(id, delivery);
        }
    }

    /// A packet that is sent again depends on records of an earlier connection.
    fn note_again(&mut self, qos: QoS) {
        if let (Some(durable), QoS::ExactlyOnce) = (&mut self.durable, qos) {
            durable.again();
        }
    }

    /// Records that a queued message will not be sent.
    fn note_gone(&mut self, delivery: &Delivery, source: Source) {
        if let (Some(durable), Source::Queue) = (&mut self.durable, source) {
            durable.settled(delivery.offset(), delivery.qos);
        }
    }

    /// Appends one message; returns false if the client accepts no packet of that size (MQTT-3.1.2-25).
    fn encode(
        &mut self,
        peer: &mut Peer,
        delivery: &Delivery,
        packet: Option<(PacketId, bool)>,
        now: Millis,
        out: &mut Packets,
    ) -> bool {
        let extras = Extras {
            left_s: delivery.message.left_s(now),
            identifiers: delivery.identifiers.as_deref().unwrap_or_default(),
            ..Extras::default()
        };
        let topic = delivery.topic();
        let publish = Publish {
            topic: &topic,
            dup: packet.is_some_and(|(_, again)| again),
            qos: delivery.qos,
            retain: delivery.retain,
            packet_id: packet.map(|(id, _)| id),
            ..delivery.message.publish()
        };
        self.encode_within(peer, publish, delivery.message.shared_payload(), extras, out)
    }

    /// Encodes a message with its topic alias and the number of dropped messages; without them if the packet is too large
    /// with them.
    pub(super) fn encode_within(
        &mut self,
        peer: &mut Peer,
        publish: Publish<'_>,
        payload: Option<&SharedBytes>,
        extras: Extras<'_>,
        out: &mut Packets,
    ) -> bool {
        let alias = peer.aliases.alias(publish.topic);
        let full = Extras { dropped: self.unreported, alias, ..extras };
        if fits(publish, payload, &full, &peer.terms, out) {
            self.unreported = 0;
            return true;
        }
        if matches!(alias, TopicAlias::New(_)) {
            peer.aliases.forget(publish.topic);
        }
        if full != extras && fits(publish, payload, &extras, &peer.terms, out) {
            return true;
        }
        self.dropped += 1;
        self.unreported += 1;
        false
    }
}

fn release(packet_id: PacketId, terms: &Terms, out: &mut Vec<u8>) {
    let (reason, properties) = (Reason::Success, Properties::NONE);
    Packet::PubRel(Ack { packet_id, reason, properties }).encode(terms.version, out);
}

/// Appends the packet, unless it is larger than the client accepts. A shared payload is not copied.
fn fits(
    publish: Publish<'_>,
    payload: Option<&SharedBytes>,
    extras: &Extras<'_>,
    terms: &Terms,
    out: &mut Packets,
) -> bool {
    let tail = out.tail();
    let start = tail.len();
    let payload_bytes = payload.map_or(publish.payload.len(), |payload| payload.len());
    delivery::encode_head(publish, payload_bytes, extras, terms.version, tail);
    if tail.len() - start + payload_bytes > terms.packet_bytes as usize {
        tail.truncate(start);
        return false;
    }
    match payload {
        Some(payload) => out.attach(payload.clone()),
        None => tail.extend_from_slice(publish.payload),
    }
    true
}
