//! The client's protocol speaks to the broker's conversation in memory: no socket, no thread, and
//! time that the test brings. This is what a link between brokers needs of it.

use std::time::{Duration, Instant};

use slipring_core::{Action, Conversation, Goodbye, Incoming, Limits};
use slipring_protocol::{
    ClientEvent, ClientProtocol, ConnectOptions, DeliveryTag, ProtocolEvent, PublishOutcome,
};
use slipring_wire::{
    Packet, PacketId, PacketSplit, Properties, Publish, QoS, Reason, SubAck, UnsubAck, Version,
    matches, split_packet,
};

/// A broker with one client, to which it sends back what that client publishes.
struct Broker {
    conversation: Conversation,
    incoming: Incoming,
    filters: Vec<(String, QoS)>,
    newest_packet_id: u16,
    /// What the client has not acknowledged.
    in_flight: Vec<(PacketId, QoS)>,
    goodbye: Option<Goodbye>,
    reply: Vec<u8>,
}

impl Broker {
    fn new() -> Self {
        Self {
            conversation: Conversation::new(Limits::default()),
            incoming: Incoming::default(),
            filters: Vec::new(),
            newest_packet_id: 0,
            in_flight: Vec::new(),
            goodbye: None,
            reply: Vec::new(),
        }
    }

    fn receive(&mut self, packet: Packet<'_>) {
        match self.conversation.receive(packet, &mut self.reply).unwrap() {
            Action::Open(opening) => {
                self.conversation.accept(&opening, "given", false, &mut self.reply);
            }
            Action::Subscribe(subscribe) => {
                let granted = subscribe.subscriptions.iter().map(|one| (one.filter, one.qos));
                self.filters.extend(granted.map(|(filter, qos)| (filter.to_owned(), qos)));
                let (packet_id, properties) = (subscribe.packet_id, Properties::NONE);
                let reasons = vec![Reason::Success; subscribe.subscriptions.len()];
                self.answer(&Packet::SubAck(SubAck { packet_id, properties, reasons }));
            }
            Action::Unsubscribe(unsubscribe) => {
                self.filters.retain(|(filter, _)| !unsubscribe.filters.contains(&filter.as_str()));
                let (packet_id, properties) = (unsubscribe.packet_id, Properties::NONE);
                let reasons = vec![Reason::Success; unsubscribe.filters.len()];
                self.answer(&Packet::UnsubAck(UnsubAck { packet_id, properties, reasons }));
            }
            Action::Publish(publish) => self.publish(publish),
            Action::Release(id) => self.conversation.complete(id, true, &mut self.reply),
            Action::Received(id, false) => {
                self.conversation.release(id, true, &mut self.reply);
            }
            Action::Close(goodbye) => self.goodbye = Some(goodbye),
            Action::Acked(id) => self.settle(id, QoS::AtLeastOnce),
            Action::Completed(id) => self.settle(id, QoS::ExactlyOnce),
            Action::Nothing => {}
            other => panic!("{other:?}"),
        }
    }

    fn publish(&mut self, publish: Publish<'_>) {
        let admitted = self.incoming.admit(publish, self.conversation.limits()).unwrap();
        let (qos, id) = (publish.qos, publish.packet_id);
        self.conversation.acknowledge(qos, id, Reason::Success, &mut self.reply);
        for (filter, granted) in &self.filters {
            if matches(filter, admitted.topic) {
                let qos = qos.min(*granted);
                self.newest_packet_id += 1;
                let numbered = PacketId::new(self.newest_packet_id);
                let packet_id = numbered.filter(|_| qos != QoS::AtMostOnce);
                self.in_flight.extend(packet_id.map(|id| (id, qos)));
                let delivered = Publish { qos, packet_id, ..admitted };
                Packet::Publish(delivered).encode(Version::V5, &mut self.reply);
            }
        }
    }

    fn settle(&mut self, id: PacketId, qos: QoS) {
        let found = self.in_flight.iter().position(|sent| *sent == (id, qos));
        self.in_flight.remove(found.expect("sent at this QoS, and acknowledged once"));
    }

    fn answer(&mut self, packet: &Packet<'_>) {
        packet.encode(Version::V5, &mut self.reply);
    }
}

