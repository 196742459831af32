//! The recipe "A UDP listener" of CONTRIBUTING.md, followed once: a carrier that brings packets to parties in
//! datagrams, one packet in each. No byte stream is involved.

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use slipring_core::{Plan, Stop};
use slipring_journal::JournalOptions;
use slipring_wire::{
    Connect, Disconnect, Packet, PacketId, PacketSplit, Properties, Publish, QoS, Reason,
    Subscribe, Subscription, Version, split_packet,
};
use tokio::io::ReadBuf;
use tokio::net::UdpSocket;

use crate::broker::Broker;
use crate::connection_end::ConnectionEnd;
use crate::connection_handle::ConnectionHandle;
use crate::farewell::Entered;
use crate::origin::Origin;
use crate::outlet::{Outlet, Writing};
use crate::party::Party;

/// The largest payload of a datagram over IPv4.
const DATAGRAM_BYTES_MAX: usize = 65_507;

/// One UDP socket, and the clients behind it by their address.
struct UdpCarrier {
    socket: UdpSocket,
    broker: Arc<Broker>,
    peers: HashMap<SocketAddr, Peer>,
    datagram: Vec<u8>,
}

/// One client: its party, and the packets that wait for it.
struct Peer {
    party: Party,
    outlet: Outlet,
    _entered: Entered,
}

/// What the carrier does next.
enum Step {
    Send(SocketAddr, Vec<u8>),
    Take(SocketAddr, usize),
}

impl UdpCarrier {
    async fn bind(broker: &Arc<Broker>) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (peers, datagram) = (HashMap::new(), vec![0; DATAGRAM_BYTES_MAX]);
        Self { socket, broker: Arc::clone(broker), peers, datagram }
    }

    async fn run(mut self) {
        loop {
            match poll_fn(|cx| self.poll_step(cx)).await {
                Step::Send(to, packets) => send(&self.socket, to, &packets).await,
                Step::Take(from, length) => self.take(from, length).await,
            }
        }
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        for (address, peer) in &mut self.peers {
            peer.party.connection.waker.register(cx.waker());
            if let Some(packets) = peer.take_unsent() {
                return Poll::Ready(Step::Send(*address, packets));
            }
        }
        let mut space = ReadBuf::new(&mut self.datagram);
        let from = ready!(self.socket.poll_recv_from(cx, &mut space)).unwrap();
        Poll::Ready(Step::Take(from, space.filled().len()))
    }

    async fn take(&mut self, from: SocketAddr, length: usize) {
        let peer = self.peers.entry(from).or_insert_with(|| Peer::new(&self.broker, from));
        if let Err(end) = peer.take(&self.datagram[..length]).await {
            peer.party.leave(&end).await;
            self.peers.remove(&from);
        }
    }
}

/// Sends each packet in a datagram of its own.
async fn send(socket: &UdpSocket, to: SocketAddr, packets: &[u8]) {
    let mut rest = packets;
    while let Ok(PacketSplit::Whole(packet)) = split_packet(rest, usize::MAX) {
        let (datagram, behind) = rest.split_at(packet.length);
        let _ = socket.send_to(datagram, to).await; // a datagram may be lost
        rest = behind;
    }
}

impl Peer {
    fn new(broker: &Arc<Broker>, address: SocketAddr) -> Self {
        let (address, listener) = (address.to_string(), 0);
        let origin = Origin { address, listener, user: None, certificates: None };
        let (key, now_ns) = (broker.connections.next_key(), broker.clock.now_ns());
        let connection = Arc::new(ConnectionHandle::new(key, origin, now_ns));
        broker.connections.enter(&connection);
        let entered = Entered(Arc::clone(broker), Arc::clone(&connection));
        let party = Party::new(Arc::clone(broker), connection);
        Self { party, outlet: Outlet::default(), _entered: entered }
    }

    /// Takes the packet of a datagram, and hands the batch to the journal.
    async fn take(&mut self, datagram: &[u8]) -> Result<(), ConnectionEnd> {
        let now_ns = self.party.broker.clock.now_ns();
        self.party.feed.begin(&self.party.broker, now_ns);
        let taken = self.take_packet(datagram);
        self.party.finish();
        self.party.journal(&mut self.outlet).await?;
        taken
    }

