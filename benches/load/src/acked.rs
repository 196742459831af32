//! Acknowledgements: publishers at QoS 1 with a window each, and how long each message waits for its PUBACK.

use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Poll};
use slipring_wire::{Framed, frame};

use crate::Result;
use crate::arguments::Acked;
use crate::dial::{AT_ONCE, PATIENCE, dial};
use crate::dialogue::Dialogue;
use crate::flight::Flight;
use crate::inlet::{Inlet, scratch};
use crate::numbered::Template;
use crate::outlet::Outlet;
use crate::percentiles::Percentiles;
use crate::report::Report;

const PUBACK: u8 = 0x40;
/// How often messages leave when there is a rate.
const BEAT: Duration = Duration::from_millis(1);

/// Publishes, and tells how much was acknowledged and how soon.
pub fn run(arguments: &Acked) -> Result<()> {
    let version = arguments.target.version();
    let hellos = (0..arguments.publishers)
        .map(|number| Dialogue::new(version, &format!("load-acked-{number}")));
    let dialled = dial(arguments.target.address, hellos, AT_ONCE)?;
    let publishers = (0_u32..).zip(dialled.streams).map(|(number, stream)| Publisher {
        stream,
        inlet: Inlet::default(),
        outlet: Outlet::default(),
        template: Template::new(version, number, arguments.bytes),
        flight: Flight::new(arguments.window),
    });
    let mut run = Run {
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

/// One publisher at work.
struct Publisher {
    stream: TcpStream,
    inlet: Inlet,
    outlet: Outlet,
    template: Template,
    flight: Flight,
}

impl Publisher {
    fn send(&mut self, count: u64, now_ns: u64) -> Result<()> {
        let first = self.flight.depart(count, now_ns);
        for number in first..first + count {
            self.template.append(number, self.outlet.bytes());
        }
        self.outlet.flush(&mut self.stream)?;
        Ok(())
    }

    /// Takes the acknowledgements that have come.
    fn hear(&mut self, scratch: &mut [u8], clock: Instant, times_ns: &mut Vec<u64>) -> Result<()> {
        let flight = &mut self.flight;
        let is_open = self.inlet.read(&mut self.stream, scratch, |bytes| {
            let now_ns = clock.elapsed().as_nanos() as u64;
            let mut used = 0;
            while let Framed::Whole(packet) =
                frame(&bytes[used..], usize::MAX).map_err(|broken| broken.to_string())?
            {
                used += packet.length;
                let id = acknowledged(packet.first, packet.body)?;
                times_ns.push(flight.acknowledge(id, now_ns)?);
            }
            Ok(used)
        })?;
        if is_open { Ok(()) } else { Err("the broker closed the connection".into()) }
    }
}

/// The identifier in a PUBACK that says yes.
fn acknowledged(first: u8, body: &[u8]) -> Result<u16> {
    match (first, body) {
        (PUBACK, [high, low, reason @ ..]) if reason.first().is_none_or(|code| *code < 0x80) => {
            Ok(u16::from_be_bytes([*high, *low]))
        }
        _ => Err(format!("an acknowledgement was expected, not {first:#04x} {body:02x?}").into()),
    }
}

/// All publishers.
struct Run {
    poll: Poll,
    publishers: Vec<Publisher>,
    began: Instant,
    times_ns: Vec<u64>,
    messages: u64,
    rate: u64,
    turn: usize,
}

impl Run {
    /// Until everything is acknowledged.
    fn all(&mut self, tell_after: u64) -> Result<()> {
        let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
        let mut told = tell_after == 0;
        let mut heard = Instant::now();
        self.publish()?;
        while (self.times_ns.len() as u64) < self.messages {
            self.wait(&mut events)?;
            if !events.is_empty() {
                heard = Instant::now();
            } else if heard.elapsed() > PATIENCE {
                return Err(format!("nothing for {PATIENCE:?}: {}", self.progress()).into());
            }
            for event in &events {
                let publisher = &mut self.publishers[event.token().0];
                publisher.outlet.flush(&mut publisher.stream)?;
                if event.is_readable() {
                    publisher.hear(&mut scratch, self.began, &mut self.times_ns)?;
                }
            }
            if !told && self.times_ns.len() as u64 >= tell_after {
                told = true;
                Report::default().number("acknowledged", self.times_ns.len() as u64).print();
            }
            self.publish()?;
        }
        Ok(())
    }

    fn wait(&mut self, events: &mut Events) -> Result<()> {
        let patience = if self.rate > 0 { BEAT } else { PATIENCE };
        match self.poll.poll(events, Some(patience)) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(()),
            other => Ok(other?),
        }
    }

    /// Sends what the windows and the rate allow, each publisher in its turn.
    fn publish(&mut self) -> Result<()> {
        let elapsed = self.began.elapsed();
        let sent: u64 = self.publishers.iter().map(|one| one.flight.sent()).sum();
        let mut due = allowed(self.rate, elapsed).min(self.messages).saturating_sub(sent);
        let count = self.publishers.len();
        let share = if self.rate > 0 { due.div_ceil(count as u64) } else { due };
        for _ in 0..count {
            let publisher = &mut self.publishers[self.turn % count];
            self.turn += 1;
            let burst = publisher.flight.room().min(share).min(due);
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

    fn report(self, elapsed: Duration) -> Report {
        let acknowledged = self.times_ns.len() as u64;
        let each = self.publishers.iter().map(|one| one.flight.acknowledged().to_string());
        Report::default()
            .number("messages", self.publishers.iter().map(|one| one.flight.sent()).sum())
            .number("acknowledged", acknowledged)
            .text("each", &each.collect::<Vec<_>>().join(","))
            .seconds("seconds", elapsed)
            .rate("per_second", acknowledged, elapsed)
            .percentiles(&Percentiles::of(self.times_ns))
    }
}

/// Messages that may have left after some time; without a rate, any number.
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
