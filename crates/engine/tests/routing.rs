//! A real engine on a real socket: what clients see of each other.

mod talk;

use slipring_core::{JournalRule, Limits, Plan};
use slipring_engine::{Engine, EventKind, FetchedEvents, ListenerSettings, Settings};
use slipring_wire::{Subscription, Version};
use talk::{Talk, connect};

fn engine(limits: &Limits) -> Engine {
    let settings = Settings {
        audit: None,
        listeners: vec![ListenerSettings::tcp("mqtt", "127.0.0.1:0")],
        journal: None,
        segment_bytes: 1 << 20,
        threads: 2,
        console_connections: 0,
    };
    let journal = JournalRule::default();
    Engine::start(&settings, Plan { limits: *limits, journal, ..Plan::default() }).unwrap()
}

#[test]
fn messages_cross_between_versions_by_filter() {
    let engine = engine(&Limits::default());
    let mut old = Talk::connect(engine.address(), Version::V311, "old");
    let mut new = Talk::connect(engine.address(), Version::V5, "new");
    old.subscribe("gripen/+/rpm");
    new.subscribe("gripen/#");
    new.publish("gripen/39-7/rpm", b"1");
    assert_eq!(old.message(), ("gripen/39-7/rpm".into(), "1".into()));
    old.publish("other", b"3");
    old.publish("gripen/39-7/fuel", b"2");
    assert_eq!(new.message(), ("gripen/39-7/rpm".into(), "1".into()));
    assert_eq!(new.message(), ("gripen/39-7/fuel".into(), "2".into()));
}

#[test]
fn one_copy_is_delivered_however_many_filters_match() {
    let engine = engine(&Limits::default());
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    client.subscribe("a/#");
    client.subscribe("a/+");
    client.publish("a/b", b"once");
    client.publish("a/c", b"next");
    assert_eq!(client.message().1, "once");
    assert_eq!(client.message().1, "next");
}

#[test]
fn no_local_leaves_out_a_clients_own_messages() {
    let engine = engine(&Limits::default());
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    let mut other = Talk::connect(engine.address(), Version::V5, "other");
    client.subscribe_with(Subscription { no_local: true, ..Subscription::new("t") });
    client.publish("t", b"mine");
    other.publish("t", b"theirs");
    assert_eq!(client.message().1, "theirs");
}

#[test]
fn a_client_with_the_same_identifier_takes_over() {
    let engine = engine(&Limits::default());
    let mut first = Talk::connect(engine.address(), Version::V5, "same");
    let _second = Talk::connect(engine.address(), Version::V5, "same");
    let farewell = first.next().unwrap();
    assert!(farewell.contains("SessionTakenOver"), "MQTT-3.1.4-3: {farewell}");
    assert_eq!(first.next(), None);
    assert_eq!(engine.clients(10).len(), 1);
}

#[test]
fn a_goodbye_sent_before_a_new_connection_counts_before_it() {
    let engine = engine(&Limits::default());
    for round in 0..200 {
        let mut first = Talk::silent(engine.address(), Version::V5);
        first.send_bytes(&connect(Version::V5, "same", 60, None));
        first.next().unwrap();
        first.subscribe(&format!("t/{round}"));
        first.send_bytes(b"\xe0\x00");
        let mut second = Talk::silent(engine.address(), Version::V311);
        second.send_bytes(b"\x10\x10\x00\x04MQTT\x04\x00\x00\x3c\x00\x04same");
        let answer = second.next().unwrap();
        assert!(answer.contains("session_present: false"), "round {round}: {answer}");
        second.send_bytes(b"\xe0\x00");
        assert_eq!(second.next(), None);
        let mut clean = Talk::connect(engine.address(), Version::V311, "same");
        clean.send_bytes(b"\xe0\x00");
        assert_eq!(clean.next(), None);
    }
}

#[test]
fn a_will_is_published_when_the_client_vanishes_and_only_then() {
    let engine = engine(&Limits::default());
    let mut watcher = Talk::connect(engine.address(), Version::V311, "watcher");
    watcher.subscribe("will/#");
    for (client_id, goodbye) in [("polite", &b"\xe0\x00"[..]), ("gone", b"")] {
        let topic = format!("will/{client_id}");
        let mut client = Talk::silent(engine.address(), Version::V311);
        client.send_bytes(&connect(Version::V311, client_id, 60, Some(&topic)));
        client.next().unwrap();
        client.send_bytes(goodbye);
    }
    assert_eq!(watcher.message(), ("will/gone".into(), "gone".into()));
}

#[test]
fn a_silent_client_goes_after_one_and_a_half_keep_alives() {
    let engine = engine(&Limits::default());
    let mut client = Talk::silent(engine.address(), Version::V5);
    client.send_bytes(&connect(Version::V5, "quiet", 1, None));
    client.next().unwrap();
    assert!(client.next().unwrap().contains("KeepAliveTimeout"), "MQTT-3.1.2-22");
    assert_eq!(client.next(), None);
}

