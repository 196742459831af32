//! The outcome of messages at QoS 1 and 2: reported one by one, or counted for a batch or a writer.

use std::collections::HashMap;

use slipring_wire::Reason;

use super::{BatchId, ClientEvent, PublishId};

/// Who waits for the acknowledgement of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckOwner {
    One(PublishId),
    /// A message that means nothing in another session, as a request and its answer; only a fault is reported.
    Session(PublishId),
    /// The message of a batch with this position in it.
    Batch(BatchId, u64),
    /// A frame of a writer; in a new session it is sent again only when the writer resumes.
    Writer(BatchId),
}

/// The outcome of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublishOutcome {
    /// The broker has it.
    Acknowledged,
    /// The broker refused it.
    Refused {
        /// Why not.
        reason: Reason,
        /// The broker's own words, if any.
        text: Option<String>,
    },
    /// The broker forgot the session before it acknowledged the message, so it may or may not have it.
    Unknown,
}

/// How far a batch has come.
///
/// For example, of five messages at QoS 1 the broker has acknowledged numbers 0, 1 and 3: five are
/// accepted, two are outstanding, two are settled (0 and 1; 2 holds 3 back).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishTally {
    /// Messages given.
    pub accepted: u64,
    /// Messages that are neither acknowledged nor refused.
    pub outstanding: u64,
    /// Messages up to the first outstanding one.
    pub settled: u64,
    /// The first message that the broker refused, by its position; of a writer the last.
    pub fault: Option<(u64, PublishOutcome)>,
    /// Frames of a writer that the broker refused, or may not have.
    pub refused: u64,
}

impl PublishTally {
    /// Notes a message that was refused. Returns whether it is the first one of its batch.
    fn blame(&mut self, position: u64, outcome: PublishOutcome) -> bool {
        if outcome == PublishOutcome::Acknowledged {
            return false;
        }
        let known = self.fault.as_ref().map(|(position, _)| *position);
        if known.is_none_or(|first| position < first) {
            self.fault = Some((position, outcome));
        }
        known.is_none()
    }

    /// Counts a frame of a writer. Returns whether it was refused.
    fn count(&mut self, outcome: PublishOutcome) -> bool {
        if outcome == PublishOutcome::Acknowledged {
            return false;
        }
        self.fault = Some((self.refused, outcome));
        self.refused += 1;
        true
    }
}

#[derive(Debug, Default)]
pub(super) struct PublishTallies {
    batches: HashMap<BatchId, PublishTally>,
}

impl PublishTallies {
    pub fn open(&mut self, id: BatchId) {
        self.batches.insert(id, PublishTally::default());
    }

    pub fn close(&mut self, id: BatchId) {
        self.batches.remove(&id);
    }

    pub fn get(&self, id: BatchId) -> PublishTally {
        self.batches.get(&id).cloned().unwrap_or_default()
    }

    /// The position of the next message of a batch.
    pub fn next(&self, id: BatchId) -> u64 {
        self.batches.get(&id).map_or(0, |tally| tally.accepted)
    }

    /// Counts one more message of a batch. At QoS 0 no acknowledgement is awaited.
    pub fn accept(&mut self, id: BatchId, awaited: bool) {
        let Some(tally) = self.batches.get_mut(&id) else { return };
        tally.accepted += 1;
        tally.outstanding += u64::from(awaited);
        tally.settled += u64::from(!awaited);
    }

    /// Counts a message that is acknowledged or refused. Returns the event to report, if any.
    pub fn settle(&mut self, owner: AckOwner, outcome: PublishOutcome) -> Option<ClientEvent> {
        match owner {
            AckOwner::One(id) => Some(ClientEvent::Published { id, outcome }),
            AckOwner::Session(id) => {
                let is_fault = outcome != PublishOutcome::Acknowledged;
                is_fault.then_some(ClientEvent::Published { id, outcome })
            }
            AckOwner::Batch(id, position) => {
                let tally = self.batches.get_mut(&id)?;
                tally.outstanding -= 1;
                let news = tally.blame(position, outcome) || tally.outstanding == 0;
                news.then_some(ClientEvent::Tallied(id))
            }
            AckOwner::Writer(id) => {
                let tally = self.batches.get_mut(&id)?;
                tally.outstanding -= 1;
                tally.count(outcome).then_some(ClientEvent::Refused(id))
            }
        }
    }

    /// Counts a frame of a writer that could not be sent.
    pub fn refuse(&mut self, id: BatchId, outcome: PublishOutcome) -> Option<ClientEvent> {
        self.batches.get_mut(&id)?.count(outcome).then_some(ClientEvent::Refused(id))
    }

    /// Notes that every message up to this one is settled.
    pub fn pass(&mut self, owner: AckOwner) {
        if let AckOwner::Batch(id, _) | AckOwner::Writer(id) = owner {
            if let Some(tally) = self.batches.get_mut(&id) {
                tally.settled += 1;
            }
        }
    }
}
