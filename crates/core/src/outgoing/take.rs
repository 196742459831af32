//! Taking what waits for a client as bytes: within its window, its packet size and its aliases.

use slipring_wire::{Ack, Packet, PacketId, Properties, Publish, QoS, RawPacket, Reason, Version};

use super::lane::Encoded;
use super::replay::Find;
use super::window::Again;
use super::{Outgoing, Peer, Replay, Terms};
use crate::delivery::{self, TopicAlias};
use crate::{Delivery, Extras, Millis, Packets, RetainedPage, SharedBytes};

/// Bytes taken at one time, unless one message alone is larger; the rest follows when these are written.
pub(super) const SLICE_BYTES: usize = 256 << 10;

/// Messages encoded at one time, so that a take is a turn at most.
const ENCODED_MAX: u64 = 512;

/// What a take gave, and what was lost since the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// How many messages are among the bytes.
    pub messages: u64,
    /// How many messages were looked at one by one: encoded now, or expired.
    pub encoded: u64,
    /// How many were dropped because the client takes no packet of their size.
    pub dropped: u64,
    /// How many expired before they could be sent.
    pub expired: u64,
    /// How many are no longer in the journal.
    pub lost: u64,
    /// Messages begin to wait because as many as may be are in flight.
    pub held: bool,
    /// The next message has to be loaded: see `wanted`.
    pub wants: bool,
    /// Retained messages are still looked for: the next take goes on.
    pub looks: bool,
}

impl Taken {
    fn has_room(&self, out: &Packets) -> bool {
        out.len() < SLICE_BYTES && self.encoded < ENCODED_MAX
    }
}

/// Where a message comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// It waited.
    Queue,
    /// It is retained.
    Retained,
}

impl Outgoing {
    /// Appends what can be sent now to `out`; `find` looks up a page of the retained messages of a filter.
    ///
    /// What is sent again goes first, then the queue, with retained messages in their places, and QoS 0.
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
            self.replays.begin_take();
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
            let Some(delivery) = self.replays.peek(self.queue.gone(), find) else { break };
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

    /// Whether it ends at the place of retained messages that can be sent now.
    fn take_queue(
        &mut self,
        peer: &mut Peer,
        now: Millis,
        taken: &mut Taken,
        out: &mut Packets,
    ) -> bool {
        let most = self.window_max(&peer.terms);
        while taken.has_room(out) && self.window.has_room(most) {
            if self.replays.is_due(self.queue.gone()) {
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

    /// Writes down that a message is on its way.
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

    /// What is sent again depends on records of an earlier connection.
    fn note_again(&mut self, qos: QoS) {
        if let (Some(durable), QoS::ExactlyOnce) = (&mut self.durable, qos) {
            durable.again();
        }
    }

    /// Writes down that a message that waited will not be sent.
    fn note_gone(&mut self, delivery: &Delivery, source: Source) {
        if let (Some(durable), Source::Queue) = (&mut self.durable, source) {
            durable.settled(delivery.message.place.map(|place| place.offset), delivery.qos);
        }
    }

    /// Appends one message; false if the client takes no packet of that size (MQTT-3.1.2-25).
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

    /// Encodes with alias and notice where they fit, without them where they do not.
    fn encode_within(
        &mut self,
        peer: &mut Peer,
        publish: Publish<'_>,
        payload: Option<&SharedBytes>,
        extras: Extras<'_>,
        out: &mut Packets,
    ) -> bool {
        let alias = if peer.aliases.is_allowed() {
            peer.aliases.alias(publish.topic)
        } else {
            TopicAlias::None
        };
        let full = Extras { dropped: self.untold, alias, ..extras };
        if fits(publish, payload, &full, &peer.terms, out) {
            self.untold = 0;
            return true;
        }
        if matches!(alias, TopicAlias::New(_)) {
            peer.aliases.forget(publish.topic);
        }
        if full != extras && fits(publish, payload, &extras, &peer.terms, out) {
            return true;
        }
        self.dropped += 1;
        self.untold += 1;
        false
    }

    fn take_lane(&mut self, peer: &mut Peer, now: Millis, taken: &mut Taken, out: &mut Packets) {
        if !self.replays.is_empty() {
            return; // what is retained is older than what came since
        }
        // A slice of its own: a queue that is never empty must not hold it up.
        let bytes = out.len() + SLICE_BYTES;
        while !self.lane.is_empty()
            && out.len() < bytes
            && taken.encoded < ENCODED_MAX
            && (self.lane.is_expiring() || self.untold > 0 || peer.aliases.is_allowed())
        {
            self.take_one(peer, now, taken, out);
        }
        if !self.lane.is_empty() && out.len() < bytes && taken.encoded < ENCODED_MAX {
            taken.messages += self.lane.take(out, bytes);
        }
    }

    /// One QoS 0 message that cannot go as it was encoded.
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

/// A message that we encoded: all of it, or what comes before a shared payload.
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

/// Appends the packet, unless it is larger than the client takes. A payload that is shared is not copied.
fn fits(
    publish: Publish<'_>,
    payload: Option<&SharedBytes>,
    extras: &Extras<'_>,
    terms: &Terms,
    out: &mut Packets,
) -> bool {
    let packet_bytes = terms.packet_bytes as usize;
    let tail = out.tail();
    let start = tail.len();
    let Some(payload) = payload else {
        delivery::encode(publish, extras, terms.version, tail);
        let fits = tail.len() - start <= packet_bytes;
        if !fits {
            tail.truncate(start);
        }
        return fits;
    };
    delivery::encode_head(publish, payload.len(), extras, terms.version, tail);
    let fits = tail.len() - start + payload.len() <= packet_bytes;
    if fits {
        out.attach(payload.clone());
    } else {
        tail.truncate(start);
    }
    fits
}
