//! Requests and stored answers that are dropped because memory is short.

use std::collections::HashMap;
use std::sync::Arc;

use super::book::Open;
use super::{Participant, RequestBook, RequestEvent, RequestKey, RequestState};
use crate::{Priority, SessionKey};

/// Victims that are chosen at once, at most: the book is locked meanwhile, and each becomes a job of the keeper.
const VICTIMS_MAX: usize = 4_096;

/// What an asker knows its request by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AnswerName {
    /// The Correlation Data.
    pub correlation: Option<Box<[u8]>>,
    /// The topic of the answer.
    pub topic: Arc<str>,
}

impl<C> Open<C> {
    /// It is not a victim any more. Returns the bytes that it would have freed.
    pub(super) fn spare(&mut self) -> usize {
        if std::mem::take(&mut self.is_victim) { self.bytes } else { 0 }
    }
}

impl<C: Participant> RequestBook<C> {
    /// Chooses requests of a priority to be dropped because memory is short, until so many bytes would be free, with
    /// those that were chosen before and are not over yet. None is chosen twice.
    pub fn victims(&mut self, priority: Priority, bytes: usize) -> Vec<RequestKey> {
        let mut victims = Vec::new();
        if self.by_priority[priority as usize] == 0 {
            return victims;
        }
        let can_be = |open: &Open<C>| {
            let is_open = matches!(open.state, RequestState::Stored | RequestState::Delivered);
            let is_left = open.ending.is_none() && !open.is_victim;
            is_open && is_left && open.asked.priority == priority
        };
        for (key, open) in self.open.iter_mut().filter(|(_, open)| can_be(open)) {
            if self.victim_bytes >= bytes || victims.len() >= VICTIMS_MAX {
                break;
            }
            self.victim_bytes += open.bytes;
            open.is_victim = true;
            victims.push(*key);
        }
        victims
    }

    /// Answers that waited for an asker were dropped: each is named by its correlation data and its topic. Returns the
    /// requests that have ended by it, with their topics.
    pub fn answers_dropped(
        &mut self,
        asker: SessionKey,
        dropped: &[AnswerName],
        reason: &str,
    ) -> Vec<(RequestKey, Arc<str>)> {
        let mut left: HashMap<&AnswerName, usize> = HashMap::new();
        for name in dropped {
            *left.entry(name).or_default() += 1;
        }
        let mut ended = Vec::new();
        for key in self.answers_stored(asker) {
            let Some(Open { asked, .. }) = self.open.get(&key).map(|open| &**open) else {
                continue;
            };
            let correlation = asked.correlation.as_deref().map(Box::from);
            let name = AnswerName { correlation, topic: Arc::clone(&asked.answer_topic) };
            let Some(count) = left.get_mut(&name).filter(|count| **count > 0) else { continue };
            *count -= 1;
            ended.push((key, Arc::clone(asked.message.topic())));
            self.explain(key, reason);
        }
        let keys: Vec<_> = ended.iter().map(|(key, _)| *key).collect();
        self.end_answered(&keys, RequestEvent::Drop);
        ended
    }

    /// Whether requests were chosen that are not over yet: their memory is free a little later.
    pub fn has_victims(&self) -> bool {
        self.victim_bytes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::book_tests::{Peer, request};
    use super::super::{ServiceCandidate, Surroundings};
    use super::*;
    use slipring_wire::QoS;

    fn stored(count: u64) -> RequestBook<Peer> {
        let (mut book, asker) = (RequestBook::default(), Peer::new(1));
        let around = Surroundings { now_ms: 1, now_ns: 1, generation: 1, find: &|_| Vec::new() };
        for key in 0..count {
            let mut new = request(key, &asker, "a", 0, true);
            new.priority = Priority::Low;
            book.ask(new, &around);
        }
        book
    }

    #[test]
    fn no_request_is_chosen_twice_as_a_victim_unless_its_end_is_undone() {
        let mut book = stored(10);
        let each = book.bytes / 10;
        let first = book.victims(Priority::Low, 3 * each);
        assert_eq!(first.len(), 3);
        assert!(book.victims(Priority::Low, 3 * each).is_empty(), "those are on their way");
        let more = book.victims(Priority::Low, usize::MAX);
        assert!(more.len() == 7 && more.iter().all(|key| !first.contains(key)));
        assert!(book.announce(first[0], RequestEvent::Drop, None).is_some());
        book.undo(first[0]);
        assert_eq!(book.victims(Priority::Low, usize::MAX), [first[0]]);
    }

    #[test]
    fn so_many_victims_are_chosen_at_once_and_their_bytes_are_counted_until_they_are_over() {
        let mut book = stored(VICTIMS_MAX as u64 + 10);
        let chosen = book.victims(Priority::Low, usize::MAX);
        assert_eq!(chosen.len(), VICTIMS_MAX);
        assert_eq!(book.victims(Priority::Low, usize::MAX).len(), 10);
        let around = Surroundings { now_ms: 1, now_ns: 1, generation: 1, find: &|_| Vec::new() };
        for key in chosen {
            assert!(book.announce(key, RequestEvent::Drop, None).is_some());
            book.finish(key, &around);
        }
        assert_eq!(book.victim_bytes, book.bytes, "ten are left");
    }

    #[test]
    fn a_stored_answer_that_is_dropped_ends_its_request_once() {
        let (mut book, asker, service) = (RequestBook::default(), Peer::new(1), Peer::new(2));
        let candidate = || ServiceCandidate {
            client: Arc::clone(&service),
            qos: QoS::AtLeastOnce,
            identifiers: None,
            serve: 10,
            no_local: false,
            by_topic: false,
        };
        let find = |_: &str| vec![candidate()];
        let around = Surroundings { now_ms: 1, now_ns: 1, generation: 1, find: &find };
        let name = |key: u64| AnswerName {
            correlation: Some(key.to_le_bytes().into()),
            topic: "answers".into(),
        };
        for key in 0..3 {
            book.ask(request(key, &asker, "a", 0, true), &around);
        }
        asker.be_here(false);
        for key in 0..2 {
            let key = RequestKey::new(key);
            assert!(book.announce(key, RequestEvent::Answer, None).is_some());
            book.finish(key, &around);
        }
        let unknown = AnswerName { correlation: None, topic: "answers".into() };
        let dropped = [name(1), name(1), name(2), unknown];
        let ended = book.answers_dropped(asker.session(), &dropped, "why");
        assert_eq!(ended, [(RequestKey::new(1), Arc::from("a"))], "2 is not answered");
        assert!(book.answers_dropped(asker.session(), &dropped, "why").is_empty());
        assert_eq!(book.counts.ends[RequestState::Dropped as usize], 1);
        assert_eq!(book.asker_back(asker.session()), 1);
    }
}
