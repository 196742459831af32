//! Requests about the table: any bytes as what clients ask of it, one after the other.

use slipring_core::ledger::{BatchHead, Ledger};
use slipring_core::table::{Asking, Bounds, Change, Current, Desk, Lists, Registry, Request};

/// Small, so that they are reached.
const BOUNDS: Bounds = Bounds { parameters: 12, bytes: 1 << 14, name_bytes: 40, name_levels: 5 };
const REQUESTS_MAX: usize = 40;

/// What the broker has, and what it wrote down.
struct World {
    registry: Registry,
    lists: Lists,
    current: Current,
    ledger: Ledger,
}

/// Each line is a client (its first byte), the name of a request, a space, and what it says.
pub fn table(data: &[u8]) {
    let mut world = World {
        registry: Registry::new(1),
        lists: Lists::default(),
        current: Current::default(),
        ledger: Ledger::default(),
    };
    world.note(&Change::default());
    for line in data.split(|byte| *byte == b'\n').take(REQUESTS_MAX) {
        let [client, rest @ ..] = line else { continue };
        let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        let name = String::from_utf8_lossy(&rest[..end]);
        world.ask(*client, &name, rest.get(end + 1..).unwrap_or_default());
    }
    let entries = world.ledger.into_table().expect("written down at the begin");
    let restored = Registry::restore(entries);
    assert_eq!(restored.entries().to_json(), world.registry.entries().to_json());
    assert_eq!(restored.matching("#"), world.registry.matching("#"));
}

impl World {
    fn note(&mut self, change: &Change) {
        let mut records = Vec::new();
        self.registry.record(change, &mut records);
        self.ledger.apply(BatchHead::default(), &records).expect("our own records");
    }

    fn ask(&mut self, client: u8, name: &str, body: &[u8]) {
        let (session, few) = (u64::from(client & 3), client & 4 != 0);
        if name == "leave" {
            self.registry.leave(session, few);
            return;
        }
        if name == "back" {
            self.registry.come_back(session);
            return;
        }
        let before = self.registry.revision();
        let answer_bytes_max = if few { 300 } else { 1 << 20 };
        let (registry, lists) = (&mut self.registry, &mut self.lists);
        let mut desk = Desk { registry, lists, current: &self.current };
        let (client, bounds) = ("c", BOUNDS);
        let is_stream = &|name: &str| name.ends_with('~');
        let asking = Asking { session, client, bounds, holder: None, is_stream, answer_bytes_max };
        let outcome = desk.answer(Request::parse(name, body), &asking);
        serde_json::from_slice::<serde_json::Value>(&outcome.answer).expect("answers are JSON");
        assert!(outcome.refused.is_some() || outcome.answer.len() <= answer_bytes_max);
        assert!(outcome.refused.is_none() || outcome.change.is_empty());
        let changed = self.registry.revision() != before;
        assert_eq!(changed, !outcome.change.is_empty());
        assert!(self.registry.len() <= BOUNDS.parameters);
        if changed {
            self.note(&outcome.change);
        }
    }
}
