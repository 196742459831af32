//! Selections of the clients: entered, left, and entered again when their client comes back.

use std::sync::Arc;

use slipring_core::table::{Aim, Chosen, Needs, SELECTIONS};
use slipring_core::{Holder, Limit, Options, Work};
use slipring_wire::frame::RangeSet;
use slipring_wire::shared;

use crate::broker::Broker;
use crate::client::Client;
use crate::event::now_ns;
use crate::post::Post;

/// What a session asks of the table before it lets its client choose.
pub(crate) struct Choosing<'a> {
    broker: &'a Broker,
    client: &'a Client,
    /// What the filters before take.
    taken: usize,
}

impl<'a> Choosing<'a> {
    pub fn new(broker: &'a Broker, client: &'a Client) -> Self {
        Self { broker, client, taken: 0 }
    }
}

impl slipring_core::Choosing for Choosing<'_> {
    fn is_list(&mut self, filter: &str) -> bool {
        self.broker.hold_list(self.client, filter).is_some()
    }

    fn is_read(&mut self, filter: &str) -> bool {
        let topics = match shared(filter) {
            Some(Ok((_, topics))) => topics,
            _ => filter,
        };
        let table = &self.broker.table;
        table.is_used() && table.lock().table.registry.matches_any(topics)
    }

    fn check_room(&mut self, filter: &str, identifier: u32, needs: Needs) -> Result<(), Limit> {
        let packet_bytes_max = self.client.outgoing().packet_bytes_max();
        let (Some(packet_bytes_max), Some(link)) = (packet_bytes_max, self.client.link()) else {
            return Ok(());
        };
        let chosen = Chosen { filter, identifier, needs, packet_bytes_max };
        let mut inner = self.broker.table.lock();
        let quotas = [self.broker.plan.load().limits.selections_quota()];
        let holder = Holder { owner: link.owner(), quotas };
        self.taken += inner.table.room_for(self.client.key, &chosen, self.taken, holder)?;
        Ok(())
    }
}

impl Broker {
    /// Looks for the parameters that a subscription's filter matches until the turn is over; whether they are
    /// known now, so that entering it does not hold the table.
    pub fn find(&self, filter: &str, work: &mut Work) -> bool {
        if !self.table.is_used() {
            return true;
        }
        let topics = match (shared(filter), Aim::parse(filter)) {
            (None, Some(Aim::List(_))) => return true,
            (Some(Ok((_, topics))), _) | (None, Some(Aim::Filter(topics))) => topics,
            _ => filter,
        };
        self.table.lock().table.registry.search(topics, work)
    }

    /// The same for the filters of a request; `found` is how many were looked for in turns before.
    pub fn find_all(&self, filters: &[String], found: &mut usize, work: &mut Work) -> bool {
        while let Some(filter) = filters.get(*found) {
            if work.is_over() || !self.table.lock().table.registry.search(filter, work) {
                return false;
            }
            *found += 1;
        }
        *found = 0;
        true
    }

    /// A client chooses parameters, or streams. The values they have now are sent first.
    pub fn select(&self, client: &Arc<Client>, filter: &str, options: Options, post: &mut Post) {
        self.follow(client, filter, options, post);
        let Some(needs) = options.needs.filter(|needs| !needs.is_stream()) else {
            return self.deselect(client, filter);
        };
        let Some(packet_bytes_max) = client.outgoing().packet_bytes_max() else { return };
        self.use_table();
        let mut inner = self.table.lock();
        inner.clients.insert(client.key, Arc::clone(client));
        let chosen = Chosen { filter, identifier: options.identifier, needs, packet_bytes_max };
        if let Some(link) = client.link() {
            inner.table.own_selections(client.key, link.owner());
        }
        let first = inner.table.choose(client.key, &chosen, self.arrival(now_ns()));
        self.reached.add(Limit::SelectionBytes, inner.table.take_uncompared());
        // Under the lock: what is chosen later comes later.
        post.push_packets(self, client, &first.packets);
        if !first.is_whole {
            inner.mending.insert(client.key);
        }
        drop(inner);
        self.table.sooner.notify_one();
    }

    /// The list that a filter names, if there is one. It stays until the client gives it up.
    pub fn hold_list(&self, client: &Client, filter: &str) -> Option<Arc<RangeSet>> {
        if filter.starts_with(SELECTIONS) {
            self.table.lock().table.hold(client.key, filter)
        } else {
            None
        }
    }

    /// A client gives a selection up, if it has one with this filter.
    pub fn deselect(&self, client: &Client, filter: &str) {
        if self.table.is_used() {
            self.table.lock().table.give_up(client.key, filter);
        }
    }
}
