//! Requests about the table: any bytes, as requests of several clients.

use slipring_core::desk::{Desk, DeskBounds, Requester};
use slipring_core::ledger::{BatchHead, Ledger};
use slipring_core::table::{Current, Registry, Table, TableChange, TableRequest};
use slipring_core::{Limits, Plan, Principal, SessionKey};

/// Small bounds, so that a run reaches them.
fn bounds() -> DeskBounds {
    DeskBounds {
        entries: 12,
        bytes: 1 << 14,
        name_bytes: 40,
        name_levels: 5,
        ..Table::bounds(&Limits::default())
    }
}
const REQUESTS_MAX: usize = 40;

/// The broker's table, and the ledger of its records.
struct FuzzedTable {
    table: Table,
    ledger: Ledger,
}

/// Each line is a client (its first byte), the name of a request, a space, and what it says.
pub fn table(data: &[u8]) {
    let mut fuzzed = FuzzedTable {
        table: Table::new(Registry::new(1), Current::default(), &Plan::default()),
        ledger: Ledger::default(),
    };
    fuzzed.note(&TableChange::default());
    for line in data.split(|byte| *byte == b'\n').take(REQUESTS_MAX) {
        let [client, rest @ ..] = line else { continue };
        let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        let name = String::from_utf8_lossy(&rest[..end]);
        fuzzed.ask(*client, &name, rest.get(end + 1..).unwrap_or_default());
    }
    let entries = fuzzed.ledger.into_table().expect("recorded at the start");
    let restored = Registry::restore(entries);
    assert_eq!(restored.entries().to_json(), fuzzed.table.registry.entries().to_json());
    assert_eq!(restored.matching("#"), fuzzed.table.registry.matching("#"));
}

impl FuzzedTable {
    fn note(&mut self, change: &TableChange) {
        let mut records = Vec::new();
        self.table.registry.record(change, &mut records);
        self.ledger.apply(BatchHead::default(), &records).expect("our own records");
    }

    fn ask(&mut self, client: u8, name: &str, body: &[u8]) {
        let (session, few) = (SessionKey::new(u64::from(client & 3)), client & 4 != 0);
        if name == "leave" {
            self.table.registry.publishers.leave(session, few);
            return;
        }
        if name == "back" {
            self.table.registry.publishers.come_back(session);
            return;
        }
        let before = self.table.registry.entries().revision();
        let answer_bytes_max = if few { 300 } else { 1 << 20 };
        let requester = Requester {
            from: Principal { session, client_id: "c", ..Principal::broker() },
            bounds: bounds(),
            is_taken: &|name| name.ends_with('~'),
            answer_bytes_max,
            policy: slipring_core::access::AccessPolicy::open(),
        };
        let outcome = self.table.answer(TableRequest::parse(name, body), &requester);
        serde_json::from_slice::<serde_json::Value>(&outcome.answer).expect("answers are JSON");
        assert!(outcome.refused.is_some() || outcome.answer.len() <= answer_bytes_max);
        assert!(outcome.refused.is_none() || outcome.change.is_empty());
        let changed = self.table.registry.entries().revision() != before;
        assert_eq!(changed, !outcome.change.is_empty());
        assert!(self.table.registry.entries().len() <= bounds().entries);
        if changed {
            self.note(&outcome.change);
        }
    }
}
