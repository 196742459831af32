//! Acknowledgements: publishers at QoS 1, each with a window, and how long each message waits for its PUBACK.

use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Poll};
use slipring_wire::QoS;

use crate::Result;
use crate::arguments::AckedArguments;
use crate::dial::{AT_ONCE, PATIENCE, dial, wait};
use crate::handshake::Handshake;
use crate::numbered::Template;
use crate::percentiles::Percentiles;
use crate::receive_buffer::{ReceiveBuffer, each_packet, scratch};
use crate::requests::template::RequestTemplate;
use crate::run_report::RunReport;
use crate::send_buffer::SendBuffer;
use crate::topics::topic;
use crate::unacked::UnackedMessages;

const PUBACK: u8 = 0x40;
/// How often messages are sent when there is a rate.
const SEND_INTERVAL: Duration = Duration::from_millis(1);
/// How long a stored request waits: a day, in seconds.
const STORED_S: &str = "86400";

/// Publishes, and reports how many messages were acknowledged and how soon.
pub fn run(arguments: &AckedArguments) -> Result<()> {
    let handshakes = (0..arguments.publishers).map(|number| handshake(arguments, number));
    let dialled = dial(arguments.target.address, handshakes, AT_ONCE)?;
    let publishers = (0_u32..).zip(dialled.streams).map(|(number, stream)| Publisher {
        stream,
        received: ReceiveBuffer::default(),
        unsent: SendBuffer::default(),
        template: PublisherTemplate::new(arguments, number),
        unacked: UnackedMessages::new(arguments.window),
    });
    let mut run = AckedTraffic {
        poll: dialled.poll,
        publishers: publishers.collect(),
        began: Instant::now(),
        times_ns: Vec::with_capacity(arguments.messages.min(1 << 24) as usize),
        messages: arguments.messages,
        rate: arguments.rate,
        turn: 0,
    };
    let ended = run.all(arguments.tell_after);
    let elapsed = run.began.elapsed();
    match ended {
        Err(error) if !arguments.until_closed => return Err(error),
        _ => {}
    }
    run.report(elapsed).print();
    Ok(())
}

fn handshake(arguments: &AckedArguments, number: u32) -> Handshake {
    let client_id = acked_id(number);
    if arguments.stored_requests {
        return Handshake::kept(&client_id);
    }
    Handshake::new(arguments.target.version(), &client_id)
}

/// The client identifier of a publisher.
pub fn acked_id(number: u32) -> String {
    format!("load-acked-{number}")
}

/// What a publisher sends: messages, or requests that wait for a service.
enum PublisherTemplate {
    Message(Template),
    Request(RequestTemplate),
}

impl PublisherTemplate {
    fn new(arguments: &AckedArguments, number: u32) -> Self {
        if !arguments.stored_requests {
            return Self::Message(Template::new(
                arguments.target.version(),
                number,
                arguments.bytes,
            ));
        }
        let (topic, answers) = (topic(u64::from(number)), format!("bench/answers/{number:06}"));
        let words = [("slipring-timeout", STORED_S), ("slipring-wait", "1")];
        let qos = QoS::AtLeastOnce;
        Self::Request(RequestTemplate::new(&topic, &answers, &words, qos, arguments.bytes))
    }

    fn append(&mut self, number: u64, out: &mut Vec<u8>) {
        match self {
            Self::Message(template) => template.append(number, out),
            Self::Request(template) => template.append(number, out),
        }
    }
}

/// One publisher.
struct Publisher {
    stream: TcpStream,
    received: ReceiveBuffer,
    unsent: SendBuffer,
    template: PublisherTemplate,
    unacked: UnackedMessages,
}

impl Publisher {
    fn send(&mut self, count: u64, now_ns: u64) -> Result<()> {
        let first = self.unacked.depart(count, now_ns);
        for number in first..first + count {
            self.template.append(number, self.unsent.bytes());
        }
        self.unsent.flush(&mut self.stream)?;
        Ok(())
    }

    /// Reads the acknowledgements that have arrived.
    fn receive(
        &mut self,
        scratch: &mut [u8],
        clock: Instant,
        times_ns: &mut Vec<u64>,
    ) -> Result<()> {
        let unacked = &mut self.unacked;
        self.received.read(&mut self.stream, scratch, |bytes| {
            let now_ns = clock.elapsed().as_nanos() as u64;
            each_packet(bytes, |packet| {
                let id = acknowledged(packet.first, packet.body)?;
                times_ns.push(unacked.acknowledge(id, now_ns)?);
                Ok(())
            })
        })
    }
}

