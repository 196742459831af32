//! Taking a client's messages as bytes: within its in-flight window, its packet size and its topic aliases.

use slipring_wire::{Ack, Packet, PacketId, Properties, Publish, QoS, RawPacket, Reason, Version};

use super::lane::Encoded;
use super::replay::Find;
use super::window::Again;
use super::{Outgoing, Peer, Replay, Terms};
use crate::delivery::{self, TopicAlias};
use crate::{Delivery, Extras, Millis, Packets, RetainedPage, SharedBytes};

/// Bytes taken at one time, unless one message alone is larger. The rest follows when they are written.
pub(super) const SLICE_BYTES: usize = 256 << 10;

/// Messages encoded at one time, so that a take is no longer than a turn.
const ENCODED_MAX: u64 = 512;

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

impl Taken {
    fn has_room(&self, out: &Packets) -> bool {
        out.len() < SLICE_BYTES && self.encoded < ENCODED_MAX
    }
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
    /// First come packets that are sent again, then the queue with retained messages in their places, then QoS 0, and
    /// last the answers to requests.
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
            self.replays.pages = 0;
            self.take_replays(&mut peer, now_ms, find, &mut taken, out);
            while self.take_queue(&mut peer, now_ms, &mut taken, out) && !self.replays.is_paused() {
                self.take_replays(&mut peer, now_ms, find, &mut taken, out);
            }
            self.take_lane(&mut peer, now_ms, &mut taken, out);
            self.answers.take(out);
            self.peer = Some(peer);
            taken.held = !self.queue.is_empty() && self.hold();
            self.held &= !self.queue.is_empty();
            taken.wants = self.is_wanting();
            taken.looks = self.replays.is_paused();
        }
        taken.dropped = std::mem::take(&mut self.dropped);
        taken.expired = std::mem::take(&mut self.expired);
        taken.lost = std::mem::take(&mut self.lost);
        taken
    }

    fn take_again(&mut self, peer: &mut Peer, now: Millis, taken: &mut Taken, out: &mut Packets) {
        let most = self.window_max(&peer.terms);
        while taken.has_room(out) {
            match self.window.resend(most.messages) {
                None => return,
                Some(Again::Publish(id, delivery)) => {
                    taken.encoded += 1;
                    if self.encode(peer, &delivery, Some((id, true)), now, out) {
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
        while taken.has_room(out) {
            let Some(delivery) = self.replays.peek(self.queue.gone, find) else { break };
            if delivery.qos > QoS::AtMostOnce && !self.window.has_room(most) {
                break;
            }
            self.replays.advance();
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
        while taken.has_room(out) && self.window.has_room(most) {
            if self.replays.is_due(self.queue.gone) {
                return true;
            }
            let Some(delivery) = self.queue.pop() else { return false };
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
        if delivery.message.is_expired(now) {
            self.expired += 1;
            return self.note_gone(&delivery, source);
        }
        let id = (delivery.qos > QoS::AtMostOnce).then(|| self.window.next_id());
        let sent = self.encode(peer, &delivery, id.map(|id| (id, false)), now, out);
        taken.messages += u64::from(sent);
        match id {
            Some(id) if sent => {
                self.note_sent(id, &delivery, source);
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
        let publish = Publish {
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
    fn encode_within(
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

    fn take_lane(&mut self, peer: &mut Peer, now: Millis, taken: &mut Taken, out: &mut Packets) {
        if !self.replays.is_empty() {
            return; // retained messages are older than those in the outbox
        }
        // The outbox has its own slice, so that a queue that is never empty does not delay it.
        let bytes = out.len() + SLICE_BYTES;
        while !self.lane.is_empty()
            && out.len() < bytes
            && taken.encoded < ENCODED_MAX
            && (self.lane.is_expiring() || self.unreported > 0 || peer.aliases.is_allowed())
        {
            self.take_one(peer, now, taken, out);
        }
        if !self.lane.is_empty() && out.len() < bytes && taken.encoded < ENCODED_MAX {
            taken.messages += self.lane.take(out, bytes);
        }
    }

    /// Takes one QoS 0 message that has to be encoded again.
    fn take_one(&mut self, peer: &mut Peer, now: Millis, taken: &mut Taken, out: &mut Packets) {
        let mut lane = std::mem::take(&mut self.lane);
        lane.take_one(|encoded| {
            let Encoded { bytes, payload, expires_ms } = *encoded;
            taken.encoded += 1;
            if expires_ms.is_some_and(|at| at <= now) {
                self.expired += 1;
                return;
            }
            let Some(publish) = decode(bytes, peer.terms.version) else { return };
            let left_s = expires_ms.map(|at| crate::message::seconds_left(at, now));
            let extras = Extras { left_s, ..Extras::default() };
            taken.messages += u64::from(self.encode_within(peer, publish, payload, extras, out));
        });
        self.lane = lane;
    }
}

/// Decodes a message that we encoded: the whole packet, or its head in front of a shared payload.
fn decode(bytes: &[u8], version: Version) -> Option<Publish<'_>> {
    let length = bytes.iter().skip(1).position(|byte| byte & 0x80 == 0)?;
    let raw = RawPacket { first: bytes[0], body: bytes.get(length + 2..)?, length: bytes.len() };
    match Packet::decode(&raw, version) {
        Ok(Packet::Publish(publish)) => Some(publish),
        _ => None,
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
