//! SUBSCRIBE and UNSUBSCRIBE of one client: changes its session, the routes, the table and the journal, and sends
//! retained messages.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use slipring_core::access::Right;
use slipring_core::ledger::{RecordedSubscription, SessionRecord};
use slipring_core::{
    Durability, Options, Replay, SubscribeOutcome, SubscriptionChecks, Work, selects,
};
use slipring_wire::{
    Packet, PacketSplit, PropertiesBuf, Reason, SubAck, Subscribe, Subscription, Unsubscribe,
    served, split_packet,
};

use crate::client::Client;
use crate::connection_end::{ConnectionEnd, TAKEN_OVER};
use crate::event::{EventKind, Report};
use crate::party::Party;
use crate::routes::topics_of;
use crate::table::choosing::Choosing;

/// A SUBSCRIBE that takes several turns, because its filters are many or match many parameters. It is answered once,
/// when all filters are entered.
#[derive(Default)]
pub(crate) struct Subscribing {
    /// The reason codes of the filters that are entered.
    reasons: Vec<Reason>,
    /// The properties of the answer.
    properties: PropertiesBuf,
}

/// The right that a subscription takes.
pub(crate) fn right_of(filter: &str, options: Options) -> Right {
    match options.needs {
        Some(needs) if needs.is_stream() => Right::Stream,
        Some(_) => Right::Select,
        None if served(filter).is_some() => Right::Serve,
        None => Right::Subscribe,
    }
}

impl Party {
    /// Enters filters of a packet, as many as the turn has time for. Returns whether all are entered.
    pub fn subscribe(
        &mut self,
        client: &Arc<Client>,
        packet: &Subscribe<'_>,
    ) -> Result<bool, ConnectionEnd> {
        let from = self.subscribing.reasons.len();
        let part = self.found(client, packet, from);
        if part.len() == packet.subscriptions.len() {
            self.enter(client, packet)?;
            return Ok(true);
        }
        let before = std::mem::take(&mut self.reply);
        let entered = if part.is_empty() {
            Ok(())
        } else {
            self.enter(client, &Subscribe { subscriptions: part.to_vec(), ..*packet })
        };
        let answer = std::mem::replace(&mut self.reply, before);
        entered?;
        self.add_answer(&answer);
        let is_all = self.subscribing.reasons.len() == packet.subscriptions.len();
        if is_all {
            let Subscribing { reasons, properties } = std::mem::take(&mut self.subscribing);
            let (packet_id, properties) = (packet.packet_id, properties.borrow());
            let answer = Packet::SubAck(SubAck { packet_id, properties, reasons });
            answer.encode(self.conversation.version(), &mut self.reply);
        }
        Ok(is_all)
    }

