//! The table of a running broker, and what its journal says of it.

#[allow(dead_code, reason = "other tests say more")]
mod talk;

use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::{env, fs, process, thread};

use slipring_core::{Limits, Plan, TableRules};
use slipring_engine::{Engine, ListenerSettings, Settings, journal_table};
use slipring_wire::{
    Connect, Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, Subscribe,
    Subscription, Value, Version,
};
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
    engine_with(folder, &Limits::default())
}

fn engine_with(folder: &Path, limits: &Limits) -> Engine {
    let settings = Settings {
        audit: None,
        listeners: vec![ListenerSettings::tcp("mqtt", "127.0.0.1:0")],
        journal: Some(folder.into()),
        segment_bytes: 1 << 20,
        threads: 2,
        console_connections: 0,
    };
    Engine::start(&settings, Plan { limits: *limits, ..Plan::default() }).unwrap()
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
fn an_idle_watcher_hears_that_a_publisher_has_gone() {
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

/// Subscribes with needs and waits for SUBACK.
fn choose(client: &mut Talk, filter: &str, needs: &[(&str, &str)]) {
    let mut properties = PropertiesBuf::new();
    for (name, text) in needs {
        properties.push(PropertyId::UserProperty, Value::Pair(name, text));
    }
    let (packet_id, properties) = (PacketId::new(1).unwrap(), properties.borrow());
    let subscriptions = vec![Subscription::new(filter)];
    let mut bytes = Vec::new();
    Packet::Subscribe(Subscribe { packet_id, properties, subscriptions })
        .encode(Version::V5, &mut bytes);
    client.send_bytes(&bytes);
    let answer = loop {
        let packet = client.next().unwrap();
        if packet.starts_with("SubAck") {
            break packet;
        }
    };
    assert!(answer.contains("[Success]"), "{answer}");
}

#[test]
fn another_beat_in_the_plan_rules_selections_that_are_there() {
    let folder = Folder::new("beat");
    let engine = engine(&folder.0);
    let with = |beat_ms| Plan {
        table: TableRules { beat_ms, ..TableRules::default() },
        ..Plan::default()
    };
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    declare(&mut client, "p", "");
    choose(&mut client, "p", &[("deliver", "text")]);
    engine.apply(with(10_000));
    client.publish("p", b"1");
    client.publish("p", b"2");
    assert_eq!(client.message(), ("p".into(), "1".into()));
    assert_eq!(ask(&mut client, "table/request", ""), ask(&mut client, "table/request", ""));
    engine.apply(with(0));
    assert_eq!(client.message(), ("p".into(), "2".into()));
    client.publish("p", b"3");
    assert_eq!(client.message(), ("p".into(), "3".into()));
    engine.stop().unwrap();
}

/// Sends messages to somebody who does not read until some are dropped, and then so many more.
fn flood(engine: &Engine, publisher: &mut Talk, more: u64) {
    let dropped = || engine.status().totals.traffic.dropped;
    let enough = dropped() + more;
    while dropped() < enough.max(1) {
        for _ in 0..16 {
            publisher.publish("flood", &vec![0; 32 << 10]);
        }
        ask(publisher, "table/find", r#"{"names": []}"#);
    }
}

#[test]
fn a_subscriber_whose_outbox_dropped_a_change_ends_with_the_newest_value() {
    let folder = Folder::new("dropped");
    let limits = Limits { outbox_bytes: 256 << 10, ..Limits::default() };
    for needs in
        [&[("change", "true")][..], &[("rate", "50")], &[("deadband", "0.5")], &[("beat", "0")]]
    {
        let engine = engine_with(&folder.0, &limits);
        let mut slow = Talk::connect(engine.address(), Version::V5, "slow");
        let mut publisher = Talk::connect(engine.address(), Version::V5, "publisher");
        declare(&mut publisher, "p", "");
        publisher.publish("p", b"1");
        slow.subscribe("flood");
        choose(&mut slow, "p", needs);
        flood(&engine, &mut publisher, 0);
        publisher.publish("p", b"2");
        flood(&engine, &mut publisher, 16);
        while slow.message() != ("p".into(), "2".into()) {}
        drop(publisher);
        engine.stop().unwrap();
    }
}

#[test]
fn a_packet_whose_reading_alone_takes_a_turn_is_answered() {
    let folder = Folder::new("large");
    let engine = engine(&folder.0);
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    declare(&mut client, "p", "");
    let filters: Vec<String> = (0..4_000).map(|number| format!("{number:050}/+")).collect();
    let answer = ask(&mut client, "table/select", &format!(r#"{{"filters": {filters:?}}}"#));
    assert!(answer.contains(r#""selection""#), "{answer}");
    let filters: Vec<String> = (0..2_000).map(|number| format!("{number:0500}/+")).collect();
    let subscriptions = filters.iter().map(|filter| Subscription::new(filter)).collect();
    let packet_id = PacketId::new(1).unwrap();
    let mut bytes = Vec::new();
    Packet::Subscribe(Subscribe { packet_id, properties: Properties::NONE, subscriptions })
        .encode(Version::V5, &mut bytes);
    client.send_bytes(&bytes);
    let answer = client.next().unwrap();
    assert!(answer.starts_with("SubAck"), "{answer}");
    engine.stop().unwrap();
}

/// Connects to a session that outlives its connection.
fn come_back(engine: &Engine, client_id: &str) -> (Talk, bool) {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::SessionExpiryInterval, Value::Four(600));
    let mut bytes = Vec::new();
    Packet::Connect(Box::new(Connect {
        version: Version::V5,
        clean_start: false,
        keep_alive_s: 60,
        client_id,
        properties: properties.borrow(),
        will: None,
        user_name: None,
        password: None,
    }))
    .encode(Version::V5, &mut bytes);
    let mut talk = Talk::silent(engine.address(), Version::V5);
    talk.send_bytes(&bytes);
    let answer = talk.next().unwrap();
    assert!(answer.starts_with("ConnAck"), "{answer}");
    (talk, answer.contains("session_present: true"))
}

/// Asks for a list; its filter.
fn list(client: &mut Talk, names: &[&str]) -> String {
    let answer = ask(client, "table/select", &format!(r#"{{"names": {names:?}}}"#));
    let id = answer.split_once(r#""selection":""#).unwrap().1;
    format!("$selection/{}", &id[..16])
}

/// What a client that is back hears of what is published now.
fn hears(engine: &Engine, client: &mut Talk, value: &str) {
    let mut publisher = Talk::connect(engine.address(), Version::V5, "publisher");
    declare(&mut publisher, "a", "");
    declare(&mut publisher, "b", "");
    publisher.publish("b", b"0");
    publisher.publish("a", value.as_bytes());
    loop {
        let (topic, heard) = client.message();
        assert_eq!(topic, "a", "it did not choose others");
        if heard == value {
            return;
        }
    }
}

#[test]
fn a_session_that_is_away_keeps_its_list_whatever_is_asked_for_meanwhile_and_over_a_restart() {
    let folder = Folder::new("lists");
    let first = engine(&folder.0);
    let mut other = Talk::connect(first.address(), Version::V5, "other");
    for name in ["a", "b"] {
        declare(&mut other, name, "");
    }
    let (mut client, present) = come_back(&first, "client");
    assert!(!present);
    let filter = list(&mut client, &["a"]);
    choose(&mut client, &filter, &[("deliver", "text")]);
    hears(&first, &mut client, "1");
    drop(client);
    let names: Vec<String> = (0..1_030).map(|number| format!("p{number}")).collect();
    let parameters: Vec<String> =
        names.iter().map(|name| format!(r#"{{"name": "{name}", "type": "u8"}}"#)).collect();
    ask(&mut other, "table/declare", &format!(r#"{{"parameters": [{}]}}"#, parameters.join(",")));
    for name in &names {
        list(&mut other, &[name]);
    }
    let (mut client, present) = come_back(&first, "client");
    assert!(present);
    hears(&first, &mut client, "2");
    drop((client, other));
    first.stop().unwrap();
    for value in ["3", "4"] {
        let engine = engine(&folder.0);
        let (mut client, present) = come_back(&engine, "client");
        assert!(present);
        hears(&engine, &mut client, value);
        choose(&mut client, &filter, &[("deliver", "text")]);
        engine.stop().unwrap();
    }
}

#[test]
fn streams_that_many_clients_change_at_once_are_the_same_after_a_restart() {
    let folder = Folder::new("streams");
    let (clients, rounds) = (6, 12);
    let listed = |engine: &Engine| {
        let mut client = Talk::connect(engine.address(), Version::V5, "looks");
        let answer = ask(&mut client, "streams/list", "");
        let (_, streams) = answer.split_once("\"streams\"").unwrap();
        // Whether those who declared them are gone already does not matter.
        (0..=clients).fold(streams.replace("\"live\":true", "\"live\":false"), |streams, count| {
            streams.replace(&format!("\"publishers\":{count},"), "")
        })
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
