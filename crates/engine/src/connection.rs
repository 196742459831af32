//! The carrier for byte streams: one task reads one client's stream, gives its packets to the `Party`, writes the
//! answers, and watches the time.
//!
//! A turn is bounded by the work that it makes: packets taken, messages delivered, bytes written. Then
//! other tasks run. The next turn takes the packets that are left in the inlet before it reads more.

use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use slipring_core::{Packets, Stop, Work};
use slipring_wire::{Packet, RawPacket, Reason};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::broker::Broker;
use crate::connection_end::ConnectionEnd;
use crate::connection_handle::ConnectionHandle;
use crate::farewell::Entered;
use crate::flow::ReadPace;
use crate::inlet::Inlet;
use crate::origin::Origin;
use crate::outlet::{Outlet, Writing};
use crate::party::Party;
use crate::passwords::Checked;
use crate::supervision::Caught;
use crate::waking::{FirstStep, QUIET, WakeReason};

/// Answers a client may leave unread before the broker reads and takes no more from it.
const CONTROL_BYTES_MAX: usize = 64 << 10;
/// Pieces that one system call writes at most.
const SLICES_MAX: usize = 64;
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
    /// Bytes of the last read.
    last_read: usize,
    /// How long the client may be silent before it counts as gone.
    pub patience: Duration,
    pub heard: Instant,
    /// Fires when the patience could be over, or to see whether the connection is quiet; reset only then.
    pub timer: Pin<Box<Sleep>>,
    /// The timer is set to see whether the connection is quiet.
    pub is_watched: bool,
    /// Whether its owner sends too much.
    pub pace: ReadPace,
    /// What the task does first when it is woken.
    pub first: FirstStep,
}

/// What a client sent before the engine's threads serve it.
pub(crate) struct FirstBytes {
    /// Usually its first packet.
    pub inlet: Inlet,
    /// When the time for CONNECT and its proof began.
    pub begun: Instant,
}

impl FirstBytes {
    /// Nothing yet.
    #[cfg(any(test, feature = "sim"))]
    pub fn nothing(broker: &Broker) -> Self {
        Self { inlet: Inlet::new(), begun: broker.clock.now() }
    }
}