    fn take_packet(&mut self, datagram: &[u8]) -> Result<(), ConnectionEnd> {
        let (bytes_max, _) = self.party.conversation.packet_bytes_max();
        let found = split_packet(datagram, bytes_max).map_err(Stop::from)?;
        let PacketSplit::Whole(whole) = found else { return Ok(()) }; // not a packet: ignored
        let version = self.party.conversation.version();
        while !self.party.take(Packet::decode(&whole, version).map_err(Stop::from)?)? {
            self.party.feed.work.begin_long();
        }
        Ok(())
    }

    /// The packets that may go to the client now.
    fn take_unsent(&mut self) -> Option<Vec<u8>> {
        let Party { broker, connection, client, feed, .. } = &mut self.party;
        feed.post.release_for(broker, connection);
        feed.work.begin();
        let (client, work) = (client.as_ref(), &mut feed.work);
        let mut writing = Writing { broker, connection, client, work };
        self.outlet.refill(&mut writing).then(|| self.outlet.unsent.to_vec())
    }
}

/// A client with a UDP socket.
struct UdpClient(UdpSocket);

impl UdpClient {
    async fn connect(to: SocketAddr, client_id: &str) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(to).await.unwrap();
        let client = Self(socket);
        let connect = Connect {
            version: Version::V5,
            clean_start: true,
            keep_alive_s: 60,
            client_id,
            properties: Properties::NONE,
            will: None,
            user_name: None,
            password: None,
        };
        let answer = client.ask(Packet::Connect(Box::new(connect))).await;
        assert!(answer.starts_with("ConnAck"), "{answer}");
        client
    }

    async fn send(&self, packet: Packet<'_>) {
        let mut datagram = Vec::new();
        packet.encode(Version::V5, &mut datagram);
        self.0.send(&datagram).await.unwrap();
    }

    /// The packet of the next datagram, as `{:?}` shows it.
    async fn next(&self) -> String {
        let mut datagram = vec![0; DATAGRAM_BYTES_MAX];
        let length = self.0.recv(&mut datagram).await.unwrap();
        let found = split_packet(&datagram[..length], usize::MAX).unwrap();
        let PacketSplit::Whole(whole) = found else { panic!("a part of a packet") };
        assert_eq!(whole.length, length, "one packet in each datagram");
        format!("{:?}", Packet::decode(&whole, Version::V5).unwrap())
    }

    async fn ask(&self, packet: Packet<'_>) -> String {
        self.send(packet).await;
        self.next().await
    }
}

#[tokio::test]
async fn clients_connect_subscribe_publish_and_disconnect_by_datagrams_alone() {
    let broker = Broker::open(Plan::default(), None, JournalOptions::default()).unwrap().0;
    let broker = Arc::new(broker);
    let carrier = UdpCarrier::bind(&broker).await;
    let address = carrier.socket.local_addr().unwrap();
    tokio::spawn(carrier.run());

    let reader = UdpClient::connect(address, "reader").await;
    let writer = UdpClient::connect(address, "writer").await;
    let (packet_id, properties) = (PacketId::new(1).unwrap(), Properties::NONE);
    let subscriptions = vec![Subscription::new("gripen/#")];
    let answer =
        reader.ask(Packet::Subscribe(Subscribe { packet_id, properties, subscriptions })).await;
    assert!(answer.starts_with("SubAck"), "{answer}");

    let (qos, packet_id) = (QoS::AtLeastOnce, Some(packet_id));
    let message = Publish { qos, packet_id, ..Publish::new("gripen/rpm", b"42") };
    let answer = writer.ask(Packet::Publish(message)).await;
    assert!(answer.starts_with("PubAck") && answer.contains("Success"), "{answer}");
    let delivered = reader.next().await;
    assert!(delivered.starts_with("Publish") && delivered.contains("gripen/rpm"), "{delivered}");

    writer.send(Packet::Disconnect(Disconnect { reason: Reason::Success, properties })).await;
    while broker.sessions.registry().sessions.contains_key("writer") {
        tokio::task::yield_now().await;
    }
    assert!(broker.sessions.registry().sessions.contains_key("reader"));
}
