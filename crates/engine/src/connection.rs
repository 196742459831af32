//! One client's socket: reads, timers and writes, in one task. What packets do is the party's.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use slipring_core::{Limit, Stop};
use slipring_wire::Reason;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use crate::broker::Broker;
use crate::client::Link;
use crate::event::{EventKind, now_ns};
use crate::inlet::Inlet;
use crate::origin::Origin;
use crate::outlet::Outlet;
use crate::party::{End, Party};

/// Answers a client may leave unread before we stop reading from it.
const CONTROL_BYTES_MAX: usize = 64 << 10;
/// How long the last words to a client may take.
const FAREWELL_MAX: Duration = Duration::from_secs(1);
/// How long a client that was told why may take to read it and close its side.
const LINGER_MAX: Duration = Duration::from_millis(500);
/// Reads of what a client sent before another connection took its session.
const LAST_READS: usize = 16;
/// How long a stopping broker waits for a client to close its side.
const LAST_READS_MAX: Duration = Duration::from_millis(500);

struct Connection<S> {
    stream: S,
    inlet: Inlet,
    outlet: Outlet,
    party: Party,
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
        if let Poll::Ready(Err(error)) = self.poll_write(cx) {
            return Poll::Ready(Err(error.into()));
        }
        if let Some(reason) = self.party.link.closing() {
            return Poll::Ready(Err(End::Closed(reason)));
        }
        if let Some(check) = &mut self.party.check {
            if let Poll::Ready(right) = check.poll(cx) {
                return Poll::Ready(Ok(Woken::Checked(right)));
            }
        } else if self.outlet.control.len() < CONTROL_BYTES_MAX {
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

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let Party { broker, client, link, .. } = &self.party;
        let client = client.as_ref().map(|client| (client, &**link));
        self.outlet.poll_write(cx, &mut self.stream, broker, client)
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
    async fn take(&mut self, count: usize) -> Result<(), End> {
        if count == 0 {
            return Err(End::Lost("the client closed the connection".into()));
        }
        if self.party.client.is_some() {
            self.heard = Instant::now();
        }
        self.take_in(count).await
    }

    /// A password was checked: the client is let in, and what it has sent meanwhile is taken.
    async fn take_checked(&mut self, right: bool) -> Result<(), End> {
        self.party.conclude(right)?;
        if self.party.client.is_some() {
            self.welcome().await;
        }
        self.take_in(0).await
    }

    async fn take_in(&mut self, count: usize) -> Result<(), End> {
        let known = self.party.client.is_some();
        let result = self.take_packets(count as u64);
        self.inlet.rest_after(count);
        self.party.feed.journal(&self.party.broker).await;
        // Only now: what is acknowledged is in the journal.
        self.outlet.control.append(&mut self.party.reply);
        if !known && self.party.client.is_some() {
            self.welcome().await;
        }
        result
    }

    async fn welcome(&mut self) {
        self.patience = Duration::from_secs(u64::from(self.party.keep_alive_s)) * 3 / 2;
        self.heard = Instant::now();
        self.timer.as_mut().reset(self.heard + self.patience);
        self.party.publish_inherited().await;
    }

    fn take_packets(&mut self, bytes: u64) -> Result<(), End> {
        self.party.feed.begin(&self.party.broker, now_ns());
        let mut result = Ok(());
        while result.is_ok() {
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

    /// The end: last words, last reads, and everything that others must learn.
    async fn finish(&mut self, end: End) {
        let stopping = matches!(end, End::Closed(Reason::ServerShuttingDown));
        self.count_limit(&end);
        if matches!(end, End::Closed(Reason::SessionTakenOver)) {
            self.party.leave(&end).await; // somebody waits for the session
        }
        if !matches!(end, End::Lost(_)) {
            let _ = timeout(FAREWELL_MAX, self.say_farewell(&end)).await;
        }
        if stopping && self.party.check.is_none() {
            let _ = timeout(LAST_READS_MAX, self.read_to_the_end()).await;
        }
        self.party.leave(&end).await;
        self.party.feed.forget_routes(&self.party.broker);
        let broker = &self.party.broker;
        if let Some(client) = &self.party.client {
            broker.tell_dropped(client);
        }
        let known = self.party.client.is_some();
        let kind = if known { EventKind::Disconnected } else { EventKind::Refused };
        broker.report(kind, self.party.name(), end.to_string());
        if !stopping && (known || matches!(end, End::Refused(_))) && !matches!(end, End::Lost(_)) {
            let _ = timeout(LINGER_MAX, self.discard_the_rest()).await;
        }
    }

    /// Closing a socket with bytes unread resets it, and the client might never read the reason.
    async fn discard_the_rest(&mut self) -> std::io::Result<()> {
        while poll_fn(|cx| poll_read(&mut self.stream, &mut self.inlet, cx)).await? > 0 {
            self.inlet.clear();
        }
        Ok(())
    }

    fn count_limit(&self, end: &End) {
        let limit = match end {
            End::Stopped(stop) => stop.limit,
            End::Refused(refusal) => refusal.limit,
            _ => None,
        };
        if let Some(limit) = limit {
            self.party.broker.reached.count(limit);
        }
    }

    async fn say_farewell(&mut self, end: &End) -> std::io::Result<()> {
        self.outlet.control.append(&mut self.party.reply);
        let conversation = &self.party.conversation;
        match end {
            End::Stopped(stop) => {
                let violation = stop.violation;
                conversation.farewell(violation.reason, violation.what, &mut self.outlet.control);
            }
            End::Closed(reason) if self.party.client.is_some() => {
                conversation.farewell(*reason, "", &mut self.outlet.control);
            }
            _ => {}
        }
        poll_fn(|cx| self.poll_write(cx)).await?;
        self.stream.shutdown().await
    }

    /// A stopping broker takes what its clients sent before they knew.
    async fn read_to_the_end(&mut self) -> Result<(), End> {
        loop {
            let count = poll_fn(|cx| poll_read(&mut self.stream, &mut self.inlet, cx)).await?;
            self.take(count).await?;
        }
    }
}

/// Reads once into the inlet.
fn poll_read<S: AsyncRead + Unpin>(
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
