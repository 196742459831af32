//! A connection that arrives: its handshakes and its first packet happen on the lane of arrivals, then the
//! engine's threads serve it.

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
use super::tls::ShownCertificate;
use crate::broker::Broker;
use crate::connection;
use crate::connection_end::ConnectionEnd;
use crate::event::EventKind;
use crate::inlet::Inlet;
use crate::origin::Origin;

/// How long it may take to close a connection that sent no CONNECT.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// A connection that arrives.
pub(super) struct Arrival {
    pub origin: Origin,
    pub place: ArrivalPlace,
    pub broker: Arc<Broker>,
    pub handover: Handover,
    /// How long the handshakes may take together; the first packet may then take as long again.
    pub within: Duration,
    pub connect_bytes_max: usize,
}

impl Arrival {
    /// Does the handshakes, reads the first packet, and hands the connection over.
    ///
    /// The handshakes have `connect_ms`, and so has the CONNECT after them: a client that sends neither is
    /// disconnected after twice that.
    pub async fn serve<S>(self, handshakes: impl Future<Output = Result<(S, ShownCertificate)>>)
    where
        S: AsyncRead + AsyncWrite + OverSocket + Unpin + Send + 'static,
    {
        let opened = tokio::select! {
            biased;
            opened = timeout(self.within, handshakes) => opened,
            () = self.broker.stopping.wait() => return self.refused("the broker stops"),
        };
        match opened {
            Ok(Ok((stream, shown))) => self.hear(stream, shown).await,
            Ok(Err(error)) => self.refused(&error.to_string()),
            Err(_) => {
                self.broker.monitor.reached.count(Limit::ConnectMs);
                self.refused(&format!("no handshake within {} ms", self.within.as_millis()));
            }
        }
    }

    /// Waits for the first packet, which the engine's threads then judge.
    async fn hear<S>(mut self, mut stream: S, shown: ShownCertificate)
    where
        S: AsyncRead + AsyncWrite + OverSocket + Unpin + Send + 'static,
    {
        self.origin.user = shown.user;
        self.origin.certificates = shown.certificates;
        let begun = self.broker.clock.now();
        let heard = tokio::select! {
            biased;
            heard = timeout_at(begun + self.within, first_packet(&mut stream, self.connect_bytes_max)) => heard,
            () = self.broker.stopping.wait() => Ok(Err(ConnectionEnd::Closed(Reason::ServerShuttingDown))),
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

    /// Hands the client to the engine's threads.
    async fn hand_over<S>(self, mut stream: S, inlet: Inlet, begun: Instant)
    where
        S: AsyncRead + AsyncWrite + OverSocket + Unpin + Send + 'static,
    {
        let Self { origin, place, broker, handover, .. } = self;
        let Some(turn) = handover.turn().await else { return };
        if let Err(error) = stream.socket().move_to(handover.engine()) {
            return broker.monitor.report(EventKind::Refused, &origin.address, error.to_string());
        }
        handover.serve(turn, async move {
            let _place = place;
            connection::serve(stream, connection::FirstBytes { inlet, begun }, origin, broker)
                .await;
        });
    }

    fn refused(&self, why: &str) {
        self.broker.monitor.report(EventKind::Refused, &self.origin.address, why);
    }
}

/// Reads until the first packet is complete or known to be malformed.
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

/// A place among the connections of the broker and of one listener, free again however the task ends.
pub(super) struct ArrivalPlace {
    broker: Arc<Broker>,
    inside: Arc<AtomicUsize>,
}

impl ArrivalPlace {
    pub fn take(broker: &Arc<Broker>, inside: &Arc<AtomicUsize>) -> Self {
        broker.connections.count_one();
        inside.fetch_add(1, Ordering::AcqRel);
        Self { broker: Arc::clone(broker), inside: Arc::clone(inside) }
    }
}

impl Drop for ArrivalPlace {
    fn drop(&mut self) {
        self.inside.fetch_sub(1, Ordering::AcqRel);
        self.broker.connections.discount();
    }
}