/// The identifier in a PUBACK without a failure code.
fn acknowledged(first: u8, body: &[u8]) -> Result<u16> {
    match (first, body) {
        (PUBACK, [high, low, reason @ ..]) if reason.first().is_none_or(|code| *code < 0x80) => {
            Ok(u16::from_be_bytes([*high, *low]))
        }
        _ => Err(format!("an acknowledgement was expected, not {first:#04x} {body:02x?}").into()),
    }
}

/// All publishers.
struct AckedTraffic {
    poll: Poll,
    publishers: Vec<Publisher>,
    began: Instant,
    times_ns: Vec<u64>,
    messages: u64,
    rate: u64,
    turn: usize,
}

impl AckedTraffic {
    /// Runs until everything is acknowledged.
    fn all(&mut self, tell_after: u64) -> Result<()> {
        let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
        let patience = if self.rate > 0 { SEND_INTERVAL } else { PATIENCE };
        let mut told = tell_after == 0;
        let mut heard = Instant::now();
        self.publish()?;
        while (self.times_ns.len() as u64) < self.messages {
            wait(&mut self.poll, &mut events, Some(patience))?;
            if !events.is_empty() {
                heard = Instant::now();
            } else if heard.elapsed() > PATIENCE {
                return Err(format!("nothing for {PATIENCE:?}: {}", self.progress()).into());
            }
            for event in &events {
                let publisher = &mut self.publishers[event.token().0];
                publisher.unsent.flush(&mut publisher.stream)?;
                if event.is_readable() {
                    publisher.receive(&mut scratch, self.began, &mut self.times_ns)?;
                }
            }
            if !told && self.times_ns.len() as u64 >= tell_after {
                told = true;
                RunReport::default().number("acknowledged", self.times_ns.len() as u64).print();
            }
            self.publish()?;
        }
        Ok(())
    }

    /// Sends what the windows and the rate allow, each publisher in turn.
    fn publish(&mut self) -> Result<()> {
        let elapsed = self.began.elapsed();
        let sent: u64 = self.publishers.iter().map(|one| one.unacked.sent()).sum();
        let mut due = allowed(self.rate, elapsed).min(self.messages).saturating_sub(sent);
        let count = self.publishers.len();
        let share = if self.rate > 0 { due.div_ceil(count as u64) } else { due };
        for _ in 0..count {
            let publisher = &mut self.publishers[self.turn % count];
            self.turn += 1;
            let burst = publisher.unacked.room().min(share).min(due);
            if burst > 0 {
                publisher.send(burst, elapsed.as_nanos() as u64)?;
                due -= burst;
            }
        }
        Ok(())
    }

    fn progress(&self) -> String {
        format!("{} of {} acknowledged", self.times_ns.len(), self.messages)
    }

    fn report(self, elapsed: Duration) -> RunReport {
        let acknowledged = self.times_ns.len() as u64;
        let each = self.publishers.iter().map(|one| one.unacked.acknowledged().to_string());
        RunReport::default()
            .number("messages", self.publishers.iter().map(|one| one.unacked.sent()).sum())
            .number("acknowledged", acknowledged)
            .text("each", &each.collect::<Vec<_>>().join(","))
            .seconds("seconds", elapsed)
            .rate("per_second", acknowledged, elapsed)
            .percentiles(&Percentiles::of(self.times_ns))
    }
}

/// How many messages may have been sent after some time; any number without a rate.
fn allowed(rate: u64, elapsed: Duration) -> u64 {
    if rate == 0 {
        return u64::MAX;
    }
    (u128::from(rate) * elapsed.as_nanos() / 1_000_000_000) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_puback_that_says_yes_is_an_acknowledgement() {
        assert_eq!(acknowledged(0x40, &[1, 2]).unwrap(), 0x102);
        assert_eq!(acknowledged(0x40, &[1, 2, 0x10]).unwrap(), 0x102);
        assert!(acknowledged(0x40, &[1, 2, 0x97]).is_err());
        assert!(acknowledged(0xe0, &[0x97]).is_err());
    }

    #[test]
    fn a_rate_lets_so_many_leave_and_no_rate_any_number() {
        assert_eq!(allowed(1_000, Duration::from_millis(1_500)), 1_500);
        assert_eq!(allowed(0, Duration::ZERO), u64::MAX);
    }
}
