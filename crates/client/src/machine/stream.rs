//! Messages that follow each other without end: answers are counted, refusals told.
//!
//! A stream belongs to a connection. On another one it waits until its owner lets it go on, because
//! the broker may first have to know of it; then unanswered messages of a session that is no more
//! are sent again.

use slipring_wire::{Publish, QoS};

use super::tally::{Outcome, Owner};
use super::{BatchId, Event, FlushId, Machine, Notice, Phase, SendError};

impl Machine {
    /// Begins a stream; its tally tells how far it has come, a `Refused` notice of refusals.
    pub fn open_stream(&mut self) -> BatchId {
        self.open_batch()
    }

    /// Accepts a message of a stream.
    pub fn publish_on(&mut self, stream: BatchId, publish: &Publish<'_>) -> Result<(), SendError> {
        let awaited = publish.qos != QoS::AtMostOnce;
        if awaited {
            self.publish_acknowledged(publish, Owner::Stream(stream))?;
        } else {
            self.publish_once(publish)?;
        }
        self.tallies.accept(stream, awaited);
        Ok(())
    }

    /// Counts a message of a stream that could not be sent.
    pub fn refuse_on(&mut self, stream: BatchId, outcome: Outcome) -> Option<Notice> {
        self.tallies.refuse(stream, outcome)
    }

    /// Lets a stream go on in a new session: what was unanswered is sent again, in its order.
    pub fn resume_stream(&mut self, stream: BatchId) {
        if matches!(self.phase, Phase::Open) {
            self.flight.release_withheld(Owner::Stream(stream));
            self.send_waiting();
        }
    }

    /// Gives up what was unanswered when the session ended; nobody knows whether the broker has it.
    pub fn abandon_stream(&mut self, stream: BatchId, events: &mut Vec<Event>) {
        let owner = Owner::Stream(stream);
        for _ in 0..self.flight.drop_withheld(owner) {
            self.tallies.pass(owner);
            events.extend(self.tallies.settle(owner, Outcome::Unknown).map(Event::Notice));
        }
    }

    /// A name for a flush of a stream.
    pub fn new_flush(&mut self) -> FlushId {
        self.newest_id += 1;
        FlushId(self.newest_id)
    }

    /// No larger packet may be sent now.
    pub fn packet_bytes_max(&self) -> usize {
        self.session.packet_bytes_max
    }
}
