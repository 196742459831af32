//! What people are shown of parameters: who publishes which, and who selects one. It changes nothing.
#![expect(missing_docs, reason = "`slipring.status` describes the fields")]

use std::collections::HashMap;

use serde::Serialize;
use slipring_core::table::Selector;

use crate::Engine;
use crate::broker::Broker;

/// A client that declared parameters.
#[derive(Clone, Debug, Serialize)]
pub struct PublisherStatus {
    pub client_id: String,
    pub connected: bool,
    pub ranges: Vec<(u32, u32)>,
}

/// A selection that has a parameter.
#[derive(Clone, Debug, Serialize)]
pub struct SelectorStatus {
    pub client_id: String,
    pub connected: bool,
    pub filter: String,
    pub rate_hz: Option<f64>,
}

impl Engine {
    /// The publishers of parameters with what they declared, by name: so many ranges of indices at most.
    pub fn publishers(&self, ranges_max: usize) -> Vec<PublisherStatus> {
        self.broker.publishers(ranges_max)
    }
}

impl Broker {
    fn publishers(&self, ranges_max: usize) -> Vec<PublisherStatus> {
        let mut found = Vec::new();
        let mut left = ranges_max;
        for (_, client, connected, declared) in self.table.lock().table.registry.publishers.each() {
            let ranges: Vec<_> =
                declared.iter().take(left).map(|run| (run.start, run.end - run.start)).collect();
            left -= ranges.len();
            if !ranges.is_empty() {
                found.push(PublisherStatus { client_id: client.into(), connected, ranges });
            }
        }
        found.sort_unstable_by(|one, other| one.client_id.cmp(&other.client_id));
        found
    }

    /// At most so many of the selections that have a parameter, and how many there are.
    pub fn selectors(&self, parameter: &str, most: usize) -> (Vec<SelectorStatus>, usize) {
        let Some(index) = self.table.index_of(parameter) else { return (Vec::new(), 0) };
        let (found, total) = self.table.lock().table.groups.selectors(index, most);
        let clients = self.sessions.clients();
        let clients: HashMap<_, _> = clients.iter().map(|client| (client.key, client)).collect();
        let row = |one: Selector| {
            let client = clients.get(&one.session)?;
            Some(SelectorStatus {
                client_id: client.name.to_string(),
                connected: client.connection().is_some(),
                filter: one.filter.to_string(),
                rate_hz: one.rate_mhz.map(|rate| f64::from(rate) / 1_000.0),
            })
        };
        let mut selections: Vec<_> = found.into_iter().filter_map(row).collect();
        selections.sort_unstable_by(|one, other| {
            (&one.client_id, &one.filter).cmp(&(&other.client_id, &other.filter))
        });
        (selections, total)
    }
}
