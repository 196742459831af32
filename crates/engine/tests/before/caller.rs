//! A broker on a journal's folder, and clients of it that say exactly what they are told to say.

use std::fs;
use std::path::Path;

use slipring_core::{Authentication, DurabilityRule, JournalRule, Limits, Plan, Users, Verifier};
use slipring_engine::{Engine, ListenerSettings, Settings};
use slipring_wire::{
    Ack, Connect, Packet, PacketId, Properties, PropertiesBuf, PropertyId, Publish, QoS, Reason,
    Subscribe, Subscription, Unsubscribe, Value, Version, Will,
};

use crate::talk::Talk;

/// The topic that the answers to requests come on.
const ANSWERS: &str = "$slipring/table/answer/me";

/// Everything is journaled; sessions never expire; there is room for three retained messages.
pub fn engine(folder: &Path) -> Engine {
    let settings = Settings {
        listeners: vec![ListenerSettings::tcp("mqtt", "127.0.0.1:0")],
        journal: Some(folder.into()),
        segment_bytes: 4_096,
        threads: 2,
        console_connections: 0,
    };
    let verifier = Verifier::new(b"pencil", b"a salt, 16 bytes", 4096).unwrap();
    let users = Users::new([("anna".to_owned(), verifier)]).unwrap();
    let plan = Plan {
        limits: Limits { session_expiry_s: u32::MAX, retained_messages: 3, ..Limits::default() },
        journal: JournalRule::new(vec!["#".into()]).unwrap(),
        durability: DurabilityRule::default(),
        authentication: Authentication { users, anonymous: true, ..Authentication::default() },
        ..Plan::default()
    };
    Engine::start(&settings, plan).unwrap()
}

/// What the broker says that it found in its journal.
pub fn recovered(engine: &Engine) -> serde_json::Value {
    let found = engine.receipt().unwrap();
    assert!(found.damage.is_empty() && found.flaws.is_empty(), "{found:?}");
    serde_json::json!({
        "sessions": found.sessions, "queued": found.queued, "retained": found.retained,
        "waiting": found.waiting,
    })
}

/// Copies a journal.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// How a client connects.
#[derive(Default)]
pub struct Opening<'a> {
    pub client_id: &'a str,
    pub clean_start: bool,
    /// Seconds that the session stays.
    pub expiry_s: u32,
    pub is_anna: bool,
    /// The will's topic, and its delay in seconds.
    pub will: Option<(&'a str, u32)>,
    /// 0 is not said.
    pub receive_max: u16,
}

impl<'a> Opening<'a> {
    /// A session that stays for ever, new or not.
    pub fn kept(client_id: &'a str) -> Self {
        Self { client_id, expiry_s: u32::MAX, ..Self::default() }
    }

    /// Connects; whether the session was there.
    pub fn connect(self, engine: &Engine) -> (Caller, bool) {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::SessionExpiryInterval, Value::Four(self.expiry_s));
        if self.receive_max > 0 {
            properties.push(PropertyId::ReceiveMaximum, Value::Two(self.receive_max));
        }
        let mut of_will = PropertiesBuf::new();
        if let Some((_, delay_s)) = self.will {
            of_will.push(PropertyId::WillDelayInterval, Value::Four(delay_s));
            of_will.push(PropertyId::ContentType, Value::Text("text/plain"));
        }
        let mut caller = Caller(Talk::silent(engine.address(), Version::V5));
        caller.send(&Packet::Connect(Box::new(Connect {
            version: Version::V5,
            clean_start: self.clean_start,
            keep_alive_s: 60,
            client_id: self.client_id,
            properties: properties.borrow(),
            will: self.will.map(|(topic, _)| Will {
                topic,
                payload: b"gone",
                qos: QoS::AtLeastOnce,
                retain: true,
                properties: of_will.borrow(),
            }),
            user_name: self.is_anna.then_some("anna"),
            password: self.is_anna.then_some(b"pencil"),
        })));
        let answer = caller.expect("ConnAck");
        (caller, answer.contains("session_present: true"))
    }
}

/// A connected client. Dropping it closes the connection without a goodbye.
pub struct Caller(pub Talk);

impl Caller {
    pub fn send(&mut self, packet: &Packet<'_>) {
        let mut bytes = Vec::new();
        packet.encode(Version::V5, &mut bytes);
        self.0.send_bytes(&bytes);
    }

