//! Rights are asked where a route is made, a subscription is taken, a request comes and the journal is read: what a
//! plan denies is refused there, with a reason code, and changes nothing (T13).

mod talk;

use std::collections::HashMap;
use std::sync::Arc;

use slipring_core::Plan;
use slipring_core::access::{AccessPolicy, AccessRule, Right};
use slipring_engine::{Engine, ListenerSettings, Settings};
use slipring_wire::{
    Connect, Packet, PacketId, PropertiesBuf, PropertyId, Publish, QoS, Subscribe, Subscription,
    Value, Version,
};
use talk::{Talk, connect};

/// An action, and the topic on which nobody may do it.
type Denied = (&'static str, &'static str);

fn engine(denied: Denied) -> Engine {
    let settings = Settings {
        audit: None,
        listeners: vec![ListenerSettings::tcp("mqtt", "127.0.0.1:0")],
        journal: None,
        segment_bytes: 1 << 20,
        threads: 2,
        console_connections: 0,
    };
    Engine::start(&settings, plan(denied)).unwrap()
}

fn plan((action, topic): Denied) -> Plan {
    let rule = |is_allowed, actions: &[&str], topics: &[&str]| {
        AccessRule::parse(&["anyone"], is_allowed, actions, topics).unwrap()
    };
    let everything = rule(true, &Right::ALL.map(Right::name), &["#", "$SYS/#"]);
    let rules = vec![everything, rule(false, &[action], &[topic])];
    let access = Arc::new(AccessPolicy::enforced(rules, HashMap::new()));
    Plan { access, ..Plan::default() }
}

fn published(client: &mut Talk, message: &Publish<'_>) -> String {
    let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(7));
    let mut bytes = Vec::new();
    Packet::Publish(Publish { qos, packet_id, ..*message }).encode(Version::V5, &mut bytes);
    client.send_bytes(&bytes);
    client.next().unwrap()
}

#[test]
fn a_message_to_a_denied_topic_is_refused_and_reaches_nobody() {
    let engine = engine(("publish", "denied"));
    let mut reader = Talk::connect(engine.address(), Version::V5, "reader");
    reader.subscribe("#");
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    for _ in 0..2 {
        let refused = published(&mut client, &Publish::new("denied", b"1"));
        assert!(refused.contains("NotAuthorized"), "{refused}");
        let kept = Publish { retain: true, ..Publish::new("denied", b"1") };
        let refused = published(&mut client, &kept);
        assert!(refused.contains("NotAuthorized"), "{refused}");
    }
    client.publish("allowed", b"2");
    assert_eq!(reader.message().0, "allowed");
    assert_eq!(engine.status().retained.messages, 0);
}

/// A client that says that it plays a recording again.
fn replaying(engine: &Engine, client_id: &str) -> Talk {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::UserProperty, Value::Pair("slipring-replay", "1"));
    let (version, will, user_name, password) = (Version::V5, None, None, None);
    let (clean_start, keep_alive_s, properties) = (true, 60, properties.borrow());
    let connect = Connect {
        version,
        clean_start,
        keep_alive_s,
        client_id,
        properties,
        will,
        user_name,
        password,
    };
    let mut bytes = Vec::new();
    Packet::Connect(Box::new(connect)).encode(version, &mut bytes);
    let mut talk = Talk::silent(engine.address(), version);
    talk.send_bytes(&bytes);
    assert!(talk.next().unwrap().starts_with("ConnAck"));
    talk
}

#[test]
fn who_plays_a_recording_again_needs_the_right_to_replay_instead_of_to_publish() {
    for (denied, refuses_replay) in [("replay", true), ("publish", false)] {
        let engine = engine((denied, "topic"));
        let mut plain = Talk::connect(engine.address(), Version::V5, "plain");
        let mut again = replaying(&engine, "again");
        let answers = [&mut plain, &mut again].map(|client| {
            published(client, &Publish::new("topic", b"1")).contains("NotAuthorized")
        });
        assert_eq!(answers, [!refuses_replay, refuses_replay], "{denied}");
    }
}

