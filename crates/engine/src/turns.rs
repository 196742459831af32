//! Ends a connection's turn, and does work that takes several turns: taking all packets that were read, writing all
//! that wait.

use std::future::poll_fn;
use std::task::Poll;

use slipring_wire::Reason;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::connection::Connection;
use crate::connection_end::ConnectionEnd;
use crate::line::long_turn;

/// Reads from a connection whose session another one takes.
const LAST_READS: usize = 16;

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Ends a turn. The next turn is a long one, after others ran.
    pub async fn let_others_run(&mut self) -> Result<(), ConnectionEnd> {
        long_turn().await;
        self.party.feed.work.begin_long();
        Ok(())
    }

    /// Lets others run, then takes the packets that the last turn left.
    async fn go_on(&mut self) -> Result<(), ConnectionEnd> {
        self.let_others_run().await?;
        self.take_in(0).await
    }

    /// Takes all packets that were read, without answers.
    pub async fn take_unanswered(&mut self) -> Result<(), ConnectionEnd> {
        self.pace.end();
        while self.is_unfinished {
            self.outlet.forget_answers();
            self.go_on().await?;
        }
        Ok(())
    }

    /// Takes the packets that the client sent before another connection of it takes the session.
    pub async fn take_last(&mut self) -> ConnectionEnd {
        self.pace.end();
        for _ in 0..LAST_READS {
            while self.is_unfinished && self.answers_room() > 0 {
                if let Err(end) = self.go_on().await {
                    return end;
                }
            }
            if self.is_unfinished {
                break; // it does not read its answers
            }
            let read = poll_fn(|cx| Poll::Ready(self.inlet.poll_read(&mut self.stream, cx)));
            match read.await {
                Poll::Ready(Ok(count)) if count > 0 => {
                    if let Err(end) = self.take(count).await {
                        return end;
                    }
                }
                _ => break,
            }
        }
        ConnectionEnd::Closed(Reason::SessionTakenOver)
    }

    /// Writes all packets that wait, in as many turns as it takes.
    pub async fn write_all(&mut self) -> std::io::Result<()> {
        loop {
            poll_fn(|cx| self.poll_write(cx)).await?;
            if !self.party.feed.work.is_over() {
                return Ok(());
            }
            long_turn().await;
            self.party.feed.work.begin_long();
        }
    }
}
