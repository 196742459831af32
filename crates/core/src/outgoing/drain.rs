//! Taking QoS 0 messages from the outbox: as they are, or encoded again if something is added or can expire.

use slipring_wire::{Packet, Publish, RawPacket, Version};

use super::lane::Encoded;
use super::take::{ENCODED_MAX, Taken};
use super::{Outgoing, Peer};
use crate::{Extras, Millis, Packets, Priority};

impl Outgoing {
    pub(super) fn take_outbox(
        &mut self,
        peer: &mut Peer,
        now: Millis,
        taken: &mut Taken,
        out: &mut Packets,
    ) {
        if !self.replays.is_empty() {
            return; // retained messages are older than those in the outbox
        }
        // The outbox has its own slice, so that a queue that is never empty does not delay it.
        let bytes = out.len() + self.slice_bytes();
        while !self.outbox.is_empty() && out.len() < bytes && taken.encoded < ENCODED_MAX {
            self.take_turn(peer, self.outbox.next(), now, bytes, taken, out);
        }
    }

    /// Takes QoS 0 messages of a level, until `out` has `bytes`: one if it has to be encoded again, or
    /// many.
    pub(super) fn take_turn(
        &mut self,
        peer: &mut Peer,
        level: Priority,
        now: Millis,
        bytes: usize,
        taken: &mut Taken,
        out: &mut Packets,
    ) {
        if self.outbox.is_expiring(level, now) || self.unreported > 0 || peer.aliases.is_allowed() {
            self.take_one(peer, level, now, taken, out);
        } else {
            taken.messages += self.outbox.take(level, out, bytes);
        }
    }

    /// Takes one QoS 0 message that has to be encoded again.
    fn take_one(
        &mut self,
        peer: &mut Peer,
        level: Priority,
        now: Millis,
        taken: &mut Taken,
        out: &mut Packets,
    ) {
        let mut outbox = std::mem::take(&mut self.outbox);
        outbox.take_one(level, |encoded| {
            let Encoded { bytes, payload, expiry } = *encoded;
            taken.encoded += 1;
            if expiry.is_some_and(|expiry| expiry.at_ms <= now) {
                self.expired += 1;
                return;
            }
            let Some(publish) = decode(bytes, peer.terms.version) else { return };
            let told = expiry.filter(|expiry| expiry.is_told);
            let left_s = told.map(|expiry| crate::message::seconds_left(expiry.at_ms, now));
            let extras = Extras { left_s, ..Extras::default() };
            taken.messages += u64::from(self.encode_within(peer, publish, payload, extras, out));
        });
        self.outbox = outbox;
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