#[test]
fn rights_of_a_new_plan_hold_for_topics_that_were_published_to_before() {
    let engine = engine(("publish", "other"));
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    let accepted = published(&mut client, &Publish::new("topic", b"1"));
    assert!(accepted.contains("NoMatchingSubscribers"), "{accepted}");
    engine.apply(plan(("publish", "topic")));
    let refused = published(&mut client, &Publish::new("topic", b"2"));
    assert!(refused.contains("NotAuthorized"), "{refused}");
}

#[test]
fn a_will_to_a_denied_topic_is_not_published() {
    let engine = engine(("publish", "denied"));
    let mut reader = Talk::connect(engine.address(), Version::V5, "reader");
    reader.subscribe("#");
    for topic in ["denied", "allowed"] {
        let mut client = Talk::silent(engine.address(), Version::V5);
        client.send_bytes(&connect(Version::V5, topic, 60, Some(topic)));
        assert!(client.next().unwrap().starts_with("ConnAck"));
        drop(client);
    }
    assert_eq!(reader.message().0, "allowed");
}

#[test]
fn a_subscription_to_a_denied_filter_is_refused_beside_one_that_is_taken() {
    let engine = engine(("subscribe", "denied/#"));
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    let (packet_id, mut bytes) = (PacketId::new(1).unwrap(), Vec::new());
    let subscriptions = ["denied/#", "allowed"].map(Subscription::new).into();
    let properties = slipring_wire::Properties::NONE;
    Packet::Subscribe(Subscribe { packet_id, properties, subscriptions })
        .encode(Version::V5, &mut bytes);
    client.send_bytes(&bytes);
    let answer = client.next().unwrap();
    assert!(answer.contains("[NotAuthorized, Success]"), "{answer}");
    client.publish("denied/1", b"1");
    client.publish("allowed", b"2");
    assert_eq!(client.message().0, "allowed");
}

#[test]
fn a_service_of_a_denied_filter_is_refused() {
    let engine = engine(("serve", "denied/#"));
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    let (packet_id, mut bytes) = (PacketId::new(1).unwrap(), Vec::new());
    let filters = ["$slipring/serve/1/denied/#", "$slipring/serve/1/allowed"];
    let subscriptions = filters.map(Subscription::new).into();
    let properties = slipring_wire::Properties::NONE;
    Packet::Subscribe(Subscribe { packet_id, properties, subscriptions })
        .encode(Version::V5, &mut bytes);
    client.send_bytes(&bytes);
    let answer = client.next().unwrap();
    assert!(answer.contains("[NotAuthorized, Success]"), "{answer}");
}

#[test]
fn a_journal_that_may_not_be_read_is_not_read() {
    let engine = engine(("journal", "#"));
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::ResponseTopic, Value::Text("answer"));
    let properties = properties.borrow();
    let request = Publish { properties, ..Publish::new("$slipring/journal/status", b"") };
    let (first, second) = (published(&mut client, &request), client.next().unwrap());
    assert!(
        first.contains("NotAuthorized") || second.contains("NotAuthorized"),
        "{first} {second}"
    );
}

#[test]
fn only_who_may_operate_changes_the_memory_budget_and_everybody_sees_it() {
    let engine = engine(("administer", "memory"));
    let mut client = Talk::connect(engine.address(), Version::V5, "client");
    let before = engine.status().memory.budget;
    let refused = published(&mut client, &Publish::new("$slipring/memory", b"3GiB"));
    assert!(refused.contains("NotAuthorized"), "{refused}");
    assert_eq!(engine.status().memory.budget, before);
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::ResponseTopic, Value::Text("answer"));
    let properties = properties.borrow();
    let question = Publish { properties, ..Publish::new("$slipring/memory", b"") };
    let (first, second) = (published(&mut client, &question), client.next().unwrap());
    assert!(!first.contains("NotAuthorized") && !second.contains("NotAuthorized"));
}
