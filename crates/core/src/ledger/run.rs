//! Messages that wait for one session as places in the journal: runs of consecutive offsets.

use std::ops::Range;
use std::sync::Arc;

use slipring_wire::QoS;

use crate::Identifiers;

/// How messages are delivered to one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manner {
    /// The quality: 1 or 2.
    pub qos: QoS,
    /// The flag to deliver with.
    pub retain: bool,
    /// Which subscriptions matched.
    pub identifiers: Identifiers,
}

/// Messages with consecutive offsets, delivered in the same manner. One for each message at worst, so
/// it is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The offset of the first.
    pub first: u64,
    /// How many: never none.
    pub count: u32,
    /// Bytes of each.
    pub bytes: u32,
    /// How they are delivered.
    pub manner: Arc<Manner>,
}

impl Run {
    /// One message.
    pub fn one(offset: u64, bytes: u32, manner: Arc<Manner>) -> Self {
        Self { first: offset, count: 1, bytes, manner }
    }

    /// Its offsets.
    pub fn offsets(&self) -> Range<u64> {
        self.first..self.first.saturating_add(u64::from(self.count))
    }

    /// The bytes of all its messages.
    pub fn bytes(&self) -> u64 {
        u64::from(self.bytes) * u64::from(self.count)
    }

    /// Takes in the messages that follow, if they are of the same kind.
    pub fn extend(&mut self, next: &Self) -> bool {
        let fits = self.offsets().end == next.first
            && self.bytes == next.bytes
            && self.is_as(&next.manner);
        match self.count.checked_add(next.count) {
            Some(count) if fits => {
                self.count = count;
                true
            }
            _ => false,
        }
    }

    /// Takes the first message away; None if it is the last.
    pub fn rest(mut self) -> Option<Self> {
        self.first += 1;
        self.count -= 1;
        (self.count > 0).then_some(self)
    }

    /// Whether its messages are delivered in this manner.
    pub fn is_as(&self, manner: &Arc<Manner>) -> bool {
        Arc::ptr_eq(&self.manner, manner) || self.manner == *manner
    }

    /// The part with these offsets.
    pub(super) fn part(&self, offsets: Range<u64>) -> Option<Self> {
        let count = u32::try_from(offsets.end.checked_sub(offsets.start)?).ok()?;
        (count > 0).then(|| Self { first: offsets.start, count, ..self.clone() })
    }
}
