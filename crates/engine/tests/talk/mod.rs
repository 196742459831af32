//! A client for tests: a plain socket and the codec, nothing clever.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use slipring_wire::{
    Packet, PacketId, PacketSplit, Properties, Publish, Subscribe, Subscription, Version,
    split_packet,
};

/// A connected client.
pub struct Talk<S = TcpStream> {
    pub stream: S,
    pub version: Version,
    bytes: Vec<u8>,
}

impl Talk {
    /// Opens a socket and sends nothing.
    pub fn silent(address: SocketAddr, version: Version) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self::over(stream, version)
    }

    /// Connects and waits for CONNACK.
    pub fn connect(address: SocketAddr, version: Version, client_id: &str) -> Self {
        let mut talk = Self::silent(address, version);
        talk.send_bytes(&connect(version, client_id, 60, None));
        assert!(talk.next().unwrap().starts_with("ConnAck"));
        talk
    }
}

impl<S: Read + Write> Talk<S> {
    /// Talks over a stream that is open.
    pub fn over(stream: S, version: Version) -> Self {
        Self { stream, version, bytes: Vec::new() }
    }

    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub fn publish(&mut self, topic: &str, payload: &[u8]) {
        let mut bytes = Vec::new();
        Packet::Publish(Publish::new(topic, payload)).encode(self.version, &mut bytes);
        self.send_bytes(&bytes);
    }

    /// Subscribes and waits for SUBACK.
    pub fn subscribe(&mut self, filter: &str) {
        self.subscribe_with(Subscription::new(filter));
    }

    pub fn subscribe_with(&mut self, subscription: Subscription<'_>) {
        let mut bytes = Vec::new();
        let packet_id = PacketId::new(1).unwrap();
        let subscriptions = vec![subscription];
        Packet::Subscribe(Subscribe { packet_id, properties: Properties::NONE, subscriptions })
            .encode(self.version, &mut bytes);
        self.send_bytes(&bytes);
        assert!(self.next().unwrap().starts_with("SubAck"));
    }

    /// The next packet as `{:?}` shows it; None when the broker has closed the connection.
    pub fn next(&mut self) -> Option<String> {
        self.map_next(|packet| format!("{packet:?}"))
    }

    /// The next message as topic and payload.
    pub fn message(&mut self) -> (String, String) {
        self.map_next(|packet| match packet {
            Packet::Publish(message) => {
                (message.topic.into(), String::from_utf8_lossy(message.payload).into())
            }
            other => panic!("not a message: {other:?}"),
        })
        .expect("the broker closed the connection")
    }

    fn map_next<T>(&mut self, map: impl FnOnce(Packet<'_>) -> T) -> Option<T> {
        let mut chunk = [0; 4096];
        loop {
            if let PacketSplit::Whole(whole) = split_packet(&self.bytes, 1 << 24).unwrap() {
                let length = whole.length;
                let mapped = map(Packet::decode(&whole, self.version).unwrap());
                self.bytes.drain(..length);
                return Some(mapped);
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return None,
                Ok(count) => self.bytes.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("no answer from the broker: {error}"),
            }
        }
    }
}

/// The bytes of a CONNECT.
pub fn connect(
    version: Version,
    client_id: &str,
    keep_alive_s: u16,
    will: Option<&str>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    Packet::Connect(Box::new(slipring_wire::Connect {
        version,
        clean_start: true,
        keep_alive_s,
        client_id,
        properties: Properties::NONE,
        will: will.map(|topic| slipring_wire::Will {
            topic,
            payload: b"gone",
            qos: slipring_wire::QoS::AtMostOnce,
            retain: false,
            properties: Properties::NONE,
        }),
        user_name: None,
        password: None,
    }))
    .encode(version, &mut bytes);
    bytes
}
