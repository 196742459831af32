//! The floor: a broker in one epoll loop that parses, copies and forwards, and does nothing else.
//!
//! It supports CONNECT, SUBSCRIBE to exact topics, and PUBLISH at QoS 0 and 1. It checks nothing, stores
//! nothing, and forwards a message with the identifier that it had.

mod peer;
mod subscribers;

use std::io::ErrorKind;
use std::net::SocketAddr;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};

use crate::Result;
use crate::arguments::ForwardArguments;
use crate::dial::wait;
use crate::receive_buffer::scratch;
use crate::run_report::RunReport;
use crate::standard_input;
use peer::{PeerReader, PeerSockets};
use subscribers::TopicSubscribers;

/// Connections that the system may queue in a burst: as many as Slipring asks for.
const BACKLOG: i32 = 4096;
const LISTENER: Token = Token(usize::MAX);

/// Listens, prints its address, and forwards until standard input closes.
pub fn run(arguments: &ForwardArguments) -> Result<()> {
    let mut listener = listen(arguments.listen)?;
    let poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    RunReport::default().text("listening", &listener.local_addr()?.to_string()).print();
    std::thread::spawn(|| {
        standard_input::wait_until_closed();
        std::process::exit(0);
    });
    Forwarder {
        poll,
        listener,
        readers: Vec::new(),
        free: Vec::new(),
        peers: PeerSockets::default(),
        subscribers: TopicSubscribers::default(),
    }
    .run()
}

fn listen(address: SocketAddr) -> Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(TcpListener::from_std(socket.into()))
}

struct Forwarder {
    poll: Poll,
    listener: TcpListener,
    /// The receiving side of each client, by token; none for a client that has disconnected.
    readers: Vec<Option<PeerReader>>,
    /// Tokens of clients that have disconnected.
    free: Vec<usize>,
    peers: PeerSockets,
    subscribers: TopicSubscribers,
}

impl Forwarder {
    fn run(mut self) -> Result<()> {
        let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
        loop {
            wait(&mut self.poll, &mut events, None)?;
            for event in &events {
                match event.token() {
                    LISTENER => self.accept()?,
                    Token(number) => self.attend(number, event.is_readable(), &mut scratch),
                }
            }
        }
    }

    fn accept(&mut self) -> Result<()> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.admit(stream)?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn admit(&mut self, mut stream: TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let number = self.free.pop().unwrap_or(self.readers.len());
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(&mut stream, Token(number), interest)?;
        let reader = self.peers.admit(number, stream);
        if number == self.readers.len() {
            self.readers.push(None);
        }
        self.readers[number] = Some(reader);
        Ok(())
    }

    /// Reads or writes a client's socket. Removes a client that fails or disconnects.
    fn attend(&mut self, number: usize, is_readable: bool, scratch: &mut [u8]) {
        let Some(reader) = self.readers[number].as_mut() else { return };
        let served = if is_readable {
            reader.read(number, scratch, &mut self.peers, &mut self.subscribers)
        } else {
            self.peers.flush(number)
        };
        if served.is_err() {
            self.readers[number] = None;
            self.free.push(number);
            self.peers.remove(number);
            self.subscribers.remove(number);
        }
    }
}
