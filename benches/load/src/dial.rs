//! Connects many clients in one loop, all at once or a few at a time.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use slipring_wire::{PacketSplit, split_packet};

use crate::Result;
use crate::handshake::Handshake;
use crate::receive_buffer::{ReceiveBuffer, scratch};
use crate::send_buffer::SendBuffer;

/// Silence after which a run counts as failed.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// The most connections in progress where a burst is not measured: fewer than Mosquitto queues.
pub const AT_ONCE: usize = 50;

/// Clients that are connected and subscribed.
pub struct DialledClients {
    /// The streams are registered here; their tokens are their numbers.
    pub poll: Poll,
    pub streams: Vec<TcpStream>,
    /// What each has received behind its last answer: messages of others come at once.
    pub received: Vec<ReceiveBuffer>,
    /// From the first connection to the last answer.
    pub elapsed: Duration,
    /// Nanoseconds of each client from its connection to its last answer.
    pub waits_ns: Vec<u64>,
}

/// A client that is connecting.
struct DiallingClient {
    stream: TcpStream,
    handshake: Handshake,
    received: ReceiveBuffer,
    unsent: SendBuffer,
    began: Instant,
    wait_ns: Option<u64>,
}

/// Connects a client for each handshake, at most `at_once` at a time.
pub fn dial(
    address: SocketAddr,
    mut handshakes: impl ExactSizeIterator<Item = Handshake>,
    at_once: usize,
) -> Result<DialledClients> {
    let mut poll = Poll::new()?;
    let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
    let mut clients = Vec::with_capacity(handshakes.len());
    let began = Instant::now();
    let mut done = 0;
    loop {
        for handshake in handshakes.by_ref().take(at_once - (clients.len() - done)) {
            clients.push(DiallingClient::new(address, handshake, &poll, Token(clients.len()))?);
        }
        if done == clients.len() {
            break;
        }
        wait(&mut poll, &mut events, Some(PATIENCE))?;
        if events.is_empty() {
            return Err(format!("nothing for {PATIENCE:?}: {done} clients connected").into());
        }
        for event in &events {
            let number = event.token().0;
            let is_done = clients[number].attend(event.is_readable(), &mut scratch);
            done += usize::from(is_done.map_err(|error| format!("client {number}: {error}"))?);
        }
    }
    let elapsed = began.elapsed();
    let waits_ns = clients.iter().filter_map(|client| client.wait_ns).collect();
    let (streams, received) =
        clients.into_iter().map(|client| (client.stream, client.received)).unzip();
    Ok(DialledClients { poll, streams, received, elapsed, waits_ns })
}

/// Waits for events, whatever signals interrupt it.
pub fn wait(poll: &mut Poll, events: &mut Events, timeout: Option<Duration>) -> Result<()> {
    loop {
        match poll.poll(events, timeout) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            other => return Ok(other?),
        }
    }
}

impl DiallingClient {
    fn new(
        address: SocketAddr,
        mut handshake: Handshake,
        poll: &Poll,
        token: Token,
    ) -> Result<Self> {
        let began = Instant::now();
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        poll.registry().register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        let mut unsent = SendBuffer::default();
        unsent.bytes().extend(handshake.next().unwrap_or_default());
        Ok(Self {
            stream,
            handshake,
            received: ReceiveBuffer::default(),
            unsent,
            began,
            wait_ns: None,
        })
    }

    /// Reads or writes the socket. Says whether the handshake is finished now.
    fn attend(&mut self, is_readable: bool, scratch: &mut [u8]) -> Result<bool> {
        if self.wait_ns.is_some() {
            return Ok(false);
        }
        if !self.unsent.flush(&mut self.stream)? || !is_readable {
            return Ok(false);
        }
        let mut is_done = false;
        self.received.read(&mut self.stream, scratch, |bytes| {
            if is_done {
                return Ok(0);
            }
            let PacketSplit::Whole(answer) = split_packet(bytes, usize::MAX)? else {
                return Ok(0);
            };
            self.handshake.receive(&answer)?;
            match self.handshake.next() {
                Some(request) => self.unsent.bytes().extend(request),
                None => is_done = true,
            }
            Ok(answer.length)
        })?;
        self.unsent.flush(&mut self.stream)?;
        self.wait_ns = is_done.then(|| self.began.elapsed().as_nanos() as u64);
        Ok(is_done)
    }
}
