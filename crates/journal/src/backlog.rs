//! How many bytes of one appender wait to be written, and how many may. Pure.
//!
//! Appenders share the room by one rule: none of them may have more bytes waiting than are free. An example with
//! 2 MiB of room: a single appender gets 1 MiB, because then 1 MiB is free. Two get 0.7 MiB each, and 0.7 MiB stays
//! free; nine get 0.2 MiB each. So there is always room for another appender.

use crate::status::JournalMark;

/// The waiting bytes of one appender. It counts them in two parts instead of a list of batches: a part counts in
/// full until its last batch is written.
///
/// An example: batches of 100, 50 and 60 bytes get the marks 100, 300 and 400. The first is the older part, the
/// others are the newer one. When the journal is written up to 300, 110 bytes still count: 50 too many, until 400.
#[derive(Debug, Default)]
pub struct Backlog {
    older: Part,
    /// Empty when `older` is.
    newer: Part,
}

/// Consecutive batches: their bytes, and the mark of the last one.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    end: JournalMark,
    bytes: usize,
}

impl Backlog {
    /// The bytes that wait, when the journal is written up to a mark.
    pub(crate) fn waiting_bytes(&mut self, written: JournalMark) -> usize {
        for _ in 0..2 {
            if self.older.end <= written {
                self.older = std::mem::take(&mut self.newer);
            }
        }
        self.older.bytes + self.newer.bytes
    }

    /// Counts an appended batch.
    pub(crate) fn add(&mut self, end: JournalMark, bytes: usize) {
        let part = if self.older.bytes == 0 { &mut self.older } else { &mut self.newer };
        *part = Part { end, bytes: part.bytes + bytes };
    }
}

/// Whether there is room for a batch beside `waiting_bytes`, of which `own_bytes` are its appender's.
///
/// A batch counts as half the room at most. So a large one is accepted while others wait, and not only when the
/// queue is empty.
pub(crate) fn has_room(
    batch_bytes: usize,
    own_bytes: usize,
    waiting_bytes: usize,
    bytes_max: usize,
) -> bool {
    let counted_bytes = batch_bytes.min(bytes_max / 2);
    waiting_bytes + own_bytes + counted_bytes <= bytes_max
}

/// The reserve for urgent batches is this part of the room.
const RESERVE_SHARE: usize = 8;

/// Whether there is room for an urgent batch in the reserve. Its appender may have as much waiting as the reserve is
/// large, with this batch: so one that sends only urgent batches does not fill the room of all.
pub(crate) fn has_reserve(
    batch_bytes: usize,
    own_bytes: usize,
    waiting_bytes: usize,
    bytes_max: usize,
) -> bool {
    let reserve_bytes = bytes_max / RESERVE_SHARE;
    own_bytes.saturating_add(batch_bytes) <= reserve_bytes
        && waiting_bytes + batch_bytes <= bytes_max + reserve_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: usize = 8 << 20;
    const BATCH: usize = 1 << 10;

    /// Appenders that take all they can in turn, while nothing is written.
    fn shares(appenders: usize) -> Vec<usize> {
        let mut own = vec![0; appenders];
        loop {
            let before = own.clone();
            for index in 0..appenders {
                if has_room(BATCH, own[index], own.iter().sum(), ROOM) {
                    own[index] += BATCH;
                }
            }
            if own == before {
                return own;
            }
        }
    }

    #[test]
    fn appenders_share_the_room_and_leave_as_much_for_a_newcomer() {
        for appenders in [1, 2, 9, 100] {
            let own = shares(appenders);
            let share = ROOM / (appenders + 1);
            assert!(own.iter().all(|bytes| bytes.abs_diff(share) <= 2 * BATCH), "{own:?}");
            let free = ROOM - own.iter().sum::<usize>();
            assert!(free + 2 * BATCH * appenders >= share, "{free} of {share}");
            assert!(has_room(BATCH, 0, ROOM - free, ROOM) || appenders == 100);
        }
    }

    #[test]
    fn a_large_batch_needs_half_the_room_and_is_never_refused_alone() {
        assert!(has_room(10 * ROOM, 0, 0, ROOM));
        assert!(has_room(10 * ROOM, 0, ROOM / 2, ROOM));
        assert!(!has_room(10 * ROOM, 0, ROOM / 2 + 1, ROOM));
        assert!(has_room(1, 0, 0, 0), "a journal without room takes one batch at a time");
        assert!(!has_room(1, 1, 1, 0));
    }

    #[test]
    fn an_urgent_batch_finds_room_where_others_wait_until_its_reserve_is_full() {
        let own: usize = shares(100).iter().sum();
        let full = own.max(ROOM - BATCH / 2);
        assert!(!has_room(BATCH, 0, full, ROOM) && has_reserve(BATCH, 0, full, ROOM));
        let (mut waiting, mut taken) = (full, 0);
        while has_reserve(BATCH, 0, waiting, ROOM) {
            (waiting, taken) = (waiting + BATCH, taken + BATCH);
        }
        assert!(taken.abs_diff(ROOM / RESERVE_SHARE) <= 2 * BATCH, "{taken}");
    }

    #[test]
    fn an_appender_of_urgent_batches_takes_no_more_than_others_and_leaves_the_reserve() {
        let mut own = 0;
        while has_room(BATCH, own, own, ROOM) || has_reserve(BATCH, own, own, ROOM) {
            own += BATCH;
        }
        assert_eq!(own, ROOM / 2, "its share, as without urgency");
        let eighth = ROOM / RESERVE_SHARE;
        assert!(has_reserve(BATCH, eighth - BATCH, ROOM, ROOM));
        assert!(!has_reserve(BATCH, eighth, ROOM, ROOM));
        assert!(!has_reserve(2 * eighth, 0, 0, ROOM) && has_room(2 * eighth, 0, 0, ROOM));
    }

    #[test]
    fn written_batches_no_longer_count() {
        let mut backlog = Backlog::default();
        assert_eq!(backlog.waiting_bytes(0), 0);
        backlog.add(100, 100);
        backlog.add(300, 50);
        backlog.add(400, 60);
        assert_eq!(backlog.waiting_bytes(99), 210);
        assert_eq!(backlog.waiting_bytes(100), 110);
        assert_eq!(backlog.waiting_bytes(300), 110, "counted until the last of a part is written");
        backlog.add(500, 7);
        assert_eq!(backlog.waiting_bytes(400), 7);
        assert_eq!(backlog.waiting_bytes(500), 0);
    }
}
