//! The client's end of one connection: it sends and receives packets, and never waits.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use slipring_engine::simulated::Simulated;
use slipring_wire::{
    Ack, Connect, Packet, PacketId, PacketSplit, Properties, PropertiesBuf, PropertyId, QoS,
    Reason, Subscribe, Subscription, Value, Version, Will, split_packet,
};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

const VERSION: Version = Version::V5;
/// Seconds a session is kept: longer than any history.
const KEPT_S: u32 = 86_400;

/// Which session a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// It resumes its session, which is kept for longer than any history.
    Kept,
    /// It resumes its session, which is kept for so many seconds.
    For(u32),
    /// It starts a session that ends with the connection.
    WithConnection,
    /// It resumes its session, which ends with the connection.
    LastTime,
}

/// A connection as its client sees it.
pub struct Line {
    stream: DuplexStream,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    is_closed: bool,
}

impl Line {
    /// Connects, and asks for a session of this client.
    pub fn open(broker: &Simulated, client_id: &str, stay: Stay) -> Self {
        Self::open_with(broker, client_id, stay, None)
    }

    /// The same with a will.
    pub fn open_with(
        broker: &Simulated,
        client_id: &str,
        stay: Stay,
        will: Option<Will<'_>>,
    ) -> Self {
        let stream = broker.connect();
        let mut line = Self { stream, unsent: Vec::new(), unread: Vec::new(), is_closed: false };
        let mut properties = PropertiesBuf::new();
        let kept_s = match stay {
            Stay::Kept => KEPT_S,
            Stay::For(seconds) => seconds,
            Stay::WithConnection | Stay::LastTime => 0,
        };
        if kept_s > 0 {
            properties.push(PropertyId::SessionExpiryInterval, Value::Four(kept_s));
        }
        line.send(&Packet::Connect(Box::new(Connect {
            version: VERSION,
            clean_start: stay == Stay::WithConnection,
            keep_alive_s: 0,
            client_id,
            properties: properties.borrow(),
            will,
            user_name: None,
            password: None,
        })));
        line
    }

    /// Adds a packet to what is sent at the next exchange.
    pub fn send(&mut self, packet: &Packet<'_>) {
        packet.encode(VERSION, &mut self.unsent);
    }

    /// The answer to a message.
    pub fn answer(&mut self, packet: fn(Ack<'static>) -> Packet<'static>, packet_id: PacketId) {
        let (reason, properties) = (Reason::Success, Properties::NONE);
        self.send(&packet(Ack { packet_id, reason, properties }));
    }

    /// Writes what the pipe takes and reads what is there, while the broker runs; false once it is closed.
    pub fn exchange(&mut self, broker: &Simulated) -> bool {
        broker.run(poll_fn(|cx| {
            while !self.unsent.is_empty() {
                match Pin::new(&mut self.stream).poll_write(cx, &self.unsent) {
                    Poll::Ready(Ok(count)) if count > 0 => drop(self.unsent.drain(..count)),
                    Poll::Ready(_) => self.is_closed = true,
                    Poll::Pending => break,
                }
                if self.is_closed {
                    break;
                }
            }
            let mut bytes = [0; 4096];
            loop {
                let mut space = ReadBuf::new(&mut bytes);
                match Pin::new(&mut self.stream).poll_read(cx, &mut space) {
                    Poll::Ready(Ok(())) if !space.filled().is_empty() => {
                        self.unread.extend_from_slice(space.filled());
                    }
                    Poll::Ready(_) => self.is_closed = true,
                    Poll::Pending => break,
                }
                if self.is_closed {
                    break;
                }
            }
            Poll::Ready(())
        }));
        !self.is_closed
    }

    /// Exchanges, and gives every packet that has come; None once the connection is closed.
    pub fn turn(
        mut self,
        broker: &Simulated,
        each: impl FnMut(&mut Self, Packet<'_>),
    ) -> Option<Self> {
        let is_open = self.exchange(broker);
        self.receive(each);
        is_open.then_some(self)
    }

    /// Gives every packet that has come.
    pub fn receive(&mut self, mut each: impl FnMut(&mut Self, Packet<'_>)) {
        let bytes = std::mem::take(&mut self.unread);
        let mut rest = &bytes[..];
        while let Ok(PacketSplit::Whole(found)) = split_packet(rest, usize::MAX) {
            let packet = Packet::decode(&found, VERSION).expect("the broker keeps to MQTT");
            each(self, packet);
            rest = &rest[found.length..];
        }
        self.unread = rest.to_vec();
    }
}

/// Subscribes to a filter, at QoS 2.
pub fn subscribe(line: &mut Line, filter: &str) {
    line.send(&Packet::Subscribe(Subscribe {
        packet_id: PacketId::new(1).expect("not 0"),
        properties: Properties::NONE,
        subscriptions: vec![Subscription { qos: QoS::ExactlyOnce, ..Subscription::new(filter) }],
    }));
}
