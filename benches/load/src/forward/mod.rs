//! The floor: a broker in one epoll loop that parses, copies and forwards, and does nothing else.
//!
//! It knows CONNECT, SUBSCRIBE to exact topics, and PUBLISH at QoS 0 and 1. It checks no rule, keeps
//! nothing, and forwards a message with the identifier it came with.

mod peer;
mod routes;

use std::io::ErrorKind;
use std::net::SocketAddr;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};

use crate::Result;
use crate::arguments::Forward;
use crate::inlet::scratch;
use crate::report::Report;
use crate::standard_input;
use peer::{Peers, Reading};
use routes::Routes;

/// Connections the system may queue for us in a burst: as many as Slipring asks for.
const BACKLOG: i32 = 4096;
const LISTENER: Token = Token(usize::MAX);

/// Listens, says where, and forwards until standard input closes.
pub fn run(arguments: &Forward) -> Result<()> {
    let mut listener = listen(arguments.listen)?;
    let poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    Report::default().text("listening", &listener.local_addr()?.to_string()).print();
    std::thread::spawn(|| {
        standard_input::wait_until_closed();
        std::process::exit(0);
    });
    Forwarder {
        poll,
        listener,
        readings: Vec::new(),
        free: Vec::new(),
        peers: Peers::default(),
        routes: Routes::default(),
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
    /// What each client sends, by its token; none where a client has gone.
    readings: Vec<Option<Reading>>,
    /// Tokens of clients that have gone.
    free: Vec<usize>,
    peers: Peers,
    routes: Routes,
}

impl Forwarder {
    fn run(mut self) -> Result<()> {
        let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other?,
            }
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
        let number = self.free.pop().unwrap_or(self.readings.len());
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll.registry().register(&mut stream, Token(number), interest)?;
        let reading = self.peers.admit(number, stream);
        if number == self.readings.len() {
            self.readings.push(None);
        }
        self.readings[number] = Some(reading);
        Ok(())
    }

    /// Does what a client's socket is ready for. A client that fails or breaks off is gone.
    fn attend(&mut self, number: usize, is_readable: bool, scratch: &mut [u8]) {
        let Some(reading) = self.readings[number].as_mut() else { return };
        let is_open = if is_readable {
            reading.read(number, scratch, &mut self.peers, &mut self.routes)
        } else {
            self.peers.flush(number).map(|()| true)
        };
        if !is_open.unwrap_or(false) {
            self.readings[number] = None;
            self.free.push(number);
            self.peers.remove(number);
            self.routes.remove(number);
        }
    }
}
