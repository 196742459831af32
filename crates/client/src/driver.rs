//! Moves bytes between a socket and the protocol, and gives the protocol the time. Decides nothing.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::Arc;
use std::time::Instant;

use slipring_protocol::{ClientEvent, ClientProtocol, ProtocolEvent};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf, split};
use tokio::select;
use tokio::time::{sleep_until, timeout_at};

use crate::Address;
use crate::inbox::Inbox;
use crate::outbox::{DriverStep, Outbox};
use crate::transport::{Duplex, Trust, dial, loss_of};

/// Bytes of one read from the socket; the inbox can exceed its bound by their messages.
const READ_BYTES: usize = 64 << 10;

/// The two boxes between the driver and the client's owner.
pub(crate) struct Mailboxes {
    pub outbox: Outbox,
    pub inbox: Inbox,
}

/// Connects, moves bytes until the connection ends, and reports that; connects again while the
/// protocol says so.
pub(crate) async fn run(boxes: Arc<Mailboxes>, address: Address, trust: Option<Trust>) {
    let random = RandomState::new();
    for attempt in 0u64.. {
        if let Some(stream) = reach(&boxes.outbox, &address, trust.as_ref()).await {
            Connection::new(&boxes, stream).run().await;
        }
        let random = random.hash_one(attempt) as u32;
        let Some(event) = boxes.outbox.retry(Instant::now(), random) else { break };
        boxes.inbox.notify(event);
        rest(&boxes.outbox).await;
    }
    boxes.inbox.notify(boxes.outbox.last_event());
}

/// Waits until it is time for another connection, or the owner disconnects.
async fn rest(outbox: &Outbox) {
    while let DriverStep::Wait(deadline) = outbox.plan() {
        select! {
            () = until(deadline) => outbox.change(|protocol| protocol.handle_timeout(Instant::now())),
            () = outbox.work() => {}
        }
    }
}

/// Opens a connection. Returns `None` if that fails, takes too long, or the owner disconnects.
async fn reach(
    outbox: &Outbox,
    address: &Address,
    trust: Option<&Trust>,
) -> Option<Box<dyn Duplex>> {
    let dialling = dial(address, trust);
    tokio::pin!(dialling);
    while let DriverStep::Go(deadline) = outbox.plan() {
        select! {
            dialled = &mut dialling => match dialled {
                Ok(stream) => return Some(stream),
                Err(loss) => outbox.change(|protocol| protocol.end(Some(loss))),
            },
            () = until(deadline) => outbox.change(|protocol| protocol.handle_timeout(Instant::now())),
            () = outbox.work() => {}
        }
    }
    None
}

/// Resolves at the deadline; without a deadline, never.
pub(crate) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// Writes some of the waiting bytes. If there are none, flushes what TLS has buffered, and returns 0.
async fn push(writer: &mut WriteHalf<Box<dyn Duplex>>, waiting: &[u8]) -> io::Result<usize> {
    if waiting.is_empty() {
        writer.flush().await?;
        return Ok(0);
    }
    writer.write(waiting).await
}

struct Connection<'a> {
    boxes: &'a Mailboxes,
    reader: ReadHalf<Box<dyn Duplex>>,
    writer: WriteHalf<Box<dyn Duplex>>,
    input: Vec<u8>,
    events: Vec<ProtocolEvent>,
    output: Vec<u8>,
    sent: usize,
    /// Whether everything written has left the buffers of TLS.
    flushed: bool,
    reading: bool,
}

impl<'a> Connection<'a> {
    fn new(boxes: &'a Mailboxes, stream: Box<dyn Duplex>) -> Self {
        let (reader, writer) = split(stream);
        Self {
            boxes,
            reader,
            writer,
            input: Vec::with_capacity(READ_BYTES),
            events: Vec::new(),
            output: Vec::new(),
            sent: 0,
            flushed: true,
            reading: true,
        }
    }

