//! A journal that was written before records had families is read and continued.
//! The example `keep_journal` wrote it, with every kind of record.

#[allow(dead_code, reason = "the example says more")]
mod caller;
mod state;
#[allow(dead_code, reason = "other tests say more")]
#[path = "../talk/mod.rs"]
mod talk;

use std::path::{Path, PathBuf};
use std::{env, fs, process};

use caller::{Caller, Extras, Opening, copy, engine, recovered};
use serde_json::Value;
use slipring_core::ledger::Records;
use slipring_engine::{Engine, JournalDefinitions};
use slipring_journal::JournalReader;
use slipring_wire::{Packet, QoS, Subscription};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/before")
}

/// What the code of before said of the journal.
fn expected() -> Value {
    serde_json::from_slice(&fs::read(kept().join("state.json")).unwrap()).unwrap()
}

/// A copy of the journal, which goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("slipring-before-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        copy(&kept().join("journal"), &folder);
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_records_of_before_lead_to_the_state_of_before() {
    let journal = kept().join("journal");
    let expected = expected();
    assert_eq!(serde_json::json!(state::kinds(&journal)), expected["kinds"]);
    assert_eq!(state::from_snapshot(&journal), expected["state"]);
    assert_eq!(state::from_all_records(&journal), expected["state"]);
}

#[test]
fn a_record_of_before_is_written_again_as_the_same_bytes() {
    let check = |bytes: &[u8]| {
        let mut again = Vec::new();
        Records::new(bytes).for_each(|record| record.unwrap().encode(&mut again));
        assert_eq!(again, bytes);
    };
    let mut reader = JournalReader::open(&kept().join("journal")).unwrap();
    check(&reader.snapshot().unwrap().unwrap().1);
    reader.follow(None, &mut |batch| check(batch.records)).unwrap();
}

/// The index of each version of a definition, and where it held.
fn versions(folder: &Path) -> Value {
    let json = JournalDefinitions::of(folder).unwrap().to_json();
    let read: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(read["flaws"], serde_json::json!([]));
    let rows = read["versions"].as_array().unwrap().iter();
    rows.map(|row| serde_json::json!([row["index"], row["since"], row["until"]])).collect()
}

#[test]
fn definitions_in_a_snapshot_of_before_hold_from_the_first_offset_on() {
    let folder = Folder::new("definitions");
    // The last one was declared behind the snapshot.
    let expected =
        serde_json::json!([[0, 0, 0], [1, 0, null], [2, 0, null], [3, 0, null], [4, 24, null]]);
    assert_eq!(versions(&folder.0), expected);
    engine(&folder.0).stop().unwrap();
    assert_eq!(versions(&folder.0), expected, "in a snapshot that has them");
}

/// The topics and payloads that a client gets until all these payloads were among them.
fn heard(client: &mut Caller, until: &[&str]) -> Vec<(String, String)> {
    let mut heard: Vec<(String, String)> = Vec::new();
    while until.iter().any(|last| heard.iter().all(|(_, payload)| payload != last)) {
        heard.push(client.0.message());
    }
    heard.sort();
    heard
}

/// What the client of a session that was in the middle of a QoS 2 exchange gets, besides its PUBREL.
fn orders(engine: &Engine, until: &[&str]) -> Vec<(String, String)> {
    let mut desk = back(engine, "desk");
    desk.expect("PubRel");
    heard(&mut desk, until)
}

fn back(engine: &Engine, client_id: &str) -> Caller {
    let (caller, is_back) =
        Opening { is_anna: client_id == "pump", ..Opening::kept(client_id) }.connect(engine);
    assert!(is_back, "{client_id}");
    caller
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(topic, payload)| ((*topic).to_owned(), (*payload).to_owned())).collect()
}

/// What the session of `desk` had not acknowledged.
const ORDERS: &[(&str, &str)] = &[
    ("orders/3", "go"),
    ("orders/4", "go"),
    ("orders/5", "away"),
    ("orders/6", "away"),
    ("orders/7", "away"),
    ("orders/8", "after"),
    ("orders/9", "last"),
    ("state/a", "newer"),
];

#[test]
fn a_broker_goes_on_with_a_journal_of_before_and_a_further_one_with_both() {
    let folder = Folder::new("continued");
    let first = engine(&folder.0);
    assert_eq!(recovered(&first), expected()["recovered"]);
    assert_eq!(orders(&first, &["last"]), pairs(ORDERS));
    let mut pump = back(&first, "pump");
    pump.publish(1, "engine/oil", b"99.5", &Extras::default());
    let mut tower = back(&first, "tower");
    tower.answer(Packet::PubRel, 30);
    tower.expect("PubComp");
    tower.publish(1, "state/b", b"newest", &Extras { retain: true, ..Extras::default() });
    tower.publish(2, "orders/10", b"new", &Extras { packet_id: 30, ..Extras::default() });
    tower.answer(Packet::PubRel, 30);
    tower.expect("PubComp");
    first.stop().unwrap();

    let second = engine(&folder.0);
    let mut both = pairs(ORDERS);
    both.extend(pairs(&[("orders/10", "new"), ("state/b", "newest")]));
    both.sort();
    assert_eq!(orders(&second, &["last", "newest", "new"]), both);
    let (mut late, _) = Opening::kept("late").connect(&second);
    let subscription = |filter| Subscription { qos: QoS::AtLeastOnce, ..Subscription::new(filter) };
    late.subscribe(subscription("later/#"), 0, &[]);
    let waited = pairs(&[("later/1", "urgent"), ("later/2", "aging"), ("later/3", "low")]);
    assert_eq!(heard(&mut late, &["urgent", "aging", "low"]), waited);
    late.subscribe(subscription("state/#"), 0, &[]);
    let retained = pairs(&[("state/a", "newer"), ("state/b", "newest")]);
    assert_eq!(heard(&mut late, &["newer", "newest"]), retained);
    let values = second.ask("table", "values", br#"{"filter": "engine/#"}"#);
    let values = String::from_utf8(values).unwrap();
    assert!(["1800", "99.5", "warm"].iter().all(|value| values.contains(value)), "{values}");
    second.stop().unwrap();
    assert_eq!(state::from_snapshot(&folder.0), state::from_all_records(&folder.0));
}
