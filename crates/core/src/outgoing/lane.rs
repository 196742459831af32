//! Encoded QoS 0 messages that wait for the socket: bounded in bytes, in the order they came.

use std::collections::VecDeque;

use crate::{Millis, Overflow};

/// Whether there was room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// The message waits.
    Kept,
    /// Something was dropped; the message waits unless it was the one.
    Dropped(u32),
    /// The policy ends the connection.
    Overflow,
}

/// One encoded message's place.
#[derive(Clone, Copy, Debug)]
struct Entry {
    length: u32,
    expires_ms: Option<Millis>,
}

/// The waiting bytes, and where one message ends.
#[derive(Debug, Default)]
pub(super) struct Lane {
    bytes: Vec<u8>,
    /// What of `bytes` is dropped or taken.
    start: usize,
    entries: VecDeque<Entry>,
    /// How many of the entries can expire.
    expiring: usize,
}

impl Lane {
    pub fn push(
        &mut self,
        message: &[u8],
        expires_ms: Option<Millis>,
        bytes_max: usize,
        overflow: Overflow,
    ) -> Room {
        let mut dropped = 0;
        while self.queued_bytes() + message.len() > bytes_max {
            match overflow {
                Overflow::Disconnect => return Room::Overflow,
                Overflow::DropOldest if self.drop_oldest() => dropped += 1,
                _ => return Room::Dropped(dropped + 1),
            }
        }
        self.bytes.extend_from_slice(message);
        self.expiring += usize::from(expires_ms.is_some());
        self.entries.push_back(Entry { length: message.len() as u32, expires_ms });
        if dropped == 0 { Room::Kept } else { Room::Dropped(dropped) }
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn queued_bytes(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether any of the messages can expire.
    pub fn is_expiring(&self) -> bool {
        self.expiring > 0
    }

    /// Moves everything to the end of `out` as it is; how many messages.
    pub fn take_all(&mut self, out: &mut Vec<u8>) -> u64 {
        let messages = self.entries.len() as u64;
        if out.is_empty() && self.start == 0 {
            std::mem::swap(out, &mut self.bytes);
        } else {
            out.extend_from_slice(&self.bytes[self.start..]);
        }
        self.clear();
        messages
    }

    /// The oldest message and when it expires, given to `take`; false if there is none.
    pub fn take_one(&mut self, take: impl FnOnce(&[u8], Option<Millis>)) -> bool {
        let Some(entry) = self.entries.pop_front() else { return false };
        let end = self.start + entry.length as usize;
        take(&self.bytes[self.start..end], entry.expires_ms);
        self.start = end;
        self.expiring -= usize::from(entry.expires_ms.is_some());
        if self.entries.is_empty() {
            self.clear();
        }
        true
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
        self.start = 0;
        self.expiring = 0;
    }

    fn drop_oldest(&mut self) -> bool {
        let taken = self.take_one(|_, _| ());
        if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn push(lane: &mut Lane, message: &[u8], overflow: Overflow) -> Room {
        lane.push(message, None, 4, overflow)
    }

    #[test]
    fn a_message_larger_than_the_lane_is_dropped_and_counted() {
        let mut lane = Lane::default();
        assert_eq!(push(&mut lane, b"large", Overflow::DropOldest), Room::Dropped(1));
        assert!(lane.is_empty());
    }

    #[test]
    fn a_full_lane_does_what_its_policy_says() {
        for (overflow, room, kept) in [
            (Overflow::DropOldest, Room::Dropped(1), "def"),
            (Overflow::DropNewest, Room::Dropped(1), "abc"),
            (Overflow::Disconnect, Room::Overflow, "abc"),
        ] {
            let mut lane = Lane::default();
            push(&mut lane, b"abc", overflow);
            assert_eq!(push(&mut lane, b"def", overflow), room);
            let mut out = Vec::new();
            assert_eq!((lane.take_all(&mut out), &out[..]), (1, kept.as_bytes()));
        }
    }

    proptest! {
        #[test]
        fn a_full_lane_keeps_the_newest_and_counts_the_rest(
            lengths in prop::collection::vec(1usize..20, 1..60),
        ) {
            let mut lane = Lane::default();
            let mut dropped = 0;
            for (number, length) in lengths.iter().enumerate() {
                let message = vec![number as u8; *length];
                if let Room::Dropped(count) = lane.push(&message, None, 64, Overflow::DropOldest) {
                    dropped += count as usize;
                }
                prop_assert!(lane.queued_bytes() <= 64);
            }
            let mut bytes = Vec::new();
            let kept = lane.take_all(&mut bytes) as usize;
            prop_assert_eq!(dropped, lengths.len() - kept);
            let newest: Vec<u8> = lengths.iter().enumerate().skip(lengths.len() - kept)
                .flat_map(|(number, length)| vec![number as u8; *length]).collect();
            prop_assert_eq!(bytes, newest);
        }
    }
}
