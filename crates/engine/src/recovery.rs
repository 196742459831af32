//! Restores sessions, wills, retained and waiting messages, the table and the streams from the journal when
//! the broker starts.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use slipring_core::desk::Desk as _;
use slipring_core::ledger::{KeptRetained, KeptSession, RetainedMessage};
use slipring_core::streams::Streams;
use slipring_core::table::{Current, Registry, Table};
use slipring_core::{
    JournalPlace, Message, Millis, Outgoing, Owner, Plan, Session, SessionKey, Stored,
};
use slipring_journal::Damage;

use crate::broker::Broker;
use crate::client::Client;
use crate::history::JournalState;
use crate::requests::restoring;
use crate::streams::SharedStreams;
use crate::table::SharedTable;
use crate::waiting;

/// What was restored when the broker started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Sessions, whose clients are all away.
    pub sessions: usize,
    /// Messages that are queued for them.
    pub queued: usize,
    /// Retained messages.
    pub retained: usize,
    /// Messages that wait for their first subscriber.
    pub waiting: usize,
    /// Requests that are not over.
    pub requests: usize,
    /// Parts of the journal that could not be read.
    pub damage: Vec<Damage>,
    /// Records that are malformed, and a snapshot that could not be used.
    pub flaws: Vec<String>,
    /// How long the recovery took.
    pub took: Duration,
}

/// The table, and the streams.
pub(crate) type Tables = (SharedTable, SharedStreams);

/// The table and the streams that the journal describes, or new ones.
pub(crate) fn tables(state: Option<&JournalState>, plan: &Plan, now_ms: Millis) -> Tables {
    let catalog = state.map(|state| state.ledger.streams().clone()).unwrap_or_default();
    let run = RandomState::new().hash_one(1) as u32;
    (SharedTable::new(table(state, plan, now_ms)), SharedStreams::new(Streams::new(catalog, run)))
}

/// The table that the journal describes, or a new one.
fn table(state: Option<&JournalState>, plan: &Plan, now_ms: Millis) -> Table {
    let kept = state.and_then(|state| state.ledger.table());
    let registry = match kept {
        Some(entries) => Registry::restore(entries.clone()),
        // A random number, so that frames with the indices of another table are refused.
        None => Registry::new((RandomState::new().hash_one(0) as u32).max(1)),
    };
    let current = state.map_or_else(Current::default, |state| {
        state.ledger.restored_values(now_ms, plan.limits.parameter_bytes)
    });
    Table::new(registry, current, plan)
}

impl Broker {
    /// Restores what the journal describes. No client is connected yet.
    pub fn recover(&self, state: JournalState) -> Recovered {
        let JournalState { ledger, damage, flaws, .. } = state;
        self.sessions.skip_keys(ledger.highest_session());
        let mut recovered = Recovered { damage, flaws, ..Recovered::default() };
        for (topic, kept) in ledger.retained() {
            let message = kept.message(topic);
            recovered.retained += usize::from(self.restore_retained(kept, message));
        }
        for (session, kept) in ledger.sessions() {
            let (client, queued) = self.restore_session(session, kept, ledger.newest_ns());
            recovered.queued += queued;
            recovered.sessions += usize::from(client);
        }
        if let Some(journal) = self.journal.get() {
            recovered.waiting = waiting::restore(self, &mut journal.reader(), ledger.waiting());
            recovered.requests = restoring::restore(self, &mut journal.reader(), ledger.requests());
            self.judge_restored_requests();
        }
        recovered
    }

    /// Ends requests that their askers may not make any more, and takes them from services that may not serve them: rules
    /// may have changed since the last run.
    fn judge_restored_requests(&self) {
        if self.plan.load().access.is_enforced() {
            for client in self.sessions.clients() {
                self.judge_requests(client.key, &client.rights(&self.plan));
            }
        }
    }

