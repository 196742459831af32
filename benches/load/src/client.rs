//! A client in a loop: its socket, and the messages and answers that pass through it.

use mio::net::TcpStream;

use crate::Result;
use crate::belt::Belt;
use crate::exchange::{Taken, take};
use crate::inlet::Inlet;
use crate::outlet::{Outlet, write_some};
use crate::supply::Supply;

/// A connected client. One that only subscribes has nothing due in its supply.
pub struct Client {
    stream: TcpStream,
    inlet: Inlet,
    answers: Outlet,
    pub supply: Supply,
}

impl Client {
    pub fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            inlet: Inlet::default(),
            answers: Outlet::default(),
            supply: Supply::default(),
        }
    }

    /// Takes all that has come, and leaves the answers to be written.
    pub fn read(&mut self, scratch: &mut [u8]) -> Result<Taken> {
        let mut total = Taken::default();
        let is_open = self.inlet.read(&mut self.stream, scratch, |bytes| {
            let taken = take(bytes, self.answers.bytes())?;
            total.messages += taken.messages;
            total.acknowledged += taken.acknowledged;
            total.used += taken.used;
            Ok(taken.used)
        })?;
        if is_open { Ok(total) } else { Err("the broker closed the connection".into()) }
    }

    /// Writes answers, then what is due of the belt; never one inside a packet of the other.
    pub fn write(&mut self, belt: &Belt) -> Result<()> {
        if self.supply.is_between_packets(belt) && !self.answers.flush(&mut self.stream)? {
            return Ok(());
        }
        loop {
            let due = self.supply.next(belt);
            if due.is_empty() {
                self.answers.flush(&mut self.stream)?;
                return Ok(());
            }
            let written = write_some(due, &mut self.stream)?;
            let is_full = written < due.len();
            self.supply.advance(written, belt);
            if is_full {
                return Ok(());
            }
        }
    }
}
