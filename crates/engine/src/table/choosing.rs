//! Selections of clients: checked, entered and given up.

use std::sync::Arc;

use slipring_core::access::{ClientRights, FilterAccess, Identity, Right};
use slipring_core::table::{ALL, Needs, SELECTIONS, Selection, SelectionFilter};
use slipring_core::{Holder, Limit, Options, Principal, Work};
use slipring_wire::frame::RangeSet;
use slipring_wire::{served, shared};

use crate::broker::Broker;
use crate::client::Client;
use crate::connection_handle::ConnectionHandle;
use crate::post::Post;
use crate::routes::{Routes, topics_of};
use crate::table::SharedTable;

/// Answers what a session asks of the broker before it enters a client's filters.
pub(crate) struct Choosing<'a> {
    broker: &'a Broker,
    client: &'a Client,
    from: Principal<'a>,
    /// The room that the earlier filters of the packet take.
    taken: usize,
    /// The memory that they take in the topic tree.
    filters_bytes: usize,
    /// New subscriptions of the packet.
    new: usize,
}

impl<'a> Choosing<'a> {
    pub fn new(
        broker: &'a Broker,
        client: &'a Client,
        connection: &'a ConnectionHandle,
        identity: &'a Identity,
    ) -> Self {
        let from = client.principal(connection, identity);
        Self { broker, client, from, taken: 0, filters_bytes: 0, new: 0 }
    }
}

impl Choosing<'_> {
    /// Whether a filter is within the rights of the client, or may be narrowed to them.
    fn has_access(&self, right: Right, filter: &str) -> bool {
        let policy = &self.broker.plan.load().access;
        match policy.filter_access(self.from.subject(), right, filter) {
            FilterAccess::Whole => true,
            FilterAccess::Part => policy.narrows,
            FilterAccess::Nothing => false,
        }
    }
}

/// The part of a topic of the broker's own behind `$slipring/`.
fn own_topic(filter: &str) -> Option<&str> {
    filter.strip_prefix("$slipring/")
}

impl slipring_core::SubscriptionChecks for Choosing<'_> {
    fn may_subscribe(&self, filter: &str, is_selection: bool) -> bool {
        let policy = &self.broker.plan.load().access;
        let subject = self.from.subject();
        match own_topic(filter) {
            Some("table/changes") => policy.allows_somewhere(subject, Right::Select),
            Some("streams/changes") => policy.allows_somewhere(subject, Right::Stream),
            Some(_) => true, // what the broker tells this client, and lists of names, which are narrowed
            // What is selected is narrowed to what the client may see.
            None if is_selection => true,
            None => self.has_access(Right::Subscribe, topics_of(filter)),
        }
    }

    fn may_serve(&self, topics: &str) -> bool {
        self.has_access(Right::Serve, topics)
    }

    fn has_quota(&mut self) -> bool {
        let plan = self.broker.plan.load();
        if plan.quotas.is_empty() {
            return true;
        }
        let held = self.broker.sessions.subscriptions().held(&self.client.owner) + self.new;
        self.new += 1;
        plan.limits_for(self.from.subject()).own.has_room_for_subscription(held)
    }

    fn is_list(&mut self, filter: &str) -> bool {
        self.broker.table.hold_list(self.client, filter).is_some()
    }

    /// Of a filter that is narrowed it is always said: else it told which parameters there are.
    fn is_read(&mut self, filter: &str) -> bool {
        let (broker, topics) = (self.broker, topics_of(filter));
        served(filter).is_none()
            && broker.table.is_used()
            && (self.client.narrowing(&broker.plan, Right::Subscribe, topics).is_some()
                || broker.table.lock().table.registry.matches_any(topics))
    }

    fn has_memory_for(&mut self, filter: &str) -> bool {
        self.filters_bytes += Routes::bytes_of(filter);
        self.broker.topics.routes().has_memory_for(self.filters_bytes)
    }

    fn check_room(&mut self, filter: &str, identifier: u32, needs: Needs) -> Result<(), Limit> {
        let Some(packet_bytes_max) = self.client.outgoing().packet_bytes_max() else {
            return Ok(());
        };
        let rights = selection_rights(self.broker, self.client, filter);
        let rights = rights.as_ref();
        let selection = Selection { filter, identifier, needs, packet_bytes_max, rights };
        let mut inner = self.broker.table.lock();
        let quotas = [self.broker.plan.load().limits.selections_quota()];
        let holder = Holder { owner: self.from.owner, quotas };
        self.taken += inner.table.room_for(self.client.key, &selection, self.taken, holder)?;
        Ok(())
    }
}

