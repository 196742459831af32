//! One client's socket: reads, timers and writes, in one task. What packets do is the party's.
//!
//! A turn is bounded by the work that it makes: packets taken, messages delivered, bytes written. Then
//! other tasks run. What a turn leaves in the inlet is taken in the next one, before anything is read.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use slipring_core::{Limit, Stop, Work};
use slipring_wire::{Packet, Reason};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::broker::Broker;
use crate::connection_end::ConnectionEnd;
use crate::connection_handle::ConnectionHandle;
use crate::farewell::Entered;
use crate::inlet::Inlet;
use crate::origin::Origin;
use crate::outlet::{Answers, Outlet, Writing};
use crate::party::Party;
use crate::passwords::Checked;
use crate::supervision::Caught;
use crate::waking::{FirstStep, QUIET, Woken};

/// Answers a client may leave unread before we stop reading from it, and taking what was read.
const CONTROL_BYTES_MAX: usize = 64 << 10;
/// Longer than any connection lasts.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 3_600);

pub(crate) struct Connection<S> {
    pub stream: S,
    pub inlet: Inlet,
    pub outlet: Outlet,
    pub party: Party,
    /// The last turn ended before everything in the inlet was taken.
    pub is_unfinished: bool,
    /// CONNACK is on its way.
    pub is_welcome: bool,
    /// What the last read brought.
    last_read: usize,
    /// Silence allowed before the client counts as gone.
    patience: Duration,
    heard: Instant,
    /// Set for the earliest end of patience, or to see whether it is quiet; moved on only when it fires.
    pub timer: Pin<Box<Sleep>>,
    /// The timer is set to see whether it is quiet.
    pub is_watched: bool,
    /// What it does first when it is woken.
    pub first: FirstStep,
}

/// What was heard of a client before its connection is served.
pub(crate) struct Heard {
    /// Its first packet, as a rule.
    pub inlet: Inlet,
    /// Since when a CONNECT and its proof are waited for.
    pub begun: Instant,
}

impl Heard {
    /// Nothing yet.
    #[cfg(any(test, feature = "sim"))]
    pub fn nothing(broker: &Broker) -> Self {
        Self { inlet: Inlet::new(), begun: broker.clock.now() }
    }
}

