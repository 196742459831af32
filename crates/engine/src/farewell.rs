//! The end of a connection: the last packets to the client and from it, then the session, the will and the events.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use slipring_core::Durability;
use slipring_wire::Reason;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::broker::Broker;
use crate::connection::Connection;
use crate::connection_end::ConnectionEnd;
use crate::connection_handle::ConnectionHandle;
use crate::event::{EventKind, Report};
use crate::feed::Feed;
use crate::party::Party;
use crate::supervision::spawn;

/// How long the last packets to a client may take.
const FAREWELL_MAX: Duration = Duration::from_millis(1_500);
/// How long acknowledgements, and then closing the stream, may wait for the journal when the connection ends.
const HELD_MAX: Duration = Duration::from_millis(500);
/// How long a client may take to read the reason and close its side.
const LINGER_MAX: Duration = Duration::from_millis(500);
/// How long a stopping broker waits for a client to close its side.
const LAST_READS_MAX: Duration = Duration::from_millis(500);

/// A connection's entry in `Connections`, removed however the task ends.
pub(crate) struct Entered(pub Arc<Broker>, pub Arc<ConnectionHandle>);

impl Drop for Entered {
    fn drop(&mut self) {
        self.1.left.set(); // nobody waits for a connection that is gone
        self.0.connections.exit(&self.1);
    }
}

impl Feed {
    /// Forgets a batch that panicked half-way: nothing of it goes on, and messages that it claimed wait again.
    #[cold]
    fn forget_batch(&mut self, broker: &Broker) {
        self.need = Durability::Memory;
        self.batch.clear();
        self.retained.clear();
        self.unclaimed.clear();
        self.give_up_claims(broker, Durability::Disk);
        self.forget_requests(broker);
        self.post.forget_batch();
    }
}

