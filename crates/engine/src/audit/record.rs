//! One record of the audit: its fields, how it follows from an event, and its JSON.

use std::sync::Arc;

use arc_swap::ArcSwap;
use serde::Serialize;
use slipring_core::access::{AccessPolicy, Identity, Right, Subject};
use slipring_core::{AuditKind, shortened};

use crate::event::{EventKind, Report};

/// What the topics of records begin with; the kind follows.
const TOPIC: &str = "$slipring/audit/";
/// Longer texts are cut to this.
const TEXT_BYTES_MAX: usize = 512;

/// A record of the audit. An empty text means that there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// When it happened, in nanoseconds since 1970.
    pub at_ns: i64,
    /// What happened.
    pub kind: AuditKind,
    /// The name that was proved; in a refusal the name that was claimed.
    pub user: String,
    /// The client identifier.
    pub client: String,
    /// Where the client connects from.
    pub address: String,
    /// The listener that it came by.
    pub listener: String,
    /// How the name was proved: a method, or which token.
    pub proof: String,
    /// The right that was needed.
    pub right: String,
    /// The topic, the filter, or the area of operators.
    pub topic: String,
    /// The index of the rule that decided; None if no rule did.
    pub rule: Option<usize>,
    /// `ok`, `refused` or another word for how it ended.
    pub outcome: String,
    /// Details for people. Never a password, a token or a payload.
    pub detail: String,
    /// How many it stands for.
    pub count: u64,
}

impl AuditRecord {
    /// A record without details.
    pub fn new(kind: AuditKind) -> Self {
        let none = String::new;
        Self {
            at_ns: 0,
            kind,
            user: none(),
            client: none(),
            address: none(),
            listener: none(),
            proof: none(),
            right: none(),
            topic: none(),
            rule: None,
            outcome: "ok".into(),
            detail: none(),
            count: 1,
        }
    }

    /// A record of so many that were not written.
    pub(super) fn lost(count: u64, at_ns: i64, detail: String) -> Self {
        Self { at_ns, count, outcome: "lost".into(), detail, ..Self::new(AuditKind::Lost) }
    }

    /// The same with long texts cut.
    pub(super) fn shortened(self) -> Self {
        let cut = |text: String| shortened(&text, TEXT_BYTES_MAX);
        Self {
            user: cut(self.user),
            client: cut(self.client),
            address: cut(self.address),
            listener: cut(self.listener),
            proof: cut(self.proof),
            right: cut(self.right),
            topic: cut(self.topic),
            outcome: cut(self.outcome),
            detail: cut(self.detail),
            ..self
        }
    }

    pub(super) fn topic(&self) -> String {
        format!("{TOPIC}{}", self.kind.name())
    }

    /// The payload of its message.
    pub(super) fn json(&self) -> Vec<u8> {
        let shown = ShownRecord {
            at_ns: self.at_ns,
            kind: self.kind.name(),
            user: text(&self.user),
            client: text(&self.client),
            address: text(&self.address),
            listener: text(&self.listener),
            proof: text(&self.proof),
            right: text(&self.right),
            topic: text(&self.topic),
            rule: self.rule,
            outcome: &self.outcome,
            detail: text(&self.detail),
            count: self.count,
        };
        serde_json::to_vec(&shown).unwrap_or_default()
    }
}

/// A record as its JSON has it.
#[derive(Serialize)]
struct ShownRecord<'a> {
    at_ns: i64,
    kind: &'static str,
    user: Option<&'a str>,
    client: Option<&'a str>,
    address: Option<&'a str>,
    listener: Option<&'a str>,
    proof: Option<&'a str>,
    right: Option<&'a str>,
    topic: Option<&'a str>,
    rule: Option<usize>,
    outcome: &'a str,
    detail: Option<&'a str>,
    count: u64,
}

