//! The outbox: encoded QoS 0 messages that wait for one client's socket, in their order, bounded in bytes.

use std::collections::VecDeque;

use crate::memory::Counted;
use crate::packets::{FirstPacket, Packets};
use crate::shared_bytes::SharedBytes;
use crate::{Millis, Overflow};

/// The result of adding a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// It was added.
    Kept,
    /// So many messages were dropped, perhaps the new one.
    Dropped(u32),
    /// There is no room, and the policy is to end the connection.
    Overflow,
}

/// Memory of the time when one message expires.
const EXPIRY_BYTES: usize = size_of::<(u64, Millis)>();

/// An encoded message.
#[derive(Clone, Copy)]
pub(super) struct Encoded<'a> {
    /// The whole packet, or its head if the payload is shared.
    pub bytes: &'a [u8],
    pub payload: Option<&'a SharedBytes>,
    pub expires_ms: Option<Millis>,
}

impl Encoded<'_> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + self.payload.map_or(0, |payload| payload.len())
    }

    /// Bytes that it takes of the outbox.
    #[inline]
    fn cost(&self) -> usize {
        self.len() + if self.expires_ms.is_some() { EXPIRY_BYTES } else { 0 }
    }
}

/// The waiting messages.
#[derive(Debug, Default)]
pub(super) struct Lane {
    packets: Packets,
    /// How many messages were taken or dropped, and how many were added.
    gone: u64,
    added: u64,
    /// The messages that can expire: their number in the order of adding, from 0, and the time.
    expiring: VecDeque<(u64, Millis)>,
    /// The memory of `expiring`.
    counted: Counted,
}

impl Lane {
    /// Adds a message. If there is no room within `bytes_max`, the policy decides.
    #[inline]
    pub(super) fn push(
        &mut self,
        message: Encoded<'_>,
        bytes_max: usize,
        overflow: Overflow,
    ) -> Room {
        let mut room = Room::Kept;
        if self.queued_bytes() + message.cost() > bytes_max {
            room = self.make_room(message.cost(), bytes_max, overflow);
            if room == Room::Overflow || self.queued_bytes() + message.cost() > bytes_max {
                return room;
            }
        }
        if let Some(at) = message.expires_ms {
            self.expiring.push_back((self.added, at));
            self.counted.set(self.expiring.capacity() * EXPIRY_BYTES);
        }
        self.added += 1;
        self.packets.push(message.bytes);
        if let Some(payload) = message.payload {
            self.packets.attach(payload.clone());
        }
        room
    }