#[test]
fn half_a_connect_is_not_held_open_nats_2026_25() {
    let engine = engine(&Limits { connect_ms: 50, ..Limits::default() });
    let mut client = Talk::silent(engine.address(), Version::V5);
    client.send_bytes(&connect(Version::V5, "half", 60, None)[..5]);
    assert_eq!(client.next(), None);
}

#[test]
fn a_client_over_the_limit_is_told_that_the_server_is_busy() {
    let engine = engine(&Limits { connections: 1, ..Limits::default() });
    let _first = Talk::connect(engine.address(), Version::V5, "first");
    let mut second = Talk::silent(engine.address(), Version::V5);
    second.send_bytes(&connect(Version::V5, "second", 60, None));
    assert!(second.next().unwrap().contains("ServerBusy"));
    assert_eq!(second.next(), None);
}

#[test]
fn a_broken_packet_ends_its_sender_and_disturbs_nobody_else() {
    let engine = engine(&Limits::default());
    let mut good = Talk::connect(engine.address(), Version::V5, "good");
    good.subscribe("t");
    let mut bad = Talk::connect(engine.address(), Version::V5, "bad");
    bad.send_bytes(b"\x30\x05\x00\x02\xff\xfe\x00");
    assert!(bad.next().unwrap().contains("MalformedPacket"), "CVE-2017-7653");
    good.publish("t", b"still here");
    assert_eq!(good.message().1, "still here");
}

#[test]
fn a_subscriber_that_stops_reading_loses_the_oldest_and_nobody_else_notices() {
    let engine = engine(&Limits { outbox_bytes: 100_000, ..Limits::default() });
    let mut slow = Talk::connect(engine.address(), Version::V311, "slow");
    slow.subscribe("t");
    let mut fast = Talk::connect(engine.address(), Version::V311, "fast");
    fast.subscribe("t");
    let mut publisher = Talk::connect(engine.address(), Version::V311, "publisher");
    let count = 400;
    for number in 0..count {
        publisher.publish("t", format!("{number:050000}").as_bytes());
        assert_eq!(fast.message().1, format!("{number:050000}"));
    }
    let dropped = |engine: &Engine| engine.clients(10)[0].traffic.dropped;
    let mut received = 0;
    let mut last = String::new();
    while received + dropped(&engine) < count {
        last = slow.message().1;
        received += 1;
    }
    assert_eq!(last, format!("{:050000}", count - 1), "P9: the newest is kept");
    let counted = dropped(&engine);
    assert!(counted > 0);
    engine.stop().unwrap();
    let drops =
        engine.take_events().events.into_iter().filter(|event| event.kind == EventKind::Dropped);
    let told: u64 =
        drops.map(|event| event.detail.split(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(told, counted, "every drop is told, however seldom");
}

#[test]
fn what_happened_is_told_in_a_batch() {
    let engine = engine(&Limits::default());
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    client.subscribe("t/#");
    client.send_bytes(b"\xe0\x00");
    assert_eq!(client.next(), None);
    engine.stop().unwrap();
    let FetchedEvents { events, lost, .. } = engine.take_events();
    let kinds: Vec<EventKind> = events.iter().map(|event| event.kind).collect();
    let expected = [EventKind::Connected, EventKind::Subscribed, EventKind::Disconnected];
    assert_eq!((&kinds[..], lost), (&expected[..], 0));
    assert!(events[0].detail.contains("MQTT 5"));
    assert_eq!((events[1].topic.as_str(), events[1].detail.as_str()), ("t/#", ""));
    assert_eq!(events[2].detail, "said goodbye");
}

#[test]
fn the_newest_values_are_at_hand() {
    let engine = engine(&Limits::default());
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    client.subscribe("rpm");
    for value in ["1", "2", "3"] {
        client.publish("rpm", value.as_bytes());
        client.message();
    }
    let changed = engine.values(0, 10);
    let values = changed.values;
    assert_eq!((&*values[0].0, &values[0].1.payload[..], values[0].1.count), ("rpm", &b"3"[..], 3));
    assert!(engine.values(changed.through, 10).values.is_empty());
}

#[test]
fn a_taken_port_is_named() {
    let first = engine(&Limits::default());
    let settings = Settings {
        audit: None,
        listeners: vec![ListenerSettings::tcp("mqtt", &first.address().to_string())],
        journal: None,
        segment_bytes: 1 << 20,
        threads: 1,
        console_connections: 0,
    };
    let error = Engine::start(&settings, Plan::default()).err().unwrap().to_string();
    assert!(error.contains(&first.address().to_string()), "{error}");
}
