//! Chooses what a connection does next: write packets, take packets, or check whether its client is silent for too
//! long.

use std::future::Future;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use slipring_wire::Reason;

use crate::connection::Connection;
use crate::connection_end::ConnectionEnd;
use crate::party::Party;
use crate::passwords::Checked;

/// A connection that was quiet for so long gives back what its buffers have grown to.
pub(crate) const QUIET: Duration = Duration::from_secs(1);

/// Why a connection goes on.
pub(crate) enum WakeReason {
    /// So many bytes are in the inlet.
    Read(usize),
    /// The last turn left packets in the inlet, and there is room for their answers.
    Unfinished,
    /// The work of this turn is done.
    TurnOver,
    /// The check of a CONNECT is done, usually of a password.
    Checked(Checked),
    /// The timer has fired.
    Timer,
}

/// What a connection does first when it is woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FirstStep {
    #[default]
    Write,
    /// The last turn was used up by writing.
    Read,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Writes what waits, then reads what is there.
    pub fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Result<WakeReason, ConnectionEnd>> {
        let woken = self.poll_woken(cx);
        if woken.is_pending() {
            self.party.feed.work.begin(); // others run while it sleeps
        }
        woken
    }

    /// When the client counts as gone, or its proof ends.
    pub fn deadline(&self) -> Instant {
        let silent = self.heard + self.patience;
        self.party.proof_ends.map_or(silent, |ends| silent.min(ends))
    }

    /// The proof of the client may end sooner than before.
    pub fn watch_proof(&mut self) {
        let at = self.deadline().min(self.timer.deadline());
        self.timer.as_mut().reset(at);
    }

    /// The deadline of a client is over. While a newer token is checked the broker does not read, so that its silence
    /// does not count.
    pub fn run_out(&mut self, now: Instant) -> Result<(), ConnectionEnd> {
        if self.party.is_proof_over(now) {
            return Err(ConnectionEnd::Closed(Reason::MaximumConnectTime));
        }
        if self.party.check.is_none() {
            return Err(ConnectionEnd::Closed(Reason::KeepAliveTimeout));
        }
        self.heard = now;
        let at = self.deadline();
        self.timer.as_mut().reset(at);
        Ok(())
    }

    /// Whether the proof of the client has ended. A client that is never idle keeps the timer from being asked, so this is
    /// asked at every step.
    fn outlives_its_proof(&self) -> bool {
        let Party { broker, client, proof_ends, .. } = &self.party;
        proof_ends.is_some_and(|ends| client.is_some() && ends <= broker.clock.now())
    }

    fn poll_woken(&mut self, cx: &mut Context<'_>) -> Poll<Result<WakeReason, ConnectionEnd>> {
        self.party.connection.waker.register(cx.waker());
        self.party.feed.post.release_for(&self.party.broker, &self.party.connection);
        let first = std::mem::take(&mut self.first);
        if first == FirstStep::Write {
            self.write_turn(cx)?;
        }
        if let Some(reason) = self.party.connection.closing() {
            return Poll::Ready(Err(ConnectionEnd::Closed(reason)));
        }
        if self.outlives_its_proof() {
            return Poll::Ready(Err(ConnectionEnd::Closed(Reason::MaximumConnectTime)));
        }
        if self.outlet.is_holding() && self.party.broker.journal.gates.has_failed() {
            self.outlet.forget_held(); // never acknowledged
            return Poll::Ready(Err(ConnectionEnd::Closed(Reason::UnspecifiedError)));
        }
        if self.party.feed.work.is_over() {
            return Poll::Ready(Ok(WakeReason::TurnOver));
        }
        if let Poll::Ready(input) = self.poll_input(cx) {
            return Poll::Ready(input);
        }
        if first == FirstStep::Read {
            self.write_turn(cx)?;
            if self.party.feed.work.is_over() {
                return Poll::Ready(Ok(WakeReason::TurnOver));
            }
        }
        if !self.is_watched && (self.inlet.is_grown() || self.outlet.is_grown()) {
            self.is_watched = true;
            let at = (self.party.broker.clock.now() + QUIET).min(self.timer.deadline());
            self.timer.as_mut().reset(at);
        }
        self.timer.as_mut().poll(cx).map(|()| Ok(WakeReason::Timer))
    }

    /// Writes packets. If that takes a whole turn, the next turn begins with reading: a client that always has more
    /// to receive must still be heard, so that it can unsubscribe.
    fn write_turn(&mut self, cx: &mut Context<'_>) -> Result<(), ConnectionEnd> {
        let was_over = self.party.feed.work.is_over();
        if let Poll::Ready(written) = self.poll_write(cx) {
            written?;
        }
        if !was_over && self.party.feed.work.is_over() {
            self.first = FirstStep::Read;
        }
        Ok(())
    }

    /// Reads from the client, or waits for the check of its CONNECT.
    fn poll_input(&mut self, cx: &mut Context<'_>) -> Poll<Result<WakeReason, ConnectionEnd>> {
        if let Some(check) = &mut self.party.check {
            return check.poll(cx).map(|checked| Ok(WakeReason::Checked(checked)));
        }
        if self.poll_pause(cx).is_pending() {
            return Poll::Pending;
        }
        if self.answers_room() == 0 || self.party.feed.post.is_behind() {
            return Poll::Pending;
        }
        if self.is_unfinished || self.is_welcome && self.party.has_other_rights() {
            return Poll::Ready(Ok(WakeReason::Unfinished));
        }
        let read = self.inlet.poll_read(&mut self.stream, cx);
        self.party.connection.unfinished_bytes.store(self.inlet.unfinished_bytes(), Relaxed);
        read.map(|read| read.map(WakeReason::Read).map_err(ConnectionEnd::from))
    }
}
