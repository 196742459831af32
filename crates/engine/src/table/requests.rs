//! Requests about the table, and what is told of it: `docs/table.md`.

use std::sync::atomic::Ordering;

use slipring_core::table::{Asking, Bounds, Change, Code, Refusal, Request, Wanted};
use slipring_core::{Durability, Holder, Limit, NAME_BYTES_MAX};
use slipring_wire::{Publish, Reason, Version};

use crate::asking::Asked;
use crate::broker::Broker;
use crate::client::Client;
use crate::event::now_ns;
use crate::feed::{Feed, Publisher};
use crate::table::Inner;

/// Where changes of the table are told.
const CHANGES: &str = "$slipring/table/changes";

/// Why nothing is changed while the journal is full.
pub(crate) const UNWRITTEN: &str = "the journal takes nothing now; ask again a little later";

/// Bytes of an answer to the control plane.
pub(crate) const OWN_ANSWER_BYTES: usize = 8 << 20;

/// What is told of the table: JSON, one message each.
pub(crate) type Told = Vec<Vec<u8>>;

/// A client asks for something of the table; the reason acknowledges the request. None where the turn is
/// over before all that it chooses is found.
pub(crate) fn ask(
    asked: &Asked<'_>,
    name: &str,
    feed: &mut Feed,
    reply: &mut Vec<u8>,
) -> Option<Reason> {
    let Asked { broker, client, message, .. } = *asked;
    let Some((envelope, terms)) = asked.envelope() else {
        return Some(Reason::ImplementationSpecificError);
    };
    let request = Request::parse(name, message.payload);
    feed.work.add_text(message.payload.len());
    if let Ok(Request::Select(Wanted::Filters(filters))) = &request {
        feed.work.go_on(); // it is read again in each turn
        if !broker.find_all(filters, &mut feed.found, &mut feed.work) {
            return None;
        }
    }
    let limits = broker.plan.load().limits;
    // Held, so that nobody makes a stream of a name meanwhile. Before the table's lock, as always.
    let streams = matches!(request, Ok(Request::Declare(_))).then(|| broker.streams.names());
    let asking = Asking {
        session: client.key,
        client: &client.name,
        bounds: broker.table_bounds(),
        holder: Some(Holder { owner: asked.link.owner(), quotas: [limits.parameters_quota()] }),
        is_stream: &|name| streams.as_ref().is_some_and(|streams| streams.has(name)),
        answer_bytes_max: terms.packet_bytes.saturating_sub(envelope.bytes()),
    };
    let mut inner = broker.table.lock();
    let outcome = if broker.write_table(&mut inner) {
        inner.table.answer(request, &asking)
    } else {
        Refusal::new(Code::Journal, UNWRITTEN).outcome(asking.answer_bytes_max)
    };
    broker.count_refused(outcome.refused, [Limit::Parameters, Limit::OwnerParameters]);
    feed.work.add(outcome.steps);
    let told = broker.table_changed(&mut inner, &outcome.change, client);
    let (is_written, gate) = (inner.unwritten.is_empty(), inner.gate);
    drop(inner);
    drop(streams);
    if !outcome.change.is_empty() {
        broker.use_table();
    }
    // What the client sends next in the same batch is a sample already.
    feed.paths.check(broker);
    if name == "declare" && outcome.refused.is_none() {
        asked.link.publishes();
    }
    tell(broker, feed, told);
    if !is_written && outcome.refused.is_none() {
        return Some(Reason::QuotaExceeded); // an index that could be given again is not told
    }
    if !broker.gates.is_open(gate) {
        feed.wait_for(Durability::Disk);
    }
    feed.work.add_text(outcome.answer.len());
    reply.append(&mut envelope.packet(&outcome.answer, terms));
    Some(Reason::Success)
}

/// Tells everyone who follows the table.
pub(crate) fn tell(broker: &Broker, feed: &mut Feed, told: Told) {
    for json in told {
        feed.publish(broker, Publisher::broker(), &Publish::new(CHANGES, &json), Version::V5);
    }
}

impl Broker {
    /// Answers a question of the control plane, which changes nothing.
    pub fn ask_table(&self, name: &str, body: &[u8]) -> Vec<u8> {
        let name = if matches!(name, "find" | "list" | "values") { name } else { "" };
        let asking = Asking {
            session: 0,
            client: "",
            bounds: self.table_bounds(),
            holder: None,
            is_stream: &|_| false,
            answer_bytes_max: OWN_ANSWER_BYTES,
        };
        self.table.lock().table.answer(Request::parse(name, body), &asking).answer
    }

    /// Counts a declaration that found no room: that of all, or that of one owner.
    pub fn count_refused(&self, refused: Option<Code>, [all, one]: [Limit; 2]) {
        match refused {
            Some(Code::Full) => self.reached.count(all),
            Some(Code::Quota) => self.reached.count(one),
            Some(Code::Reserved) => self.reached.count(Limit::ReservePercent),
            _ => {}
        }
    }

    fn table_bounds(&self) -> Bounds {
        let limits = self.plan.load().limits;
        Bounds {
            parameters: limits.parameters,
            name_bytes: limits.topic_bytes.min(NAME_BYTES_MAX),
            name_levels: limits.topic_levels,
            ..Bounds::default()
        }
    }

    /// The table has changed: it is written down, routes and selections are found again.
    fn table_changed(&self, inner: &mut Inner, change: &Change, client: &Client) -> Told {
        if self.journal.is_some() && !change.is_empty() {
            inner.table.registry.record(change, &mut inner.unwritten);
        }
        if client.is_durable() {
            change.record_entered(client.key, &mut inner.unwritten);
        }
        self.write_table(inner);
        if change.is_empty() {
            return Told::new();
        }
        let told = inner.table.changed(change, self.arrival(now_ns()));
        self.reached.add(Limit::SelectionBytes, inner.table.take_uncompared());
        // Publishers look again which topics are parameters.
        self.generation.fetch_add(1, Ordering::Release);
        told
    }

    /// Appends changes of the table that are not in the journal yet; false if it takes nothing. Under the
    /// lock of the table, so that the journal has them in their order.
    fn write_table(&self, inner: &mut Inner) -> bool {
        self.write_down(&mut inner.unwritten, &mut inner.gate)
    }
}
