//! One client's socket: reads, timers and writes, in one task. What packets do is the party's.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use slipring_core::{Limit, Stop};
use slipring_wire::Reason;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::broker::Broker;
use crate::client::Link;
use crate::event::now_ns;
use crate::inlet::Inlet;
use crate::origin::Origin;
use crate::outlet::{Answers, Outlet};
use crate::party::{End, Party};

/// Answers a client may leave unread before we stop reading from it.
const CONTROL_BYTES_MAX: usize = 64 << 10;
/// Reads of what a client sent before another connection took its session.
const LAST_READS: usize = 16;

pub(crate) struct Connection<S> {
    pub stream: S,
    pub inlet: Inlet,
    pub outlet: Outlet,
    pub party: Party,
    /// Silence allowed before the client counts as gone.
    patience: Duration,
    heard: Instant,
    /// Set for the earliest end of patience; moved on only when it fires.
    timer: Pin<Box<Sleep>>,
}

/// What a connection was woken by.
enum Woken {
    /// So many bytes are in the inlet.
    Read(usize),
    /// What had to be before the client is let in is, or will never be.
    Checked(bool),
    /// The timer.
    Timer,
}

/// Serves one client until the connection ends.
pub(crate) async fn serve<S>(stream: S, origin: Origin, broker: Arc<Broker>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let link = Arc::new(Link::new(broker.next_key(), origin, now_ns()));
    broker.enter(&link);
    let _entered = Entered(Arc::clone(&broker), Arc::clone(&link));
    let mut connection = Connection::new(stream, broker, link);
    let end = connection.run().await;
    connection.finish(end).await;
}