/// Serves one client until the connection ends.
pub(crate) async fn serve<S>(stream: S, heard: FirstBytes, origin: Origin, broker: Arc<Broker>)
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
        heard: FirstBytes,
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
            pace: ReadPace::default(),
            first: FirstStep::Write,
        }
    }

    async fn run(&mut self) -> ConnectionEnd {
        if self.party.broker.stopping.is_set() {
            return ConnectionEnd::Closed(Reason::ServerShuttingDown);
        }
        let heard = self.inlet.len();
        let mut first = (heard > 0).then_some(Ok(WakeReason::Read(heard)));
        loop {
            let woken = match first.take() {
                Some(woken) => woken,
                None => poll_fn(|cx| self.poll_step(cx)).await,
            };
            let step = match woken {
                Ok(WakeReason::Read(count)) => self.take(count).await,
                Ok(WakeReason::Unfinished) => self.take_in(0).await,
                Ok(WakeReason::TurnOver) => self.let_others_run().await,
                Ok(WakeReason::Checked(checked)) => self.take_checked(checked).await,
                Ok(WakeReason::Timer) => self.check_patience(),
                Err(end) => Err(end),
            };
            match step {
                Ok(()) => {}
                Err(ConnectionEnd::Closed(Reason::SessionTakenOver)) => {
                    return self.take_last().await;
                }
                // If DISCONNECT is among the packets that were read, the connection ended with that.
                Err(end @ ConnectionEnd::Lost(_)) => {
                    return self.take_unanswered().await.err().unwrap_or(end);
                }
                Err(end) => return end,
            }
        }
    }

    /// Gives back memory that a quiet connection does not need.
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

    /// Writes packets until all are written or the turn is over; pending while the stream takes no more.
    pub fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, outlet, party, .. } = self;
        let Party { broker, client, connection, feed, .. } = party;
        let client = client.as_ref();
        let mut writing = Writing { broker, connection, client, work: &mut feed.work };
        while !writing.work.is_over() {
            if outlet.unsent.is_empty() && !outlet.refill(&mut writing) {
                if outlet.is_unflushed {
                    ready!(Pin::new(stream).poll_flush(cx))?;
                    outlet.is_unflushed = false;
                }
                return Poll::Ready(Ok(()));
            }
            if writing.work.is_short_for(outlet.unsent.len()) {
                writing.work.end();
                break;
            }
            let stream = Pin::new(&mut *stream);
            let count = ready!(match outlet.unsent.as_slice() {
                Some(bytes) => stream.poll_write(cx, bytes),
                None => poll_write_pieces(cx, stream, &outlet.unsent),
            })?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            outlet.is_unflushed = true;
            outlet.unsent.advance(count);
            writing.work.add(Work::CALL);
            writing.work.add_bytes(count);
        }
        Poll::Ready(Ok(()))
    }

    /// A silent client is gone after one and a half keep-alives (MQTT-3.1.2-22).
    fn check_patience(&mut self) -> Result<(), ConnectionEnd> {
        let now = self.party.broker.clock.now();
        if std::mem::take(&mut self.is_watched) && now >= self.heard + QUIET {
            self.rest();
        }
        if self.pace.is_paused() {
            self.heard = now; // nobody reads what it sends
        }
        let until = self.deadline();
        if until > now {
            self.timer.as_mut().reset(until);
            return Ok(());
        }
        if self.party.client.is_none() {
            return Err(self.party.time_out());
        }
        self.run_out(now)
    }

    /// Takes the packets of one read.
    pub async fn take(&mut self, count: usize) -> Result<(), ConnectionEnd> {
        if count == 0 {
            return Err(ConnectionEnd::Lost("the client closed the connection".into()));
        }
        self.party.feed.work.add(Work::CALL);
        self.party.feed.work.add_bytes(count);
        self.last_read = count;
        self.take_in(count).await
    }

    /// A password was checked: lets the client in, and takes the packets that it has sent meanwhile.
    async fn take_checked(&mut self, checked: Checked) -> Result<(), ConnectionEnd> {
        self.party.conclude(checked)?;
        self.take_in(0).await?;
        self.watch_proof();
        Ok(())
    }

    pub async fn take_in(&mut self, count: usize) -> Result<(), ConnectionEnd> {
        // After the check of its password a client is known, but it has no CONNACK yet.
        let welcome = self.is_welcome;
        if welcome {
            self.heard = self.party.broker.clock.now();
        }
        let mut result = self.take_packets(count as u64, welcome);
        if !welcome && self.party.client.is_some() {
            // The journal gets the session before any other record about it.
            self.party.journal(&mut self.outlet).await?;
            self.welcome();
            result = result.and_then(|()| self.take_packets(0, true));
        }
        self.inlet.rest_after(self.last_read);
        self.party.journal(&mut self.outlet).await?;
        result
    }

    fn welcome(&mut self) {
        self.is_welcome = true;
        self.patience = match self.party.keep_alive_s {
            0 => NEVER, // TCP's own keep-alive finds a peer that is gone
            seconds => Duration::from_secs(u64::from(seconds)) * 3 / 2,
        };
        self.heard = self.party.broker.clock.now();
        let at = self.deadline();
        self.timer.as_mut().reset(at);
        self.is_watched = false;
    }

    /// Takes packets until the work of a turn is done or too many answers wait. A client that is not let in
    /// yet has its packets taken only up to the one that lets it in.
    fn take_packets(&mut self, bytes: u64, welcome: bool) -> Result<(), ConnectionEnd> {
        self.party.feed.begin(&self.party.broker, self.party.broker.clock.now_ns());
        let mut result = Ok(());
        let (answers_max, messages_max) = (self.answers_room(), self.allowed_messages());
        self.party.follow_rights();
        self.is_unfinished = welcome && !self.party.enter_again();
        while !self.is_unfinished && result.is_ok() && (welcome || self.party.client.is_none()) {
            let Party { feed, reply, .. } = &self.party;
            if feed.work.is_over() || reply.len() >= answers_max || feed.messages >= messages_max {
                self.is_unfinished = true;
                break;
            }
            match self.take_packet() {
                Ok(true) => {}
                Ok(false) => break,
                Err(end) => result = Err(end),
            }
        }
        let (messages, samples) = (self.party.finish(), self.party.feed.samples);
        if let Some(client) = &self.party.client {
            client.traffic.received(messages, samples, bytes);
        }
        self.party.broker.monitor.traffic.received(messages, samples, bytes);
        self.count_flow(messages, bytes);
        result
    }

    /// Takes the next packet, if all of it was read. Returns whether there may be another.
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
        self.is_unfinished = !take_encoded(&mut self.party, &frame)?;
        if !self.is_unfinished {
            self.inlet.consume(length);
        }
        Ok(!self.is_unfinished)
    }
}

/// Decodes a packet and hands it to the party. Both are inlined here, once for all kinds of streams, so that the
/// fields of a PUBLISH stay in registers between them.
#[inline(never)]
fn take_encoded(party: &mut Party, packet: &RawPacket<'_>) -> Result<bool, ConnectionEnd> {
    let version = party.conversation.version();
    party.take(Packet::decode(packet, version).map_err(Stop::from)?)
}

fn poll_write_pieces<S: AsyncWrite + Unpin>(
    cx: &mut Context<'_>,
    stream: Pin<&mut S>,
    packets: &Packets,
) -> Poll<io::Result<usize>> {
    let mut slices = [IoSlice::new(&[]); SLICES_MAX];
    let count = packets.slices(&mut slices);
    stream.poll_write_vectored(cx, &slices[..count])
}
