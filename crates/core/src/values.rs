//! The newest value of every topic: the untyped beginning of the current value table (G3).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::NAME_BYTES_MAX;

/// How much of a payload is kept to be shown.
const PAYLOAD_BYTES_KEPT: usize = 1024;

/// The newest values, at most so many topics.
#[derive(Debug, Default)]
pub struct Values {
    slots: HashMap<Box<str>, Arc<Slot>>,
    counts: Arc<Counts>,
}

/// What all slots count together.
#[derive(Debug, Default)]
struct Counts {
    /// Every change of any value, so that a reader can ask for what is new.
    changes: AtomicU64,
    /// Topics with a value: a topic of frames has a place, and never a value.
    topics: AtomicUsize,
}

/// One topic's place in the table; publishers keep it at hand.
#[derive(Debug)]
pub struct Slot {
    // A lock of its own: publishers of other topics never meet here, readers are rare.
    newest: Mutex<Newest>,
    counts: Arc<Counts>,
}

/// A topic's newest message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Newest {
    /// The beginning of the payload.
    pub payload: Vec<u8>,
    /// The length of the whole payload.
    pub payload_bytes: usize,
    /// When the broker received it, in nanoseconds since 1970.
    pub receive_ns: i64,
    /// Messages on this topic so far.
    pub count: u64,
    /// The number of this change among all changes.
    change: u64,
}

impl Slot {
    /// Replaces the newest value.
    pub fn set(&self, payload: &[u8], receive_ns: i64) {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.payload.clear();
        newest.payload.extend_from_slice(&payload[..payload.len().min(PAYLOAD_BYTES_KEPT)]);
        newest.payload_bytes = payload.len();
        newest.receive_ns = receive_ns;
        if newest.count == 0 {
            self.counts.topics.fetch_add(1, Ordering::Relaxed);
        }
        newest.count += 1;
        newest.change = self.counts.changes.fetch_add(1, Ordering::Relaxed) + 1;
    }

    fn get(&self) -> Newest {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self) -> u64 {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).change
    }
}

/// Values that changed, and how far a reader has then come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Topics with their newest message, oldest change first.
    pub values: Vec<(Box<str>, Newest)>,
    /// What to ask with next: every later change is still to come.
    pub through: u64,
}

impl Values {
    /// The place of a topic, made if there is room; `None` when the table is full, or the topic too long.
    pub fn slot(&mut self, topic: &str, topics_max: usize) -> Option<Arc<Slot>> {
        if let Some(slot) = self.slots.get(topic) {
            return Some(Arc::clone(slot));
        }
        if self.slots.len() >= topics_max || topic.len() > NAME_BYTES_MAX {
            return None;
        }
        let slot = Arc::new(Slot { newest: Mutex::default(), counts: Arc::clone(&self.counts) });
        self.slots.insert(topic.into(), Arc::clone(&slot));
        Some(slot)
    }

    /// Up to `most` values that changed after this change.
    ///
    /// What changes meanwhile may come now and once more with the next call; nothing is passed over.
    pub fn changed_after(&self, change: u64, most: usize) -> Changed {
        let now = self.counts.changes.load(Ordering::Relaxed);
        let mut changed: Vec<_> = self
            .slots
            .iter()
            .map(|(topic, slot)| (slot.change(), topic, slot))
            .filter(|(at, ..)| *at > change)
            .collect();
        changed.sort_unstable_by_key(|(at, ..)| *at);
        let through = match changed.get(..most) {
            Some(taken) if changed.len() > most => {
                taken.last().map_or(change, |(at, ..)| now.min(*at))
            }
            _ => now,
        };
        let newest =
            changed.into_iter().take(most).map(|(_, topic, slot)| (topic.clone(), slot.get()));
        Changed { values: newest.collect(), through }
    }

    /// How many topics have a value.
    pub fn len(&self) -> usize {
        self.counts.topics.load(Ordering::Relaxed)
    }

    /// Whether no topic has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_gets_each_change_once_and_only_the_newest_value() {
        let mut values = Values::default();
        let rpm = values.slot("rpm", 10).unwrap();
        let fuel = values.slot("fuel", 10).unwrap();
        rpm.set(b"1", 1);
        fuel.set(b"2", 2);
        rpm.set(b"3", 3);
        let Changed { values: changed, through } = values.changed_after(0, 10);
        let shown: Vec<_> =
            changed.iter().map(|(topic, newest)| (&**topic, &newest.payload[..])).collect();
        assert_eq!(shown, [("fuel", &b"2"[..]), ("rpm", &b"3"[..])]);
        assert!(values.changed_after(through, 10).values.is_empty());
        assert_eq!(changed[1].1.count, 2);
    }

    #[test]
    fn a_cut_answer_goes_on_where_it_stopped() {
        let mut values = Values::default();
        for topic in ["a", "b", "c"] {
            values.slot(topic, 10).unwrap().set(b"x", 0);
        }
        let first = values.changed_after(0, 2);
        let rest = values.changed_after(first.through, 2).values;
        assert_eq!((first.values.len(), rest.len(), &*rest[0].0), (2, 1, "c"));
    }

    #[test]
    fn a_full_table_takes_no_further_topic_but_serves_those_it_has() {
        let mut values = Values::default();
        assert!(values.slot("a", 1).is_some());
        assert!(values.slot("b", 1).is_none());
        assert!(values.slot("a", 1).is_some());
    }

    #[test]
    fn a_topic_counts_once_it_has_a_value() {
        let mut values = Values::default();
        let rpm = values.slot("rpm", 10).unwrap();
        let _frames = values.slot("a topic of frames", 10).unwrap();
        assert!(values.is_empty());
        rpm.set(b"1", 1);
        rpm.set(b"2", 2);
        assert_eq!(values.len(), 1);
    }

    #[test]
    fn a_long_payload_is_kept_in_part_with_its_true_length() {
        let mut values = Values::default();
        values.slot("a", 1).unwrap().set(&[7; 5000], 0);
        let newest = &values.changed_after(0, 1).values[0].1;
        assert_eq!((newest.payload.len(), newest.payload_bytes), (PAYLOAD_BYTES_KEPT, 5000));
    }

    #[test]
    fn a_reader_ends_with_the_newest_values_however_writers_interleave() {
        let mut values = Values::default();
        let slots: Vec<_> =
            (0..40).map(|number| values.slot(&number.to_string(), 40).unwrap()).collect();
        let mut shown: HashMap<Box<str>, Vec<u8>> = HashMap::new();
        let mut seen = 0;
        for round in 0u8..=255 {
            std::thread::scope(|scope| {
                let writer = scope.spawn(|| slots.iter().for_each(|slot| slot.set(&[round], 0)));
                loop {
                    let last = writer.is_finished();
                    let changed = values.changed_after(seen, 25);
                    let none = changed.values.is_empty();
                    seen = changed.through;
                    let new = changed.values.into_iter();
                    shown.extend(new.map(|(topic, newest)| (topic, newest.payload)));
                    if last && none {
                        break;
                    }
                }
            });
            assert!(
                shown.len() == 40 && shown.values().all(|payload| *payload == [round]),
                "{round}"
            );
        }
    }
}
