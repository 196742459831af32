//! A connection on its way in: it shakes hands and says who it is on the lane of arrivals, then the
//! engine takes it over.

use std::future::{Future, poll_fn};
use std::io::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use slipring_core::Limit;
use slipring_wire::Reason;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};

use super::lane::Handover;
use super::socket::OverSocket;
use crate::broker::Broker;
use crate::connection;
use crate::connection_end::ConnectionEnd;
use crate::event::EventKind;
use crate::inlet::Inlet;
use crate::origin::Origin;

/// How long closing a connection may take that said nothing of use.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// A connection on its way in.
pub(super) struct Arrival {
    pub origin: Origin,
    pub counted: CountedConnection,
    pub broker: Arc<Broker>,
    pub inside: Inside,
    pub handover: Handover,
    /// How long the handshakes may take together, and then as long again the first packet.
    pub within: Duration,
    pub connect_bytes_max: usize,
}

impl Arrival {
    /// Shakes hands, reads the first packet, and hands the connection over.
    ///
    /// The time for the handshakes is that of a CONNECT, which then has its own: a client that
    /// says nothing of use is gone after twice `connect_ms`.
    pub async fn serve<S>(self, handshakes: impl Future<Output = Result<(S, Option<String>)>>)
    where
        S: AsyncRead + AsyncWrite + OverSocket + Unpin + Send + 'static,
    {
        let opened = tokio::select! {
            biased;
            opened = timeout(self.within, handshakes) => opened,
            () = self.broker.lifecycle.stopped() => return self.refused("the broker stops"),
        };
        match opened {
            Ok(Ok((stream, user))) => self.hear(stream, user).await,
            Ok(Err(error)) => self.refused(&error.to_string()),
            Err(_) => {
                self.broker.monitor.reached.count(Limit::ConnectMs);
                self.refused(&format!("no handshake within {} ms", self.within.as_millis()));
            }
        }
    }

    /// Waits for the first packet. What it says is for the engine to judge.
    async fn hear<S>(mut self, mut stream: S, user: Option<String>)
    where
        S: AsyncRead + AsyncWrite + OverSocket + Unpin + Send + 'static,
    {
        self.origin.user = user;
        let begun = self.broker.clock.now();
        let heard = tokio::select! {
            biased;
            heard = timeout_at(begun + self.within, first_packet(&mut stream, self.connect_bytes_max)) => heard,
            () = self.broker.lifecycle.stopped() => Ok(Err(ConnectionEnd::Closed(Reason::ServerShuttingDown))),
        };
        let end = match heard {
            Ok(Ok(inlet)) => return self.hand_over(stream, inlet, begun).await,
            Ok(Err(end)) => end,
            Err(_) => {
                self.broker.monitor.reached.count(Limit::ConnectMs);
                ConnectionEnd::Silent
            }
        };
        self.refused(&end.to_string());
        if !matches!(end, ConnectionEnd::Lost(_)) {
            let _ = timeout(CLOSE_MAX, stream.shutdown()).await;
        }
    }

    /// The engine serves the client from here on.
    async fn hand_over<S>(self, mut stream: S, inlet: Inlet, begun: Instant)
    where
        S: AsyncRead + AsyncWrite + OverSocket + Unpin + Send + 'static,
    {
        let Self { origin, counted, broker, inside, handover, .. } = self;
        let Some(turn) = handover.turn().await else { return };
        if let Err(error) = stream.socket().move_to(handover.engine()) {
            return broker.monitor.report(EventKind::Refused, &origin.address, error.to_string());
        }
        handover.serve(turn, async move {
            let _counts = (counted, inside);
            connection::serve(stream, connection::Heard { inlet, begun }, origin, broker).await;
        });
    }

    fn refused(&self, why: &str) {
        self.broker.monitor.report(EventKind::Refused, &self.origin.address, why);
    }
}

/// Reads until the first packet is there as a whole, or is known to be wrong.
async fn first_packet<S: AsyncRead + Unpin>(
    stream: &mut S,
    bytes_max: usize,
) -> std::result::Result<Inlet, ConnectionEnd> {
    let mut inlet = Inlet::new();
    while let Ok(None) = inlet.next(bytes_max) {
        if poll_fn(|cx| inlet.poll_read(stream, cx)).await? == 0 {
            return Err(ConnectionEnd::Lost("the client closed the connection".into()));
        }
    }
    Ok(inlet)
}

/// A place among all connections, free again however the task ends.
pub(super) struct CountedConnection(Arc<Broker>);

impl CountedConnection {
    pub fn new(broker: &Arc<Broker>) -> Self {
        broker.connections.count_one();
        Self(Arc::clone(broker))
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        self.0.connections.discount();
    }
}

/// A place among the connections of one listener.
pub(super) struct Inside(Arc<AtomicUsize>);

impl Inside {
    pub fn entered(inside: &Arc<AtomicUsize>) -> Self {
        inside.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(inside))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