/// Hands over what each side has to say, until both are silent; what the client made of it.
fn converse(client: &mut ClientProtocol, broker: &mut Broker, now: Instant) -> Vec<ProtocolEvent> {
    let mut events = Vec::new();
    while !client.output().is_empty() {
        let bytes = client.take_output(Vec::new(), now);
        let mut rest = &bytes[..];
        while let PacketSplit::Whole(whole) = split_packet(rest, 1 << 20).unwrap() {
            broker.receive(Packet::decode(&whole, Version::V5).unwrap());
            rest = &rest[whole.length..];
        }
        assert!(rest.is_empty(), "half a packet");
        let reply = std::mem::take(&mut broker.reply);
        assert_eq!(client.receive(&reply, now, &mut events), reply.len());
    }
    events
}

fn connected(now: Instant) -> (ClientProtocol, Broker) {
    let mut client = ClientProtocol::new(ConnectOptions::default(), 1 << 20, now);
    let mut broker = Broker::new();
    let events = converse(&mut client, &mut broker, now);
    let [ProtocolEvent::Client(ClientEvent::Connected(granted))] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(granted.client_id, "given");
    (client, broker)
}

/// The payloads that arrived at each QoS, and the tags to acknowledge them with.
fn messages(events: &[ProtocolEvent]) -> (Vec<(QoS, &[u8])>, Vec<DeliveryTag>) {
    let arrived = events.iter().filter_map(|event| match event {
        ProtocolEvent::Message { message, .. } => Some(message),
        ProtocolEvent::Client(_) => None,
    });
    let arrived: Vec<_> = arrived.collect();
    let tags = arrived.iter().filter_map(|message| message.tag).collect();
    (arrived.iter().map(|message| (message.qos, &message.payload[..])).collect(), tags)
}

#[test]
fn a_message_at_each_qos_comes_back_to_its_subscriber() {
    let now = Instant::now();
    let (mut client, mut broker) = connected(now);
    let id = client.subscribe(&["gripen/#"], QoS::ExactlyOnce, &[]).unwrap();
    let subscribed = ClientEvent::Subscribed { id, refused: Vec::new() };
    let events = converse(&mut client, &mut broker, now);
    assert_eq!(events, [ProtocolEvent::Client(subscribed)]);

    for (qos, payload) in
        [(QoS::AtMostOnce, b"0"), (QoS::AtLeastOnce, b"1"), (QoS::ExactlyOnce, b"2")]
    {
        let message = Publish { qos, ..Publish::new("gripen/39-7/rpm", payload) };
        let published = client.publish(&message).unwrap();
        let events = converse(&mut client, &mut broker, now);
        let (arrived, tags) = messages(&events);
        assert_eq!(arrived, [(qos, &payload[..])]);
        assert_eq!(broker.in_flight.len(), usize::from(qos as u8 > 0));
        let outcome = PublishOutcome::Acknowledged;
        let acknowledged = published.map(|id| ClientEvent::Published { id, outcome });
        let told = acknowledged.map(ProtocolEvent::Client);
        assert!(told.is_none_or(|event| events.contains(&event)));
        client.done(&tags);
        assert!(converse(&mut client, &mut broker, now).is_empty());
        assert_eq!((broker.in_flight.len(), client.unacknowledged_bytes()), (0, 0));
    }
}

#[test]
fn a_ping_is_answered_and_a_goodbye_is_heard() {
    let now = Instant::now();
    let (mut client, mut broker) = connected(now);
    let id = client.ping(now).unwrap();
    let round_trip = Duration::ZERO;
    let pong = ProtocolEvent::Client(ClientEvent::Pong { id, round_trip });
    assert_eq!(converse(&mut client, &mut broker, now), [pong]);

    client.subscribe(&["a"], QoS::AtMostOnce, &[]).map(|id| client.unsubscribe(id)).unwrap();
    converse(&mut client, &mut broker, now);
    assert!(broker.filters.is_empty());

    client.disconnect(Duration::from_secs(1), now);
    converse(&mut client, &mut broker, now);
    assert_eq!(broker.goodbye, Some(Goodbye { with_will: false, expiry_s: None }));
    assert!(client.is_closing() && client.loss().is_none());
}
