//! Counters: of one client, of a topic prefix, of the whole broker, and of limits reached.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use slipring_core::{Limit, Taken};

use crate::locks::lock;
use crate::status::PrefixTraffic;

/// Topic prefixes with counters of their own; later ones share one.
const PREFIXES_MAX: usize = 1_000;
/// Levels of a prefix.
const PREFIX_LEVELS: usize = 2;
/// The name of the shared counter.
const OTHER: &str = "(other)";

/// Counters of one client, or of all.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    pub messages_in: AtomicU64,
    pub bytes_in: AtomicU64,
    pub messages_out: AtomicU64,
    pub bytes_out: AtomicU64,
    pub dropped: AtomicU64,
    pub expired: AtomicU64,
    /// Samples of parameters that the table took.
    pub samples_in: AtomicU64,
}

impl Traffic {
    pub fn received(&self, messages: u64, samples: u64, bytes: u64) {
        self.messages_in.fetch_add(messages, Relaxed);
        self.samples_in.fetch_add(samples, Relaxed);
        self.bytes_in.fetch_add(bytes, Relaxed);
    }

    pub fn sent(&self, taken: Taken, bytes: u64) {
        self.messages_out.fetch_add(taken.messages, Relaxed);
        self.bytes_out.fetch_add(bytes, Relaxed);
        if taken.expired > 0 {
            self.expired.fetch_add(taken.expired, Relaxed);
        }
    }
}

/// Counters of the topics below one prefix.
#[derive(Debug, Default)]
pub(crate) struct Prefix {
    pub messages: AtomicU64,
    pub bytes: AtomicU64,
    pub deliveries: AtomicU64,
}

/// Messages of one publisher below one prefix that are not in its counters yet.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    prefix: Option<Arc<Prefix>>,
    messages: u64,
    bytes: u64,
    deliveries: u64,
}

impl Tally {
    /// Adds one message; messages of one prefix in a row are counted together.
    #[inline]
    pub fn add(&mut self, prefix: &Arc<Prefix>, bytes: usize, deliveries: usize) {
        if !self.prefix.as_ref().is_some_and(|current| Arc::ptr_eq(current, prefix)) {
            self.flush();
            self.prefix = Some(Arc::clone(prefix));
        }
        self.messages += 1;
        self.bytes += bytes as u64;
        self.deliveries += deliveries as u64;
    }

    pub fn flush(&mut self) {
        let Some(prefix) = &self.prefix else { return };
        prefix.messages.fetch_add(std::mem::take(&mut self.messages), Relaxed);
        prefix.bytes.fetch_add(std::mem::take(&mut self.bytes), Relaxed);
        prefix.deliveries.fetch_add(std::mem::take(&mut self.deliveries), Relaxed);
    }
}

/// Traffic by topic prefix, bounded.
#[derive(Debug, Default)]
pub(crate) struct Prefixes {
    // A lock: taken when a publisher meets a topic, and when somebody looks.
    known: Mutex<HashMap<Box<str>, Arc<Prefix>>>,
}

impl Prefixes {
    /// The counters of a topic's prefix.
    pub fn of(&self, topic: &str) -> Arc<Prefix> {
        let end = topic.match_indices('/').nth(PREFIX_LEVELS - 1).map_or(topic.len(), |(at, _)| at);
        let mut known = lock(&self.known);
        let full = known.len() >= PREFIXES_MAX && !known.contains_key(&topic[..end]);
        let name = if full { OTHER } else { &topic[..end] };
        Arc::clone(known.entry(name.into()).or_default())
    }

    /// The counters that all prefixes share which have none of their own.
    pub fn other(&self) -> Arc<Prefix> {
        Arc::clone(lock(&self.known).entry(OTHER.into()).or_default())
    }

    fn all(&self) -> Vec<(Box<str>, Arc<Prefix>)> {
        let known = lock(&self.known);
        known.iter().map(|(name, prefix)| (name.clone(), Arc::clone(prefix))).collect()
    }

    /// The busiest prefixes, the one with most messages first.
    pub fn busiest(&self, most: usize) -> Vec<PrefixTraffic> {
        let counted = |(prefix, counts): (Box<str>, Arc<Prefix>)| PrefixTraffic {
            prefix,
            messages: counts.messages.load(Relaxed),
            bytes: counts.bytes.load(Relaxed),
            deliveries: counts.deliveries.load(Relaxed),
        };
        let mut shown: Vec<_> = self.all().into_iter().map(counted).collect();
        shown.sort_unstable_by_key(|prefix| Reverse(prefix.messages));
        shown.truncate(most);
        shown
    }
}

/// How often each limit was reached.
#[derive(Debug)]
pub(crate) struct Reached([AtomicU64; Limit::ALL.len() + Limit::QUOTAS.len()]);

impl Default for Reached {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl Reached {
    pub fn count(&self, limit: Limit) {
        self.add(limit, 1);
    }

    pub fn add(&self, limit: Limit, times: u64) {
        self.0[limit as usize].fetch_add(times, Relaxed);
    }

    /// How often each limit was reached, by its name.
    pub fn all(&self) -> BTreeMap<&'static str, u64> {
        let times = |limit: Limit| self.0[limit as usize].load(Relaxed);
        Limit::every().map(|limit| (limit.name(), times(limit))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_two_levels_and_bounded() {
        let prefixes = Prefixes::default();
        prefixes.of("gripen/39-7/engine/rpm");
        prefixes.of("gripen/39-7/fuel");
        prefixes.of("gripen");
        for number in 0..PREFIXES_MAX {
            prefixes.of(&number.to_string());
        }
        let names: Vec<_> = prefixes.all().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), PREFIXES_MAX + 1);
        for name in ["gripen/39-7", "gripen", OTHER] {
            assert!(names.contains(&name.into()), "{name}");
        }
    }
}