/// Serves one client until the connection ends.
pub(crate) async fn serve<S>(stream: S, heard: Heard, origin: Origin, broker: Arc<Broker>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = Arc::new(ConnectionHandle::new(
        broker.connections.next_key(),
        origin,
        broker.clock.now_ns(),
    ));
    broker.connections.enter(&connection);
    let _entered = Entered(Arc::clone(&broker), Arc::clone(&connection));
    let busy = broker.connections.line.clone();
    let mut connection = Connection::new(stream, heard, broker, connection);
    let served = pin!(async {
        let ended = Caught(pin!(connection.run())).await;
        let end = ended.unwrap_or_else(|why| connection.after_panic(why));
        let finished = Caught(pin!(connection.finish(end))).await;
        finished.unwrap_or_else(|why| connection.abandon(&why));
    });
    busy.run(served).await;
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    fn new(
        stream: S,
        heard: Heard,
        broker: Arc<Broker>,
        connection: Arc<ConnectionHandle>,
    ) -> Self {
        let party = Party::new(broker, connection);
        let patience = Duration::from_millis(party.conversation.limits().connect_ms);
        Self {
            stream,
            inlet: heard.inlet,
            outlet: Outlet::default(),
            party,
            is_unfinished: false,
            is_welcome: false,
            last_read: 0,
            patience,
            heard: heard.begun,
            timer: Box::pin(sleep_until(heard.begun + patience)),
            is_watched: false,
            first: FirstStep::Write,
        }
    }

    async fn run(&mut self) -> ConnectionEnd {
        if self.party.broker.lifecycle.is_stopping() {
            return ConnectionEnd::Closed(Reason::ServerShuttingDown);
        }
        let heard = self.inlet.len();
        let mut first = (heard > 0).then_some(Ok(Woken::Read(heard)));
        loop {
            let woken = match first.take() {
                Some(woken) => woken,
                None => poll_fn(|cx| self.poll_step(cx)).await,
            };
            let step = match woken {
                Ok(Woken::Read(count)) => self.take(count).await,
                Ok(Woken::Unfinished) => self.take_in(0).await,
                Ok(Woken::TurnOver) => self.let_others_run().await,
                Ok(Woken::Checked(checked)) => self.take_checked(checked).await,
                Ok(Woken::Timer) => self.check_patience(),
                Err(end) => Err(end),
            };
            match step {
                Ok(()) => {}
                Err(ConnectionEnd::Closed(Reason::SessionTakenOver)) => {
                    return self.take_last().await;
                }
                Err(end @ ConnectionEnd::Lost(_)) => return self.take_left(end).await,
                Err(end) => return end,
            }
        }
    }

    /// Gives memory back that only traffic needs.
    fn rest(&mut self) {
        self.inlet.rest();
        self.outlet.rest();
        self.party.reply.shrink_to(0);
        if let Some(client) = &self.party.client {
            client.outgoing().rest();
        }
    }

    /// Bytes of answers that may still wait.
    pub fn answers_room(&self) -> usize {
        CONTROL_BYTES_MAX.saturating_sub(self.outlet.waiting_bytes())
    }

    pub fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let Party { broker, client, connection, feed, .. } = &mut self.party;
        let writing = Writing { broker, connection, client: client.as_ref(), work: &mut feed.work };
        self.outlet.poll_write(cx, &mut self.stream, writing)
    }

    /// A silent client is gone after one and a half keep-alives (MQTT-3.1.2-22).
    fn check_patience(&mut self) -> Result<(), ConnectionEnd> {
        let (now, until) = (self.party.broker.clock.now(), self.heard + self.patience);
        if std::mem::take(&mut self.is_watched) && now >= self.heard + QUIET {
            self.rest();
        }
        if until > now {
            self.timer.as_mut().reset(until);
            return Ok(());
        }
        if self.party.client.is_some() {
            return Err(ConnectionEnd::Closed(Reason::KeepAliveTimeout));
        }
        self.party.broker.monitor.reached.count(Limit::ConnectMs);
        Err(self.party.time_out())
    }

    /// Everything that one read brought.
    pub async fn take(&mut self, count: usize) -> Result<(), ConnectionEnd> {
        if count == 0 {
            return Err(ConnectionEnd::Lost("the client closed the connection".into()));
        }
        self.party.feed.work.add(Work::CALL);
        self.party.feed.work.add_bytes(count);
        self.last_read = count;
        self.take_in(count).await
    }

    /// A password was checked: the client is let in, and what it has sent meanwhile is taken.
    async fn take_checked(&mut self, checked: Checked) -> Result<(), ConnectionEnd> {
        self.party.conclude(checked)?;
        self.take_in(0).await
    }

    pub async fn take_in(&mut self, count: usize) -> Result<(), ConnectionEnd> {
        // A client whose password was checked is known, but CONNACK is not on its way yet.
        let welcome = self.is_welcome;
        if welcome {
            self.heard = self.party.broker.clock.now();
        }
        let mut result = self.take_packets(count as u64, welcome);
        if !welcome && self.party.client.is_some() {
            // The journal knows the session before anything else that is said of it.
            self.journal().await?;
            self.welcome().await;
            result = result.and_then(|()| self.take_packets(0, true));
        }
        self.inlet.rest_after(self.last_read);
        self.journal().await?;
        result
    }

    /// Hands the batch to the journal; its answers go when what they promise is true.
    async fn journal(&mut self) -> Result<(), ConnectionEnd> {
        let Party { broker, feed, reply, blocks, .. } = &mut self.party;
        match feed.journal(broker).await {
            Ok(gate) => {
                let (promised, blocks) = (feed.take_promised(), std::mem::take(blocks));
                self.outlet.hold(&broker.journal.gates, reply, Answers { gate, promised, blocks });
                self.party.received.clear();
                Ok(())
            }
            Err(reason) => {
                self.party.forget_batch();
                Err(ConnectionEnd::Closed(reason))
            }
        }
    }

    async fn welcome(&mut self) {
        self.is_welcome = true;
        self.patience = match self.party.keep_alive_s {
            0 => NEVER, // the network tells of a peer that is gone, by TCP's own keep-alive
            seconds => Duration::from_secs(u64::from(seconds)) * 3 / 2,
        };
        self.heard = self.party.broker.clock.now();
        self.timer.as_mut().reset(self.heard + self.patience);
        self.is_watched = false;
        self.party.publish_inherited().await;
    }

    /// Takes what was read until the work of a turn is done or its answers are many; of a client that is
    /// not known yet, up to the packet with which it is.
    fn take_packets(&mut self, bytes: u64, welcome: bool) -> Result<(), ConnectionEnd> {
        self.party.feed.begin(&self.party.broker, self.party.broker.clock.now_ns());
        let mut result = Ok(());
        let answers_max = self.answers_room();
        self.is_unfinished = welcome && !self.party.enter_again();
        while !self.is_unfinished && result.is_ok() && (welcome || self.party.client.is_none()) {
            if self.party.feed.work.is_over() || self.party.reply.len() >= answers_max {
                self.is_unfinished = true;
                break;
            }
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
        self.party.broker.monitor.traffic.received(messages, bytes);
        result
    }

    /// Takes the next packet, if it is there as a whole; whether there may be another.
    #[inline]
    fn take_packet(&mut self) -> Result<bool, ConnectionEnd> {
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
        self.party.feed.work.add(Work::PACKET);
        self.party.feed.work.add_bytes(length);
        if let Some(packet) = self.inlet.shared() {
            self.party.feed.post.encoded.buffer = Some(packet.clone());
        }
        let version = self.party.conversation.version();
        let is_taken = self.party.take(Packet::decode(&frame, version).map_err(Stop::from)?)?;
        if is_taken {
            self.inlet.consume(length);
        }
        self.is_unfinished = !is_taken;
        Ok(is_taken)
    }
}