/// The rights that narrow a selection of parameters. A list of names is always narrowed.
fn selection_rights(broker: &Broker, client: &Client, filter: &str) -> Option<Arc<ClientRights>> {
    let topics = SelectionFilter::parse(filter).and_then(SelectionFilter::filter);
    client.narrowing(&broker.plan, Right::Select, topics.unwrap_or("#"))
}

impl SharedTable {
    /// Looks for the parameters that a filter matches until the turn is over. Returns whether they are known now, so
    /// that entering the filter does not lock the table for long.
    pub fn find(
        &self,
        (broker, client): (&Broker, &Client),
        (filter, right): (&str, Right),
        work: &mut Work,
    ) -> bool {
        if !self.is_used() || served(filter).is_some() {
            return true;
        }
        let narrowing = |topics| client.narrowing(&broker.plan, right, topics);
        let (topics, rights) = match (shared(filter), SelectionFilter::parse(filter)) {
            (None, Some(SelectionFilter::List(_))) => match narrowing(ALL) {
                Some(rights) => (ALL, Some(rights)),
                None => return true,
            },
            (None, Some(SelectionFilter::Filter(topics))) => (topics, narrowing(topics)),
            _ => (topics_of(filter), None), // each member of a share is asked for each sample
        };
        let narrowing = rights.as_ref().map(|rights| (rights, right));
        self.lock().table.registry.search_within(topics, narrowing, work)
    }

    /// The same for the filters of a request; `found` is how many were looked for in turns before.
    pub fn find_all(
        &self,
        (broker, client): (&Broker, Option<&Client>),
        filters: &[String],
        found: &mut usize,
        work: &mut Work,
    ) -> bool {
        while let Some(filter) = filters.get(*found) {
            let narrowing = |client: &Client| client.narrowing(&broker.plan, Right::Select, filter);
            let rights = client.and_then(narrowing);
            let narrowing = rights.as_ref().map(|rights| (rights, Right::Select));
            if work.is_over() || !self.lock().table.registry.search_within(filter, narrowing, work)
            {
                return false;
            }
            *found += 1;
        }
        *found = 0;
        true
    }

    /// Enters a client's selection of parameters. Their newest values are sent first.
    pub fn select(
        &self,
        broker: &Broker,
        client: &Arc<Client>,
        filter: &str,
        options: Options,
        post: &mut Post,
    ) {
        let Some(needs) = options.needs.filter(|needs| !needs.is_stream()) else {
            return self.deselect(client, filter);
        };
        let Some(packet_bytes_max) = client.outgoing().packet_bytes_max() else { return };
        self.begin_use(broker);
        let mut inner = self.lock();
        inner.clients.insert(client.key, Arc::clone(client));
        let rights = selection_rights(broker, client, filter);
        let (identifier, rights) = (options.identifier, rights.as_ref());
        let selection = Selection { filter, identifier, needs, packet_bytes_max, rights };
        if let Some(connection) = client.connection() {
            inner.table.groups.own(client.key, connection.owner());
        }
        let first = inner.table.choose(client.key, &selection, broker.clock.arrival());
        broker.monitor.reached.add(Limit::SelectionBytes, inner.table.groups.take_uncompared());
        // Under the lock, so that packets of later selections come later.
        post.push_packets(broker, client, &first.packets);
        if !first.is_whole {
            inner.mending.insert(client.key);
        }
        drop(inner);
        self.unlocked.sooner.notify_one();
    }

    /// The list that a filter names, if there is one. It is kept until the client gives it up.
    pub fn hold_list(&self, client: &Client, filter: &str) -> Option<Arc<RangeSet>> {
        if filter.starts_with(SELECTIONS) {
            self.lock().table.hold(client.key, filter)
        } else {
            None
        }
    }

    /// Ends a client's selection with this filter, if it has one.
    pub fn deselect(&self, client: &Client, filter: &str) {
        if self.is_used() {
            self.lock().table.give_up(client.key, filter);
        }
    }
}
