//! The newest value of every topic, as bytes without a type, for the control plane to show to people.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::NAME_BYTES_MAX;
use crate::memory::{self, Counted};

/// Bytes of a payload that are kept.
const PAYLOAD_BYTES_KEPT: usize = 1024;
/// Bytes of it that are kept when all values take more than their part of the memory budget.
const PAYLOAD_BYTES_SHORT: usize = 64;
/// Memory of a slot beyond its topic and its payload.
const SLOT_BYTES: usize = 256;
/// The part of the memory budget that all values may take.
const VALUES_SHARE: usize = 8;

/// The newest values by topic.
#[derive(Debug, Default)]
pub struct Values {
    slots: HashMap<Box<str>, Arc<Slot>>,
    counts: Arc<Counts>,
}

/// Counters that all slots share.
#[derive(Debug, Default)]
struct Counts {
    /// Changes of all values, so that a reader can ask for the changes since its last question.
    changes: AtomicU64,
    /// Topics with a value. A topic of frames has a slot, but never a value.
    topics: AtomicUsize,
    /// Memory of all slots.
    bytes: AtomicUsize,
}

impl Counts {
    fn is_full(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > memory::part(VALUES_SHARE)
    }
}

/// The newest value of one topic. Its publishers keep a reference to it.
#[derive(Debug)]
pub struct Slot {
    // Each topic has its own lock: publishers of other topics never wait for it, and readers are rare.
    newest: Mutex<NewestValue>,
    // A lock: taken when the memory of the slot changes.
    counted: Mutex<Counted>,
    counts: Arc<Counts>,
}

/// A topic's newest message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewestValue {
    /// The beginning of the payload.
    pub payload: Vec<u8>,
    /// The length of the whole payload.
    pub payload_bytes: usize,
    /// When the broker received it, in nanoseconds since 1970.
    pub receive_ns: i64,
    /// Messages on this topic so far.
    pub count: u64,
    /// The number of its last change among all changes.
    change: u64,
}

impl Slot {
    /// Replaces the newest value.
    pub fn set(&self, payload: &[u8], receive_ns: i64) {
        let mut newest = self.lock();
        newest.payload.clear();
        let mut kept = payload.len().min(PAYLOAD_BYTES_KEPT);
        let before = newest.payload.capacity();
        if kept > before && self.counts.is_full() {
            kept = kept.min(before.max(PAYLOAD_BYTES_SHORT));
        }
        newest.payload.extend_from_slice(&payload[..kept]);
        if newest.payload.capacity() > before {
            self.grow(newest.payload.capacity() - before);
        }
        newest.payload_bytes = payload.len();
        newest.receive_ns = receive_ns;
        if newest.count == 0 {
            self.counts.topics.fetch_add(1, Ordering::Relaxed);
        }
        newest.count += 1;
        newest.change = self.counts.changes.fetch_add(1, Ordering::Relaxed) + 1;
    }

    /// Counts more memory of this slot.
    #[cold]
    fn grow(&self, bytes: usize) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let all = counted.bytes() + bytes;
        counted.set(all);
        self.counts.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, NewestValue> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Values that changed, and how far the reader has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueChanges {
    /// Topics with their newest message, oldest change first.
    pub values: Vec<(Box<str>, NewestValue)>,
    /// The number to ask with next: the changes after it are not in this answer.
    pub through: u64,
}

impl Values {
    /// The slot of a topic, made if there is none; `None` if there are `topics_max` topics, or the topic is too long.
    pub fn slot(&mut self, topic: &str, topics_max: usize) -> Option<Arc<Slot>> {
        if let Some(slot) = self.slots.get(topic) {
            return Some(Arc::clone(slot));
        }
        let is_full = self.slots.len() >= topics_max || self.counts.is_full();
        if is_full || topic.len() > NAME_BYTES_MAX {
            return None;
        }
        let (newest, counted) = (Mutex::default(), Mutex::default());
        let slot = Arc::new(Slot { newest, counted, counts: Arc::clone(&self.counts) });
        slot.grow(SLOT_BYTES + topic.len());
        self.slots.insert(topic.into(), Arc::clone(&slot));
        Some(slot)
    }

    /// Up to `most` values that changed after this change.
    ///
    /// A value that changes during the call may be in this answer and in the next one; no change is left out.
    pub fn changed_after(&self, change: u64, most: usize) -> ValueChanges {
        let now = self.counts.changes.load(Ordering::Relaxed);
        let mut changed: Vec<_> = self
            .slots
            .iter()
            .map(|(topic, slot)| (slot.lock().change, topic, slot))
            .filter(|(at, ..)| *at > change)
            .collect();
        changed.sort_unstable_by_key(|(at, ..)| *at);
        let is_whole = changed.len() <= most;
        changed.truncate(most);
        let last = changed.last().map_or(change, |(at, ..)| now.min(*at));
        let newest =
            changed.into_iter().map(|(_, topic, slot)| (topic.clone(), slot.lock().clone()));
        ValueChanges { values: newest.collect(), through: if is_whole { now } else { last } }
    }

    /// The newest message of a topic; None if there was none.
    pub fn newest(&self, topic: &str) -> Option<NewestValue> {
        let newest = self.slots.get(topic)?.lock().clone();
        (newest.count > 0).then_some(newest)
    }

    /// The number of topics that have a value.
    pub fn len(&self) -> usize {
        self.counts.topics.load(Ordering::Relaxed)
    }

    /// Whether no topic has a value.
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
        let ValueChanges { values: changed, through } = values.changed_after(0, 10);
        let shown: Vec<_> =
            changed.iter().map(|(topic, newest)| (&**topic, &newest.payload[..])).collect();
        assert_eq!(shown, [("fuel", &b"2"[..]), ("rpm", &b"3"[..])]);
        assert!(values.changed_after(through, 10).values.is_empty());
        assert_eq!(changed[1].1.count, 2);
    }

    #[test]
    fn the_next_answer_continues_after_a_short_one() {
        let mut values = Values::default();
        for topic in ["a", "b", "c"] {
            values.slot(topic, 10).unwrap().set(b"x", 0);
        }
        let first = values.changed_after(0, 2);
        let rest = values.changed_after(first.through, 2).values;
        assert_eq!((first.values.len(), rest.len(), &*rest[0].0), (2, 1, "c"));
    }

    #[test]
    fn with_all_slots_taken_a_new_topic_gets_none_and_the_others_keep_theirs() {
        let mut values = Values::default();
        assert!(values.slot("a", 1).is_some());
        assert!(values.slot("b", 1).is_none());
        assert!(values.slot("a", 1).is_some());
    }

    #[test]
    fn a_topic_counts_only_with_a_value() {
        let mut values = Values::default();
        let rpm = values.slot("rpm", 10).unwrap();
        let _frames = values.slot("a topic of frames", 10).unwrap();
        assert!(values.is_empty());
        rpm.set(b"1", 1);
        rpm.set(b"2", 2);
        assert_eq!(values.len(), 1);
    }

    #[test]
    fn of_a_long_payload_the_beginning_and_the_length_are_kept() {
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