    /// The next packet, which is of this kind.
    pub fn expect(&mut self, kind: &str) -> String {
        let packet = self.0.next().expect("the broker closed the connection");
        assert!(packet.starts_with(kind), "{kind} was expected: {packet}");
        packet
    }

    /// The next packet of this kind; samples that the client has chosen may come before it.
    fn after_samples(&mut self, kind: &str) -> String {
        loop {
            let packet = self.0.next().expect("the broker closed the connection");
            if packet.starts_with(kind) {
                return packet;
            }
            assert!(packet.starts_with("Publish") && packet.contains("AtMostOnce"), "{packet}");
        }
    }

    /// Publishes; a message at QoS 1 or 2 is acknowledged (PUBACK, PUBREC) when this returns.
    pub fn publish(&mut self, qos: u8, topic: &str, payload: &[u8], more: &Extras<'_>) {
        let mut properties = PropertiesBuf::new();
        for (name, text) in more.user_properties {
            properties.push(PropertyId::UserProperty, Value::Pair(name, text));
        }
        if let Some(seconds) = more.expiry_s {
            properties.push(PropertyId::MessageExpiryInterval, Value::Four(seconds));
        }
        if more.is_frame {
            let content = slipring_wire::frame::CONTENT_TYPE;
            properties.push(PropertyId::ContentType, Value::Text(content));
        }
        self.send(&Packet::Publish(Publish {
            qos: QoS::from_bits(qos).unwrap(),
            retain: more.retain,
            packet_id: if qos > 0 { PacketId::new(more.packet_id.max(1)) } else { None },
            properties: properties.borrow(),
            ..Publish::new(topic, payload)
        }));
        if qos > 0 {
            let answer = self.expect(if qos == 1 { "PubAck" } else { "PubRec" });
            assert!(answer.contains("Success") || answer.contains("NoMatching"), "{answer}");
        }
    }

    /// Sends one of the four answers, by the name of its packet.
    pub fn answer(&mut self, kind: fn(Ack<'static>) -> Packet<'static>, packet_id: u16) {
        let packet_id = PacketId::new(packet_id).unwrap();
        self.send(&kind(Ack { packet_id, reason: Reason::Success, properties: Properties::NONE }));
    }

    /// Subscribes and waits for SUBACK.
    pub fn subscribe(&mut self, subscription: Subscription<'_>, identifier: u32, needs: Needs<'_>) {
        let mut properties = PropertiesBuf::new();
        if identifier > 0 {
            properties.push(PropertyId::SubscriptionIdentifier, Value::Varint(identifier));
        }
        for (name, text) in needs {
            properties.push(PropertyId::UserProperty, Value::Pair(name, text));
        }
        self.send(&Packet::Subscribe(Subscribe {
            packet_id: PacketId::new(99).unwrap(),
            properties: properties.borrow(),
            subscriptions: vec![subscription],
        }));
        let answer = self.after_samples("SubAck");
        assert!(answer.contains("Success") || answer.contains("Granted"), "{answer}");
    }

    pub fn unsubscribe(&mut self, filter: &str) {
        self.send(&Packet::Unsubscribe(Unsubscribe {
            packet_id: PacketId::new(98).unwrap(),
            properties: Properties::NONE,
            filters: vec![filter],
        }));
        self.expect("UnsubAck");
    }

    /// Asks the broker; its answer.
    pub fn ask(&mut self, name: &str, body: &str) -> String {
        let mut properties = PropertiesBuf::new();
        properties.push(PropertyId::ResponseTopic, Value::Text(ANSWERS));
        let (topic, properties) = (format!("$slipring/{name}"), properties.borrow());
        let request = Publish { properties, ..Publish::new(&topic, body.as_bytes()) };
        self.send(&Packet::Publish(request));
        let (topic, answer) = self.0.message();
        assert_eq!(topic, ANSWERS, "another message came before the answer: {answer}");
        assert!(!answer.contains("\"error\""), "{answer}");
        answer
    }
}

/// The user properties of a subscription that chooses parameters.
pub type Needs<'a> = &'a [(&'a str, &'a str)];

/// What a message has besides its topic and payload.
#[derive(Default)]
pub struct Extras<'a> {
    pub retain: bool,
    /// 1 if it does not matter.
    pub packet_id: u16,
    pub user_properties: &'a [(&'a str, &'a str)],
    pub expiry_s: Option<u32>,
    pub is_frame: bool,
}