    /// Restores a retained message; false if it has expired, or there is no more room for it.
    fn restore_retained(&self, kept: &KeptRetained, message: RetainedMessage<'_>) -> bool {
        let plan = self.plan.load();
        let RetainedMessage { topic, qos, properties, payload } = message;
        let place = JournalPlace { offset: kept.offset, durability: plan.durability_of(topic) };
        let age_ms = self.clock.age_ms(kept.receive_ns);
        let owner = kept.owner.clone().unwrap_or_else(|| Owner::unknown(None));
        let stored = Stored { topic, properties, payload, qos, retain: true, place, age_ms };
        let Ok(message) = Message::restored(&stored, self.clock.now_ms()) else { return false };
        let expired = message.is_expired(self.clock.now_ms());
        let limits = plan.limits.undivided();
        !expired && self.topics.retained().set(Arc::new(message), &owner, &limits).is_ok()
    }

    /// Restores a session. Returns whether it is kept, and how many messages are queued for it. One that is not
    /// kept ends at once, with its will.
    fn restore_session(
        &self,
        key: SessionKey,
        kept: &KeptSession,
        newest_ns: i64,
    ) -> (bool, usize) {
        let plan = self.plan.load();
        let level = plan.durability.highest();
        let outgoing = if kept.expiry_s > 0 {
            Outgoing::restore(&plan.limits, key, level, kept)
        } else {
            Outgoing::new(&plan.limits)
        };
        let (queued, _) = outgoing.waiting();
        let user = kept.user.as_deref();
        let owner = kept.owner.clone().unwrap_or_else(|| Owner::unknown(user));
        let identity = Arc::new(kept.identity());
        let client = Client::new(key, &kept.client_id, user, &owner, identity, outgoing);
        let client = Arc::new(client);
        let left_ns = kept.left_ns.unwrap_or(newest_ns);
        let away_ms = self.clock.age_ms(left_ns);
        let mut state = client.state();
        state.session = Session::restore(kept);
        client.note_serves(&state.session, state.session.plain().map(|(_, options)| options));
        self.sessions.count_subscriptions(&client, &mut state);
        state.recorded = true;
        state.left_ns = left_ns;
        state.expiry_s = kept.expiry_s;
        state.expires_ms = (kept.expiry_s < u32::MAX).then(|| self.end_of(kept.expiry_s, away_ms));
        state.will = kept.will.clone().map(|will| {
            // A client that was connected lost its connection when the broker stopped.
            let at = self.end_of(will.delay_s, away_ms);
            (will, at)
        });
        let subscriptions = kept.subscriptions.iter();
        self.subscribe(&client, subscriptions.map(|(filter, kept)| (&**filter, kept.options)));
        for (filter, kept) in &kept.subscriptions {
            if let Some(list) = &kept.list {
                self.table.lock().table.hold_again(key, filter, list);
            }
        }
        self.restore_declared(key, kept);
        if plan.access.is_enforced() {
            // What was queued and declared under other rights, before the restart.
            let rights = client.rights(&self.plan);
            self.judge_declared(&client, &rights);
            client.outgoing().check_queued(rights);
        }
        self.timers.set_for(&client, &mut state);
        drop(state);
        let mut registry = self.sessions.registry();
        registry.count_kept(&client, &mut client.state(), kept.expiry_s > 0);
        registry.sessions.insert(kept.client_id.clone(), client);
        (kept.expiry_s > 0, queued)
    }

    /// Restores what a kept session has declared. Nobody publishes it until the client is back.
    fn restore_declared(&self, key: SessionKey, kept: &KeptSession) {
        if kept.expiry_s == 0 {
            return;
        }
        if !kept.parameters.is_empty() {
            self.table.lock().table.restore(key, &kept.client_id, &kept.parameters);
        }
        if !kept.streams.is_empty() {
            self.streams.lock().streams.restore(key, &kept.client_id, &kept.streams);
        }
    }

    /// When a wait of so many seconds ends, if `passed_ms` of it are over.
    fn end_of(&self, seconds: u32, passed_ms: Millis) -> Millis {
        self.clock.now_ms() + (Millis::from(seconds) * 1_000).saturating_sub(passed_ms)
    }
}
