//! Frames of writers: a series of messages whose acknowledgements are counted.
//!
//! A writer is tied to a connection, because the broker must know its table there. After a
//! reconnection to a new session, its unacknowledged frames wait until the owner has declared the
//! table again and calls [`ClientProtocol::resume_writer`].

use slipring_wire::Publish;

use super::tally::{AckOwner, PublishOutcome};
use super::{BatchId, ClientEvent, ClientProtocol, FlushId, Phase, ProtocolEvent, SendError};

impl ClientProtocol {
    /// Accepts a frame of a writer; a `Refused` event follows if the broker refuses it.
    pub fn publish_frame(
        &mut self,
        writer: BatchId,
        publish: &Publish<'_>,
    ) -> Result<(), SendError> {
        self.publish_counted(writer, publish, |_| AckOwner::Writer(writer))
    }

    /// Counts a frame of a writer that could not be sent.
    pub fn refuse_frame(
        &mut self,
        writer: BatchId,
        outcome: PublishOutcome,
    ) -> Option<ClientEvent> {
        self.tallies.refuse(writer, outcome)
    }

    /// Sends the frames again that the last session had not acknowledged, in their order.
    pub fn resume_writer(&mut self, writer: BatchId) {
        if matches!(self.phase, Phase::Open) {
            self.outbound.release_withheld(AckOwner::Writer(writer));
            self.send_waiting();
        }
    }

    /// Gives up the frames that the last session had not acknowledged. The broker may or may not have
    /// them.
    pub fn abandon_writer(&mut self, writer: BatchId, events: &mut Vec<ProtocolEvent>) {
        let owner = AckOwner::Writer(writer);
        for _ in 0..self.outbound.drop_withheld(owner) {
            self.tallies.pass(owner);
            let event = self.tallies.settle(owner, PublishOutcome::Unknown);
            events.extend(event.map(ProtocolEvent::Client));
        }
    }

    /// An id for a flush of a writer.
    pub fn new_flush(&mut self) -> FlushId {
        self.newest_id += 1;
        FlushId(self.newest_id)
    }

    /// The largest packet that the broker takes.
    pub fn packet_bytes_max(&self) -> usize {
        self.granted.packet_bytes_max
    }
}
