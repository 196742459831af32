//! Stored requests: their askers come back, a service answers all, and each asker counts the ends of its own.

use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Poll};
use slipring_wire::{Packet, QoS, Version};

use super::arguments::CollectArguments;
use super::mqtt::{MqttService, take_end};
use super::open::OpenRequests;
use super::pairs::ServiceClient;
use super::wire::RequestEnd;
use crate::Result;
use crate::acked::acked_id;
use crate::dial::{AT_ONCE, dial, wait};
use crate::handshake::{Handshake, serve_packet};
use crate::receive_buffer::{ReceiveBuffer, each_packet, scratch};
use crate::run_report::RunReport;
use crate::send_buffer::SendBuffer;
use crate::topics::ALL;

/// Silence after which missing ends count as lost.
const SILENCE: Duration = Duration::from_secs(10);

/// An asker that came back.
struct ReturnedAsker {
    stream: TcpStream,
    received: ReceiveBuffer,
    unsent: SendBuffer,
    open: OpenRequests,
    failed: u64,
}

impl ReturnedAsker {
    fn new(stream: TcpStream, stored: u64) -> Self {
        let mut open = OpenRequests::default();
        for _ in 0..stored {
            open.ask(0);
        }
        let (received, unsent) = (ReceiveBuffer::default(), SendBuffer::default());
        Self { stream, received, unsent, open, failed: 0 }
    }

    fn attend(&mut self, is_readable: bool, scratch: &mut [u8]) -> Result<()> {
        self.unsent.flush(&mut self.stream)?;
        if !is_readable {
            return Ok(());
        }
        let (open, failed, out) = (&mut self.open, &mut self.failed, self.unsent.bytes());
        self.received.read(&mut self.stream, scratch, |bytes| {
            each_packet(bytes, |packet| match Packet::decode(packet, Version::V5)? {
                Packet::Publish(message) => take_end(&message, None, out, &mut |number, end| {
                    *failed += u64::from(!matches!(end, RequestEnd::Answered));
                    open.end(number).map(drop)
                }),
                other => Err(format!("an end was expected, not {other:?}").into()),
            })
        })?;
        self.unsent.flush(&mut self.stream)?;
        Ok(())
    }
}

/// Askers that came back, and a service of everything.
struct Collection {
    poll: Poll,
    askers: Vec<ReturnedAsker>,
    service: ServiceClient,
    scratch: Vec<u8>,
}

impl Collection {
    /// Connects all. The service subscribes when all askers are there: what they get is read here.
    fn connect(arguments: &CollectArguments) -> Result<Self> {
        let askers =
            (0..arguments.stored.len() as u32).map(|number| Handshake::kept(&acked_id(number)));
        let service = Handshake::new(Version::V5, "load-service");
        let handshakes: Vec<Handshake> = askers.chain([service]).collect();
        let mut dialled = dial(arguments.address, handshakes.into_iter(), AT_ONCE)?;
        let service = dialled.streams.pop().ok_or("no service")?;
        let wire = MqttService::new(QoS::AtLeastOnce);
        let askers = dialled.streams.into_iter().zip(&arguments.stored);
        Ok(Self {
            poll: dialled.poll,
            askers: askers.map(|(stream, stored)| ReturnedAsker::new(stream, *stored)).collect(),
            service: ServiceClient::new(service, Box::new(wire)),
            scratch: scratch(),
        })
    }

    /// Runs until every stored request has its end, or no more arrive.
    fn run(&mut self, at_once: u16) -> Result<()> {
        self.service.send(&serve_packet(ALL, QoS::AtLeastOnce, at_once))?;
        let mut events = Events::with_capacity(1_024);
        while self.askers.iter().any(|asker| asker.open.open() > 0) {
            wait(&mut self.poll, &mut events, Some(SILENCE))?;
            if events.is_empty() {
                break;
            }
            for event in &events {
                let (is_readable, scratch) = (event.is_readable(), &mut self.scratch);
                match self.askers.get_mut(event.token().0) {
                    Some(asker) => asker.attend(is_readable, scratch)?,
                    None => self.service.attend(is_readable, scratch)?,
                }
            }
        }
        Ok(())
    }

    fn sum(&self, count: impl Fn(&ReturnedAsker) -> u64) -> u64 {
        self.askers.iter().map(count).sum()
    }
}

/// Counts the ends of all stored requests.
pub fn collect(arguments: &CollectArguments) -> Result<()> {
    let mut collection = Collection::connect(arguments)?;
    let began = Instant::now();
    collection.run(arguments.window)?;
    let (elapsed, ended) = (began.elapsed(), collection.sum(|asker| asker.open.ended()));
    RunReport::default()
        .number("stored", arguments.stored.iter().sum())
        .number("ended", ended)
        .number("failed", collection.sum(|asker| asker.failed))
        .number("lost", collection.sum(|asker| asker.open.open()))
        .seconds("seconds", elapsed)
        .rate("per_second", ended, elapsed)
        .print();
    Ok(())
}
