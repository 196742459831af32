//! When requests time out.

use super::{Participant, RequestBook, RequestKey};
use crate::Millis;

impl<C: Participant> RequestBook<C> {
    /// The requests whose time is over, at most so many. Those that are about to end anyway are set aside, so that
    /// nobody wakes for them again and again until their end is written down.
    pub fn due(&mut self, now_ms: Millis, most: usize) -> Vec<RequestKey> {
        let (mut due, mut ending) = (Vec::new(), Vec::new());
        for (at_ms, key) in self.deadlines.iter().take_while(|(at_ms, _)| *at_ms <= now_ms) {
            if due.len() == most {
                break;
            }
            if self.open.get(key).is_some_and(|open| open.ending.is_none()) {
                due.push(*key);
            } else {
                ending.push((*at_ms, *key));
            }
        }
        for deadline in ending {
            self.deadlines.remove(&deadline);
            self.overdue.insert(deadline);
        }
        due
    }

    /// When the next request times out.
    pub fn next_deadline_ms(&self) -> Option<Millis> {
        self.deadlines.first().map(|(at_ms, _)| *at_ms)
    }

    pub(super) fn forget_deadline(&mut self, at_ms: Millis, key: RequestKey) {
        if !self.deadlines.remove(&(at_ms, key)) {
            self.overdue.remove(&(at_ms, key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::book_tests::{Peer, request};
    use super::super::{RequestEvent, RequestPage, Surroundings};
    use super::*;

    #[test]
    fn nobody_wakes_for_a_request_that_is_about_to_end_until_that_is_undone() {
        let mut book = RequestBook::default();
        let around = Surroundings { now_ms: 1, now_ns: 1, generation: 1, find: &|_| Vec::new() };
        let key = RequestKey::new(7);
        book.ask(request(7, &Peer::new(1), "a", 0, true), &around);
        assert!(book.announce(key, RequestEvent::Cancel, None).is_some());
        assert_eq!((book.due(50, 9), book.next_deadline_ms()), (vec![], None));
        let mut shown = Vec::new();
        assert_eq!(book.page(RequestPage::Start, &|_| true, &mut shown), RequestPage::End);
        assert_eq!(shown.len(), 1, "it is not over yet");
        book.undo(key);
        assert_eq!((book.due(50, 9), book.next_deadline_ms()), (vec![key], Some(11)));
        assert!(book.announce(key, RequestEvent::TimeOut, None).is_some());
        assert!(book.due(50, 9).is_empty());
        book.finish(key, &around);
        assert!(book.is_empty() && book.overdue.is_empty() && book.deadlines.is_empty());
    }
}
