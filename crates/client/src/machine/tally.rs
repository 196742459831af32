//! What became of messages at QoS 1 and 2: told one by one, or counted for a batch.

use std::collections::HashMap;

use slipring_wire::Reason;

use super::{BatchId, Notice, PublishId};

/// Who waits for the acknowledgement of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    One(PublishId),
    /// The message of a batch with this position in it.
    Batch(BatchId, u64),
    /// A message of a stream; in a new session it goes again when its stream does.
    Stream(BatchId),
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The broker has it.
    Acknowledged,
    /// The broker did not take it.
    Refused {
        /// Why not.
        reason: Reason,
        /// The broker's own words, if any.
        text: Option<String>,
    },
    /// At QoS 2: the broker forgot the session before it answered, so that it is not known.
    Unknown,
}

/// How far a batch has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages given.
    pub accepted: u64,
    /// Messages without an answer.
    pub outstanding: u64,
    /// Messages from the first on of which every one has an answer.
    pub settled: u64,
    /// The first message that the broker did not take, by its position; of a stream the last.
    pub fault: Option<(u64, Outcome)>,
    /// Messages of a stream that the broker did not take, or may not have.
    pub refused: u64,
}

impl Tally {
    /// Notes a message that was not taken; whether it is the first to be known.
    fn blame(&mut self, position: u64, outcome: Outcome) -> bool {
        if outcome == Outcome::Acknowledged {
            return false;
        }
        let known = self.fault.as_ref().map(|(position, _)| *position);
        if known.is_none_or(|first| position < first) {
            self.fault = Some((position, outcome));
        }
        known.is_none()
    }

    /// Counts a message of a stream; whether it was not taken.
    fn count(&mut self, outcome: Outcome) -> bool {
        if outcome == Outcome::Acknowledged {
            return false;
        }
        self.fault = Some((self.refused, outcome));
        self.refused += 1;
        true
    }
}

#[derive(Debug, Default)]
pub(super) struct Tallies {
    batches: HashMap<BatchId, Tally>,
}

impl Tallies {
    pub fn open(&mut self, id: BatchId) {
        self.batches.insert(id, Tally::default());
    }

    pub fn close(&mut self, id: BatchId) {
        self.batches.remove(&id);
    }

    pub fn get(&self, id: BatchId) -> Tally {
        self.batches.get(&id).cloned().unwrap_or_default()
    }

    /// The position of the next message of a batch.
    pub fn next(&self, id: BatchId) -> u64 {
        self.batches.get(&id).map_or(0, |tally| tally.accepted)
    }

    /// One more message of a batch; at QoS 0 there is nothing to wait for.
    pub fn accept(&mut self, id: BatchId, awaited: bool) {
        let Some(tally) = self.batches.get_mut(&id) else { return };
        tally.accepted += 1;
        tally.outstanding += u64::from(awaited);
        tally.settled += u64::from(!awaited);
    }

    /// A message has its answer; what to tell of it, if anything.
    pub fn settle(&mut self, owner: Owner, outcome: Outcome) -> Option<Notice> {
        match owner {
            Owner::One(id) => Some(Notice::Published { id, outcome }),
            Owner::Batch(id, position) => {
                let tally = self.batches.get_mut(&id)?;
                tally.outstanding -= 1;
                let news = tally.blame(position, outcome) || tally.outstanding == 0;
                news.then_some(Notice::Tallied(id))
            }
            Owner::Stream(id) => {
                let tally = self.batches.get_mut(&id)?;
                tally.outstanding -= 1;
                tally.count(outcome).then_some(Notice::Refused(id))
            }
        }
    }

    /// A message of a stream that could not even be sent.
    pub fn refuse(&mut self, id: BatchId, outcome: Outcome) -> Option<Notice> {
        self.batches.get_mut(&id)?.count(outcome).then_some(Notice::Refused(id))
    }

    /// Every message up to this one is settled.
    pub fn pass(&mut self, owner: Owner) {
        if let Owner::Batch(id, _) | Owner::Stream(id) = owner {
            if let Some(tally) = self.batches.get_mut(&id) {
                tally.settled += 1;
            }
        }
    }
}
