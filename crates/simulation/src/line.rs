//! A client's end of one connection: packets out, packets in, never waiting.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use slipring_engine::simulated::Simulated;
use slipring_wire::{
    Ack, Connect, Packet, PacketId, PacketSplit, Properties, PropertiesBuf, PropertyId, QoS,
    Reason, RetainHandling, Subscribe, Subscription, Value, Version, Will, split_packet,
};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

const VERSION: Version = Version::V5;
/// Seconds a session is kept: longer than any history.
const KEPT_S: u32 = 86_400;

/// How long a session is to stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    /// The one there is goes on, and is kept.
    Kept,
    /// The one there is goes on, and is kept for so many seconds.
    For(u32),
    /// A new one, that ends with the connection.
    WithConnection,
    /// The one there is goes on, and ends with the connection.
    LastTime,
}

/// A connection as its client sees it.
pub struct Line {
    stream: DuplexStream,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    closed: bool,
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
        let mut line = Self { stream, unsent: Vec::new(), unread: Vec::new(), closed: false };
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

    /// Writes what it can and reads what is there, while the broker runs; false once it is closed.
    pub fn exchange(&mut self, broker: &Simulated) -> bool {
        broker.run(poll_fn(|cx| {
            while !self.unsent.is_empty() {
                match Pin::new(&mut self.stream).poll_write(cx, &self.unsent) {
                    Poll::Ready(Ok(count)) if count > 0 => drop(self.unsent.drain(..count)),
                    Poll::Ready(_) => self.closed = true,
                    Poll::Pending => break,
                }
                if self.closed {
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
                    Poll::Ready(_) => self.closed = true,
                    Poll::Pending => break,
                }
                if self.closed {
                    break;
                }
            }
            Poll::Ready(())
        }));
        !self.closed
    }

    /// Gives every whole packet that has come.
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
        subscriptions: vec![Subscription {
            filter,
            qos: QoS::ExactlyOnce,
            no_local: false,
            retain_as_published: false,
            retain_handling: RetainHandling::Send,
        }],
    }));
}
