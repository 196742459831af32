//! What must hold in every history.

use std::collections::BTreeSet;

use super::history::{ANSWER_MS, topic_of};
use super::message::SimulatedMessage;
use super::world::{Happening, World};
use crate::{BrokerId, DomainEvent, MessageOrigin};

impl World {
    /// A message is published at a broker.
    pub fn publish(&mut self, at: usize, topic: &'static str) {
        let Some(domain) = &mut self.brokers[at].domain else { return };
        let published = domain.publish(topic);
        let mut message = SimulatedMessage::new(topic, at, self.now_ms);
        message.is_calm = self.is_calm();
        if message.is_calm {
            message.expected = self.part_of(at);
            message.expected.retain(|other| self.brokers[*other].is_known_to_want(topic));
            message.expected.remove(&at);
        }
        self.messages.insert(published.message, message);
        self.send(at, published.message, &published.next_hops);
        self.after(self.settling_ms(), Happening::Judge { message: published.message });
    }

    /// Looks at a message that has had time to arrive everywhere, if nothing disturbed it.
    pub fn judge(&mut self, id: MessageOrigin) {
        let Some(message) = self.messages.remove(&id) else { return };
        self.verdict.delivered += message.taken.len();
        if !message.is_calm || self.disturbed_ms >= message.published_ms {
            return;
        }
        let SimulatedMessage { topic, origin, published_ms, .. } = message;
        let mut broken = Vec::new();
        for other in &message.expected {
            let is_still_wanted = self.brokers[*other].unsubscribed_ms < published_ms;
            self.verdict.promised += usize::from(is_still_wanted);
            if is_still_wanted && !message.was_taken_by(*other) {
                broken.push(format!("{topic} of {origin} did not reach {other}"));
            }
        }
        if let Some(link) = message.crossed_again() {
            broken.push(format!("{topic} of {origin} crossed link {link} more than once"));
        }
        let is_settled = self.interest_ms + self.settling_ms() < published_ms && !self.is_narrow;
        let wants = |other: &usize| self.brokers[*other].wants(topic);
        if let Some(other) = message.ends().find(|other| is_settled && !wants(other)) {
            broken.push(format!("{topic} of {origin} reached {other}, where nobody wants it"));
        }
        self.verdict.broken.extend(broken);
    }

    /// An event of a broker. Somebody publishes at once where the interest is known: it must arrive.
    pub fn hear(&mut self, at: usize, event: &DomainEvent) {
        if matches!(event, DomainEvent::InterestUnanswered { .. }) && self.was_calm_while_waiting()
        {
            self.verdict
                .broken
                .push(format!("{at} was told that brokers did not answer: {event:?}"));
        }
        if matches!(event, DomainEvent::IdentityClash(_)) {
            self.verdict.broken.push(format!("{at} saw a clash: {event:?}"));
        }
        if matches!(event, DomainEvent::ImplausibleStart { .. }) {
            self.verdict.broken.push(format!("{at} took a record for forged: {event:?}"));
        }
        let Some(filter) = self.brokers[at].hear(event) else { return };
        if self.random.one_in(2) {
            let elsewhere = self.random.below(self.brokers.len());
            self.publish(elsewhere, topic_of(filter));
        }
    }

    fn was_calm_while_waiting(&self) -> bool {
        self.is_calm() && self.now_ms >= self.disturbed_ms + self.settling_ms() + ANSWER_MS
    }

    /// The brokers that links lead to from one, by what is really there.
    pub fn part_of(&self, at: usize) -> BTreeSet<usize> {
        let mut part = BTreeSet::from([at]);
        loop {
            let whole = self.links.iter().filter(|link| link.is_whole());
            let touching = whole.filter(|link| link.ends.iter().any(|end| part.contains(end)));
            let ends: BTreeSet<usize> = touching.flat_map(|link| link.ends).collect();
            let before = part.len();
            part.extend(ends);
            if part.len() == before {
                return part;
            }
        }
    }

    /// After a quiet time: brokers in reach of each other agree on everything.
    pub fn judge_agreement(&mut self) {
        for at in 0..self.brokers.len() {
            let part = self.part_of(at);
            let ids: BTreeSet<BrokerId> =
                part.iter().map(|other| self.brokers[*other].id).collect();
            let Some(domain) = &self.brokers[at].domain else { continue };
            let mut broken = Vec::new();
            if *domain.topology().reachable() != ids {
                let found = domain.topology().reachable();
                broken.push(format!("{at} thinks that {found:?} are in reach, and not {ids:?}"));
            }
            for other in part {
                let Some(there) = &self.brokers[other].domain else { continue };
                let own = there.known().own();
                if domain.known().get(own.id()) != Some(own) {
                    broken.push(format!("{at} does not know the newest record of {other}"));
                }
            }
            self.verdict.broken.extend(broken);
        }
    }
}