impl Party {
    /// Forgets a batch that is not in the journal and not acknowledged: when one of its QoS 2 messages comes
    /// again, it is new.
    pub fn forget_batch(&mut self) {
        self.reply.clear();
        let Some(client) = &self.client else { return };
        let mut state = client.state();
        for id in self.received.drain(..) {
            state.session.release(id);
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// The code that served the client panicked: forgets the current batch.
    pub fn after_panic(&mut self, why: String) -> ConnectionEnd {
        self.party.forget_batch();
        self.party.feed.forget_batch(&self.party.broker);
        ConnectionEnd::Panicked(why)
    }

    /// The end panicked, too: only lets go of the session.
    pub fn abandon(&mut self, why: &str) {
        let Party { broker, client, connection, .. } = &self.party;
        broker.monitor.report(EventKind::Panicked, self.party.name(), why);
        if let Some(client) = client {
            broker.leave(client, connection, false, None);
        }
    }

    /// Ends the connection: last packets, session, will, events.
    pub async fn finish(&mut self, end: ConnectionEnd) {
        let stopping = matches!(end, ConnectionEnd::Closed(Reason::ServerShuttingDown));
        self.count_limit(&end);
        self.outlet.record_rest(&self.party.broker);
        if self.leaves_first(&end) {
            self.party.leave(&end).await;
        }
        if !matches!(end, ConnectionEnd::Lost(_)) {
            let _ = timeout(FAREWELL_MAX, self.say_farewell(&end)).await;
        }
        if stopping && self.party.check.is_none() {
            let _ = timeout(LAST_READS_MAX, self.read_to_the_end()).await;
        }
        self.party.leave(&end).await;
        self.party.feed.paths.forget(&self.party.broker);
        let broker = &self.party.broker;
        if let Some(later) = self.party.feed.post.take_later() {
            spawn(broker, self.party.name(), later.settle(Arc::clone(broker)));
        }
        if let Some(client) = &self.party.client {
            broker.monitor.tell_dropped(client, broker.clock.now_ms());
        }
        if let ConnectionEnd::Panicked(why) = &end {
            broker.monitor.report(EventKind::Panicked, self.party.name(), why);
        }
        if end.is_unproven() {
            self.party.note_wrong_proof();
            let kind = EventKind::AuthenticationRefused;
            broker.monitor.report(kind, self.party.name(), end.to_string());
        }
        let known = self.party.client.is_some();
        let kind = if known { EventKind::Disconnected } else { EventKind::Refused };
        let report = Report::new(kind, self.party.name()).by(&self.party.connection);
        broker.monitor.tell(&report.detail(&end));
        if !stopping
            && (known || matches!(end, ConnectionEnd::Refused(_)))
            && !matches!(end, ConnectionEnd::Lost(_))
        {
            let _ = timeout(LINGER_MAX, self.discard_the_rest()).await;
        }
    }

    /// Whether the connection lets go of the session before its last packets: another connection waits for it, or
    /// closing the stream tells the client that its DISCONNECT is in the journal.
    fn leaves_first(&self, end: &ConnectionEnd) -> bool {
        match end {
            ConnectionEnd::Closed(reason) => *reason == Reason::SessionTakenOver,
            ConnectionEnd::Goodbye(_) => {
                let client = self.party.client.as_ref();
                client.is_some_and(|client| client.state().recorded)
            }
            _ => false,
        }
    }

    /// Reads and drops the rest: closing a socket with unread bytes resets it, and the client might never read the
    /// reason.
    async fn discard_the_rest(&mut self) -> std::io::Result<()> {
        while poll_fn(|cx| self.inlet.poll_read(&mut self.stream, cx)).await? > 0 {
            self.inlet.clear();
        }
        Ok(())
    }

    fn count_limit(&self, end: &ConnectionEnd) {
        let limit = match end {
            ConnectionEnd::Stopped(stop) => stop.limit,
            ConnectionEnd::Refused(refusal) => refusal.limit,
            _ => None,
        };
        if let Some(limit) = limit {
            let monitor = &self.party.broker.monitor;
            monitor.reached.count(limit);
            if limit.is_quota() {
                let told = Report::new(EventKind::QuotaReached, self.party.name());
                monitor.record(&told.topic(limit.name()).by(&self.party.connection));
            }
        }
    }

    async fn say_farewell(&mut self, end: &ConnectionEnd) -> std::io::Result<()> {
        if let Ok(sent) = timeout(HELD_MAX, self.send_held()).await {
            sent?;
        }
        self.outlet.forget_held();
        self.outlet.control.tail().append(&mut self.party.reply);
        let conversation = &self.party.conversation;
        match end {
            ConnectionEnd::Stopped(stop) => {
                let violation = stop.violation;
                conversation.farewell(violation.reason, violation.what, self.outlet.control.tail());
            }
            // Nothing comes before CONNACK (MQTT-3.14.0-1).
            ConnectionEnd::Panicked(_) if self.is_welcome => {
                conversation.farewell(Reason::UnspecifiedError, "", self.outlet.control.tail());
            }
            ConnectionEnd::Closed(reason) if self.party.client.is_some() => {
                conversation.farewell(*reason, "", self.outlet.control.tail());
            }
            _ => {}
        }
        self.outlet.is_last = true;
        self.write_all().await?;
        if let (ConnectionEnd::Goodbye(_), Some(client)) = (end, &self.party.client) {
            let broker = &self.party.broker;
            let gate = broker.sessions.registry().ends.gate(&client.name);
            let _ = timeout(HELD_MAX, broker.journal.gates.passed(gate)).await;
        }
        self.stream.shutdown().await
    }

    /// Sends the answers that wait for the journal, each when its gate opens.
    async fn send_held(&mut self) -> std::io::Result<()> {
        while let Some(gate) = self.outlet.last_gate() {
            if !self.party.broker.journal.gates.passed(gate).await {
                break;
            }
            self.write_all().await?;
        }
        Ok(())
    }

    /// A stopping broker takes packets that its clients sent before they knew.
    async fn read_to_the_end(&mut self) -> Result<(), ConnectionEnd> {
        loop {
            self.take_unanswered().await?;
            let count = poll_fn(|cx| self.inlet.poll_read(&mut self.stream, cx)).await?;
            self.take(count).await?;
        }
    }
}