/// A place among the connections, free again however the task ends.
struct Entered(Arc<Broker>, Arc<Link>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.exit(&self.1);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    fn new(stream: S, broker: Arc<Broker>, link: Arc<Link>) -> Self {
        let party = Party::new(broker, link);
        let patience = Duration::from_millis(party.conversation.limits().connect_ms);
        Self {
            stream,
            inlet: Inlet::new(),
            outlet: Outlet::default(),
            party,
            patience,
            heard: Instant::now(),
            timer: Box::pin(sleep_until(Instant::now() + patience)),
        }
    }

    async fn run(&mut self) -> End {
        if self.party.broker.is_stopping() {
            return End::Closed(Reason::ServerShuttingDown);
        }
        loop {
            let step = match poll_fn(|cx| self.poll_step(cx)).await {
                Ok(Woken::Read(count)) => self.take(count).await,
                Ok(Woken::Checked(right)) => self.take_checked(right).await,
                Ok(Woken::Timer) => self.check_patience(),
                Err(end) => Err(end),
            };
            match step {
                Ok(()) => {}
                Err(End::Closed(Reason::SessionTakenOver)) => return self.take_last().await,
                Err(end) => return end,
            }
        }
    }

    /// Writes what waits, then reads what is there.
    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<Woken, End>> {
        self.party.link.waker.register(cx.waker());
        self.party.feed.release(&self.party.broker);
        if let Poll::Ready(Err(error)) = self.poll_write(cx) {
            return Poll::Ready(Err(error.into()));
        }
        if let Some(reason) = self.party.link.closing() {
            return Poll::Ready(Err(End::Closed(reason)));
        }
        if self.outlet.is_holding() && self.party.broker.gates.has_failed() {
            self.outlet.forget_held(); // never acknowledged
            return Poll::Ready(Err(End::Closed(Reason::UnspecifiedError)));
        }
        if let Some(check) = &mut self.party.check {
            if let Poll::Ready(right) = check.poll(cx) {
                return Poll::Ready(Ok(Woken::Checked(right)));
            }
        } else if self.outlet.waiting_bytes() < CONTROL_BYTES_MAX && !self.party.feed.is_behind() {
            if let Poll::Ready(read) = poll_read(&mut self.stream, &mut self.inlet, cx) {
                return Poll::Ready(read.map(Woken::Read).map_err(End::from));
            }
        }
        self.timer.as_mut().poll(cx).map(|()| Ok(Woken::Timer))
    }

    /// What the client sent before it connected anew, its goodbye perhaps, comes before that.
    async fn take_last(&mut self) -> End {
        for _ in 0..LAST_READS {
            let read = poll_fn(|cx| Poll::Ready(poll_read(&mut self.stream, &mut self.inlet, cx)));
            match read.await {
                Poll::Ready(Ok(count)) if count > 0 => {
                    if let Err(end) = self.take(count).await {
                        return end;
                    }
                }
                _ => break,
            }
        }
        End::Closed(Reason::SessionTakenOver)
    }

    pub fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let Party { broker, client, link, .. } = &self.party;
        self.outlet.poll_write(cx, &mut self.stream, broker, link, client.as_ref())
    }

    /// A silent client is gone after one and a half keep-alives (MQTT-3.1.2-22).
    fn check_patience(&mut self) -> Result<(), End> {
        let until = self.heard + self.patience;
        if until > Instant::now() {
            self.timer.as_mut().reset(until);
            return Ok(());
        }
        if self.party.client.is_some() {
            return Err(End::Closed(Reason::KeepAliveTimeout));
        }
        self.party.broker.reached.count(Limit::ConnectMs);
        Err(self.party.time_out())
    }

    /// Everything that one read brought.
    pub async fn take(&mut self, count: usize) -> Result<(), End> {
        if count == 0 {
            return Err(End::Lost("the client closed the connection".into()));
        }
        let known = self.party.client.is_some();
        if known {
            self.heard = Instant::now();
        }
        self.take_in(count, known).await
    }

    /// A password was checked: the client is let in, and what it has sent meanwhile is taken.
    async fn take_checked(&mut self, right: bool) -> Result<(), End> {
        self.party.conclude(right)?;
        self.take_in(0, false).await
    }

    async fn take_in(&mut self, count: usize, known: bool) -> Result<(), End> {
        let mut result = self.take_packets(count as u64, known);
        if !known && self.party.client.is_some() {
            // The journal knows the session before anything else that is said of it.
            self.journal().await?;
            self.welcome().await;
            result = result.and_then(|()| self.take_packets(0, true));
        }
        self.inlet.rest_after(count);
        self.journal().await?;
        result
    }

    /// Hands the batch to the journal; its answers go when what they promise is true.
    async fn journal(&mut self) -> Result<(), End> {
        let Party { broker, feed, reply, blocks, .. } = &mut self.party;
        match feed.journal(broker).await {
            Ok(gate) => {
                let (promised, blocks) = (feed.take_promised(), std::mem::take(blocks));
                self.outlet.hold(&broker.gates, reply, Answers { gate, promised, blocks });
            }
            Err(reason) => {
                reply.clear(); // never acknowledged
                return Err(End::Closed(reason));
            }
        }
        Ok(())
    }

    async fn welcome(&mut self) {
        self.patience = Duration::from_secs(u64::from(self.party.keep_alive_s)) * 3 / 2;
        self.heard = Instant::now();
        self.timer.as_mut().reset(self.heard + self.patience);
        self.party.publish_inherited().await;
    }

    /// Takes what was read; of a client that is not known yet, up to the packet with which it is.
    fn take_packets(&mut self, bytes: u64, known: bool) -> Result<(), End> {
        self.party.feed.begin(&self.party.broker, now_ns());
        let mut result = Ok(());
        while result.is_ok() && (known || self.party.client.is_none()) {
            match self.take_packet() {
                Ok(true) => {}
                Ok(false) => break,
                Err(end) => result = Err(end),
            }
        }
        let messages = self.party.finish();
        if let Some(client) = &self.party.client {
            client.traffic.received(messages, bytes);
        }
        self.party.broker.traffic.received(messages, bytes);
        result
    }

    /// Takes the next packet, if it is there as a whole.
    #[inline]
    fn take_packet(&mut self) -> Result<bool, End> {
        if self.party.check.is_some() {
            return Ok(false);
        }
        let (bytes_max, limit) = self.party.conversation.packet_bytes_max();
        let found = self.inlet.next(bytes_max).map_err(|violation| {
            let too_large = violation.reason == Reason::PacketTooLarge;
            Stop { violation, limit: too_large.then_some(limit) }
        })?;
        let Some(frame) = found else { return Ok(false) };
        let length = frame.length;
        self.party.take(&frame)?;
        self.inlet.consume(length);
        Ok(true)
    }
}

/// Reads once into the inlet.
pub(crate) fn poll_read<S: AsyncRead + Unpin>(
    stream: &mut S,
    inlet: &mut Inlet,
    cx: &mut Context<'_>,
) -> Poll<std::io::Result<usize>> {
    let mut space = ReadBuf::new(inlet.space());
    let read = Pin::new(stream).poll_read(cx, &mut space);
    let count = space.filled().len();
    read.map_ok(|()| {
        inlet.filled(count);
        count
    })
}