    async fn run(&mut self) {
        loop {
            self.refill();
            match self.boxes.outbox.plan() {
                DriverStep::Go(deadline) => self.step(deadline).await,
                DriverStep::Drain(deadline) => {
                    self.reading = true;
                    self.step(deadline).await;
                }
                DriverStep::Sent(deadline) => self.linger(deadline).await,
                DriverStep::Wait(_) | DriverStep::Stop => return,
            }
        }
    }

    async fn step(&mut self, deadline: Option<Instant>) {
        let Mailboxes { outbox, inbox } = self.boxes;
        let waiting = &self.output[self.sent..];
        select! {
            read = self.reader.read_buf(&mut self.input), if self.reading => self.on_read(read),
            written = push(&mut self.writer, waiting), if !waiting.is_empty() || !self.flushed => {
                self.on_written(written);
            }
            () = outbox.work() => {}
            () = inbox.room(), if !self.reading => self.listen(),
            () = until(deadline) => outbox.change(|protocol| protocol.handle_timeout(Instant::now())),
        }
    }

    fn refill(&mut self) {
        if self.sent == self.output.len() {
            let sent = std::mem::take(&mut self.output);
            self.output = self.boxes.outbox.take(sent, Instant::now());
            self.sent = 0;
        }
    }

    fn on_written(&mut self, written: io::Result<usize>) {
        match written {
            Ok(0) => self.flushed = true,
            Ok(bytes) => {
                self.sent += bytes;
                self.flushed = false;
                self.boxes.outbox.written(bytes);
                self.report_room();
            }
            Err(error) => self.fail(&error),
        }
    }

    fn on_read(&mut self, read: io::Result<usize>) {
        match read {
            Ok(0) => self.boxes.outbox.change(ClientProtocol::receive_eof),
            Ok(_) => self.receive(),
            Err(error) => self.fail(&error),
        }
    }

    fn receive(&mut self) {
        let Mailboxes { outbox, inbox } = self.boxes;
        let (now, mut start) = (Instant::now(), 0);
        loop {
            let rest = &self.input[start..];
            let used = outbox.receive(rest, now, &mut self.events, |events| inbox.push(events));
            start += used;
            if used == 0 || start == self.input.len() {
                break;
            }
        }
        self.forget(start);
        self.report_room();
        if inbox.is_full() {
            self.reading = false;
            outbox.change(|protocol| protocol.set_reading(false, now));
        }
    }

    fn report_room(&self) {
        if self.boxes.outbox.has_room_again() {
            self.boxes.inbox.notify(ClientEvent::Room);
        }
    }

    /// Keeps the head of an incomplete packet, and room for one more read.
    fn forget(&mut self, bytes: usize) {
        self.input.drain(..bytes);
        if self.input.is_empty() && self.input.capacity() > READ_BYTES {
            self.input = Vec::new();
        }
        self.input.reserve_exact(READ_BYTES);
    }

    fn listen(&mut self) {
        self.reading = true;
        self.boxes.outbox.change(|protocol| protocol.set_reading(true, Instant::now()));
    }

    fn fail(&self, error: &io::Error) {
        self.boxes.outbox.change(|protocol| protocol.end(Some(loss_of(error))));
    }

    /// Reads until the broker closes too. Closing a socket with unread bytes resets the connection,
    /// and the reset can destroy what the broker has not read.
    async fn linger(&mut self, deadline: Option<Instant>) {
        let closing = async {
            self.writer.shutdown().await?;
            while self.reader.read_buf(&mut self.input).await? > 0 {
                self.input.clear();
            }
            io::Result::Ok(())
        };
        let deadline = deadline.unwrap_or_else(Instant::now);
        // Everything was sent, so it does not matter how the broker closes.
        let _ = timeout_at(deadline.into(), closing).await;
        self.boxes.outbox.change(|protocol| {
            let loss = protocol.loss().cloned();
            protocol.end(loss);
        });
    }
}
