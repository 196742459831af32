//! Selections of the clients: entered, left, and entered again when their client comes back.

use std::sync::Arc;

use slipring_core::table::{Chosen, Needs, Registry, SELECTIONS};
use slipring_core::{Limit, Options};
use slipring_wire::frame::RangeSet;
use slipring_wire::shared;

use crate::broker::Broker;
use crate::client::Client;
use crate::event::now_ns;
use crate::post::Post;
use crate::table::Inner;

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

    fn has_room(&mut self, filter: &str, identifier: u32, needs: Needs) -> bool {
        let Some(packet_bytes_max) = self.client.outgoing().packet_bytes_max() else { return true };
        let chosen = Chosen { filter, identifier, needs, packet_bytes_max };
        let mut inner = self.broker.table.lock();
        let growth = inner.table.room_for(self.client.key, &chosen, self.taken);
        self.taken += growth.unwrap_or_default();
        growth.is_some()
    }
}

impl Broker {
    /// A client chooses parameters, or streams. The values they have now are sent first.
    pub fn select(&self, client: &Arc<Client>, filter: &str, options: Options, post: &mut Post) {
        self.follow(client, filter, options, post);
        let Some(needs) = options.needs.filter(|needs| !needs.is_stream()) else {
            return self.deselect(client, filter);
        };
        let Some(packet_bytes_max) = client.outgoing().packet_bytes_max() else { return };
        self.table.use_it();
        let mut inner = self.table.lock();
        inner.clients.insert(client.key, Arc::clone(client));
        let chosen = Chosen { filter, identifier: options.identifier, needs, packet_bytes_max };
        let first = inner.table.choose(client.key, &chosen, self.arrival(now_ns()));
        self.reached.add(Limit::SelectionBytes, inner.table.take_uncompared());
        // Under the lock: what is chosen later comes later.
        post.push_packets(self, client, &first.packets);
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

    /// A client that came back has the selections of its session again.
    pub fn select_again(&self, client: &Arc<Client>, post: &mut Post) {
        let chosen: Vec<(Box<str>, Options)> = {
            let state = client.state();
            let chosen = state.session.selections();
            chosen.map(|(filter, options)| (filter.into(), options)).collect()
        };
        for (filter, options) in chosen {
            self.select(client, &filter, options, post);
        }
    }

    /// Plain subscriptions came or went; which parameters they ask for is found out again.
    pub fn find_plain<'a>(&self, filters: impl Iterator<Item = &'a str>) {
        if !self.table.is_used() {
            return;
        }
        let inner = self.table.lock();
        let mut plain = RangeSet::clone(&self.table.plain.load());
        for filter in filters {
            let topics = match shared(filter) {
                Some(Ok((_, topics))) => topics,
                _ => filter,
            };
            self.look_again(
                &inner.table.registry,
                &inner.table.registry.matching(topics),
                &mut plain,
            );
        }
        self.table.plain.store(Arc::new(plain));
    }

    /// Parameters came or went.
    pub fn find_plain_of(&self, inner: &Inner, changed: &RangeSet) {
        let mut plain = RangeSet::clone(&self.table.plain.load());
        self.look_again(&inner.table.registry, changed, &mut plain);
        self.table.plain.store(Arc::new(plain));
    }

    /// Which of some parameters a plain subscription asks for.
    fn look_again(&self, registry: &Registry, changed: &RangeSet, plain: &mut RangeSet) {
        let routes = self.routes();
        let asked = changed.indices().filter(|index| {
            registry.get(*index).is_some_and(|entry| routes.has_audience(&entry.name))
        });
        let asked: RangeSet = asked.collect();
        *plain = plain.difference(changed).union(&asked);
    }
}
