//! Pairs of one asker and one service: connects them, and moves their bytes.

use std::io::{Read, Write};
use std::net::SocketAddr;

use mio::net::TcpStream;
use mio::{Interest, Poll, Token};
use slipring_wire::Version;

use super::arguments::{RequestProtocol, RequestsArguments};
use super::mqtt::{MqttAsker, MqttService};
use super::nats::{NatsAsker, NatsLine, NatsService, each_line, hello, inboxes, subject};
use super::open::OpenRequests;
use super::template::RequestTemplate;
use super::wire::{AskerWire, ServiceWire, TakeEnd};
use crate::Result;
use crate::dial::{AT_ONCE, PATIENCE, dial};
use crate::handshake::Handshake;
use crate::receive_buffer::{ReceiveBuffer, scratch};
use crate::send_buffer::SendBuffer;
use crate::topics::topic;

/// What an asker of Slipring says besides: how long it waits, in seconds.
const SLIPRING_WORDS: [(&str, &str); 1] = [("slipring-timeout", "60")];

/// An asker.
pub struct AskerClient {
    stream: TcpStream,
    received: ReceiveBuffer,
    unsent: SendBuffer,
    wire: Box<dyn AskerWire>,
    pub open: OpenRequests,
}

impl AskerClient {
    /// Appends a request that is asked at `now_ns`; `flush` sends it.
    pub fn ask(&mut self, now_ns: u64) {
        let number = self.open.ask(now_ns);
        self.wire.ask(number, self.unsent.bytes());
    }

    pub fn unacked(&self) -> u64 {
        self.wire.unacked()
    }

    pub fn flush(&mut self) -> Result<()> {
        self.unsent.flush(&mut self.stream)?;
        Ok(())
    }

    /// Reads what has arrived. `end` gets when each request was asked that has ended.
    pub fn receive(&mut self, scratch: &mut [u8], end: EndTaken<'_>) -> Result<()> {
        let (wire, open, out) = (&mut self.wire, &mut self.open, self.unsent.bytes());
        let take: TakeEnd<'_> = &mut |number, ended| end(open.end(number)?, ended);
        self.received.read(&mut self.stream, scratch, |bytes| wire.receive(bytes, out, take))?;
        self.flush()
    }
}

/// Takes when a request was asked, and how it ended.
pub type EndTaken<'a> = &'a mut dyn FnMut(u64, &super::wire::RequestEnd<'_>) -> Result<()>;

/// A service.
pub struct ServiceClient {
    stream: TcpStream,
    received: ReceiveBuffer,
    unsent: SendBuffer,
    wire: Box<dyn ServiceWire>,
}

impl ServiceClient {
    pub fn new(stream: TcpStream, wire: Box<dyn ServiceWire>) -> Self {
        Self { stream, received: ReceiveBuffer::default(), unsent: SendBuffer::default(), wire }
    }

    /// Sends bytes that are not an answer.
    pub fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.unsent.send(bytes, &mut self.stream)?;
        Ok(())
    }

    /// Reads what has arrived, and answers it.
    pub fn attend(&mut self, is_readable: bool, scratch: &mut [u8]) -> Result<()> {
        self.unsent.flush(&mut self.stream)?;
        if is_readable {
            let (wire, out) = (&mut self.wire, self.unsent.bytes());
            self.received.read(&mut self.stream, scratch, |bytes| wire.receive(bytes, out))?;
            self.unsent.flush(&mut self.stream)?;
        }
        Ok(())
    }
}

/// All pairs. The tokens of services are their numbers, those of askers follow.
pub struct ConnectedPairs {
    pub poll: Poll,
    pub services: Vec<ServiceClient>,
    pub askers: Vec<AskerClient>,
}

