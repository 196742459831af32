//! A message on its way through the simulated domain, and the laws about it.

use std::collections::{BTreeMap, BTreeSet};

/// A message, and what has become of it.
#[derive(Debug)]
pub struct SimulatedMessage {
    pub topic: &'static str,
    pub origin: usize,
    pub published_ms: u64,
    /// Whether all brokers agreed on the links when it was published.
    pub is_calm: bool,
    /// Brokers whose interest in it was known everywhere when it was published.
    pub expected: BTreeSet<usize>,
    /// How often each life of a broker took it.
    pub taken: BTreeMap<(usize, u64), usize>,
    /// How often it crossed each link, by the sender's life.
    crossings: BTreeMap<(usize, usize, u64), usize>,
    senders: BTreeSet<usize>,
}

impl SimulatedMessage {
    pub fn new(topic: &'static str, origin: usize, published_ms: u64) -> Self {
        Self {
            topic,
            origin,
            published_ms,
            is_calm: false,
            expected: BTreeSet::new(),
            taken: BTreeMap::new(),
            crossings: BTreeMap::new(),
            senders: BTreeSet::new(),
        }
    }

    /// A broker sends it over a link; says what is wrong with that.
    pub fn cross(&mut self, link: usize, sender: usize, life: u64) -> Option<String> {
        self.senders.insert(sender);
        let times = self.crossings.entry((link, sender, life)).or_default();
        *times += 1;
        (*times > 1).then(|| format!("{sender} sent a message over link {link} {times} times"))
    }

    /// A broker takes it; says what is wrong with that.
    pub fn take(&mut self, broker: usize, life: u64) -> Option<String> {
        let times = self.taken.entry((broker, life)).or_default();
        *times += 1;
        (*times > 1).then(|| format!("{broker} took a message {times} times"))
    }

    pub fn was_taken_by(&self, broker: usize) -> bool {
        self.taken.keys().any(|(taker, _)| *taker == broker)
    }

    /// Links that it crossed more than once.
    pub fn crossed_again(&self) -> Option<usize> {
        let mut by_link: BTreeMap<usize, usize> = BTreeMap::new();
        for ((link, _, _), times) in &self.crossings {
            *by_link.entry(*link).or_default() += times;
        }
        by_link.into_iter().find(|(_, times)| *times > 1).map(|(link, _)| link)
    }

    /// Brokers that took it and did not pass it on.
    pub fn ends(&self) -> impl Iterator<Item = usize> {
        let takers = self.taken.keys().map(|(taker, _)| *taker);
        takers.filter(|taker| !self.senders.contains(taker))
    }
}
