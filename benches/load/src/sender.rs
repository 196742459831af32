//! The sending half of the open loop: sends each message at its time, however slow the broker is.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use slipring_wire::{
    Packet, PacketId, PacketSplit, PropertiesBuf, PropertyId, Publish, QoS, Value, split_packet,
};

use crate::Result;
use crate::arguments::LatencyArguments;
use crate::dial::PATIENCE;
use crate::numbered::id_of;
use crate::run_report::RunReport;
use crate::send_buffer::write_some;
use crate::standard_input;
use crate::topics::topic;

/// The progress of sending, for the receiving half.
#[derive(Default)]
pub struct SentCount {
    pub messages: AtomicU64,
    pub is_finished: AtomicBool,
}

/// When each message is sent.
pub struct Schedule {
    clock: Instant,
    period: Duration,
    payload_bytes: usize,
    warm_up: u64,
    messages: u64,
    /// Set when the run is to end; without it the run ends after its last message.
    closed: Option<Arc<AtomicBool>>,
    sent: Arc<SentCount>,
}

impl Schedule {
    pub fn new(arguments: &LatencyArguments, clock: Instant) -> Self {
        let publishers = arguments.publishers as u64;
        Self {
            clock,
            period: Duration::from_secs(1) / (arguments.rate * publishers) as u32,
            payload_bytes: arguments.bytes as usize,
            warm_up: arguments.warm_up * publishers,
            messages: (arguments.warm_up + arguments.messages) * publishers,
            closed: arguments.hold.then(standard_input::closed),
            sent: Arc::default(),
        }
    }

    pub fn sent(&self) -> Arc<SentCount> {
        Arc::clone(&self.sent)
    }

    fn goes_on(&self, number: u64) -> bool {
        match &self.closed {
            Some(closed) => number <= self.warm_up || !closed.load(Ordering::Relaxed),
            None => number < self.messages,
        }
    }
}

/// The publishers and the packet they send.
pub struct Sender {
    publishers: Vec<TcpStream>,
    packet: Vec<u8>,
    /// Where the packet identifier is, at QoS 1.
    id_at: Option<usize>,
    schedule: Schedule,
}

impl Sender {
    pub fn new(
        publishers: Vec<TcpStream>,
        arguments: &LatencyArguments,
        schedule: Schedule,
    ) -> Result<Self> {
        let (mut packet, mut properties) = (Vec::new(), PropertiesBuf::new());
        if let Some(level) = &arguments.priority {
            properties.push(PropertyId::UserProperty, Value::Pair("slipring-priority", level));
        }
        let (payload, topic, qos) = (vec![b'x'; schedule.payload_bytes], topic(0), arguments.qos);
        let packet_id = PacketId::new(1).filter(|_| qos != QoS::AtMostOnce);
        let properties = properties.borrow();
        let message = Publish { qos, packet_id, properties, ..Publish::new(&topic, &payload) };
        Packet::Publish(message).encode(arguments.target.version(), &mut packet);
        let PacketSplit::Whole(whole) = split_packet(&packet, usize::MAX)? else {
            return Err("a packet was encoded in part".into());
        };
        let topic_at = packet.len() - whole.body.len();
        let id_at = packet_id.map(|_| topic_at + 2 + topic.len());
        Ok(Self { publishers, packet, id_at, schedule })
    }

    /// Sends everything. Returns by how many nanoseconds each message was late.
    pub fn run(&mut self) -> Result<Vec<u64>> {
        let result = self.send_all();
        self.schedule.sent.is_finished.store(true, Ordering::Release);
        result
    }

    fn send_all(&mut self) -> Result<Vec<u64>> {
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        let mut late_ns = Vec::with_capacity(self.schedule.messages as usize);
        let mut due = Instant::now();
        let mut number = 0;
        while self.schedule.goes_on(number) {
            due += self.schedule.period;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if number == self.schedule.warm_up && self.schedule.closed.is_some() {
                RunReport::default().number("warm_up", number).print();
            }
            late_ns.push(due.elapsed().as_nanos() as u64);
            self.send(number)?;
            number += 1;
        }
        Ok(late_ns)
    }

    fn send(&mut self, number: u64) -> Result<()> {
        let is_warm = number >= self.schedule.warm_up;
        let now_ns = if is_warm { self.schedule.clock.elapsed().as_nanos() as u64 } else { 0 };
        let payload = self.packet.len() - self.schedule.payload_bytes;
        self.packet[payload..payload + 8].copy_from_slice(&now_ns.to_be_bytes());
        if let Some(at) = self.id_at {
            self.packet[at..at + 2].copy_from_slice(&id_of(number).to_be_bytes());
        }
        let publishers = self.publishers.len() as u64;
        let stream = &mut self.publishers[(number % publishers) as usize];
        write_all(&self.packet, stream)?;
        self.schedule.sent.messages.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Writes a packet, however long that takes; the next message is then late, which is measured.
fn write_all(packet: &[u8], stream: &mut TcpStream) -> Result<()> {
    let mut written = write_some(packet, stream)?;
    while written < packet.len() {
        let patience = Timespec::try_from(PATIENCE)?;
        if poll(&mut [PollFd::new(stream, PollFlags::OUT)], Some(&patience))? == 0 {
            return Err("the broker does not read".into());
        }
        written += write_some(&packet[written..], stream)?;
    }
    Ok(())
}
