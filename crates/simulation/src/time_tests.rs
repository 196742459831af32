//! What the broker does by itself when time passes: messages expire, a selection gets its frames with the beat,
//! silent parameters go stale. All in virtual time, and across a crash where that matters.

use std::time::Duration;

use slipring_journal::sim::Crash;
use slipring_wire::{
    Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS, Subscribe, Subscription,
    Value,
};

use crate::line::{Line, Stay};
use crate::world::World;

/// Exchanges after which everything that is due has arrived.
const EXCHANGES: usize = 16;

/// A client that notes its messages.
struct Client {
    line: Line,
    /// The topic and the payload of each, and the milliseconds on the broker's clock.
    messages: Vec<(String, String, i64)>,
}

impl Client {
    fn connect(world: &mut World, client_id: &str) -> Self {
        let line = Line::open(world.broker(), client_id, Stay::Kept);
        let mut client = Self { line, messages: Vec::new() };
        client.exchange(world);
        client
    }

    /// Sends and receives, while the journal keeps up.
    fn exchange(&mut self, world: &mut World) {
        let Self { line, messages } = self;
        for _ in 0..EXCHANGES {
            assert!(line.exchange(world.broker()), "the connection is open");
            while world.broker().commit() {}
            let now_ms = world.broker().now_ns() / 1_000_000;
            line.receive(|line, packet| {
                let Packet::Publish(message) = packet else { return };
                let payload = String::from_utf8_lossy(message.payload).into_owned();
                messages.push((message.topic.to_owned(), payload, now_ms));
                if let Some(id) = message.packet_id {
                    line.answer(Packet::PubAck, id);
                }
            });
        }
    }

    fn subscribe(&mut self, world: &mut World, filter: &str, needs: &[(&str, &str)]) {
        let mut properties = PropertiesBuf::new();
        for (name, text) in needs {
            properties.push(PropertyId::UserProperty, Value::Pair(name, text));
        }
        let (packet_id, properties) = (PacketId::new(1).unwrap(), properties.borrow());
        let subscriptions =
            vec![Subscription { qos: QoS::AtLeastOnce, ..Subscription::new(filter) }];
        self.line.send(&Packet::Subscribe(Subscribe { packet_id, properties, subscriptions }));
        self.exchange(world);
    }

    fn publish(&mut self, world: &mut World, message: Publish<'_>) {
        let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(1));
        self.line.send(&Packet::Publish(Publish { qos, packet_id, ..message }));
        self.exchange(world);
    }

    fn declare(&mut self, world: &mut World, parameter: &str) {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::ResponseTopic, Value::Text("answer"));
        let (topic, body) =
            ("$slipring/table/declare", format!(r#"{{"parameters": [{parameter}]}}"#));
        let request = Publish::new(topic, body.as_bytes());
        self.publish(world, Publish { properties: properties.borrow(), ..request });
        let (_, answer, _) = self.messages.pop().expect("an answer");
        assert!(answer.contains("\"indices\":[0]"), "{answer}");
    }

    /// The events about parameters since the last call.
    fn take_events(&mut self) -> Vec<String> {
        let told = self.messages.drain(..).map(|(_, json, _)| {
            let (_, rest) = json.split_once("\"event\":\"").expect("an event");
            rest.split('"').next().unwrap_or_default().to_owned()
        });
        told.collect()
    }
}

fn sample() -> Publish<'static> {
    Publish { properties: Properties::NONE, ..Publish::new("p", b"1") }
}

#[test]
fn a_queued_message_expires_although_the_broker_crashed_meanwhile() {
    let mut world = World::new(1);
    let mut reader = Client::connect(&mut world, "reader");
    reader.subscribe(&mut world, "t", &[]);
    drop(reader);
    let mut writer = Client::connect(&mut world, "writer");
    for (payload, expiry_s) in [("short", 30), ("long", 60)] {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::MessageExpiryInterval, Value::Four(expiry_s));
        let message = Publish::new("t", payload.as_bytes());
        writer.publish(&mut world, Publish { properties: properties.borrow(), ..message });
    }
    world.pass(20, Crash::Kill);
    world.crash(Crash::Kill);
    world.pass(20, Crash::Kill);
    let reader = Client::connect(&mut world, "reader");
    let payloads: Vec<&str> = reader.messages.iter().map(|(_, payload, _)| &**payload).collect();
    assert_eq!(payloads, ["long"]);
}

#[test]
fn a_selection_gets_a_sample_at_once_and_the_next_one_with_the_beat() {
    let mut world = World::new(2);
    let mut jet = Client::connect(&mut world, "jet");
    jet.declare(&mut world, r#"{"name": "p", "type": "u8"}"#);
    let mut reader = Client::connect(&mut world, "reader");
    let needs = [("deliver", "frame"), ("beat", "200")];
    reader.subscribe(&mut world, "$selection/s/p", &needs);
    reader.messages.clear();
    let begun_ms = world.broker().now_ns() / 1_000_000;
    for step in 0..20 {
        // Two samples, at 0 and 50 ms: the beat alone sends the second one.
        if step < 2 {
            jet.publish(&mut world, sample());
        }
        reader.exchange(&mut world);
        world.broker().pass(Duration::from_millis(50));
    }
    let sent_ms: Vec<i64> = reader.messages.iter().map(|(_, _, at)| at - begun_ms).collect();
    assert_eq!(sent_ms, [0, 200]);
}

#[test]
fn a_parameter_that_is_silent_for_five_periods_goes_stale_before_and_after_a_crash() {
    let mut world = World::new(3);
    let connect = |world: &mut World| {
        let watcher = Client::connect(world, "watcher");
        (Client::connect(world, "jet"), watcher)
    };
    let (mut jet, mut watcher) = connect(&mut world);
    watcher.subscribe(&mut world, "$slipring/table/changes", &[]);
    jet.declare(&mut world, r#"{"name": "p", "type": "u8", "rate_hz": 0.1}"#);
    for first in ["added", "fresh"] {
        jet.publish(&mut world, sample());
        world.broker().pass(Duration::from_millis(200)); // the beat looks every 100 ms
        watcher.exchange(&mut world);
        assert_eq!(watcher.take_events(), [first]);
        world.pass(49, Crash::Kill);
        watcher.exchange(&mut world);
        assert_eq!(watcher.take_events(), [""; 0], "four periods and a bit");
        world.pass(2, Crash::Kill);
        watcher.exchange(&mut world);
        assert_eq!(watcher.take_events(), ["stale"]);
        world.crash(Crash::Kill);
        (jet, watcher) = connect(&mut world);
        watcher.exchange(&mut world);
        watcher.messages.clear();
    }
}
