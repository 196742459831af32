//! How often an address connects, and how often it fails to prove a name. Bounded: counts of one window of time, which
//! are forgotten when it ends.

use std::collections::HashMap;
use std::sync::Mutex;

use slipring_core::{Millis, Owner};

use crate::locks::lock;

/// Addresses, or addresses with a name, that are counted each for itself; the others share one count.
const KEYS_MAX: usize = 10_000;
const SECOND_MS: Millis = 1_000;
const MINUTE_MS: Millis = 60_000;

/// Attempts of all addresses.
#[derive(Debug)]
pub(crate) struct Attempts {
    // Locks: taken for a moment when a client connects, or fails to prove its name.
    connects: Mutex<WindowCounts<Owner>>,
    wrong: Mutex<WindowCounts<(Owner, Box<str>)>>,
}

impl Default for Attempts {
    fn default() -> Self {
        let (second, minute) = (WindowCounts::new(SECOND_MS), WindowCounts::new(MINUTE_MS));
        Self { connects: Mutex::new(second), wrong: Mutex::new(minute) }
    }
}

impl Attempts {
    /// Counts a connection. Returns whether its address has opened at most so many in this second; 0 is no bound.
    pub fn may_connect(&self, address: &str, most: usize, now_ms: Millis) -> bool {
        most == 0 || lock(&self.connects).add(Owner::of(None, address), now_ms) <= most
    }

    /// Counts a wrong proof of a name; an empty name if the client did not say one.
    pub fn note_wrong(&self, address: &str, name: &str, now_ms: Millis) {
        lock(&self.wrong).add((Owner::of(None, address), name.into()), now_ms);
    }

    /// Whether an address has given so many wrong proofs of a name in this minute; 0 is no bound.
    pub fn are_too_many(&self, address: &str, name: &str, most: usize, now_ms: Millis) -> bool {
        let key = (Owner::of(None, address), name.into());
        most > 0 && lock(&self.wrong).count(&key, now_ms) >= most
    }
}

/// Counts of one window of time.
#[derive(Debug)]
struct WindowCounts<K> {
    window_ms: Millis,
    begun_ms: Millis,
    counts: HashMap<K, usize>,
    others: usize,
}

impl<K: Eq + std::hash::Hash> WindowCounts<K> {
    fn new(window_ms: Millis) -> Self {
        Self { window_ms, begun_ms: 0, counts: HashMap::new(), others: 0 }
    }

    fn follow(&mut self, now_ms: Millis) {
        if now_ms >= self.begun_ms + self.window_ms {
            self.begun_ms = now_ms;
            self.counts.clear();
            self.others = 0;
        }
    }

    /// Counts one more; how many that are.
    fn add(&mut self, key: K, now_ms: Millis) -> usize {
        self.follow(now_ms);
        let has_room = self.counts.len() < KEYS_MAX || self.counts.contains_key(&key);
        let count = if has_room { self.counts.entry(key).or_default() } else { &mut self.others };
        *count += 1;
        *count
    }

    fn count(&mut self, key: &K, now_ms: Millis) -> usize {
        self.follow(now_ms);
        let is_full = self.counts.len() >= KEYS_MAX;
        self.counts.get(key).copied().unwrap_or(if is_full { self.others } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_connects_so_often_in_a_second_whatever_its_port() {
        let attempts = Attempts::default();
        for port in 1..=3 {
            assert!(attempts.may_connect(&format!("192.0.2.1:{port}"), 3, 5_000));
        }
        assert!(!attempts.may_connect("192.0.2.1:4", 3, 5_999));
        assert!(attempts.may_connect("192.0.2.2:4", 3, 5_999), "another address");
        assert!(attempts.may_connect("192.0.2.1:5", 3, 6_000), "the next second");
        assert!(attempts.may_connect("192.0.2.1:6", 0, 6_000), "no bound");
    }

    #[test]
    fn wrong_proofs_count_for_an_address_and_a_name() {
        let attempts = Attempts::default();
        for _ in 0..2 {
            assert!(!attempts.are_too_many("192.0.2.1:1", "anna", 2, 100_000));
            attempts.note_wrong("192.0.2.1:1", "anna", 100_000);
        }
        assert!(attempts.are_too_many("192.0.2.1:9", "anna", 2, 159_999));
        assert!(!attempts.are_too_many("192.0.2.1:9", "berta", 2, 159_999));
        assert!(!attempts.are_too_many("192.0.2.2:9", "anna", 2, 159_999));
        assert!(!attempts.are_too_many("192.0.2.1:9", "anna", 2, 160_000));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_the_others_share_a_count() {
        let mut counts = WindowCounts::new(SECOND_MS);
        for key in 0..KEYS_MAX + 5 {
            counts.add(key, 1_000);
        }
        assert_eq!((counts.counts.len(), counts.others), (KEYS_MAX, 5));
        assert_eq!(counts.count(&(KEYS_MAX + 9), 1_000), 5);
        assert_eq!(counts.count(&0, 1_000), 1);
    }
}
