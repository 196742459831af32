//! The table of a running broker, and what its journal says of it.

#[allow(dead_code, reason = "other tests say more")]
mod talk;

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::{env, fs, process, thread};

use slipring_core::Plan;
use slipring_engine::{Engine, ListenerSettings, Settings, journal_table};
use slipring_wire::{Packet, PropertiesBuf, PropertyId, Publish, Value, Version};
use talk::Talk;

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("slipring-tables-{name}-{}", process::id()));
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn engine(folder: &Path) -> Engine {
    let settings = Settings {
        listeners: vec![ListenerSettings::tcp("mqtt", "127.0.0.1:0")],
        journal: Some(folder.into()),
        segment_bytes: 1 << 20,
        threads: 2,
    };
    Engine::start(&settings, Plan::default()).unwrap()
}

/// Asks, and gives the answer.
fn ask(client: &mut Talk, name: &str, body: &str) -> String {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::ResponseTopic, Value::Text("$slipring/table/answer/me"));
    let (topic, properties) = (format!("$slipring/{name}"), properties.borrow());
    let mut bytes = Vec::new();
    Packet::Publish(Publish { properties, ..Publish::new(&topic, body.as_bytes()) })
        .encode(Version::V5, &mut bytes);
    client.send_bytes(&bytes);
    client.message().1
}

fn declare(client: &mut Talk, name: &str, description: &str) -> String {
    let parameter =
        format!(r#"{{"name": "{name}", "type": "u8", "description": "{description}"}}"#);
    ask(client, "table/declare", &format!(r#"{{"parameters": [{parameter}]}}"#))
}

/// The parameters as the broker lists them, and as the journal has them.
fn both(client: &mut Talk, folder: &Path) -> (String, String) {
    let listed = ask(client, "table/list", "").replace("\"next\":null,", "");
    let table = journal_table(folder).unwrap();
    assert!(table.flaws.is_empty(), "{:?}", table.flaws);
    (listed, table.entries.unwrap().to_json())
}

#[test]
fn what_many_clients_declare_at_once_is_in_the_journal_in_the_same_order() {
    let folder = Folder::new("order");
    let engine = engine(&folder.0);
    let address = engine.address();
    let (clients, rounds) = (6, 60);
    let barrier = Barrier::new(clients + 1);
    thread::scope(|scope| {
        for number in 0..clients {
            let barrier = &barrier;
            scope.spawn(move || {
                let mut client = Talk::connect(address, Version::V5, &format!("c{number}"));
                for round in 0..rounds {
                    barrier.wait();
                    declare(&mut client, "all", &format!("of {number} in {round}"));
                    barrier.wait();
                }
            });
        }
        let mut client = Talk::connect(address, Version::V5, "looks");
        let mut different = 0;
        for _ in 0..rounds {
            barrier.wait();
            barrier.wait(); // everyone has an answer: it is in the journal
            let (listed, journaled) = both(&mut client, &folder.0);
            different += usize::from(listed != journaled);
        }
        assert_eq!(different, 0, "of {rounds} rounds");
    });
    engine.stop().unwrap();
}

/// Waits for a change that a client is told; it sends nothing itself.
fn told(watcher: &mut Talk, event: &str) {
    loop {
        let (topic, json) = watcher.message();
        if topic.ends_with("/changes") && json.contains(&format!("\"event\":\"{event}\"")) {
            return;
        }
    }
}

#[test]
fn who_has_nothing_else_to_do_hears_that_a_publisher_has_gone() {
    let folder = Folder::new("gone");
    let engine = engine(&folder.0);
    for (asked, body, topic, event) in [
        ("table/declare", r#"{"parameters": [{"name": "p", "type": "u8"}]}"#, "p", "stale"),
        ("streams/declare", r#"{"streams": [{"name": "s", "media": "audio/pcm"}]}"#, "s", "silent"),
    ] {
        let mut watcher = Talk::connect(engine.address(), Version::V5, "watcher");
        watcher.subscribe(&format!("$slipring/{}", asked.replace("declare", "changes")));
        let mut publisher = Talk::connect(engine.address(), Version::V5, "publisher");
        ask(&mut publisher, asked, body);
        publisher.publish(topic, b"7");
        told(&mut watcher, "added");
        drop(publisher);
        told(&mut watcher, event);
    }
    engine.stop().unwrap();
}

#[test]
fn streams_that_many_clients_change_at_once_are_the_same_after_a_restart() {
    let folder = Folder::new("streams");
    let (clients, rounds) = (6, 12);
    let listed = |engine: &Engine| {
        let mut client = Talk::connect(engine.address(), Version::V5, "looks");
        let answer = ask(&mut client, "streams/list", "");
        let (_, streams) = answer.split_once("\"streams\"").unwrap();
        streams.replace("\"live\":true", "\"live\":false")
    };
    for round in 0..rounds {
        let engine = engine(&folder.0);
        let address = engine.address();
        let barrier = Barrier::new(clients);
        thread::scope(|scope| {
            for number in 0..clients {
                let barrier = &barrier;
                scope.spawn(move || {
                    let mut client = Talk::connect(address, Version::V5, &format!("c{number}"));
                    let stream = format!(
                        r#"{{"name": "all", "media": "a/b", "description": "{number} in {round}"}}"#
                    );
                    barrier.wait();
                    ask(&mut client, "streams/declare", &format!(r#"{{"streams": [{stream}]}}"#));
                });
            }
        });
        let before = listed(&engine);
        engine.stop().unwrap();
        let again = self::engine(&folder.0);
        assert_eq!(before, listed(&again), "in round {round}");
        again.stop().unwrap();
    }
}
