//! What the broker accepted is in its journal when it has stopped.

mod talk;

use slipring_core::{JournalRule, Plan};
use slipring_engine::{Engine, ListenerSettings, Settings};
use slipring_journal::JournalReader;
use slipring_wire::Version;
use std::path::{Path, PathBuf};
use talk::Talk;

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("slipring-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn engine(folder: &Path, filters: &[&str]) -> Engine {
    let settings = Settings {
        audit: None,
        listeners: vec![ListenerSettings::tcp("mqtt", "127.0.0.1:0")],
        journal: Some(folder.into()),
        segment_bytes: 1 << 16,
        threads: 2,
        console_connections: 0,
    };
    let journal = JournalRule::new(filters.iter().map(ToString::to_string).collect()).unwrap();
    Engine::start(&settings, Plan { journal, ..Plan::default() }).unwrap()
}

fn journaled(folder: &Path) -> Vec<(String, String)> {
    let mut reader = JournalReader::open(folder).unwrap();
    let end = reader.end_offset().unwrap();
    let mut found = Vec::new();
    let mut start = reader.first_offset();
    while start < end {
        let columns = reader.read(start..end, 1 << 20).unwrap();
        let text = |column: &slipring_journal::BytesColumn, row: usize| {
            String::from_utf8(column.get(row).to_vec()).unwrap()
        };
        found.extend(
            (0..columns.len()).map(|row| (text(&columns.topic, row), text(&columns.payload, row))),
        );
        start = columns.end;
    }
    found
}

#[test]
fn everything_sent_before_the_stop_is_in_the_journal_in_order() {
    let folder = Folder::new("stop");
    let engine = engine(&folder.0, &["#"]);
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    for number in 0..10_000 {
        client.publish("t", number.to_string().as_bytes());
    }
    engine.stop().unwrap();
    let found = journaled(&folder.0);
    assert_eq!(found.len(), 10_000);
    assert!(found.iter().enumerate().all(|(number, (_, payload))| *payload == number.to_string()));
}

#[test]
fn only_what_the_plan_names_is_journaled_and_a_new_plan_rules_what_comes_after() {
    let folder = Folder::new("plan");
    let engine = engine(&folder.0, &["kept/#"]);
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    client.subscribe("#");
    let mut publish = |topic: &str| {
        client.publish(topic, b"x");
        client.message();
    };
    publish("kept/a");
    publish("other/a");
    let journal = JournalRule::new(vec!["other/#".into()]).unwrap();
    engine.apply(Plan { journal, ..Plan::default() });
    publish("kept/b");
    publish("other/b");
    engine.stop().unwrap();
    let topics: Vec<String> = journaled(&folder.0).into_iter().map(|(topic, _)| topic).collect();
    assert_eq!(topics, ["kept/a", "other/b"]);
}
