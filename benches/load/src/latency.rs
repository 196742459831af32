//! Latency in an open loop: one thread sends at a fixed rate, this one measures when each message arrives.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Poll};
use slipring_wire::QoS;

use crate::Result;
use crate::arguments::LatencyArguments;
use crate::dial::{AT_ONCE, DialledClients, PATIENCE, dial, wait};
use crate::handshake::Handshake;
use crate::percentiles::Percentiles;
use crate::receive_buffer::{ReceiveBuffer, each_packet, scratch};
use crate::run_report::RunReport;
use crate::sender::{Schedule, Sender, SentCount};
use crate::topics::topic;

/// How often to check for the end of sending when nothing arrives.
const LOOK: Duration = Duration::from_millis(20);
/// Silence after which messages count as missing.
const SILENCE: Duration = Duration::from_secs(2);

/// Sends, receives, and reports the percentiles.
pub fn run(arguments: &LatencyArguments) -> Result<()> {
    let DialledClients { poll, mut streams, .. } =
        dial(arguments.target.address, handshakes(arguments), AT_ONCE)?;
    let publishers = streams.split_off(arguments.subscribers);
    let clock = Instant::now();
    let schedule = Schedule::new(arguments, clock);
    let sent = schedule.sent();
    let sender = Sender::new(publishers, arguments.target.version(), schedule);
    let sending = std::thread::spawn(move || sender.run());
    let mut receiver = Receiver::new(poll, streams, arguments, clock);
    receiver.run(&sent)?;
    let late_ns = sending.join().map_err(|_| "the sending thread failed")??;
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
            handshake.subscribe(&[topic(0)], QoS::AtMostOnce)
        } else {
            handshake
        }
    })
}

struct Receiver {
    poll: Poll,
    clients: Vec<(TcpStream, ReceiveBuffer)>,
    payload_bytes: usize,
    clock: Instant,
    delivered: u64,
    times_ns: Vec<u64>,
    may_miss: bool,
}

impl Receiver {
    fn new(
        poll: Poll,
        streams: Vec<TcpStream>,
        arguments: &LatencyArguments,
        clock: Instant,
    ) -> Self {
        let expected = arguments.messages as usize * arguments.publishers * streams.len();
        Self {
            poll,
            clients: streams.into_iter().map(|stream| (stream, ReceiveBuffer::default())).collect(),
            payload_bytes: arguments.bytes as usize,
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
        while !self.has_all(sent) {
            wait(&mut self.poll, &mut events, Some(LOOK))?;
            let is_over = self.may_miss && sent.is_finished.load(Ordering::Acquire);
            if is_over && events.is_empty() && heard.elapsed() > SILENCE {
                return Ok(());
            }
            if events.is_empty() && heard.elapsed() > PATIENCE {
                return Err(format!("only {} messages arrived", self.delivered).into());
            }
            for event in events.iter().filter(|event| event.is_readable()) {
                heard = Instant::now();
                // Larger tokens are publishers, which have nothing to read.
                if event.token().0 < self.clients.len() {
                    self.read(event.token().0, &mut scratch)?;
                }
            }
        }
        Ok(())
    }

    fn has_all(&self, sent: &SentCount) -> bool {
        sent.is_finished.load(Ordering::Acquire)
            && self.delivered >= sent.messages.load(Ordering::Relaxed) * self.clients.len() as u64
    }

    fn read(&mut self, number: usize, scratch: &mut [u8]) -> Result<()> {
        let (stream, received) = &mut self.clients[number];
        let (clock, payload_bytes) = (self.clock, self.payload_bytes);
        let (delivered, times_ns) = (&mut self.delivered, &mut self.times_ns);
        received.read(stream, scratch, |bytes| {
            let now_ns = clock.elapsed().as_nanos() as u64;
            each_packet(bytes, |packet| {
                *delivered += 1;
                times_ns.extend(stamp(packet.body, payload_bytes).map(|sent| now_ns - sent));
                Ok(())
            })
        })
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
