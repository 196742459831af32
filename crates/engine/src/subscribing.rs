//! SUBSCRIBE and UNSUBSCRIBE of one client: the session, the routes, the journal and the retained.

use std::borrow::Cow;
use std::sync::Arc;

use slipring_core::ledger::Record;
use slipring_core::{Durability, Replay};
use slipring_wire::{Subscribe, Unsubscribe};

use crate::client::Client;
use crate::event::EventKind;
use crate::party::{End, Party, TAKEN_OVER};
use crate::table::choosing::Choosing;

impl Party {
    pub fn subscribe(&mut self, client: &Arc<Client>, packet: &Subscribe<'_>) -> Result<(), End> {
        let (limits, version) = (self.conversation.limits(), self.conversation.version());
        let mut state = client.state_of(&self.link).ok_or(TAKEN_OVER)?;
        let mut table = Choosing::new(&self.broker, client);
        let subscribed =
            state.session.subscribe(packet, limits, version, &mut table, &mut self.reply)?;
        // Under the lock of the session, so that a take-over finds both in step (CVE-2024-8376).
        self.broker.subscribe(client, &subscribed);
        for refused in &subscribed.refused {
            if !state.session.has(&refused.filter) {
                self.broker.deselect(client, &refused.filter);
            }
        }
        drop(state);
        for change in &subscribed.changes {
            if client.is_durable() {
                let (session, filter) = (client.key, &*change.filter);
                let (options, replay) = (change.options, change.replay);
                let list = self.broker.hold_list(client, filter);
                let list = list.as_deref().map(Cow::Borrowed);
                let subscribed = Record::Subscribed { session, filter, options, replay, list };
                self.feed.record(&subscribed, Durability::Disk);
                self.blocks = true;
            }
            let post = &mut self.feed.post;
            self.broker.select(client, &change.filter, change.options, post);
            if change.options.needs.is_none() {
                self.feed.claim_waiting(&self.broker, client, change);
            }
            if change.replay {
                let identifier = change.options.identifier;
                client.outgoing().push_replay(Replay {
                    filter: change.filter.clone(),
                    qos: change.options.qos,
                    identifiers: (identifier > 0).then(|| Arc::from([identifier])),
                });
            }
            self.broker.report(EventKind::Subscribed, &client.name, &*change.filter);
        }
        for refused in &subscribed.refused {
            if let Some(limit) = refused.limit {
                self.broker.reached.count(limit);
            }
            let why = subscribed.why().unwrap_or_default();
            let detail = format!("{}: {} {why}", refused.filter, refused.reason);
            self.broker.report(EventKind::SubscriptionRefused, &client.name, detail);
        }
        Ok(())
    }

    pub fn unsubscribe(
        &mut self,
        client: &Arc<Client>,
        packet: &Unsubscribe<'_>,
    ) -> Result<(), End> {
        let mut state = client.state_of(&self.link).ok_or(TAKEN_OVER)?;
        let version = self.conversation.version();
        let gone = state.session.unsubscribe(packet, version, &mut self.reply);
        self.broker.unsubscribe(client, gone.iter().map(|filter| &**filter));
        drop(state);
        for filter in gone {
            self.broker.deselect(client, &filter);
            self.broker.unfollow(client, &filter);
            if client.is_durable() {
                let unsubscribed = Record::Unsubscribed { session: client.key, filter: &filter };
                self.feed.record(&unsubscribed, Durability::Disk);
            }
            client.outgoing().cancel_replay(&filter);
            self.broker.report(EventKind::Unsubscribed, &client.name, filter);
        }
        Ok(())
    }
}
