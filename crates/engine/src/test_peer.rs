//! A client for tests in virtual time: MQTT 5 over a pipe in memory. When the runtime's time is paused and all tasks are
//! idle, waiting for a packet moves the clock to the next timer.

use std::sync::Arc;

use slipring_core::Plan;
use slipring_journal::JournalOptions;
use slipring_wire::{
    Connect, Packet, PacketId, PacketSplit, Properties, PropertiesBuf, PropertyId, Publish, QoS,
    Reason, Subscribe, Subscription, Value, Version, Will, split_packet,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use crate::broker::Broker;
use crate::connection::{self, FirstBytes};
use crate::origin::Origin;
use crate::requests::keeper;
use crate::table::{beat, readers};
use crate::timers;

/// A broker without a journal, and its timers.
pub(crate) fn running(plan: Plan) -> Arc<Broker> {
    let broker = Arc::new(Broker::open(plan, None, JournalOptions::default()).unwrap().0);
    tokio::spawn(timers::run(Arc::clone(&broker)));
    tokio::spawn(keeper::run(Arc::clone(&broker)));
    tokio::spawn(beat::run(Arc::clone(&broker)));
    tokio::spawn(readers::run(Arc::clone(&broker)));
    broker
}

/// How a client connects. Its will, if it has a delay, is `gone` to the topic `will`, at QoS 1.
#[derive(Clone, Copy)]
pub(crate) struct Terms {
    pub name: &'static str,
    pub clean_start: bool,
    pub expiry_s: u32,
    pub keep_alive_s: u16,
    pub will_delay_s: Option<u32>,
}

impl Terms {
    pub fn new(name: &'static str) -> Self {
        Self { name, clean_start: false, expiry_s: 0, keep_alive_s: 0, will_delay_s: None }
    }
}

/// What the broker says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Told {
    Welcome { session_present: bool },
    Message(String, Vec<u8>),
    Goodbye(Reason),
    Closed,
    Other,
}

impl Told {
    pub fn message(topic: &str, payload: &str) -> Self {
        Self::Message(topic.into(), payload.into())
    }
}

pub(crate) struct TestPeer {
    name: &'static str,
    line: DuplexStream,
    unread: Vec<u8>,
}

impl TestPeer {
    /// Opens a connection, and says nothing.
    pub fn open(broker: &Arc<Broker>, name: &'static str) -> Self {
        let (line, far) = duplex(1 << 20);
        let origin = Origin { address: "here".into(), listener: 0, user: None, certificates: None };
        tokio::spawn(connection::serve(
            far,
            FirstBytes::nothing(broker),
            origin,
            Arc::clone(broker),
        ));
        Self { name, line, unread: Vec::new() }
    }

    /// Connects; whether there was a session.
    pub async fn connect(broker: &Arc<Broker>, terms: Terms) -> (Self, bool) {
        let mut peer = Self::open(broker, terms.name);
        let (mut properties, mut delay) = (PropertiesBuf::new(), PropertiesBuf::new());
        properties.push(PropertyId::SessionExpiryInterval, Value::Four(terms.expiry_s));
        let will = terms.will_delay_s.map(|delay_s| {
            delay.push(PropertyId::WillDelayInterval, Value::Four(delay_s));
            let (topic, payload, properties) = ("will", &b"gone"[..], delay.borrow());
            Will { topic, payload, qos: QoS::AtLeastOnce, retain: false, properties }
        });
        peer.send(&Packet::Connect(Box::new(Connect {
            version: Version::V5,
            clean_start: terms.clean_start,
            keep_alive_s: terms.keep_alive_s,
            client_id: terms.name,
            properties: properties.borrow(),
            will,
            user_name: None,
            password: None,
        })))
        .await;
        let Told::Welcome { session_present } = peer.next().await else { panic!("no CONNACK") };
        (peer, session_present)
    }

    pub async fn send(&mut self, packet: &Packet<'_>) {
        let mut bytes = Vec::new();
        packet.encode(Version::V5, &mut bytes);
        self.line.write_all(&bytes).await.unwrap();
    }

    /// Subscribes at QoS 1, with these user properties.
    pub async fn subscribe(&mut self, filter: &str, asked: &[(&str, &str)]) {
        let mut properties = PropertiesBuf::new();
        for (name, text) in asked {
            properties.push(PropertyId::UserProperty, Value::Pair(name, text));
        }
        let subscriptions =
            vec![Subscription { qos: QoS::AtLeastOnce, ..Subscription::new(filter) }];
        let (packet_id, properties) = (PacketId::new(1).unwrap(), properties.borrow());
        self.send(&Packet::Subscribe(Subscribe { packet_id, properties, subscriptions })).await;
        assert_eq!(self.next().await, Told::Other, "SUBACK");
    }

    /// Publishes at QoS 1, and waits for the acknowledgement.
    pub async fn publish(
        &mut self,
        topic: &str,
        payload: &str,
        retain: bool,
        given: Properties<'_>,
    ) {
        let message = Publish::new(topic, payload.as_bytes());
        let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(1));
        self.send(&Packet::Publish(Publish {
            qos,
            packet_id,
            retain,
            properties: given,
            ..message
        }))
        .await;
        assert_eq!(self.next().await, Told::Other, "PUBACK");
    }

    /// The next packet, whenever that comes.
    pub async fn next(&mut self) -> Told {
        loop {
            if let Ok(PacketSplit::Whole(found)) = split_packet(&self.unread, usize::MAX) {
                let told = told(&Packet::decode(&found, Version::V5).unwrap());
                let length = found.length;
                self.unread.drain(..length);
                return told;
            }
            if self.line.read_buf(&mut self.unread).await.unwrap() == 0 {
                return Told::Closed;
            }
        }
    }

    /// Loses the connection; the broker knows when this returns.
    pub async fn lose(self, broker: &Broker) {
        drop(self.line);
        let client = Arc::clone(&broker.sessions.registry().sessions[self.name]);
        while client.connection().is_some() {
            tokio::task::yield_now().await;
        }
    }
}

fn told(packet: &Packet<'_>) -> Told {
    match packet {
        Packet::ConnAck(connack) => Told::Welcome { session_present: connack.session_present },
        Packet::Publish(message) => Told::Message(message.topic.into(), message.payload.into()),
        Packet::Disconnect(goodbye) => Told::Goodbye(goodbye.reason),
        _ => Told::Other,
    }
}
