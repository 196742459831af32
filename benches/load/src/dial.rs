//! Connecting many clients in one loop, all at once or a few at a time.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use slipring_wire::{Framed, frame};

use crate::Result;
use crate::dialogue::Dialogue;
use crate::inlet::{Inlet, scratch};
use crate::outlet::Outlet;

/// Silence after which a run counts as failed.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// Connections on their way at most where a burst is not the point: fewer than Mosquitto queues.
pub const AT_ONCE: usize = 50;

/// Clients that said all they had to.
pub struct Dialled {
    /// Where the streams are registered, by their number.
    pub poll: Poll,
    pub streams: Vec<TcpStream>,
    /// From the first connection to the last answer.
    pub elapsed: Duration,
    /// Nanoseconds of each client from its connection to its last answer.
    pub waits_ns: Vec<u64>,
}

/// One client on its way.
struct Call {
    stream: TcpStream,
    dialogue: Dialogue,
    inlet: Inlet,
    outlet: Outlet,
    began: Instant,
    wait_ns: Option<u64>,
}

/// Connects a client for each dialogue, with at most `at_once` on their way.
pub fn dial(
    address: SocketAddr,
    mut dialogues: impl ExactSizeIterator<Item = Dialogue>,
    at_once: usize,
) -> Result<Dialled> {
    let mut poll = Poll::new()?;
    let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
    let mut calls = Vec::with_capacity(dialogues.len());
    let began = Instant::now();
    let mut done = 0;
    loop {
        for dialogue in dialogues.by_ref().take(at_once - (calls.len() - done)) {
            calls.push(Call::new(address, dialogue, &poll, Token(calls.len()))?);
        }
        if done == calls.len() {
            break;
        }
        wait(&mut poll, &mut events)?;
        if events.is_empty() {
            return Err(format!("nothing for {PATIENCE:?}: {done} clients connected").into());
        }
        for event in &events {
            let number = event.token().0;
            let is_done = calls[number].attend(event.is_readable(), &mut scratch);
            done += usize::from(is_done.map_err(|error| format!("client {number}: {error}"))?);
        }
    }
    Ok(Dialled {
        poll,
        elapsed: began.elapsed(),
        waits_ns: calls.iter().filter_map(|call| call.wait_ns).collect(),
        streams: calls.into_iter().map(|call| call.stream).collect(),
    })
}

fn wait(poll: &mut Poll, events: &mut Events) -> Result<()> {
    match poll.poll(events, Some(PATIENCE)) {
        Err(error) if error.kind() == std::io::ErrorKind::Interrupted => wait(poll, events),
        other => Ok(other?),
    }
}

impl Call {
    fn new(address: SocketAddr, mut dialogue: Dialogue, poll: &Poll, token: Token) -> Result<Self> {
        let began = Instant::now();
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let mut outlet = Outlet::default();
        outlet.bytes().extend(dialogue.next().unwrap_or_default());
        Ok(Self { stream, dialogue, inlet: Inlet::default(), outlet, began, wait_ns: None })
    }

    /// Does what the socket is ready for; whether this was the last of it.
    fn attend(&mut self, is_readable: bool, scratch: &mut [u8]) -> Result<bool> {
        if self.wait_ns.is_some() {
            return Ok(false);
        }
        if !self.outlet.flush(&mut self.stream)? || !is_readable {
            return Ok(false);
        }
        let mut is_done = false;
        let is_open = self.inlet.read(&mut self.stream, scratch, |bytes| {
            let Framed::Whole(answer) = frame(bytes, usize::MAX).map_err(|e| e.to_string())? else {
                return Ok(0);
            };
            self.dialogue.hear(&answer)?;
            match self.dialogue.next() {
                Some(request) => self.outlet.bytes().extend(request),
                None => is_done = true,
            }
            Ok(answer.length)
        })?;
        if !is_open {
            return Err("the broker closed the connection".into());
        }
        self.outlet.flush(&mut self.stream)?;
        self.wait_ns = is_done.then(|| self.began.elapsed().as_nanos() as u64);
        Ok(is_done)
    }
}
