//! Letting clients in: the limits on how many, and the handshakes, each in its client's own task.

use std::future::{Future, ready};
use std::io::{ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use slipring_core::Limit;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

use super::socket::Socket;
use super::{Bound, Listener, tls, websocket};
use crate::broker::Broker;
use crate::connection;
use crate::event::EventKind;
use crate::origin::Origin;

/// Connections above the limit on clients that may be on their way in or out.
const CONNECTING_MAX: usize = 1_000;
/// How long to leave the door shut when the system has no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);
/// A door that stays shut is told at most this often.
const TELL_SHUT: Duration = Duration::from_secs(10);
/// Connections let in before everyone else gets a turn.
const RUN_MAX: u32 = 32;
/// What a WebSocket message may have above one MQTT packet.
const MESSAGE_SLACK: usize = 64 << 10;

/// Accepts until the broker stops.
pub(crate) async fn accept(listener: Listener, broker: Arc<Broker>) {
    // Half of the threads at most shake hands; the other half is there for who is let in.
    let turns = (Handle::current().metrics().num_workers() / 2).max(1);
    let turns = Arc::new(Semaphore::new(turns));
    let door = Door { listener, broker, inside: Arc::default(), turns };
    let mut shut_told: Option<Instant> = None;
    let mut run = 0;
    loop {
        let stopping = door.broker.stopping_told.notified();
        if door.broker.is_stopping() {
            return;
        }
        let accepted = tokio::select! {
            accepted = door.listener.next() => accepted,
            () = stopping => continue,
        };
        match accepted {
            Ok((socket, address)) => {
                door.admit(socket, address);
                run += 1;
                if run % RUN_MAX == 0 {
                    tokio::task::yield_now().await;
                }
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) => {
                if shut_told.is_none_or(|told| told.elapsed() >= TELL_SHUT) {
                    door.report(&door.listener.address.to_string(), error.to_string());
                    shut_told = Some(Instant::now());
                }
                sleep(PAUSE).await;
            }
        }
    }
}

impl Listener {
    /// The next connection, and the address of its client.
    async fn next(&self) -> Result<(Socket, String)> {
        match &self.bound {
            Bound::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                // An IPv4 client of an IPv6 listener is shown as what it is.
                let address = SocketAddr::new(address.ip().to_canonical(), address.port());
                Ok((Socket::Tcp(stream), address.to_string()))
            }
            Bound::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), self.address.to_string()))
            }
        }
    }
}

/// A listener at work.
struct Door {
    listener: Listener,
    broker: Arc<Broker>,
    /// Connections that came in here and are not gone.
    inside: Arc<AtomicUsize>,
    /// Who may do a step of a TLS handshake.
    turns: Arc<Semaphore>,
}

impl Door {
    fn report(&self, who: &str, why: String) {
        self.broker.events.report(EventKind::Refused, who, why);
    }

    fn admit(&self, socket: Socket, address: String) {
        let plan = self.broker.plan.load();
        let limits = plan.limits_of(self.listener.index);
        let total_max = plan.limits.connections + CONNECTING_MAX;
        let here_max = limits.connections + CONNECTING_MAX;
        if self.broker.connections.load(Ordering::Acquire) >= total_max
            || self.inside.load(Ordering::Acquire) >= here_max
        {
            self.broker.reached.count(Limit::Connections);
            let most = total_max.min(here_max);
            return self.report(&address, format!("more than {most} connections"));
        }
        let origin = Origin { address, listener: self.listener.index, user: None };
        let arrival = Arrival {
            origin,
            _place: Place::taken(&self.broker),
            broker: Arc::clone(&self.broker),
            _inside: Inside::entered(&self.inside),
            within: Duration::from_millis(limits.connect_ms),
        };
        self.spawn(socket, arrival, (limits.packet_bytes + MESSAGE_SLACK) as u64);
    }

    /// A task of its own kind for each kind of connection: a plain one has no room for TLS. The
    /// handshakes are in a box, which is gone once they are over.
    fn spawn(&self, socket: Socket, arrival: Arrival, message_bytes_max: u64) {
        let turns = Arc::clone(&self.turns);
        match (self.listener.tls.clone(), self.listener.websocket.clone()) {
            (None, None) => {
                tokio::spawn(arrival.serve(ready(Ok((socket, None)))));
            }
            (Some(acceptor), None) => {
                let handshake = tls::handshake(acceptor, socket, turns);
                tokio::spawn(arrival.serve(Box::pin(handshake)));
            }
            (None, Some(origins)) => {
                tokio::spawn(arrival.serve(Box::pin(async move {
                    let opened = websocket::accept(socket, &origins, message_bytes_max).await?;
                    Ok((opened, None))
                })));
            }
            (Some(acceptor), Some(origins)) => {
                tokio::spawn(arrival.serve(Box::pin(async move {
                    let (stream, user) = tls::handshake(acceptor, socket, turns).await?;
                    let opened = websocket::accept(stream, &origins, message_bytes_max).await?;
                    Ok((opened, user))
                })));
            }
        }
    }
}

/// A connection on its way in.
struct Arrival {
    origin: Origin,
    _place: Place,
    broker: Arc<Broker>,
    _inside: Inside,
    /// How long the handshakes may take together.
    within: Duration,
}

impl Arrival {
    /// Shakes hands and serves the client.
    ///
    /// The time for the handshakes is that of a CONNECT, which then has its own: a client that
    /// says nothing of use is gone after twice `connect_ms`.
    async fn serve<S>(mut self, handshakes: impl Future<Output = Result<(S, Option<String>)>>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let opened = tokio::select! {
            biased;
            opened = timeout(self.within, handshakes) => opened,
            () = stopped(&self.broker) => return self.refused("the broker stops".into()),
        };
        match opened {
            Ok(Ok((stream, user))) => {
                self.origin.user = user;
                let broker = Arc::clone(&self.broker);
                connection::serve(stream, self.origin.clone(), broker).await;
            }
            Ok(Err(error)) => self.refused(error.to_string()),
            Err(_) => {
                self.broker.reached.count(Limit::ConnectMs);
                self.refused(format!("no handshake within {} ms", self.within.as_millis()));
            }
        }
    }

    fn refused(&self, why: String) {
        self.broker.events.report(EventKind::Refused, &self.origin.address, why);
    }
}

/// Waits until the broker stops.
async fn stopped(broker: &Broker) {
    loop {
        let told = broker.stopping_told.notified();
        if broker.is_stopping() {
            return;
        }
        told.await;
    }
}

/// A place among all connections, free again however the task ends.
struct Place(Arc<Broker>);

impl Place {
    fn taken(broker: &Arc<Broker>) -> Self {
        broker.connections.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(broker))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::AcqRel);
        self.0.ended.notify_waiters();
    }
}

/// A place among the connections of one listener.
struct Inside(Arc<AtomicUsize>);

impl Inside {
    fn entered(inside: &Arc<AtomicUsize>) -> Self {
        inside.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(inside))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
