//! The bounded queue of encoded packets on their way to one subscriber.

use std::collections::VecDeque;

/// What waits to be written to one client. Messages beyond the bound push out the oldest (P9);
/// control packets (acknowledgements, pings) are few, answer the client's own, and are never dropped.
#[derive(Debug)]
pub struct Outbox {
    control: Vec<u8>,
    messages: Vec<u8>,
    /// Where the oldest message begins in `messages`.
    start: usize,
    lengths: VecDeque<u32>,
    bytes_max: usize,
    dropped: u64,
}

/// What one write takes out of an outbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// How many messages were among the bytes.
    pub messages: u64,
    /// How many were dropped since the last time.
    pub dropped: u64,
}

impl Outbox {
    /// An empty outbox for messages of at most this many bytes together.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            control: Vec::new(),
            messages: Vec::new(),
            start: 0,
            lengths: VecDeque::new(),
            bytes_max,
            dropped: 0,
        }
    }

    /// Adds an encoded message; true if the outbox was empty, so that its writer must be woken.
    pub fn push(&mut self, message: &[u8]) -> bool {
        let was_empty = self.is_empty();
        while self.queued_bytes() + message.len() > self.bytes_max {
            if !self.drop_oldest() {
                self.dropped += 1; // larger than the whole outbox
                return was_empty;
            }
        }
        self.messages.extend_from_slice(message);
        self.lengths.push_back(message.len() as u32);
        was_empty
    }

    /// Adds control packets; true if the outbox was empty.
    pub fn push_control(&mut self, packets: &[u8]) -> bool {
        let was_empty = self.is_empty();
        self.control.extend_from_slice(packets);
        was_empty
    }

    /// Moves everything into `out`, control packets first.
    pub fn take(&mut self, out: &mut Vec<u8>) -> Taken {
        let taken = Taken { messages: self.lengths.len() as u64, dropped: self.dropped };
        if out.is_empty() && self.control.is_empty() && self.start == 0 {
            std::mem::swap(out, &mut self.messages);
        } else {
            out.append(&mut self.control);
            out.extend_from_slice(&self.messages[self.start..]);
            self.messages.clear();
        }
        self.start = 0;
        self.lengths.clear();
        self.dropped = 0;
        taken
    }

    /// Whether nothing waits, not even the count of what was dropped.
    pub fn is_empty(&self) -> bool {
        self.control.is_empty() && self.lengths.is_empty() && self.dropped == 0
    }

    /// Bytes of the messages waiting.
    pub fn queued_bytes(&self) -> usize {
        self.messages.len() - self.start
    }

    /// Bytes of the control packets waiting; the owner stops reading when these pile up.
    pub fn control_bytes(&self) -> usize {
        self.control.len()
    }

    fn drop_oldest(&mut self) -> bool {
        let Some(length) = self.lengths.pop_front() else { return false };
        self.start += length as usize;
        self.dropped += 1;
        if self.start > self.messages.len() / 2 {
            self.messages.drain(..self.start);
            self.start = 0;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn taken(outbox: &mut Outbox) -> (Vec<u8>, Taken) {
        let mut out = Vec::new();
        let taken = outbox.take(&mut out);
        (out, taken)
    }

    #[test]
    fn the_writer_is_woken_once_for_a_batch() {
        let mut outbox = Outbox::new(100);
        assert!(outbox.push(b"one"));
        assert!(!outbox.push(b"two"));
        assert_eq!(taken(&mut outbox), (b"onetwo".to_vec(), Taken { messages: 2, dropped: 0 }));
        assert!(outbox.push(b"three"));
    }

    #[test]
    fn a_message_larger_than_the_outbox_is_dropped_and_counted() {
        let mut outbox = Outbox::new(4);
        assert!(outbox.push(b"large"));
        assert_eq!(taken(&mut outbox), (vec![], Taken { messages: 0, dropped: 1 }));
    }

    #[test]
    fn control_packets_go_first_and_are_never_dropped() {
        let mut outbox = Outbox::new(3);
        outbox.push(b"abc");
        outbox.push_control(b"ack");
        outbox.push(b"def");
        assert_eq!(taken(&mut outbox), (b"ackdef".to_vec(), Taken { messages: 1, dropped: 1 }));
    }

    proptest! {
        #[test]
        fn a_full_outbox_keeps_the_newest_and_counts_the_rest(
            lengths in prop::collection::vec(1usize..20, 1..60),
        ) {
            let mut outbox = Outbox::new(64);
            for (number, length) in lengths.iter().enumerate() {
                outbox.push(&vec![number as u8; *length]);
                prop_assert!(outbox.queued_bytes() <= 64);
            }
            let (bytes, taken) = taken(&mut outbox);
            let kept = taken.messages as usize;
            prop_assert_eq!(taken.dropped as usize, lengths.len() - kept);
            let newest: Vec<u8> = lengths.iter().enumerate().skip(lengths.len() - kept)
                .flat_map(|(number, length)| vec![number as u8; *length]).collect();
            prop_assert_eq!(bytes, newest);
        }
    }
}
