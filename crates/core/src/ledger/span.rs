//! Messages for one session as spans of consecutive offsets in the journal.

use std::ops::Range;
use std::sync::Arc;

use slipring_wire::QoS;

use crate::{Identifiers, Offset, Priority};

/// How messages are delivered to one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryManner {
    /// QoS 1 or 2.
    pub qos: QoS,
    /// Whether they are delivered with the retain flag.
    pub retain: bool,
    /// The identifiers of the subscriptions that matched.
    pub identifiers: Identifiers,
    /// Before which others they are sent.
    pub priority: Priority,
    /// They are requests, or their ends.
    pub of_request: bool,
    /// They are requests, and their service gets them on topics with their keys.
    pub by_topic: bool,
}

impl DeliveryManner {
    /// With this QoS, and nothing else.
    pub fn plain(qos: QoS) -> Self {
        let (priority, of_request, by_topic) = (Priority::Normal, false, false);
        Self { qos, retain: false, identifiers: None, priority, of_request, by_topic }
    }
}

/// Messages with consecutive offsets that are delivered in the same manner. At worst a queue has a span for each
/// message, so a span is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliverySpan {
    /// The offset of the first.
    pub first: Offset,
    /// How many, at least one.
    pub count: u32,
    /// Bytes of each message.
    pub bytes: u32,
    /// How they are delivered.
    pub manner: Arc<DeliveryManner>,
}

impl DeliverySpan {
    /// Its offsets.
    pub fn offsets(&self) -> Range<Offset> {
        self.first..self.first.plus(self.count)
    }

    /// The bytes of all its messages.
    pub fn bytes(&self) -> u64 {
        u64::from(self.bytes) * u64::from(self.count)
    }

    /// Adds the messages of the next span, if they follow directly and have the same size and manner.
    pub fn extend(&mut self, next: &Self) -> bool {
        let fits = self.offsets().end == next.first
            && self.bytes == next.bytes
            && (Arc::ptr_eq(&self.manner, &next.manner) || self.manner == next.manner);
        match self.count.checked_add(next.count) {
            Some(count) if fits => {
                self.count = count;
                true
            }
            _ => false,
        }
    }

    /// The span without its first message; None if that was the only one.
    pub fn rest(mut self) -> Option<Self> {
        self.first = self.first.plus(1);
        self.count -= 1;
        (self.count > 0).then_some(self)
    }

    /// The part with these offsets.
    pub(super) fn part(&self, offsets: Range<Offset>) -> Option<Self> {
        let count = u32::try_from(offsets.end.get().checked_sub(offsets.start.get())?).ok()?;
        (count > 0).then(|| Self { first: offsets.start, count, ..self.clone() })
    }
}
