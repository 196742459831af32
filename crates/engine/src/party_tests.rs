//! The client's protocol speaks to parties in memory: no socket, no stream of bytes to the broker, one decoded packet at
//! a time. A datagram's listener and a link between brokers carry packets in the same way.

use std::sync::Arc;
use std::time::Instant;

use slipring_core::{Packets, Plan};
use slipring_journal::JournalOptions;
use slipring_protocol::{
    ClientEvent, ClientProtocol, ConnectOptions, ProtocolEvent, PublishOutcome,
};
use slipring_wire::{
    Connect, Disconnect, Packet, PacketSplit, Properties, Publish, QoS, Reason, Version, Will,
    split_packet,
};

use super::Party;
use crate::broker::Broker;
use crate::connection_end::ConnectionEnd;
use crate::connection_handle::ConnectionHandle;
use crate::origin::Origin;

/// A client and its party, with nothing between them.
struct Carried {
    client: ClientProtocol,
    party: Party,
    now: Instant,
}

impl Carried {
    fn new(broker: &Arc<Broker>, options: ConnectOptions) -> Self {
        let origin = Origin { address: "here".into(), listener: 0, user: None, certificates: None };
        let key = broker.connections.next_key();
        let handle = ConnectionHandle::new(key, origin, broker.clock.now_ns());
        let now = broker.clock.now().into_std();
        let client = ClientProtocol::new(options, 1 << 20, now);
        Self { client, party: Party::new(Arc::clone(broker), Arc::new(handle)), now }
    }

    /// Brings the client's packets to the party, and back what it answers and what is for the client.
    async fn carry(&mut self) -> Result<Vec<ProtocolEvent>, ConnectionEnd> {
        let mut events = Vec::new();
        loop {
            let sent = self.client.take_output(Vec::new(), self.now);
            self.take(&sent)?;
            self.party.feed.journal(&self.party.broker).await.expect("there is no journal");
            let mut reply = std::mem::take(&mut self.party.reply);
            self.add_messages(&mut reply);
            if sent.is_empty() && reply.is_empty() {
                return Ok(events);
            }
            assert_eq!(self.client.receive(&reply, self.now, &mut events), reply.len());
        }
    }

    fn take(&mut self, sent: &[u8]) -> Result<(), ConnectionEnd> {
        let now_ns = self.party.broker.clock.now_ns();
        self.party.feed.begin(&self.party.broker, now_ns);
        let mut rest = sent;
        while let PacketSplit::Whole(whole) = split_packet(rest, 1 << 20).unwrap() {
            let packet = Packet::decode(&whole, Version::V5).unwrap();
            assert!(self.party.take(packet)?, "a turn is long enough");
            rest = &rest[whole.length..];
        }
        self.party.finish();
        Ok(())
    }

    /// Adds the packets with messages for the client.
    fn add_messages(&self, reply: &mut Vec<u8>) {
        let Some(client) = &self.party.client else { return };
        let mut packets = Packets::default();
        let now_ms = self.party.broker.clock.now_ms();
        let retained = self.party.broker.topics.retained();
        client.outgoing().take(
            now_ms,
            &mut |asked, after| retained.page(&asked.filter, after, asked.until),
            &mut packets,
        );
        reply.append(&mut packets.to_vec());
    }

    async fn lose(mut self) {
        self.party.leave(&ConnectionEnd::Lost("the network is gone".into())).await;
    }
}

fn broker() -> Arc<Broker> {
    Arc::new(Broker::open(Plan::default(), None, JournalOptions::default()).unwrap().0)
}

async fn connected(broker: &Arc<Broker>, client_id: &str) -> Carried {
    let options = ConnectOptions { client_id: client_id.into(), ..ConnectOptions::default() };
    let mut carried = Carried::new(broker, options);
    let events = carried.carry().await.unwrap();
    assert!(matches!(events[..], [ProtocolEvent::Client(ClientEvent::Connected(_))]), "{events:?}");
    carried
}

fn payloads(events: &[ProtocolEvent]) -> Vec<&[u8]> {
    let messages = events.iter().filter_map(|event| match event {
        ProtocolEvent::Message { message, .. } => Some(&message.payload[..]),
        ProtocolEvent::Client(_) => None,
    });
    messages.collect()
}

#[tokio::test]
async fn messages_of_every_qos_cross_from_one_party_to_another() {
    let broker = broker();
    let mut reader = connected(&broker, "reader").await;
    let mut writer = connected(&broker, "writer").await;
    reader.client.subscribe(&["gripen/#"], QoS::ExactlyOnce, &[]).unwrap();
    reader.carry().await.unwrap();
    for (qos, payload) in
        [(QoS::AtMostOnce, b"0"), (QoS::AtLeastOnce, b"1"), (QoS::ExactlyOnce, b"2")]
    {
        let message = Publish { qos, ..Publish::new("gripen/39-7/rpm", payload) };
        let id = writer.client.publish(&message).unwrap();
        let told = writer.carry().await.unwrap();
        let outcome = PublishOutcome::Acknowledged;
        let expected = id.map(|id| ProtocolEvent::Client(ClientEvent::Published { id, outcome }));
        assert!(expected.is_none_or(|event| told.contains(&event)), "{told:?}");
        assert_eq!(payloads(&reader.carry().await.unwrap()), [&payload[..]]);
    }
}

#[tokio::test]
async fn a_second_connection_takes_the_session_over() {
    let broker = broker();
    let first = connected(&broker, "same").await;
    let mut second = Carried::new(
        &broker,
        ConnectOptions { client_id: "same".into(), ..ConnectOptions::default() },
    );
    assert!(second.carry().await.unwrap().is_empty(), "it waits until the first has let go");
    assert_eq!(first.party.connection.closing(), Some(Reason::SessionTakenOver));
    first.lose().await;
}

#[tokio::test]
async fn the_will_of_a_lost_client_is_published_and_that_of_a_goodbye_is_not() {
    let broker = broker();
    let mut reader = connected(&broker, "reader").await;
    reader.client.subscribe(&["will/#"], QoS::AtMostOnce, &[]).unwrap();
    reader.carry().await.unwrap();
    for client_id in ["lost", "polite"] {
        let mut carried = Carried::new(&broker, ConnectOptions::default());
        carried.party.take(connect_with_will(client_id)).unwrap();
        if client_id == "polite" {
            let goodbye = Disconnect { reason: Reason::Success, properties: Properties::NONE };
            let end = carried.party.take(Packet::Disconnect(goodbye)).unwrap_err();
            carried.party.leave(&end).await;
        } else {
            carried.lose().await;
        }
    }
    assert_eq!(payloads(&reader.carry().await.unwrap()), [b"lost"]);
}

fn connect_with_will(client_id: &str) -> Packet<'_> {
    let payload = client_id.as_bytes();
    let (topic, qos, properties) = ("will/left", QoS::AtMostOnce, Properties::NONE);
    Packet::Connect(Box::new(Connect {
        version: Version::V5,
        clean_start: true,
        keep_alive_s: 60,
        client_id,
        properties,
        will: Some(Will { topic, payload, qos, retain: false, properties }),
        user_name: None,
        password: None,
    }))
}
