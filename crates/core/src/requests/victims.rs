//! Requests that are dropped because memory is short.

use super::book::Open;
use super::{Participant, RequestBook, RequestKey, RequestState};
use crate::Priority;

/// Victims that are chosen at once, at most: the book is locked meanwhile, and each becomes a job of the keeper.
const VICTIMS_MAX: usize = 4_096;

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

    /// Whether requests were chosen that are not over yet: their memory is free a little later.
    pub fn has_victims(&self) -> bool {
        self.victim_bytes > 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::book_tests::{Peer, request};
    use super::super::{RequestEvent, Surroundings};
    use super::*;

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
}