/// Connects all services, then all askers.
pub fn connect(arguments: &RequestsArguments) -> Result<ConnectedPairs> {
    let pairs = arguments.pairs as usize;
    let (poll, mut streams) = if arguments.by == RequestProtocol::Nats {
        dial_nats(arguments.address, u64::from(arguments.pairs))?
    } else {
        let dialled = dial(arguments.address, handshakes(arguments), AT_ONCE)?;
        (dialled.poll, dialled.streams)
    };
    let askers = streams.split_off(pairs);
    let asker = |(number, stream)| AskerClient {
        stream,
        received: ReceiveBuffer::default(),
        unsent: SendBuffer::default(),
        wire: asker_wire(arguments, number),
        open: OpenRequests::default(),
    };
    Ok(ConnectedPairs {
        poll,
        services: streams
            .into_iter()
            .map(|stream| ServiceClient::new(stream, service_wire(arguments)))
            .collect(),
        askers: (0..).zip(askers).map(asker).collect(),
    })
}

fn asker_wire(arguments: &RequestsArguments, number: u64) -> Box<dyn AskerWire> {
    let (bytes, qos) = (arguments.bytes as usize, arguments.qos);
    let words = match arguments.by {
        RequestProtocol::Nats => return Box::new(NatsAsker::new(number, bytes)),
        RequestProtocol::Mqtt => &[][..],
        RequestProtocol::Slipring => &SLIPRING_WORDS,
    };
    let template = RequestTemplate::new(&topic(number), &answers(number), words, qos, bytes);
    Box::new(MqttAsker::new(template, bytes, qos))
}

fn service_wire(arguments: &RequestsArguments) -> Box<dyn ServiceWire> {
    match arguments.by {
        RequestProtocol::Nats => Box::new(NatsService),
        _ => Box::new(MqttService::new(arguments.qos)),
    }
}

/// The Response Topic of an asker.
fn answers(number: u64) -> String {
    format!("bench/answers/{number:06}")
}

fn handshakes(arguments: &RequestsArguments) -> impl ExactSizeIterator<Item = Handshake> {
    let pairs = arguments.pairs as usize;
    (0..2 * pairs).map(move |client| {
        let (number, qos) = ((client % pairs) as u64, arguments.qos);
        let role = if client < pairs { "service" } else { "asker" };
        let handshake = handshake(&format!("load-{role}-{number}"), arguments.kept);
        match (role, arguments.by) {
            ("service", RequestProtocol::Slipring) => {
                handshake.serve(&topic(number), qos, arguments.window)
            }
            ("service", _) => handshake.subscribe(&[topic(number)], qos),
            // Slipring tells askers how their requests end without a subscription.
            (_, RequestProtocol::Slipring) => handshake,
            _ => handshake.subscribe(&[answers(number)], qos),
        }
    })
}

fn handshake(client_id: &str, is_kept: bool) -> Handshake {
    if is_kept { Handshake::kept(client_id) } else { Handshake::new(Version::V5, client_id) }
}

/// Connects the same clients to NATS, one after the other.
fn dial_nats(address: SocketAddr, pairs: u64) -> Result<(Poll, Vec<TcpStream>)> {
    let subjects = (0..pairs).map(subject).chain((0..pairs).map(inboxes));
    let (poll, mut scratch) = (Poll::new()?, scratch());
    let mut streams = Vec::new();
    for (number, subject) in subjects.enumerate() {
        let mut stream = TcpStream::from_std(greet(address, &subject, &mut scratch)?);
        let interest = Interest::READABLE | Interest::WRITABLE;
        poll.registry().register(&mut stream, Token(number), interest)?;
        streams.push(stream);
    }
    Ok((poll, streams))
}

/// Connects one client, and returns when it has subscribed.
fn greet(address: SocketAddr, subject: &str, scratch: &mut [u8]) -> Result<std::net::TcpStream> {
    let mut stream = std::net::TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(&hello(subject))?;
    let (mut unread, mut is_ready) = (Vec::new(), false);
    while !is_ready {
        let count = stream.read(scratch)?;
        if count == 0 {
            return Err("the broker closed the connection".into());
        }
        unread.extend_from_slice(&scratch[..count]);
        let used = each_line(&unread, |line| {
            is_ready |= line == NatsLine::Pong;
            Ok(())
        })?;
        unread.drain(..used);
    }
    stream.set_nonblocking(true)?;
    Ok(stream)
}
