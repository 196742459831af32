//! The verdict on a history: what the broker promised, and which promises it broke.

use std::collections::BTreeMap;
use std::fmt;

use slipring_wire::QoS;

use crate::absentee::Absentee;
use crate::claimer::Claimer;
use crate::leaver::Leaver;
use crate::publisher::{Publisher, has_retry, qos_of};
use crate::server::Server;
use crate::subscriber::Subscriber;

/// Counts of what happened in a history, and the broken promises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Messages acknowledged.
    pub acknowledged: usize,
    /// Messages delivered, over all subscribers.
    pub delivered: usize,
    /// Messages refused, which promises nothing.
    pub refused: usize,
    /// QoS 1 messages delivered more than once, which MQTT allows after a crash.
    pub repeated: usize,
    /// Messages that waited, and were claimed.
    pub claimed: usize,
    /// Requests that ended, and those of them that were answered.
    pub requests: usize,
    /// Requests that were answered.
    pub answered: usize,
    /// Sessions whose end was confirmed.
    pub ends: usize,
    /// Sessions that ended in their client's absence.
    pub expired: usize,
    /// Delayed wills that were due.
    pub wills: usize,
    /// How often the broker ended.
    pub crashes: usize,
    /// Every broken promise, in words.
    pub broken: Vec<String>,
}

impl Verdict {
    pub(crate) fn on(
        publishers: &[Publisher],
        subscribers: &[Subscriber],
        journaled: &[(String, Vec<u8>)],
        crashes: usize,
    ) -> Self {
        let mut verdict = Self { crashes, ..Self::default() };
        let mut in_journal: BTreeMap<(&str, u64), usize> = BTreeMap::new();
        for (topic, payload) in journaled {
            let number = <[u8; 8]>::try_from(&payload[..]).map_or(u64::MAX, u64::from_be_bytes);
            *in_journal.entry((topic, number)).or_default() += 1;
        }
        for ((topic, number), times) in &in_journal {
            if qos_of(*number) == QoS::ExactlyOnce && *times > 1 {
                verdict.broken.push(format!("{topic} {number} is {times} times in the journal"));
            }
        }
        for publisher in publishers {
            verdict.acknowledged += publisher.acknowledged.len();
            verdict.refused += publisher.refused.len();
            let topic = publisher.topic();
            for number in &publisher.acknowledged {
                if !in_journal.contains_key(&(&*topic, *number)) {
                    verdict.broken.push(format!("{topic} {number} is not in the journal"));
                }
                for (at, subscriber) in subscribers.iter().enumerate() {
                    if !subscriber.received.has(&topic, *number) {
                        verdict.broken.push(format!("{topic} {number} was lost to {at}"));
                    }
                }
            }
        }
        for (at, subscriber) in subscribers.iter().enumerate() {
            verdict.hear(at, subscriber);
        }
        verdict
    }

    fn hear(&mut self, at: usize, subscriber: &Subscriber) {
        if subscriber.forgotten {
            self.broken.push(format!("the session of {at} was forgotten"));
        }
        for ((topic, number), times) in &subscriber.received.messages {
            self.delivered += 1;
            match (qos_of(*number), times) {
                (_, 1) => {}
                (QoS::ExactlyOnce, times) => {
                    self.broken.push(format!("{topic} {number} came {times} times to {at}"));
                }
                _ => self.repeated += 1,
            }
        }
    }

    /// Checks that all claimers together get each QoS 2 message at most once. Nobody gets a message if a crash comes
    /// between its claim and its delivery.
    pub(crate) fn hear_claimers(&mut self, claimer: &Claimer) {
        for ((topic, number), times) in &claimer.received.messages {
            self.claimed += 1;
            if qos_of(*number) == QoS::ExactlyOnce && *times > 1 {
                self.broken.push(format!("{topic} {number} was claimed {times} times"));
            }
        }
    }

    /// Checks that every request which was accepted ended, at QoS 2 once, and that one without a retry was computed at
    /// most once.
    pub(crate) fn hear_asker(&mut self, asker: &Publisher, servers: &[Server]) {
        let Some(ends) = &asker.ends else { return };
        for number in asker.acknowledged.iter().filter(|number| !ends.told.contains_key(number)) {
            self.broken.push(format!("request {number} has no end"));
        }
        for (number, told) in &ends.told {
            self.requests += 1;
            self.answered += usize::from(told.iter().any(|status| status == "answered"));
            if qos_of(*number) == QoS::ExactlyOnce && told.len() != 1 {
                self.broken.push(format!("request {number} ended with {told:?}"));
            }
            let computed: u32 = servers.iter().filter_map(|one| one.computed.get(number)).sum();
            let is_single = qos_of(*number) == QoS::ExactlyOnce && !has_retry(*number);
            if is_single && computed > 1 {
                self.broken.push(format!("request {number} was computed {computed} times"));
            }
        }
    }

    pub(crate) fn hear_leaver(&mut self, leaver: Leaver) {
        self.ends += leaver.ends;
        self.broken.extend(leaver.broken);
    }

    pub(crate) fn hear_absentee(&mut self, absentee: Absentee) {
        self.expired += absentee.expired;
        self.wills += absentee.wills();
        self.broken.extend(absentee.broken);
    }

    /// Adds another verdict to this one.
    pub fn add(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.delivered += other.delivered;
        self.refused += other.refused;
        self.repeated += other.repeated;
        self.claimed += other.claimed;
        self.requests += other.requests;
        self.answered += other.answered;
        self.ends += other.ends;
        self.expired += other.expired;
        self.wills += other.wills;
        self.crashes += other.crashes;
        self.broken.extend(other.broken);
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { acknowledged, delivered, refused, repeated, claimed, .. } = self;
        let Self { requests, answered, ends, expired, wills, crashes, broken, .. } = self;
        write!(
            out,
            "{crashes} crashes, {acknowledged} acknowledged, {delivered} delivered, {repeated} of \
             them again at QoS 1, {claimed} claimed, {refused} refused, {requests} requests ended, \
             {answered} of them answered, {ends} sessions ended, \
             {expired} expired, {wills} wills, {} promises broken",
            broken.len()
        )
    }
}
