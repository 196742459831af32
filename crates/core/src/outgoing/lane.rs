//! A lane of the outbox: encoded QoS 0 messages of one priority that wait for one client's socket, in their order.

use std::collections::VecDeque;

use crate::memory::Counted;
use crate::packets::{FirstPacket, Packets};
use crate::shared_bytes::SharedBytes;
use crate::{Expiry, Millis};

/// Memory of the time when one message expires.
const EXPIRY_BYTES: usize = size_of::<(u64, Expiry)>();

/// An encoded message.
#[derive(Clone, Copy)]
pub(super) struct Encoded<'a> {
    /// The whole packet, or its head if the payload is shared.
    pub bytes: &'a [u8],
    pub payload: Option<&'a SharedBytes>,
    pub expiry: Option<Expiry>,
}

impl Encoded<'_> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + self.payload.map_or(0, |payload| payload.len())
    }

    /// Bytes that it takes of the outbox.
    #[inline]
    pub(super) fn cost(&self) -> usize {
        self.len() + if self.expiry.is_some() { EXPIRY_BYTES } else { 0 }
    }
}

/// The waiting messages.
#[derive(Debug)]
pub(super) struct Lane {
    packets: Packets,
    /// How many messages were taken or dropped, and how many were added.
    gone: u64,
    added: u64,
    /// The messages that can expire: their number in the order of adding, from 0, and the time.
    expiring: VecDeque<(u64, Expiry)>,
    /// How many of them tell the seconds that are left, so that they are encoded again.
    told: usize,
    /// None of them expires before.
    soonest_ms: Millis,
    /// The memory of `expiring`.
    counted: Counted,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            packets: Packets::default(),
            gone: 0,
            added: 0,
            expiring: VecDeque::new(),
            told: 0,
            soonest_ms: Millis::MAX,
            counted: Counted::default(),
        }
    }
}

impl Lane {
    /// Adds a message, whatever waits already.
    #[inline]
    pub(super) fn add(&mut self, message: Encoded<'_>) {
        if let Some(expiry) = message.expiry {
            self.expiring.push_back((self.added, expiry));
            self.told += usize::from(expiry.is_told);
            self.soonest_ms = self.soonest_ms.min(expiry.at_ms);
            self.counted.set(self.expiring.capacity() * EXPIRY_BYTES);
        }
        self.added += 1;
        self.packets.push(message.bytes);
        if let Some(payload) = message.payload {
            self.packets.attach(payload.clone());
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// How many messages wait.
    pub(super) fn len(&self) -> usize {
        (self.added - self.gone) as usize
    }

    #[inline]
    pub(super) fn queued_bytes(&self) -> usize {
        self.packets.len() + self.expiring.len() * EXPIRY_BYTES
    }

    /// Bytes of all buffers that parts are kept of, with this part added.
    pub(super) fn buffers_bytes_with(&self, buffer: &SharedBytes) -> usize {
        self.packets.buffers_bytes_with(buffer)
    }

    /// Memory of the chunks.
    #[cfg(test)]
    pub(super) fn chunks_bytes(&self) -> usize {
        self.packets.chunks_bytes()
    }

    /// Memory of the expiry times.
    #[cfg(test)]
    pub(super) fn expiry_bytes(&self) -> usize {
        debug_assert_eq!(self.counted.bytes(), self.expiring.capacity() * EXPIRY_BYTES);
        self.counted.bytes()
    }

    /// Whether messages have to be looked at one by one: they tell when they expire, or may have expired.
    #[inline]
    pub(super) fn is_expiring(&self, now_ms: Millis) -> bool {
        self.told > 0 || self.soonest_ms <= now_ms
    }

    /// Frees memory that is not needed now.
    pub(super) fn rest(&mut self) {
        self.packets.rest();
        self.shrink();
    }

    /// Moves messages to the end of `out` until it has about `bytes`, and returns how many.
    pub(super) fn take(&mut self, out: &mut Packets, bytes: usize) -> u64 {
        debug_assert_eq!(self.told, 0);
        let messages = self.packets.take(out, bytes);
        self.gone += messages;
        while self.expiring.front().is_some_and(|(number, _)| *number < self.gone) {
            self.pop_expiry();
        }
        messages
    }

    /// Passes the oldest message to `take`, and removes it; returns false if there is none.
    pub(super) fn take_one(&mut self, take: impl FnOnce(&Encoded<'_>)) -> bool {
        let Some(FirstPacket { bytes, payload }) = self.packets.first() else { return false };
        let first = self.expiring.front().filter(|(number, _)| *number == self.gone);
        take(&Encoded { bytes, payload, expiry: first.map(|(_, expiry)| *expiry) });
        self.drop_oldest()
    }

    /// Frees memory of expiry times that is not needed.
    pub(super) fn shrink(&mut self) {
        self.expiring.shrink_to_fit();
        self.counted.set(self.expiring.capacity() * EXPIRY_BYTES);
    }

    pub(super) fn drop_oldest(&mut self) -> bool {
        if !self.packets.drop_first() {
            return false;
        }
        if self.expiring.front().is_some_and(|(number, _)| *number == self.gone) {
            self.pop_expiry();
        }
        self.gone += 1;
        true
    }

    #[inline]
    fn pop_expiry(&mut self) {
        let Some((_, expiry)) = self.expiring.pop_front() else { return };
        self.told -= usize::from(expiry.is_told);
        if self.expiring.is_empty() {
            self.soonest_ms = Millis::MAX;
        }
    }
}
