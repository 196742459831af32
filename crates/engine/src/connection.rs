//! One client's socket: reads, timers and writes, in one task. The rules are the session's.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use slipring_core::{Action, Identity};
use slipring_wire::{Packet, Reason, Violation};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadHalf};
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use crate::broker::Broker;
use crate::event::{EventKind, now_ns};
use crate::feed::Feed;
use crate::inlet::Inlet;
use crate::origin::Origin;
use crate::outlet::Outlet;
use crate::peer::Peer;

/// Answers a client may leave unread before we stop reading from it.
const CONTROL_BYTES_MAX: usize = 64 << 10;
/// How long the last words to a client may take.
const FAREWELL_MAX: Duration = Duration::from_secs(1);
/// How long a stopping broker waits for a client to close its side.
const LAST_READS_MAX: Duration = Duration::from_millis(500);

/// Why a connection ended.
#[derive(Debug)]
enum End {
    /// The client said goodbye.
    Goodbye,
    /// The client closed the socket, or the network did.
    Lost(String),
    /// The client broke a rule.
    Violation(Violation),
    /// The broker ends it.
    Closed(Reason),
}

impl From<std::io::Error> for End {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Goodbye => f.write_str("said goodbye"),
            Self::Lost(why) => f.write_str(why),
            Self::Violation(violation) => violation.fmt(f),
            Self::Closed(reason) => reason.fmt(f),
        }
    }
}

struct Connection<S> {
    reader: ReadHalf<S>,
    outlet: Outlet<S>,
    broker: Arc<Broker>,
    peer: Arc<Peer>,
    inlet: Inlet,
    feed: Feed,
    /// Silence allowed before the client counts as gone.
    patience: Duration,
    heard: Instant,
    /// Set for the earliest end of patience; moved on only when it fires.
    timer: Pin<Box<Sleep>>,
}

/// Serves one client until the connection ends.
pub(crate) async fn serve<S>(stream: S, origin: Origin, broker: Arc<Broker>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let _counted = Counted(Arc::clone(&broker));
    let mut connection = Connection::new(stream, origin, broker);
    let end = connection.run().await;
    connection.finish(end).await;
}