    /// Drops messages by the policy. The new message counts if it is dropped.
    #[cold]
    fn make_room(&mut self, length: usize, bytes_max: usize, overflow: Overflow) -> Room {
        let mut dropped = 0;
        if length > bytes_max && overflow != Overflow::Disconnect {
            return Room::Dropped(1); // dropping all others would not be enough
        }
        while self.queued_bytes() + length > bytes_max {
            match overflow {
                Overflow::Disconnect => return Room::Overflow,
                Overflow::DropOldest if self.drop_oldest() => dropped += 1,
                _ => return Room::Dropped(dropped + 1),
            }
        }
        Room::Dropped(dropped)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    #[inline]
    pub(super) fn queued_bytes(&self) -> usize {
        self.packets.len() + self.expiring.len() * EXPIRY_BYTES
    }

    /// Bytes of all buffers that parts are kept of, with this part added.
    pub(super) fn buffers_bytes_with(&self, buffer: &SharedBytes) -> usize {
        self.packets.buffers_bytes_with(buffer)
    }

    /// Whether any of the messages can expire.
    pub(super) fn is_expiring(&self) -> bool {
        !self.expiring.is_empty()
    }

    /// Frees memory that is not needed now.
    pub(super) fn rest(&mut self) {
        self.packets.rest();
        self.shrink_expiring();
    }

    /// Moves messages to the end of `out` until it has about `bytes`, and returns how many.
    pub(super) fn take(&mut self, out: &mut Packets, bytes: usize) -> u64 {
        debug_assert!(!self.is_expiring());
        let messages = self.packets.take(out, bytes);
        self.gone += messages;
        messages
    }

    /// Passes the oldest message to `take`, and removes it; returns false if there is none.
    pub(super) fn take_one(&mut self, take: impl FnOnce(&Encoded<'_>)) -> bool {
        let Some(FirstPacket { bytes, payload }) = self.packets.first() else { return false };
        let first = self.expiring.front().filter(|(number, _)| *number == self.gone);
        take(&Encoded { bytes, payload, expires_ms: first.map(|(_, at)| *at) });
        self.drop_oldest()
    }

    /// Drops the oldest messages until at most `bytes_max` wait, but not the last one; returns how many.
    pub(super) fn shrink(&mut self, bytes_max: usize) -> u32 {
        let mut dropped = 0;
        while self.queued_bytes() > bytes_max && self.added - self.gone > 1 && self.drop_oldest() {
            dropped += 1;
        }
        self.shrink_expiring();
        dropped
    }

    fn shrink_expiring(&mut self) {
        self.expiring.shrink_to_fit();
        self.counted.set(self.expiring.capacity() * EXPIRY_BYTES);
    }

    fn drop_oldest(&mut self) -> bool {
        if !self.packets.drop_first() {
            return false;
        }
        if self.expiring.front().is_some_and(|(number, _)| *number == self.gone) {
            self.expiring.pop_front();
        }
        self.gone += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packets::CHUNK_BYTES;
    use proptest::prelude::*;

    /// A packet of `body` bytes behind its first two, or five.
    fn packet(mark: u8, body: usize) -> Vec<u8> {
        let mut packet = vec![0x30];
        let mut rest = body;
        loop {
            packet.push((rest & 0x7f) as u8 | if rest > 0x7f { 0x80 } else { 0 });
            rest >>= 7;
            if rest == 0 {
                break;
            }
        }
        packet.resize(packet.len() + body, mark);
        packet
    }

    fn push(lane: &mut Lane, bytes: &[u8], bytes_max: usize, overflow: Overflow) -> Room {
        lane.push(Encoded { bytes, payload: None, expires_ms: None }, bytes_max, overflow)
    }

    fn all(lane: &mut Lane) -> (u64, Vec<u8>) {
        let mut out = Packets::default();
        let mut messages = 0;
        while !lane.is_empty() {
            messages += lane.take(&mut out, usize::MAX);
        }
        (messages, out.to_vec())
    }

    #[test]
    fn a_message_larger_than_the_lane_is_dropped_and_counted() {
        let mut lane = Lane::default();
        assert_eq!(push(&mut lane, &packet(1, 5), 4, Overflow::DropOldest), Room::Dropped(1));
        assert!(lane.is_empty());
    }

    #[test]
    fn a_full_lane_does_what_its_policy_says() {
        let (first, second) = (packet(1, 3), packet(2, 3));
        for (overflow, room, kept) in [
            (Overflow::DropOldest, Room::Dropped(1), &second),
            (Overflow::DropNewest, Room::Dropped(1), &first),
            (Overflow::Disconnect, Room::Overflow, &first),
        ] {
            let mut lane = Lane::default();
            push(&mut lane, &first, 6, overflow);
            assert_eq!(push(&mut lane, &second, 6, overflow), room);
            assert_eq!(all(&mut lane), (1, kept.clone()));
        }
    }

    #[test]
    fn a_full_lane_uses_at_most_two_chunks_more_than_its_bound() {
        let (mut lane, bytes_max) = (Lane::default(), 10 * CHUNK_BYTES);
        for number in 0..100_000u32 {
            let length = number.wrapping_mul(2_654_435_761) as usize % 300;
            push(&mut lane, &packet(1, length), bytes_max, Overflow::DropOldest);
            assert!(lane.packets.chunks_bytes() <= bytes_max + 2 * CHUNK_BYTES);
        }
        assert!(lane.queued_bytes() > bytes_max - 400);
        all(&mut lane);
        assert!(lane.packets.chunks_bytes() <= CHUNK_BYTES);
    }

    #[test]
    fn a_slice_ends_with_a_complete_message() {
        let mut lane = Lane::default();
        let payload = SharedBytes::from(vec![7; 5_000]);
        let head = &packet(7, 5_000)[..3];
        for _ in 0..9 {
            let payload = Some(&payload);
            lane.push(
                Encoded { bytes: head, payload, expires_ms: None },
                1 << 20,
                Overflow::DropOldest,
            );
        }
        lane.take_one(|first| assert_eq!(first.len(), 5_003));
        let mut out = Packets::default();
        assert_eq!(lane.take(&mut out, 6_000), 2);
        assert_eq!(out.len(), 2 * 5_003);
        assert_eq!(all(&mut lane), (6, packet(7, 5_000).repeat(6)));
    }

    #[test]
    fn the_memory_of_expiry_times_is_counted_and_freed() {
        let mut lane = Lane::default();
        let encoded = Encoded { bytes: &packet(1, 3), payload: None, expires_ms: Some(9) };
        for _ in 0..1_000 {
            lane.push(encoded, 10_000, Overflow::DropOldest);
            assert!(lane.queued_bytes() <= 10_000);
        }
        assert_eq!(lane.expiring.len(), 10_000 / encoded.cost());
        assert_eq!(lane.counted.bytes(), lane.expiring.capacity() * EXPIRY_BYTES);
        lane.shrink(100);
        assert!(lane.queued_bytes() <= 100 && lane.counted.bytes() <= 100);
        assert!(lane.shrink(0) > 0 && !lane.is_empty(), "the newest message stays");
    }

    proptest! {
        #[test]
        fn a_full_lane_keeps_the_newest_and_counts_the_rest(
            lengths in prop::collection::vec((1usize..20, any::<bool>()), 1..60),
            expiring in any::<u64>(),
            sliced in any::<bool>(),
        ) {
            let mut lane = Lane::default();
            let mut dropped = 0;
            for (number, (length, is_shared)) in lengths.iter().enumerate() {
                let message = packet(number as u8, *length);
                let payload = is_shared.then(|| SharedBytes::copied(&message[2..]));
                let bytes = if *is_shared { &message[..2] } else { &message[..] };
                let expires_ms = (expiring >> number & 1 == 1).then_some(number as Millis);
                let encoded = Encoded { bytes, payload: payload.as_ref(), expires_ms };
                if let Room::Dropped(count) = lane.push(encoded, 64, Overflow::DropOldest) {
                    dropped += count as usize;
                }
                prop_assert!(lane.queued_bytes() <= 64);
            }
            let (mut bytes, mut kept) = (Vec::new(), 0);
            while lane.is_expiring() {
                lane.take_one(|first| {
                    let payload = first.payload.map_or(&[][..], |payload| payload);
                    bytes.extend([first.bytes, payload].concat());
                    if let Some(at) = first.expires_ms {
                        assert_eq!(at, Millis::from(*bytes.last().unwrap()));
                    }
                });
                kept += 1;
            }
            while !lane.is_empty() {
                let mut out = Packets::default();
                kept += lane.take(&mut out, if sliced { 10 } else { usize::MAX }) as usize;
                bytes.extend(out.to_vec());
            }
            prop_assert_eq!(dropped, lengths.len() - kept);
            let newest: Vec<u8> = lengths.iter().enumerate().skip(lengths.len() - kept)
                .flat_map(|(number, (length, _))| packet(number as u8, *length)).collect();
            prop_assert_eq!(bytes, newest);
        }
    }
}
