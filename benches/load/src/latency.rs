//! Latency in an open loop: one thread sends at a fixed rate, this one takes the time of each arrival.

use std::io::ErrorKind;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Poll};
use slipring_wire::{Framed, QoS, frame};

use crate::Result;
use crate::arguments::Latency;
use crate::dial::{AT_ONCE, Dialled, PATIENCE, dial};
use crate::dialogue::Dialogue;
use crate::inlet::{Inlet, scratch};
use crate::percentiles::Percentiles;
use crate::report::Report;
use crate::sender::{Schedule, Sender, Sent};
use crate::topics::topic;

/// How often the end of sending is looked for when nothing arrives.
const LOOK: Duration = Duration::from_millis(20);
/// Silence after which what has not come counts as missing.
const SILENCE: Duration = Duration::from_secs(2);

/// Sends, receives, and tells the percentiles.
pub fn run(arguments: &Latency) -> Result<()> {
    let Dialled { poll, mut streams, .. } =
        dial(arguments.target.address, dialogues(arguments), AT_ONCE)?;
    let publishers = streams.split_off(arguments.subscribers);
    let clock = Instant::now();
    let schedule = Schedule::new(arguments, clock);
    let sent = schedule.sent();
    let sender = Sender::new(publishers, arguments.target.version(), schedule);
    let sending = std::thread::spawn(move || sender.run());
    let mut receiver = Receiver::new(poll, streams, arguments, clock);
    receiver.run(&sent)?;
    let late_ns = sending.join().map_err(|_| "the sending thread failed")??;
    Report::default()
        .number("messages", sent.messages.load(Ordering::Relaxed))
        .number("delivered", receiver.delivered)
        .percentiles(&Percentiles::of(receiver.times_ns))
        .microseconds("late_p99_us", Percentiles::of(late_ns).per_mille(990))
        .print();
    Ok(())
}

fn dialogues(arguments: &Latency) -> impl ExactSizeIterator<Item = Dialogue> {
    let (version, subscribers) = (arguments.target.version(), arguments.subscribers);
    (0..subscribers + arguments.publishers).map(move |number| {
        let hello = Dialogue::new(version, &format!("load-latency-{number}"));
        if number < subscribers { hello.subscribe(&[topic(0)], QoS::AtMostOnce) } else { hello }
    })
}

struct Receiver {
    poll: Poll,
    clients: Vec<(TcpStream, Inlet)>,
    payload_bytes: usize,
    clock: Instant,
    delivered: u64,
    times_ns: Vec<u64>,
    may_miss: bool,
}

impl Receiver {
    fn new(poll: Poll, streams: Vec<TcpStream>, arguments: &Latency, clock: Instant) -> Self {
        let expected = arguments.messages as usize * arguments.publishers * streams.len();
        Self {
            poll,
            clients: streams.into_iter().map(|stream| (stream, Inlet::default())).collect(),
            payload_bytes: arguments.bytes as usize,
            clock,
            delivered: 0,
            times_ns: Vec::with_capacity(expected),
            may_miss: arguments.may_miss,
        }
    }

    /// Until all that was sent has arrived everywhere, or no more comes and some of it may be missing.
    fn run(&mut self, sent: &Sent) -> Result<()> {
        let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
        let mut heard = Instant::now();
        while !self.has_all(sent) {
            match self.poll.poll(&mut events, Some(LOOK)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other?,
            }
            let is_over = self.may_miss && sent.is_finished.load(Ordering::Acquire);
            if is_over && events.is_empty() && heard.elapsed() > SILENCE {
                return Ok(());
            }
            if events.is_empty() && heard.elapsed() > PATIENCE {
                return Err(format!("only {} messages arrived", self.delivered).into());
            }
            for event in events.iter().filter(|event| event.is_readable()) {
                heard = Instant::now();
                // The publishers' sockets have the numbers behind these: nothing to read there.
                if event.token().0 < self.clients.len() {
                    self.read(event.token().0, &mut scratch)?;
                }
            }
        }
        Ok(())
    }

    fn has_all(&self, sent: &Sent) -> bool {
        sent.is_finished.load(Ordering::Acquire)
            && self.delivered >= sent.messages.load(Ordering::Relaxed) * self.clients.len() as u64
    }

    fn read(&mut self, number: usize, scratch: &mut [u8]) -> Result<()> {
        let (stream, inlet) = &mut self.clients[number];
        let (clock, payload_bytes) = (self.clock, self.payload_bytes);
        let (delivered, times_ns) = (&mut self.delivered, &mut self.times_ns);
        let is_open = inlet.read(stream, scratch, |bytes| {
            let now_ns = clock.elapsed().as_nanos() as u64;
            let mut used = 0;
            while let Framed::Whole(packet) =
                frame(&bytes[used..], usize::MAX).map_err(|broken| broken.to_string())?
            {
                used += packet.length;
                *delivered += 1;
                times_ns.extend(stamp(packet.body, payload_bytes).map(|sent| now_ns - sent));
            }
            Ok(used)
        })?;
        if is_open { Ok(()) } else { Err("the broker closed the connection".into()) }
    }
}

/// The time of sending, at the beginning of the payload; none in a message of the warm-up.
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
