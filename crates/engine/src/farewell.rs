//! The end of a connection: last words, last reads, and everything that others must learn.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use slipring_wire::Reason;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::connection::{Connection, poll_read};
use crate::event::EventKind;
use crate::party::End;

/// How long the last words to a client may take.
const FAREWELL_MAX: Duration = Duration::from_secs(1);
/// How long acknowledgements may wait for the journal when the connection ends.
const HELD_MAX: Duration = Duration::from_millis(500);
/// How long a client that was told why may take to read it and close its side.
const LINGER_MAX: Duration = Duration::from_millis(500);
/// How long a stopping broker waits for a client to close its side.
const LAST_READS_MAX: Duration = Duration::from_millis(500);

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// The end: last words, last reads, and everything that others must learn.
    pub async fn finish(&mut self, end: End) {
        let stopping = matches!(end, End::Closed(Reason::ServerShuttingDown));
        self.count_limit(&end);
        self.outlet.record_rest(&self.party.broker);
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
        self.party.feed.paths.forget(&self.party.broker);
        let broker = &self.party.broker;
        if let Some(later) = self.party.feed.take_later() {
            tokio::spawn(later.settle(Arc::clone(broker)));
        }
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
        if let Ok(sent) = timeout(HELD_MAX, self.send_held()).await {
            sent?;
        }
        self.outlet.forget_held();
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

    /// Sends what waits for the journal, as soon as it may.
    async fn send_held(&mut self) -> std::io::Result<()> {
        while let Some(gate) = self.outlet.last_gate() {
            if !self.party.broker.gates.passed(gate).await {
                break;
            }
            poll_fn(|cx| self.poll_write(cx)).await?;
        }
        Ok(())
    }

    /// A stopping broker takes what its clients sent before they knew.
    async fn read_to_the_end(&mut self) -> Result<(), End> {
        loop {
            let count = poll_fn(|cx| poll_read(&mut self.stream, &mut self.inlet, cx)).await?;
            self.take(count).await?;
        }
    }
}
