//! A load generator for any MQTT broker: closed loop, so that nothing has to be dropped.
//!
//! `load HOST:PORT PUBLISHERS SUBSCRIBERS MESSAGES PAYLOAD_BYTES` prints one line:
//! messages delivered and seconds taken.

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use slipring_wire::{
    Connect, Framed, Packet, PacketId, Properties, Publish, Subscribe, Subscription, Version, frame,
};

/// Messages a publisher sends with one write.
const BURST: u64 = 100;
/// Messages on their way at most, for each subscriber: bounded, so that no broker has to drop.
const WINDOW: u64 = 2_000;
/// Silence after which the run counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);
const TOPIC: &str = "bench/gripen/39-7/engine/rpm";

/// What the threads tell each other.
#[derive(Default)]
struct Progress {
    sent: AtomicU64,
    delivered: AtomicU64,
}

struct Load {
    address: String,
    publishers: u64,
    subscribers: u64,
    messages: u64,
    payload_bytes: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let load = Load::from_arguments()?;
    let progress = Arc::new(Progress::default());
    let mut threads = Vec::new();
    for number in 0..load.subscribers {
        let socket = load.connect(&format!("load-subscriber-{number}"), true)?;
        let (progress, expected) = (Arc::clone(&progress), load.messages);
        threads.push(thread::spawn(move || receive(socket, expected, &progress)));
    }
    let sockets: Result<Vec<_>, _> = (0..load.publishers)
        .map(|number| load.connect(&format!("load-publisher-{number}"), false))
        .collect();
    let started = Instant::now();
    for socket in sockets? {
        let (progress, burst) = (Arc::clone(&progress), load.burst());
        let (count, fan) = (load.messages / load.publishers, load.subscribers);
        threads.push(thread::spawn(move || send(socket, &burst, count, fan, &progress)));
    }
    for thread in threads {
        thread.join().map_err(|_| "a thread of the load generator failed")??;
    }
    let delivered = progress.delivered.load(Ordering::Relaxed);
    println!("{delivered} {:.6}", started.elapsed().as_secs_f64());
    Ok(())
}

impl Load {
    fn from_arguments() -> Result<Self, Box<dyn Error>> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [address, publishers, subscribers, messages, payload_bytes] = &arguments[..] else {
            return Err("load HOST:PORT PUBLISHERS SUBSCRIBERS MESSAGES PAYLOAD_BYTES".into());
        };
        let publishers: u64 = publishers.parse()?;
        let messages: u64 = messages.parse()?;
        Ok(Self {
            address: address.clone(),
            publishers,
            subscribers: subscribers.parse()?,
            messages: messages - messages % (publishers * BURST),
            payload_bytes: payload_bytes.parse()?,
        })
    }

    fn connect(&self, client_id: &str, subscribe: bool) -> std::io::Result<TcpStream> {
        let mut socket = TcpStream::connect(&self.address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut hello = Vec::new();
        Packet::Connect(Box::new(Connect {
            version: Version::V311,
            clean_start: true,
            keep_alive_s: 0,
            client_id,
            properties: Properties::NONE,
            will: None,
            user_name: None,
            password: None,
        }))
        .encode(Version::V311, &mut hello);
        socket.write_all(&hello)?;
        socket.read_exact(&mut [0; 4])?;
        if subscribe {
            socket.write_all(&subscription())?;
            socket.read_exact(&mut [0; 5])?;
        }
        Ok(socket)
    }

    fn burst(&self) -> Vec<u8> {
        let payload = vec![b'x'; self.payload_bytes];
        let mut bytes = Vec::new();
        for _ in 0..BURST {
            Packet::Publish(Publish::new(TOPIC, &payload)).encode(Version::V311, &mut bytes);
        }
        bytes
    }
}

fn subscription() -> Vec<u8> {
    let mut bytes = Vec::new();
    Packet::Subscribe(Subscribe {
        packet_id: PacketId::new(1).expect("not zero"),
        properties: Properties::NONE,
        subscriptions: vec![Subscription::new("bench/#")],
    })
    .encode(Version::V311, &mut bytes);
    bytes
}

fn send(
    mut socket: TcpStream,
    burst: &[u8],
    count: u64,
    subscribers: u64,
    progress: &Progress,
) -> std::io::Result<()> {
    for _ in 0..count / BURST {
        let sent = progress.sent.fetch_add(BURST, Ordering::Relaxed) + BURST;
        let enough = sent.saturating_sub(WINDOW) * subscribers;
        while progress.delivered.load(Ordering::Relaxed) < enough {
            thread::sleep(Duration::from_micros(20));
        }
        socket.write_all(burst)?;
    }
    Ok(())
}

fn receive(mut socket: TcpStream, expected: u64, progress: &Progress) -> std::io::Result<()> {
    let mut bytes = vec![0; 256 << 10];
    let (mut end, mut received) = (0, 0);
    while received < expected {
        let count = socket.read(&mut bytes[end..])?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        end += count;
        let (packets, used) = count_packets(&bytes[..end]);
        bytes.copy_within(used..end, 0);
        end -= used;
        received += packets;
        progress.delivered.fetch_add(packets, Ordering::Relaxed);
    }
    Ok(())
}

fn count_packets(bytes: &[u8]) -> (u64, usize) {
    let (mut packets, mut used) = (0, 0);
    while let Ok(Framed::Whole(whole)) = frame(&bytes[used..], usize::MAX) {
        packets += 1;
        used += whole.length;
    }
    (packets, used)
}
