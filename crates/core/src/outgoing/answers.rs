//! Answers of the broker to requests of one client: few, and never dropped.

use std::collections::VecDeque;

use slipring_wire::Version;

use super::{Outgoing, Pushed};
use crate::{ConnectionKey, Packets, memory};

/// The most requests of one client that may be without an answer.
const ASKED_MAX: usize = 2;

/// Answers that wait to be sent, and how many requests are open.
#[derive(Debug, Default)]
pub(super) struct Answers {
    /// Requests whose answer the socket has not taken yet.
    asked: usize,
    ready: VecDeque<Packets>,
}

/// What an answer to a client must comply with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerTerms {
    /// The client's version of MQTT.
    pub version: Version,
    /// The largest packet that it accepts and its outbox holds.
    pub packet_bytes: usize,
}

impl Answers {
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    pub(super) fn bytes(&self) -> usize {
        self.ready.iter().map(Packets::len).sum()
    }

    /// Moves answers to the end of `out`. They have their own slice, so that an endless flow of messages does not
    /// delay them.
    pub(super) fn take(&mut self, out: &mut Packets) {
        let bytes = out.len() + memory::slice_bytes();
        while out.len() < bytes {
            let Some(mut packet) = self.ready.pop_front() else { return };
            self.asked -= 1;
            packet.append_to(out);
        }
    }
}

impl Outgoing {
    /// A client sends a request. None if it must try again later, because too many requests are open.
    pub fn ask(&mut self, key: ConnectionKey) -> Option<AnswerTerms> {
        let terms = self.answer_terms(key)?;
        if self.answers.asked >= ASKED_MAX {
            return None;
        }
        self.answers.asked += 1;
        Some(terms)
    }

    /// Bytes of answers that the client has not read.
    pub fn unread_bytes(&self) -> usize {
        self.answers.bytes()
    }

    /// What an answer to this connection must comply with; None if the connection does not have the session any more.
    pub fn answer_terms(&self, key: ConnectionKey) -> Option<AnswerTerms> {
        let peer = self.peer.as_ref().filter(|peer| peer.key == key)?;
        let packet_bytes = (peer.terms.packet_bytes as usize).min(self.bounds.outbox_bytes);
        Some(AnswerTerms { version: peer.terms.version, packet_bytes })
    }

    /// Adds the answer to one of its requests; an empty one only closes the request. Ignored if the connection is
    /// over.
    pub fn answer(&mut self, key: ConnectionKey, packet: Vec<u8>) -> Pushed {
        if !self.is_attached(key) {
            return Pushed::Quiet;
        }
        self.answers.ready.push_back(packet.into());
        self.wake()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Terms;
    use super::*;
    use crate::{Limits, Priority, RetainedPage};

    const FIRST: ConnectionKey = ConnectionKey::new(7);
    const SECOND: ConnectionKey = ConnectionKey::new(8);

    fn connected(packet_bytes: u32) -> Outgoing {
        let limits = Limits { outbox_bytes: 1000, ..Limits::default() };
        let mut outgoing = Outgoing::new(&limits);
        let version = Version::V5;
        let terms = Terms { version, receive_max: 1, packet_bytes, topic_aliases: 0 };
        outgoing.attach(FIRST, terms, &limits);
        outgoing
    }

    fn take(outgoing: &mut Outgoing) -> Vec<u8> {
        let mut out = Packets::default();
        outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut out);
        out.to_vec()
    }

    #[test]
    fn a_client_has_two_open_requests_until_the_socket_takes_an_answer() {
        let mut outgoing = connected(u32::MAX);
        assert!(outgoing.ask(FIRST).is_some() && outgoing.ask(FIRST).is_some());
        assert_eq!(outgoing.ask(FIRST), None);
        assert_eq!(outgoing.answer(FIRST, b"one".to_vec()), Pushed::Wake);
        assert_eq!(outgoing.ask(FIRST), None, "the answer is not sent yet");
        assert_eq!(take(&mut outgoing), b"one");
        assert!(outgoing.ask(FIRST).is_some());
    }

    #[test]
    fn a_full_outbox_drops_no_answer() {
        let mut outgoing = connected(u32::MAX);
        outgoing.ask(FIRST);
        outgoing.answer(FIRST, vec![1; 999]);
        let mut message = vec![0x30, 0xf1, 0x03]; // 497 bytes follow
        message.resize(500, 2);
        for _ in 0..9 {
            outgoing.push_encoded(&message, None, Priority::Normal);
        }
        assert!(take(&mut outgoing).ends_with(&[1; 999]));
    }

    #[test]
    fn an_answer_to_a_closed_connection_is_ignored() {
        let mut outgoing = connected(u32::MAX);
        assert!(outgoing.ask(FIRST).is_some());
        outgoing.detach(FIRST);
        assert_eq!(outgoing.answer(FIRST, b"late".to_vec()), Pushed::Quiet);
        let limits = Limits::default();
        let terms =
            Terms { version: Version::V5, receive_max: 1, packet_bytes: 9, topic_aliases: 0 };
        outgoing.attach(SECOND, terms, &limits);
        assert_eq!(outgoing.answer(FIRST, b"late".to_vec()), Pushed::Quiet);
        assert_eq!((outgoing.ask(FIRST), take(&mut outgoing).len()), (None, 0));
        assert!(outgoing.ask(SECOND).is_some() && outgoing.ask(SECOND).is_some());
    }

    #[test]
    fn an_answer_is_within_the_clients_packet_size_and_its_outbox() {
        assert_eq!(connected(300).answer_terms(FIRST).unwrap().packet_bytes, 300);
        assert_eq!(connected(3000).answer_terms(FIRST).unwrap().packet_bytes, 1000);
    }

    #[test]
    fn large_answers_are_sent_one_after_the_other() {
        let mut outgoing = connected(u32::MAX);
        let slice = memory::slice_bytes();
        for _ in 0..2 {
            outgoing.ask(FIRST);
            outgoing.answer(FIRST, vec![1; slice]);
        }
        assert_eq!(take(&mut outgoing).len(), slice);
        assert!(outgoing.has_work());
        assert_eq!(take(&mut outgoing).len(), slice);
        assert!(!outgoing.has_work());
    }
}
