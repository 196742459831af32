//! Coming back: sessions, retained messages and wills as the journal has them.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use slipring_core::ledger::{Kept, KeptRetained, RetainedMessage};
use slipring_core::streams::Streams;
use slipring_core::table::{Current, Registry, Table};
use slipring_core::{Message, Millis, Outgoing, Owner, Place, Plan, Session, Stored};
use slipring_journal::Damage;

use crate::broker::Broker;
use crate::client::Client;
use crate::history::State;
use crate::stored::age_ms;
use crate::streams::SharedStreams;
use crate::table::SharedTable;

/// What came back when the broker started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Sessions that wait for their client.
    pub sessions: usize,
    /// Messages that wait for them.
    pub queued: usize,
    /// Retained messages.
    pub retained: usize,
    /// Messages that wait for their first subscriber.
    pub waiting: usize,
    /// What of the journal could not be read.
    pub damage: Vec<Damage>,
    /// Records that made no sense, and a snapshot that could not be used.
    pub flaws: Vec<String>,
    /// How long it took.
    pub took: Duration,
}

/// The table, and the streams.
pub(crate) type Tables = (SharedTable, SharedStreams);

/// The table and the streams that the journal knows, or new ones.
pub(crate) fn tables(state: Option<&State>, plan: &Plan) -> Tables {
    let catalog = state.map(|state| state.ledger.streams().clone()).unwrap_or_default();
    let run = RandomState::new().hash_one(1) as u32;
    (SharedTable::new(table(state, plan)), SharedStreams::new(Streams::new(catalog, run)))
}

/// The table that the journal knows, or a new one.
fn table(state: Option<&State>, plan: &Plan) -> Table {
    let kept = state.and_then(|state| state.ledger.table());
    let registry = match kept {
        Some(entries) => Registry::restore(entries.clone()),
        // Indices of another table must not be taken for ours.
        None => Registry::new((RandomState::new().hash_one(0) as u32).max(1)),
    };
    let current = state.map_or_else(Current::default, |state| {
        state.ledger.restored_values(0, plan.limits.parameter_bytes)
    });
    Table::new(registry, current, plan)
}

impl Broker {
    /// Takes up what the journal describes. Nobody is connected yet.
    pub fn recover(&self, state: State) -> Recovered {
        let State { ledger, damage, flaws, begun, .. } = state;
        self.skip_keys(ledger.highest_session());
        let mut recovered = Recovered { damage, flaws, ..Recovered::default() };
        for (topic, kept) in ledger.retained() {
            let message = kept.message(topic);
            recovered.retained += usize::from(self.take_up(kept, message));
        }
        for (session, kept) in ledger.sessions() {
            let (client, queued) = self.take_up_session(session, kept, ledger.newest_ns());
            recovered.queued += queued;
            recovered.sessions += usize::from(client);
        }
        if let Some(journal) = &self.journal {
            recovered.waiting = self.take_up_waiting(&mut journal.reader(), ledger.waiting());
        }
        recovered.took = begun.elapsed();
        recovered
    }

    /// A retained message is there again, unless it has expired or has no room any more.
    fn take_up(&self, kept: &KeptRetained, message: RetainedMessage<'_>) -> bool {
        let plan = self.plan.load();
        let RetainedMessage { topic, qos, properties, payload } = message;
        let place = Place { offset: kept.offset, durability: plan.durability_of(topic) };
        let age_ms = age_ms(kept.receive_ns);
        let owner = kept.owner.clone().unwrap_or_else(|| Owner::unknown(None));
        let stored = Stored { topic, properties, payload, qos, retain: true, place, age_ms };
        let Ok(message) = Message::restored(&stored, self.now_ms()) else { return false };
        let expired = message.is_expired(self.now_ms());
        let limits = plan.limits.undivided();
        !expired && self.retained().set(Arc::new(message), &owner, &limits).is_ok()
    }

    /// A session waits for its client again, or is over by now; how many messages wait in it.
    fn take_up_session(&self, key: u64, kept: &Kept, newest_ns: i64) -> (bool, usize) {
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
        let client = Arc::new(Client::new(key, &kept.client_id, user, &owner, outgoing));
        let left_ns = kept.left_ns.unwrap_or(newest_ns);
        let away_ms = age_ms(left_ns);
        let mut state = client.state();
        state.session = Session::restore(kept);
        state.recorded = true;
        state.left_ns = left_ns;
        state.expiry_s = kept.expiry_s;
        state.expires_ms = (kept.expiry_s < u32::MAX).then(|| self.left_of(kept.expiry_s, away_ms));
        state.will = kept.will.clone().map(|will| {
            // A client that was connected lost its connection when the broker ended.
            let at = self.left_of(will.delay_s, away_ms);
            (will, at)
        });
        let subscriptions = kept.subscriptions.iter();
        self.enter_routes(&client, subscriptions.map(|(filter, kept)| (&**filter, kept.options)));
        for (filter, kept) in &kept.subscriptions {
            if let Some(list) = &kept.list {
                self.table.lock().table.hold_again(key, filter, list);
            }
        }
        self.take_up_declared(key, kept);
        self.set_timer(&client, &mut state);
        drop(state);
        let mut registry = self.registry();
        registry.count_kept(&client, &mut client.state(), kept.expiry_s > 0);
        registry.sessions.insert(kept.client_id.clone(), client);
        (kept.expiry_s > 0, queued)
    }

    /// What a session that is kept has declared is its own again. Nobody publishes it until the client is
    /// back.
    fn take_up_declared(&self, key: u64, kept: &Kept) {
        if kept.expiry_s == 0 {
            return;
        }
        if !kept.parameters.is_empty() {
            let registry = &mut self.table.lock().table.registry;
            registry.restore_publisher(key, &kept.client_id, &kept.parameters);
        }
        if !kept.streams.is_empty() {
            self.restore_streams(key, &kept.streams);
        }
    }

    /// When so many seconds are over of which some have passed.
    fn left_of(&self, seconds: u32, passed_ms: Millis) -> Millis {
        self.now_ms() + (Millis::from(seconds) * 1_000).saturating_sub(passed_ms)
    }
}
