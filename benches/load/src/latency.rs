//! Latency in an open loop: one thread sends at a fixed rate, this one measures when each message arrives.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Poll};

use crate::Result;
use crate::arguments::LatencyArguments;
use crate::delivery::ReceivedPackets;
use crate::dial::{AT_ONCE, DialledClients, PATIENCE, dial, wait};
use crate::handshake::Handshake;
use crate::percentiles::Percentiles;
use crate::receive_buffer::{ReceiveBuffer, each_packet, scratch};
use crate::run_report::RunReport;
use crate::send_buffer::SendBuffer;
use crate::sender::{Schedule, Sender, SentCount};
use crate::topics::topic;

/// How often to check for the end of sending when nothing arrives.
const LOOK: Duration = Duration::from_millis(20);
/// Silence after which messages count as missing.
const SILENCE: Duration = Duration::from_secs(2);

/// Sends, receives, and reports the percentiles.
pub fn run(arguments: &LatencyArguments) -> Result<()> {
    let DialledClients { poll, mut streams, received, .. } =
        dial(arguments.target.address, handshakes(arguments), AT_ONCE)?;
    let publishers = streams.split_off(arguments.subscribers);
    let clock = Instant::now();
    let schedule = Schedule::new(arguments, clock);
    let sent = schedule.sent();
    let mut sender = Sender::new(publishers, arguments, schedule)?;
    // The sender's sockets stay open: one that is closed with unread acknowledgements resets its connection, and the
    // broker loses what it has not read of it.
    let sending = std::thread::spawn(move || (sender.run(), sender));
    let clients = streams.into_iter().zip(received).collect();
    let mut receiver = Receiver::new(poll, clients, arguments, clock);
    receiver.run(&sent)?;
    let (late_ns, _sender) = sending.join().map_err(|_| "the sending thread failed")?;
    let late_ns = late_ns?;
    RunReport::default()
        .number("messages", sent.messages.load(Ordering::Relaxed))
        .number("delivered", receiver.delivered)
        .percentiles(&Percentiles::of(receiver.times_ns))
        .microseconds("late_p99_us", Percentiles::of(late_ns).per_mille(990))
        .print();
    Ok(())
}

fn handshakes(arguments: &LatencyArguments) -> impl ExactSizeIterator<Item = Handshake> {
    let (version, subscribers) = (arguments.target.version(), arguments.subscribers);
    (0..subscribers + arguments.publishers).map(move |number| {
        let handshake = Handshake::new(version, &format!("load-latency-{number}"));
        if number < subscribers {
            let filters: Vec<String> =
                [topic(0)].into_iter().chain(arguments.beside.clone()).collect();
            handshake.subscribe(&filters, arguments.qos)
        } else {
            handshake
        }
    })
}

struct Subscriber {
    stream: TcpStream,
    received: ReceiveBuffer,
    answers: SendBuffer,
}

struct Receiver {
    poll: Poll,
    clients: Vec<Subscriber>,
    payload_bytes: usize,
    /// What the body of each packet that counts begins with.
    topic: Vec<u8>,
    clock: Instant,
    delivered: u64,
    times_ns: Vec<u64>,
    may_miss: bool,
}

impl Receiver {
    fn new(
        poll: Poll,
        clients: Vec<(TcpStream, ReceiveBuffer)>,
        arguments: &LatencyArguments,
        clock: Instant,
    ) -> Self {
        let expected = arguments.messages as usize * arguments.publishers * clients.len();
        Self {
            poll,
            clients: clients
                .into_iter()
                .map(|(stream, received)| Subscriber {
                    stream,
                    received,
                    answers: SendBuffer::default(),
                })
                .collect(),
            payload_bytes: arguments.bytes as usize,
            topic: [&(topic(0).len() as u16).to_be_bytes()[..], topic(0).as_bytes()].concat(),
            clock,
            delivered: 0,
            times_ns: Vec::with_capacity(expected),
            may_miss: arguments.may_miss,
        }
    }

    /// Runs until everything that was sent has arrived everywhere. If messages may be missing, silence ends it too.
    fn run(&mut self, sent: &SentCount) -> Result<()> {
        let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
        let mut heard = Instant::now();
        for number in 0..self.clients.len() {
            self.read(number, &mut scratch)?; // nobody is told again of what came since the handshake
        }
        while !self.has_all(sent) {
            wait(&mut self.poll, &mut events, Some(LOOK))?;
            let is_over = self.may_miss && sent.is_finished.load(Ordering::Acquire);
            if is_over && heard.elapsed() > SILENCE {
                return Ok(());
            }
            if heard.elapsed() > PATIENCE {
                return Err(format!("only {} messages arrived", self.delivered).into());
            }
            let before = self.delivered;
            for event in &events {
                // Larger tokens are publishers, who do not wait for what they could read.
                if event.token().0 < self.clients.len() {
                    self.read(event.token().0, &mut scratch)?;
                }
            }
            if self.delivered > before {
                heard = Instant::now();
            }
        }
        Ok(())
    }

    fn has_all(&self, sent: &SentCount) -> bool {
        sent.is_finished.load(Ordering::Acquire)
            && self.delivered >= sent.messages.load(Ordering::Relaxed) * self.clients.len() as u64
    }

    fn read(&mut self, number: usize, scratch: &mut [u8]) -> Result<()> {
        let Subscriber { stream, received, answers } = &mut self.clients[number];
        let (clock, payload_bytes, topic) = (self.clock, self.payload_bytes, &self.topic);
        let (delivered, times_ns, out) = (&mut self.delivered, &mut self.times_ns, answers.bytes());
        received.read(stream, scratch, |bytes| {
            let now_ns = clock.elapsed().as_nanos() as u64;
            each_packet(bytes, |packet| {
                ReceivedPackets::default().take(packet, out)?;
                if packet.body.starts_with(topic) {
                    *delivered += 1;
                    times_ns.extend(stamp(packet.body, payload_bytes).map(|sent| now_ns - sent));
                }
                Ok(())
            })
        })?;
        answers.flush(stream)?;
        Ok(())
    }
}

/// The time of sending, which begins the payload; none in a message of the warm-up.
fn stamp(body: &[u8], payload_bytes: usize) -> Option<u64> {
    let payload = &body[body.len() - payload_bytes..];
    let sent_ns = u64::from_be_bytes(*payload.first_chunk()?);
    (sent_ns > 0).then_some(sent_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stamp_is_found_at_the_beginning_of_the_payload() {
        let mut body = b"\x00\x03a/b".to_vec();
        body.extend_from_slice(&77_u64.to_be_bytes());
        body.extend_from_slice(&[b'x'; 56]);
        assert_eq!(stamp(&body, 64), Some(77));
    }

    #[test]
    fn a_message_of_the_warm_up_has_none() {
        assert_eq!(stamp(&[0; 64], 64), None);
    }
}
