//! Accepting connections: the limits on how many, and a task of its own for each that arrives.

use std::future::ready;
use std::io::{ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use slipring_core::Limit;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep};

use super::arrival::{Arrival, CountedConnection, Inside};
use super::lane::Handover;
use super::socket::Socket;
use super::{Bound, Listener, tls, websocket};
use crate::broker::Broker;
use crate::descriptors::Descriptors;
use crate::event::EventKind;
use crate::origin::Origin;
use crate::supervision::spawn;

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

/// Accepts until the broker stops. Belongs onto the lane of arrivals.
pub(crate) async fn accept(door: Arc<Door>) {
    let mut shut_told: Option<Instant> = None;
    let mut run = 0;
    loop {
        let accepted = tokio::select! {
            biased;
            () = door.broker.lifecycle.stopped() => return,
            accepted = door.listener.next() => accepted,
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
                if shut_told.is_none_or(|told| door.broker.clock.now() - told >= TELL_SHUT) {
                    door.report(&door.listener.address.to_string(), error.to_string());
                    shut_told = Some(door.broker.clock.now());
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

/// Why a client is refused that would take one of the last descriptors.
fn no_descriptor(Descriptors { most, for_clients }: Descriptors) -> String {
    format!(
        "no descriptor for more than {for_clients} clients: the process may have {most} (ulimit -n), of which \
         the journal and the console keep some"
    )
}

/// A listener at work.
pub(crate) struct Door {
    listener: Listener,
    broker: Arc<Broker>,
    handover: Handover,
    /// Connections that came in here and are not gone.
    inside: Arc<AtomicUsize>,
    /// Who may do a step of a TLS handshake.
    turns: Arc<Semaphore>,
}

impl Door {
    /// A door that is not opened yet; `lane` is where its clients arrive.
    pub fn new(
        listener: Listener,
        broker: Arc<Broker>,
        handover: Handover,
        lane: &Handle,
    ) -> Arc<Self> {
        // Half of the threads at most do steps of TLS; a client without TLS waits for one of them, not
        // for all.
        let turns = Arc::new(Semaphore::new((lane.metrics().num_workers() / 2).max(1)));
        Arc::new(Self { listener, broker, handover, inside: Arc::default(), turns })
    }

    fn report(&self, who: &str, why: String) {
        self.broker.monitor.report(EventKind::Refused, who, why);
    }

    fn admit(&self, socket: Socket, address: String) {
        let plan = self.broker.plan.load();
        let limits = plan.limits_of(self.listener.index);
        let total_max = plan.limits.connections + CONNECTING_MAX;
        let here_max = limits.connections + CONNECTING_MAX;
        let connections = self.broker.connections.count();
        let descriptors = Descriptors::now();
        if connections >= descriptors.for_clients {
            self.broker.monitor.reached.count(Limit::Connections);
            return self.report(&address, no_descriptor(descriptors));
        }
        if connections >= total_max || self.inside.load(Ordering::Acquire) >= here_max {
            self.broker.monitor.reached.count(Limit::Connections);
            let most = total_max.min(here_max);
            return self.report(&address, format!("more than {most} connections"));
        }
        let origin = Origin { address, listener: self.listener.index, user: None };
        let arrival = Arrival {
            origin,
            counted: CountedConnection::new(&self.broker),
            broker: Arc::clone(&self.broker),
            inside: Inside::entered(&self.inside),
            handover: self.handover.clone(),
            within: Duration::from_millis(limits.connect_ms),
            connect_bytes_max: limits.connect_bytes,
        };
        self.spawn(socket, arrival, (limits.packet_bytes + MESSAGE_SLACK) as u64);
    }

    /// A task of its own kind for each kind of connection: a plain one has no room for TLS. The
    /// handshakes are in a box, which is gone once they are over.
    fn spawn(&self, socket: Socket, arrival: Arrival, message_bytes_max: u64) {
        let turns = Arc::clone(&self.turns);
        let (broker, address) = (Arc::clone(&self.broker), arrival.origin.address.clone());
        match (self.listener.tls.clone(), self.listener.websocket.clone()) {
            (None, None) => {
                spawn(&broker, &address, arrival.serve(ready(Ok((socket, None)))));
            }
            (Some(acceptor), None) => {
                let handshake = tls::handshake(acceptor, socket, turns);
                spawn(&broker, &address, arrival.serve(Box::pin(handshake)));
            }
            (None, Some(origins)) => {
                spawn(
                    &broker,
                    &address,
                    arrival.serve(Box::pin(async move {
                        let opened = websocket::accept(socket, &origins, message_bytes_max).await?;
                        Ok((opened, None))
                    })),
                );
            }
            (Some(acceptor), Some(origins)) => {
                spawn(
                    &broker,
                    &address,
                    arrival.serve(Box::pin(async move {
                        let (stream, user) = tls::handshake(acceptor, socket, turns).await?;
                        let opened = websocket::accept(stream, &origins, message_bytes_max).await?;
                        Ok((opened, user))
                    })),
                );
            }
        }
    }
}
