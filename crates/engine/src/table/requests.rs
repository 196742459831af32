//! What the engine adds to requests about the table: `docs/table.md`.

use slipring_core::SessionKey;
use slipring_core::table::{ListContent, Table, TableRequest};

use crate::broker::Broker;
use crate::feed::Feed;
use crate::shared_desk::EngineDesk;
use crate::table::{LockedTable, UnlockedTable};

impl EngineDesk for LockedTable {
    type Core = Table;
    type Unlocked = UnlockedTable;

    fn core(&mut self) -> &mut Table {
        &mut self.table
    }

    /// Finds the parameters that a selection's filters match.
    fn prepare(broker: &Broker, request: &TableRequest, feed: &mut Feed) -> bool {
        let TableRequest::Select(ListContent::Filters(filters)) = request else { return true };
        feed.work.go_on(); // the request is read again in each turn
        let client = feed.requests.client.as_deref();
        broker.table.find_all((broker, client), filters, &mut feed.found, &mut feed.work)
    }

    /// Locks the streams, so that no stream gets the name meanwhile. Taken before the table's lock, as always.
    fn is_taken<'a>(
        broker: &'a Broker,
        request: Option<&TableRequest>,
    ) -> Box<dyn Fn(&str) -> bool + 'a> {
        let is_declared = matches!(request, Some(TableRequest::Declare(_)));
        let streams = is_declared.then(|| broker.streams.lock());
        Box::new(move |name| streams.as_ref().is_some_and(|streams| streams.has(name)))
    }

    fn first_used(broker: &Broker) {
        broker.table.unlocked.sooner.notify_one(); // the beat begins
        broker.table.begin_reading(broker);
    }

    fn leave(&mut self, session: SessionKey) {
        self.clients.remove(&session);
        self.leave_readers(session);
    }

    fn end(&mut self, session: SessionKey) {
        self.leave_readers(session);
    }
}
