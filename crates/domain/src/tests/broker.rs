//! A simulated broker: its domain, while it runs, and the subscriptions of its clients.

use std::collections::BTreeMap;

use crate::strategies_tests::broker;
use crate::{
    BrokerDescription, BrokerId, Domain, DomainEvent, DomainSettings, SubscriptionToken, WantedRate,
};

#[derive(Debug)]
pub struct SimulatedBroker {
    pub id: BrokerId,
    /// None while it is down.
    pub domain: Option<Domain>,
    /// Which start it is.
    pub start: u64,
    /// When the driver has its next turn.
    pub turn_ms: Option<u64>,
    /// When the last subscription ended.
    pub unsubscribed_ms: u64,
    settings: DomainSettings,
    subscriptions: BTreeMap<SubscriptionToken, SimulatedSubscription>,
}

#[derive(Clone, Copy, Debug)]
struct SimulatedSubscription {
    filter: &'static str,
    rate: WantedRate,
    is_known: bool,
}

impl SimulatedSubscription {
    fn matches(&self, topic: &str) -> bool {
        let filter = self.filter.strip_prefix("$share/g/").unwrap_or(self.filter);
        slipring_wire::matches(filter, topic)
    }
}

impl SimulatedBroker {
    pub fn new(number: usize, settings: DomainSettings) -> Self {
        let mut broker = Self {
            // Identities in another order than the places in the graph.
            id: broker((number * 37 + 11) as u8),
            domain: None,
            start: 0,
            turn_ms: None,
            unsubscribed_ms: 0,
            settings,
            subscriptions: BTreeMap::new(),
        };
        broker.start();
        broker
    }

    pub fn start(&mut self) {
        self.start += 1;
        let description = BrokerDescription::default();
        self.domain = Some(Domain::new(self.id, self.start, description, self.settings));
    }

    pub fn stop(&mut self) {
        self.domain = None;
        self.turn_ms = None;
        self.subscriptions.clear();
    }

    pub fn subscribe(&mut self, filter: &'static str, rate: WantedRate, now_ms: u64) {
        let Some(domain) = &mut self.domain else { return };
        let token = domain.subscribe(filter, rate, now_ms).expect("few wait");
        let subscription = SimulatedSubscription { filter, rate, is_known: false };
        self.subscriptions.insert(token, subscription);
    }

    /// Ends the subscription that a number chooses.
    pub fn unsubscribe(&mut self, choice: usize, now_ms: u64) {
        let Some(domain) = &mut self.domain else { return };
        let Some(token) = self.subscriptions.keys().nth(choice).copied() else { return };
        if let Some(one) = self.subscriptions.remove(&token) {
            domain.unsubscribe(one.filter, one.rate, now_ms);
            self.unsubscribed_ms = now_ms;
        }
    }

    pub fn subscriptions(&self) -> usize {
        self.subscriptions.len()
    }

    pub fn hear(&mut self, event: &DomainEvent) -> Option<&'static str> {
        let DomainEvent::InterestKnown { token } = event else { return None };
        let known = self.subscriptions.get_mut(token)?;
        known.is_known = true;
        Some(known.filter)
    }

    pub fn wants(&self, topic: &str) -> bool {
        self.subscriptions.values().any(|one| one.matches(topic))
    }

    /// Whether somebody wants the topic, and was told that all in reach know it.
    pub fn is_known_to_want(&self, topic: &str) -> bool {
        self.subscriptions.values().any(|one| one.is_known && one.matches(topic))
    }
}
