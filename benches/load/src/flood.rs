//! A flood: publishers send as much as the broker takes, subscribers read it, until standard input closes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use clap::Args;
use slipring_wire::{Packet, PacketId, Publish, QoS, Version};

use crate::Result;
use crate::arguments::parse_qos;
use crate::delivery::ReceivedPackets;
use crate::dial::{AT_ONCE, dial};
use crate::handshake::Handshake;
use crate::numbered::id_of;
use crate::receive_buffer::{each_packet, scratch};
use crate::run_report::RunReport;
use crate::standard_input;

/// The topic of every flood; `latency --beside` can subscribe to it.
const TOPIC: &str = "bench/flood";
/// Messages of one write; at QoS 1 all of them are acknowledged before the next.
const AT_A_TIME: u64 = 500;

#[derive(Args)]
pub struct FloodArguments {
    /// Address of the broker, as 127.0.0.1:1883
    pub address: SocketAddr,
    /// Bytes of each payload
    #[arg(long, default_value_t = 64)]
    pub bytes: usize,
    /// Quality of service: 0 or 1
    #[arg(long, default_value = "0", value_parser = parse_qos)]
    pub qos: QoS,
    /// Clients that publish
    #[arg(long, default_value_t = 1)]
    pub publishers: usize,
    /// Clients that subscribe to all of it, and read it
    #[arg(long, default_value_t = 0)]
    pub subscribers: usize,
}

/// What all clients of the flood share.
#[derive(Default)]
struct FloodCount {
    published: AtomicU64,
    delivered: AtomicU64,
}

/// Prints a line when it has begun, and one when it has ended.
pub fn run(arguments: &FloodArguments) -> Result<()> {
    let dialled = dial(arguments.address, handshakes(arguments), AT_ONCE)?;
    let (count, closed) = (Arc::new(FloodCount::default()), standard_input::closed());
    let began = Instant::now();
    let mut publishing = Vec::new();
    for (number, stream) in dialled.streams.into_iter().enumerate() {
        let stream = TcpStream::from(OwnedFd::from(stream));
        stream.set_nonblocking(false)?;
        let (count, closed) = (Arc::clone(&count), Arc::clone(&closed));
        if number < arguments.subscribers {
            thread::spawn(move || drain(stream, &count));
        } else {
            let packets = packets(arguments);
            let is_acked = arguments.qos != QoS::AtMostOnce;
            publishing
                .push(thread::spawn(move || publish(stream, &packets, is_acked, &count, &closed)));
        }
    }
    RunReport::default().number("publishers", arguments.publishers as u64).print();
    for thread in publishing {
        thread.join().map_err(|_| "a publishing thread failed")??;
    }
    let published = count.published.load(Ordering::Relaxed);
    RunReport::default()
        .number("messages", published)
        .number("delivered", count.delivered.load(Ordering::Relaxed))
        .rate("per_second", published, began.elapsed())
        .print();
    Ok(())
}

fn handshakes(arguments: &FloodArguments) -> impl ExactSizeIterator<Item = Handshake> {
    (0..arguments.subscribers + arguments.publishers).map(|number| {
        let handshake = Handshake::new(Version::V5, &format!("load-flood-{number}"));
        if number < arguments.subscribers {
            handshake.subscribe(&[TOPIC.into()], arguments.qos)
        } else {
            handshake
        }
    })
}

/// The bytes of one write.
fn packets(arguments: &FloodArguments) -> Vec<u8> {
    let (mut bytes, payload, qos) = (Vec::new(), vec![b'x'; arguments.bytes], arguments.qos);
    for number in 0..AT_A_TIME {
        let packet_id = PacketId::new(id_of(number)).filter(|_| qos != QoS::AtMostOnce);
        let message = Publish { qos, packet_id, ..Publish::new(TOPIC, &payload) };
        Packet::Publish(message).encode(Version::V5, &mut bytes);
    }
    bytes
}

fn publish(
    mut stream: TcpStream,
    packets: &[u8],
    is_acked: bool,
    count: &FloodCount,
    closed: &AtomicBool,
) -> Result<()> {
    let (mut scratch, mut unread) = (scratch(), Vec::new());
    while !closed.load(Ordering::Relaxed) {
        stream.write_all(packets)?;
        let mut taken = ReceivedPackets::default();
        while is_acked && taken.acknowledged < AT_A_TIME {
            receive(&mut stream, &mut scratch, &mut unread, &mut taken)?;
        }
        count.published.fetch_add(AT_A_TIME, Ordering::Relaxed);
    }
    Ok(())
}

/// Reads until the process ends, and acknowledges what is to be.
fn drain(mut stream: TcpStream, count: &FloodCount) -> Result<()> {
    let (mut scratch, mut unread) = (scratch(), Vec::new());
    loop {
        let mut taken = ReceivedPackets::default();
        receive(&mut stream, &mut scratch, &mut unread, &mut taken)?;
        count.delivered.fetch_add(taken.messages, Ordering::Relaxed);
    }
}

fn receive(
    stream: &mut TcpStream,
    scratch: &mut [u8],
    unread: &mut Vec<u8>,
    taken: &mut ReceivedPackets,
) -> Result<()> {
    let got = stream.read(scratch)?;
    if got == 0 {
        return Err("the broker closed the connection".into());
    }
    unread.extend_from_slice(&scratch[..got]);
    let mut answers = Vec::new();
    let used = each_packet(unread, |packet| taken.take(packet, &mut answers))?;
    unread.drain(..used);
    stream.write_all(&answers)?;
    Ok(())
}