/// A place among the connections, free again however the task ends.
struct Counted(Arc<Broker>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::AcqRel);
        self.0.ended.notify_waiters();
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    fn new(stream: S, origin: Origin, broker: Arc<Broker>) -> Self {
        let limits = broker.plan.load().limits;
        let key = broker.next_key();
        let assigned_id = broker.client_id_for(key);
        let patience = Duration::from_millis(limits.connect_ms);
        let (reader, writer) = tokio::io::split(stream);
        Self {
            reader,
            outlet: Outlet::new(writer),
            peer: Arc::new(Peer::new(key, origin, now_ns(), limits, assigned_id)),
            broker,
            inlet: Inlet::new(),
            feed: Feed::new(),
            patience,
            heard: Instant::now(),
            timer: Box::pin(sleep_until(Instant::now() + patience)),
        }
    }

    async fn run(&mut self) -> End {
        loop {
            match self.step().await {
                Ok(()) => {}
                Err(end) => return end,
            }
        }
    }

    /// Writes what waits, then sleeps until there is something to do.
    async fn step(&mut self) -> Result<(), End> {
        self.outlet.write(&self.peer, &self.broker).await?;
        if let Some(reason) = self.peer.closing() {
            return Err(End::Closed(reason));
        }
        let known = self.peer.identity.get().is_some();
        let stopping = self.broker.stopping_told.notified();
        if !known && self.broker.is_stopping() {
            return Err(End::Closed(Reason::ServerShuttingDown));
        }
        let writing = self.outlet.is_blocked();
        let reading = self.peer.outbox().control_bytes() < CONTROL_BYTES_MAX;
        tokio::select! {
            biased;
            read = self.reader.read(self.inlet.space()), if reading => {
                let count = read?;
                self.take(count).await?;
            }
            () = self.peer.wake.notified(), if !writing => {}
            ready = self.outlet.write_all(&self.peer, &self.broker), if writing => ready?,
            () = &mut self.timer => self.check_patience()?,
            () = stopping, if !known => {}
        }
        Ok(())
    }

    /// A silent client is gone after one and a half keep-alives (MQTT-3.1.2-22).
    fn check_patience(&mut self) -> Result<(), End> {
        let until = self.heard + self.patience;
        if until <= Instant::now() {
            return Err(End::Closed(Reason::KeepAliveTimeout));
        }
        self.timer.as_mut().reset(until);
        Ok(())
    }

    /// Everything that one read brought.
    async fn take(&mut self, count: usize) -> Result<(), End> {
        if count == 0 {
            return Err(End::Lost("the client closed the connection".into()));
        }
        self.heard = Instant::now();
        self.inlet.filled(count);
        let result = self.take_packets(count as u64);
        self.inlet.rest_after(count);
        self.feed.journal(&self.broker).await;
        result
    }

    fn take_packets(&mut self, bytes: u64) -> Result<(), End> {
        let mut reply = Vec::new();
        self.feed.begin(&self.broker, now_ns());
        let mut result = Ok(());
        while result.is_ok() {
            match self.take_packet(&mut reply) {
                Ok(true) => {}
                Ok(false) => break,
                Err(end) => result = Err(end),
            }
        }
        self.feed.finish(&self.broker, &self.peer, bytes);
        if !reply.is_empty() {
            self.peer.outbox().push_control(&reply);
        }
        result
    }

    /// Takes the next packet, if it is there as a whole.
    fn take_packet(&mut self, reply: &mut Vec<u8>) -> Result<bool, End> {
        let mut session = self.peer.session();
        let found = self.inlet.next(session.packet_bytes_max()).map_err(End::Violation)?;
        let Some(frame) = found else { return Ok(false) };
        let action = Packet::decode(&frame, session.version())
            .and_then(|packet| session.receive(packet, reply))
            .map_err(End::Violation)?;
        let length = frame.length;
        match action {
            Action::Publish(message) => self.feed.publish(&self.broker, &self.peer, &message),
            Action::Nothing => {}
            Action::Close => return Err(End::Goodbye),
            Action::Open(identity) => {
                drop(session);
                self.open(identity, reply)?;
            }
            Action::Subscribe(changes) => {
                self.broker.subscribe(&self.peer, &changes);
                for change in changes {
                    self.broker.report(EventKind::Subscribed, &self.peer, change.filter);
                }
            }
            Action::Unsubscribe(changes) => {
                let gone = changes.iter().map(|change| (&*change.filter, change.no_local));
                self.broker.unsubscribe(&self.peer, gone);
                for change in changes {
                    self.broker.report(EventKind::Unsubscribed, &self.peer, change.filter);
                }
            }
        }
        self.inlet.consume(length);
        Ok(true)
    }

    fn open(&mut self, identity: Identity, reply: &mut Vec<u8>) -> Result<(), End> {
        if let Err(reason) = self.broker.register(&identity.client_id, &self.peer) {
            self.peer.session().reject(reason, reply);
            return Err(End::Closed(reason));
        }
        if self.broker.is_stopping() {
            self.peer.close(Reason::ServerShuttingDown);
        }
        self.patience = Duration::from_secs(u64::from(identity.keep_alive_s)) * 3 / 2;
        self.timer.as_mut().reset(self.heard + self.patience);
        let detail = format!("from {} with {}", self.peer.origin.address, identity.version);
        let _ = self.peer.identity.set(identity);
        self.broker.report(EventKind::Connected, &self.peer, detail);
        Ok(())
    }

    /// The end: last words, last reads, and everything that others must learn.
    async fn finish(&mut self, end: End) {
        let stopping = matches!(end, End::Closed(Reason::ServerShuttingDown));
        if !matches!(end, End::Lost(_)) {
            let _ = timeout(FAREWELL_MAX, self.say_farewell(&end)).await;
        }
        if stopping {
            let _ = timeout(LAST_READS_MAX, self.read_to_the_end()).await;
        }
        self.leave();
        if !stopping {
            self.publish_will().await;
        }
        self.outlet.tell_dropped(&self.peer, &self.broker);
        let known = self.peer.identity.get().is_some();
        let kind = if known { EventKind::Disconnected } else { EventKind::Refused };
        self.broker.report(kind, &self.peer, end.to_string());
    }

    async fn say_farewell(&mut self, end: &End) -> std::io::Result<()> {
        let mut farewell = Vec::new();
        match end {
            End::Violation(violation) => {
                self.peer.session().farewell(violation.reason, &mut farewell);
            }
            End::Closed(reason) if self.peer.identity.get().is_some() => {
                self.peer.session().farewell(*reason, &mut farewell);
            }
            _ => {}
        }
        self.peer.outbox().push_control(&farewell);
        self.outlet.write_all(&self.peer, &self.broker).await?;
        self.outlet.shut().await
    }

    /// A stopping broker takes what its clients sent before they knew.
    async fn read_to_the_end(&mut self) -> Result<(), End> {
        loop {
            let count = self.reader.read(self.inlet.space()).await?;
            self.take(count).await?;
        }
    }

    /// Takes the client out of every table.
    fn leave(&self) {
        if let Some(identity) = self.peer.identity.get() {
            self.broker.unregister(&identity.client_id, &self.peer);
            self.broker.unsubscribe(&self.peer, self.peer.session().subscriptions());
        }
    }

    async fn publish_will(&mut self) {
        let Some(will) = self.peer.session().take_will() else { return };
        self.feed.begin(&self.broker, now_ns());
        self.feed.publish(&self.broker, &self.peer, &will.publish());
        self.feed.finish(&self.broker, &self.peer, 0);
        self.feed.journal(&self.broker).await;
    }
}
