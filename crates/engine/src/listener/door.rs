//! Letting connections in: the limits on how many, and a task for each that arrives.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use slipring_core::Limit;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::arrival::{Arrival, ArrivalPlace};
use super::lane::Handover;
use super::socket::Socket;
use super::tls::ShownCertificate;
use super::{Listener, tls, websocket};
use crate::broker::Broker;
use crate::descriptors::Descriptors;
use crate::event::EventKind;
use crate::origin::Origin;
use crate::supervision::spawn;

/// Connections above the limit on clients that may be arriving or ending.
const CONNECTING_MAX: usize = 1_000;
/// Bytes that a WebSocket message may have beyond one MQTT packet.
const MESSAGE_SLACK: usize = 64 << 10;

/// Explains why a client that would take one of the last descriptors is refused.
fn no_descriptor(Descriptors { most, for_clients }: Descriptors) -> String {
    format!(
        "no descriptor for more than {for_clients} clients: the process may have {most} (ulimit -n), of which \
         the journal and the console keep some"
    )
}

/// A listener at work.
pub(crate) struct Door {
    pub(super) listener: Listener,
    pub(super) broker: Arc<Broker>,
    handover: Handover,
    /// The number of open connections that this listener accepted.
    inside: Arc<AtomicUsize>,
    /// A permit for each TLS handshake that may compute at this moment.
    turns: Arc<Semaphore>,
}

impl Door {
    /// A listener that does not accept yet; `lane` is where its clients arrive.
    pub fn new(
        listener: Listener,
        broker: Arc<Broker>,
        handover: Handover,
        lane: &Handle,
    ) -> Arc<Self> {
        // At most half of the threads compute TLS handshakes; the others are free for clients without TLS.
        let turns = Arc::new(Semaphore::new((lane.metrics().num_workers() / 2).max(1)));
        Arc::new(Self { listener, broker, handover, inside: Arc::default(), turns })
    }

    pub(super) fn report(&self, who: &str, why: String) {
        self.broker.monitor.report(EventKind::Refused, who, why);
    }

    /// Lets a connection in, unless there are too many.
    pub(super) fn admit(&self, socket: Socket, address: String) {
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
        let (attempts, most) = (&self.broker.attempts, plan.limits.connects_per_s);
        if !attempts.may_connect(&address, most, self.broker.clock.now_ms()) {
            self.broker.monitor.reached.count(Limit::ConnectsPerS);
            let why = format!("more than {most} connections in a second (limits.connects_per_s)");
            return self.report(&address, why);
        }
        let origin =
            Origin { address, listener: self.listener.index, user: None, certificates: None };
        let arrival = Arrival {
            origin,
            place: ArrivalPlace::take(&self.broker, &self.inside),
            broker: Arc::clone(&self.broker),
            handover: self.handover.clone(),
            within: Duration::from_millis(limits.connect_ms),
            connect_bytes_max: limits.connect_bytes,
        };
        self.spawn(socket, arrival, (limits.packet_bytes + MESSAGE_SLACK) as u64);
    }

    /// Starts a task for a connection. Each kind of connection has its own type, so that a plain one takes no
    /// memory for TLS. The handshakes are boxed, so that their memory is free once they are over.
    fn spawn(&self, socket: Socket, arrival: Arrival, message_bytes_max: u64) {
        let turns = Arc::clone(&self.turns);
        let (broker, address) = (Arc::clone(&self.broker), arrival.origin.address.clone());
        match (self.listener.tls.clone(), self.listener.websocket.clone()) {
            (None, None) => {
                spawn(
                    &broker,
                    &address,
                    arrival.serve(ready(Ok((socket, ShownCertificate::default())))),
                );
            }
            (Some(trust), None) => {
                let handshake = tls::handshake(trust, socket, turns);
                spawn(&broker, &address, arrival.serve(Box::pin(handshake)));
            }
            (None, Some(origins)) => {
                let handshake = async move {
                    let opened = websocket::accept(socket, &origins, message_bytes_max).await?;
                    Ok((opened, ShownCertificate::default()))
                };
                spawn(&broker, &address, arrival.serve(Box::pin(handshake)));
            }
            (Some(trust), Some(origins)) => {
                let handshakes = async move {
                    let (stream, shown) = tls::handshake(trust, socket, turns).await?;
                    let opened = websocket::accept(stream, &origins, message_bytes_max).await?;
                    Ok((opened, shown))
                };
                spawn(&broker, &address, arrival.serve(Box::pin(handshakes)));
            }
        }
    }
}