fn text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// What is recorded of an event.
pub(super) fn kind_of(report: &Report<'_>) -> Option<AuditKind> {
    Some(match report.kind {
        EventKind::Connected => AuditKind::Connected,
        EventKind::Disconnected => AuditKind::Disconnected,
        EventKind::Refused => AuditKind::Refused,
        EventKind::Subscribed => match report.right {
            Some(Right::Select | Right::Stream) => AuditKind::Selected,
            _ => AuditKind::Subscribed,
        },
        EventKind::Read => AuditKind::Read,
        EventKind::Unauthorized => AuditKind::Denied,
        EventKind::QuotaReached => AuditKind::Quota,
        // The control plane records what it changes itself.
        EventKind::Budget if report.by.is_some() => AuditKind::Changed,
        _ => return None,
    })
}

fn outcome_of(kind: AuditKind) -> &'static str {
    match kind {
        AuditKind::Refused | AuditKind::Denied => "refused",
        AuditKind::Quota => "limited",
        _ => "ok",
    }
}

/// A record, and what it takes to find the rule that decided; the writer does that.
#[derive(Clone)]
pub(super) struct PendingRecord {
    pub record: AuditRecord,
    decision: Option<Decision>,
}

/// A question to the rights, as it was asked.
#[derive(Clone)]
struct Decision {
    policy: Arc<AccessPolicy>,
    identity: Arc<Identity>,
    right: Right,
    /// The client and the topic, if the record has only their beginnings.
    whole: Option<Box<(String, String)>>,
}

impl PendingRecord {
    pub fn of(record: AuditRecord) -> Self {
        Self { record, decision: None }
    }

    /// Its memory, about.
    pub fn bytes(&self) -> usize {
        let AuditRecord { user, client, address, listener, proof, topic, detail, .. } =
            &self.record;
        let texts = [user, client, address, listener, proof, topic, detail];
        let whole = self.decision.as_ref().and_then(|decision| decision.whole.as_deref());
        let whole = whole.map_or(0, |(client, topic)| client.len() + topic.len());
        size_of::<Self>() + whole + texts.map(String::len).iter().sum::<usize>()
    }

    pub fn new(
        kind: AuditKind,
        at_ns: i64,
        report: &Report<'_>,
        policy: &ArcSwap<AccessPolicy>,
        listeners: &[String],
    ) -> Self {
        let mut record = AuditRecord {
            at_ns,
            client: report.client.to_owned(),
            topic: report.topic.to_owned(),
            right: report.right.map_or_else(String::new, |right| right.name().to_owned()),
            outcome: outcome_of(kind).to_owned(),
            detail: report.detail.to_string(),
            ..AuditRecord::new(kind)
        };
        let mut decision = None;
        if let Some(by) = report.by {
            record.address.clone_from(&by.origin.address);
            record.listener = listeners.get(by.origin.listener).cloned().unwrap_or_default();
            by.proven().unwrap_or_default().clone_into(&mut record.user);
            record.proof = by.proof_text();
            let policy = policy.load();
            if let (Some(right), true) = (report.right, policy.is_enforced()) {
                let is_cut = record.topic.len().max(record.client.len()) > TEXT_BYTES_MAX;
                let whole = || Box::new((record.client.clone(), record.topic.clone()));
                let whole = is_cut.then(whole);
                let (policy, identity) = (Arc::clone(&policy), Arc::clone(by.identity()));
                decision = Some(Decision { policy, identity, right, whole });
            }
        }
        if kind == AuditKind::Refused {
            let claimed = report.by.and_then(|by| by.claimed());
            let address = report.by.map_or(report.client, |by| &by.origin.address);
            address.clone_into(&mut record.address);
            (record.user, record.client) = claimed.cloned().unwrap_or_default();
        }
        Self { record: record.shortened(), decision }
    }

    /// The record with the rule that decided.
    pub fn decided(self) -> AuditRecord {
        let Some(decision) = self.decision else { return self.record };
        let Decision { policy, identity, right, whole } = decision;
        let whole = whole.as_deref().map(|(client, topic)| (&**client, &**topic));
        let (client_id, topic) = whole.unwrap_or((&self.record.client, &self.record.topic));
        let subject = Subject { identity: &identity, client_id };
        let rule = policy.decide(subject, right, topic).rule;
        AuditRecord { rule, ..self.record }
    }
}
