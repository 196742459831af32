//! How often an address connects, and how often it fails to prove a name. Bounded: counts of one window of time, which
//! are forgotten when it ends. Never does who fills them shut out others.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

use slipring_core::{Millis, Owner};

use crate::locks::lock;

/// Addresses that are counted each for itself; the others share [`CELLS`] counts.
const ADDRESSES_MAX: usize = 10_000;
/// Names of one address that are counted each for itself; its others share one count. So who guesses many names shuts
/// out nobody at another address.
const NAMES_MAX: usize = 256;
/// Names of all addresses that are counted each for itself.
const ALL_NAMES_MAX: usize = 100_000;
/// Counts of the addresses that have none of their own: which one an address has is a secret of this process.
const CELLS: usize = 1 << 16;
const SECOND_MS: Millis = 1_000;
const MINUTE_MS: Millis = 60_000;

/// Attempts of all addresses.
#[derive(Debug)]
pub(crate) struct Attempts {
    // Locks: taken for a moment when a client connects, or fails to prove its name.
    connects: Mutex<WindowCounts>,
    wrong: Mutex<WindowCounts>,
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
        most == 0 || lock(&self.connects).add(Owner::of(None, address), "", now_ms) <= most
    }

    /// Counts a wrong proof of a name; an empty name if the client did not say one.
    pub fn note_wrong(&self, address: &str, name: &str, now_ms: Millis) {
        lock(&self.wrong).add(Owner::of(None, address), name, now_ms);
    }

    /// Whether an address has given so many wrong proofs of a name in this minute; 0 is no bound.
    pub fn are_too_many(&self, address: &str, name: &str, most: usize, now_ms: Millis) -> bool {
        let is_bounded = most > 0;
        is_bounded && lock(&self.wrong).count(&Owner::of(None, address), name, now_ms) >= most
    }
}

/// Counts of one window of time, by address and name.
#[derive(Debug)]
struct WindowCounts {
    window_ms: Millis,
    begun_ms: Millis,
    addresses: HashMap<Owner, AddressCounts>,
    /// Names in `addresses`.
    names: usize,
    /// Counts of further addresses; empty while there are none.
    cells: Vec<usize>,
    hasher: RandomState,
}

/// Counts of one address. Names are kept as hashes: a client chooses how long they are.
#[derive(Debug, Default)]
struct AddressCounts {
    names: HashMap<u64, usize>,
    others: usize,
}

impl WindowCounts {
    fn new(window_ms: Millis) -> Self {
        Self {
            window_ms,
            begun_ms: 0,
            addresses: HashMap::new(),
            names: 0,
            cells: Vec::new(),
            hasher: RandomState::new(),
        }
    }

    fn follow(&mut self, now_ms: Millis) {
        if now_ms >= self.begun_ms + self.window_ms {
            self.begun_ms = now_ms;
            self.addresses.clear();
            self.names = 0;
            self.cells.clear();
        }
    }

    /// Counts one more; how many that are.
    fn add(&mut self, address: Owner, name: &str, now_ms: Millis) -> usize {
        self.follow(now_ms);
        let has_room = self.addresses.len() < ADDRESSES_MAX;
        if !has_room && !self.addresses.contains_key(&address) {
            let cell = self.cell(&address, name);
            self.cells.resize(CELLS, 0);
            self.cells[cell] += 1;
            return self.cells[cell];
        }
        let counts = self.addresses.entry(address).or_default();
        let key = self.hasher.hash_one(name);
        let has_room = counts.names.len() < NAMES_MAX && self.names < ALL_NAMES_MAX;
        let count = match counts.names.get_mut(&key) {
            Some(count) => count,
            None if has_room => {
                self.names += 1;
                counts.names.entry(key).or_default()
            }
            None => &mut counts.others,
        };
        *count += 1;
        *count
    }

    fn count(&mut self, address: &Owner, name: &str, now_ms: Millis) -> usize {
        self.follow(now_ms);
        match self.addresses.get(address) {
            Some(counts) => {
                counts.names.get(&self.hasher.hash_one(name)).copied().unwrap_or(counts.others)
            }
            None => self.cells.get(self.cell(address, name)).copied().unwrap_or(0),
        }
    }

    fn cell(&self, address: &Owner, name: &str) -> usize {
        (self.hasher.hash_one((address, name)) % CELLS as u64) as usize
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
    fn what_is_remembered_is_bounded() {
        let mut counts = WindowCounts::new(SECOND_MS);
        let address = |number: usize| Owner::named(&number.to_string());
        for number in 0..ADDRESSES_MAX + 5 {
            counts.add(address(number), "", 1_000);
        }
        assert_eq!((counts.addresses.len(), counts.cells.len()), (ADDRESSES_MAX, CELLS));
        for name in 0..2 * NAMES_MAX {
            counts.add(address(0), &name.to_string(), 1_000);
        }
        assert_eq!(counts.addresses[&address(0)].names.len(), NAMES_MAX);
        assert_eq!(counts.count(&address(0), "", 1_000), 1);
        assert_eq!(counts.count(&address(ADDRESSES_MAX), "", 1_000), 1);
        assert_eq!(counts.count(&address(0), "", 2_000), 0, "the next second");
    }

    #[test]
    fn who_guesses_many_names_shuts_nobody_else_out() {
        let attempts = Attempts::default();
        for name in 0..2 * ADDRESSES_MAX {
            attempts.note_wrong("192.0.2.1:1", &format!("name-{name}"), 100_000);
        }
        assert!(!attempts.are_too_many("192.0.2.2:1", "anna", 3, 100_000));
        assert!(attempts.are_too_many("192.0.2.1:1", "anna", 3, 100_000), "but itself");
    }

    #[test]
    fn many_addresses_that_guess_shut_nobody_else_out() {
        let attempts = Attempts::default();
        for number in 0..2 * ADDRESSES_MAX {
            let address = format!("10.0.{}.{}:1", number >> 8, number & 255);
            attempts.note_wrong(&address, "anna", 100_000);
            assert!(attempts.may_connect(&address, 5, 100_000));
        }
        let is_refused = |number| {
            let address = format!("[2001:db8:0:{number:x}::1]:1");
            attempts.are_too_many(&address, "anna", 5, 100_000)
                || !attempts.may_connect(&address, 8, 100_000)
        };
        let refused = (0..100).filter(|number| is_refused(*number)).count();
        assert!(refused < 5, "{refused} of 100 bystanders are refused");
    }
}