    /// The first of these filters: those whose parameters are found before the turn is over.
    fn found<'a, 'p>(
        &mut self,
        client: &Arc<Client>,
        packet: &'a Subscribe<'p>,
        from: usize,
    ) -> &'a [Subscription<'p>] {
        let wanted = &packet.subscriptions[from..];
        let checks = Choosing::new(&self.broker, client, &self.connection, &self.identity);
        let is_selection = selects(packet.properties);
        let right = if is_selection { Right::Select } else { Right::Subscribe };
        let work = &mut self.feed.work;
        work.go_on(); // the packet is read again in each turn
        let mut count = 0;
        for Subscription { filter, .. } in wanted {
            // How long a refusal takes does not tell what there is.
            let is_refused = !checks.may_subscribe(filter, is_selection);
            let asked = ((&*self.broker, &**client), (*filter, right));
            let find = |work| self.broker.table.find(asked.0, asked.1, work);
            if work.is_over() || !is_refused && !find(work) {
                break;
            }
            work.add(Work::FILTER);
            count += 1;
        }
        &wanted[..count]
    }

    /// Keeps the answer to some of the filters for the answer to all.
    fn add_answer(&mut self, answer: &[u8]) {
        let Ok(PacketSplit::Whole(raw)) = split_packet(answer, usize::MAX) else { return };
        let Ok(Packet::SubAck(answer)) = Packet::decode(&raw, self.conversation.version()) else {
            return;
        };
        self.subscribing.reasons.extend(answer.reasons);
        for (id, value) in answer.properties.iter() {
            if self.subscribing.properties.borrow().get(id).is_none() {
                self.subscribing.properties.push(id, value);
            }
        }
    }

    fn enter(&mut self, client: &Arc<Client>, packet: &Subscribe<'_>) -> Result<(), ConnectionEnd> {
        let (limits, version) = (self.conversation.limits(), self.conversation.version());
        let mut state = client.state_of(&self.connection).ok_or(TAKEN_OVER)?;
        let mut table = Choosing::new(&self.broker, client, &self.connection, &self.identity);
        let subscribed =
            state.session.subscribe(packet, limits, version, &mut table, &mut self.reply);
        client.note_serves(&state.session, subscribed.changes.iter().map(|change| change.options));
        self.broker.sessions.count_subscriptions(client, &mut state);
        // Under the lock of the session, so that a take-over finds both in step (CVE-2024-8376).
        let changes = subscribed.changes.iter().map(|change| (&*change.filter, change.options));
        self.feed.work.add(self.broker.subscribe(client, changes));
        for refused in &subscribed.refused {
            if !state.session.has(&refused.filter) {
                self.broker.table.deselect(client, &refused.filter);
            }
        }
        drop(state);
        for change in &subscribed.changes {
            if client.is_durable {
                let (session, filter) = (client.key, &*change.filter);
                let (options, replay) = (change.options, change.replay);
                let list = self.broker.table.hold_list(client, filter);
                let list = list.as_deref().map(Cow::Borrowed);
                let subscription = RecordedSubscription { filter, options, replay, list };
                let subscribed = SessionRecord::Subscribed { session, subscription };
                subscribed.encode(self.feed.records(Durability::Disk));
                self.blocks = true;
            }
            let post = &mut self.feed.post;
            self.broker.select(client, &change.filter, change.options, post);
            if change.options.needs.is_none() {
                self.blocks |= self.feed.claim_waiting(&self.broker, client, change);
                self.feed.requests.subscribed.push(topics_of(&change.filter).into());
            }
            if change.replay {
                let identifier = change.options.identifier;
                let until = self.broker.topics.retained().newest();
                client.outgoing().push_replay(Replay {
                    until,
                    filter: change.filter.clone(),
                    qos: change.options.qos,
                    identifiers: (identifier > 0).then(|| Arc::from([identifier])),
                });
            }
            let right = right_of(&change.filter, change.options);
            let made = Report::new(EventKind::Subscribed, &client.name).topic(&change.filter);
            self.broker.monitor.tell(&made.by(&self.connection).right(right));
        }
        self.tell_refused(client, &subscribed);
        Ok(())
    }

    /// Counts and reports filters that were not granted.
    fn tell_refused(&self, client: &Client, subscribed: &SubscribeOutcome) {
        for refused in &subscribed.refused {
            if let Some(limit) = refused.limit {
                self.broker.monitor.reached.count(limit);
                if limit.is_quota() {
                    let told = Report::new(EventKind::QuotaReached, &client.name);
                    self.broker.monitor.record(&told.topic(limit.name()).by(&self.connection));
                }
            }
            let why = subscribed.why().unwrap_or_default();
            let detail = format!("{} {why}", refused.reason);
            let told = Report::new(EventKind::SubscriptionRefused, &client.name)
                .topic(&refused.filter)
                .detail(&detail);
            self.broker.monitor.tell(&told);
            if refused.reason == Reason::NotAuthorized {
                let (kind, detail) = (EventKind::Unauthorized, &"it may not subscribe");
                let is_served = served(&refused.filter).is_some();
                let right = if is_served { Right::Serve } else { Right::Subscribe };
                let told = told.by(&self.connection).right(right);
                self.broker.monitor.tell(&Report { kind, detail, ..told });
            }
        }
    }

    pub fn unsubscribe(
        &mut self,
        client: &Arc<Client>,
        packet: &Unsubscribe<'_>,
    ) -> Result<(), ConnectionEnd> {
        let mut state = client.state_of(&self.connection).ok_or(TAKEN_OVER)?;
        let version = self.conversation.version();
        let gone = state.session.unsubscribe(packet, version, &mut self.reply);
        client.note_serves(&state.session, []);
        self.broker.sessions.count_subscriptions(client, &mut state);
        let steps = self.broker.unsubscribe(client, gone.iter().map(|filter| &**filter));
        drop(state);
        if !gone.is_empty() {
            self.broker.requests.unsubscribed(client, &gone);
        }
        self.feed.work.add(packet.filters.len() * Work::PACKET + gone.len() * Work::FILTER + steps);
        self.tell_unsubscribed(client, packet, &gone);
        for filter in gone {
            self.broker.table.deselect(client, &filter);
            self.broker.streams.unfollow(client, &filter);
            if client.is_durable {
                let unsubscribed =
                    SessionRecord::Unsubscribed { session: client.key, filter: &filter };
                unsubscribed.encode(self.feed.records(Durability::Disk));
            }
            client.outgoing().cancel_replay(&filter);
        }
        Ok(())
    }

    /// Reports the end of subscriptions, and filters that the client was not subscribed to.
    fn tell_unsubscribed(&self, client: &Client, packet: &Unsubscribe<'_>, gone: &[Box<str>]) {
        let mut ended: HashSet<&str> = gone.iter().map(|filter| &**filter).collect();
        for filter in &packet.filters {
            let kind = if ended.remove(filter) {
                EventKind::Unsubscribed
            } else {
                EventKind::NotSubscribed
            };
            self.broker.monitor.tell(&Report::new(kind, &client.name).topic(filter));
        }
    }
}
