//! Which sessions get the messages of one batch, gathered into as few records as possible.

use std::collections::HashMap;

use super::{DeliveryManner, DeliveryRecord};
use crate::SessionKey;

/// The durable sessions that the messages of one batch are for.
#[derive(Debug, Default)]
pub struct Deliveries {
    spans: Vec<BatchSpan>,
    /// The last span of each session.
    last: HashMap<SessionKey, usize>,
}

#[derive(Debug)]
struct BatchSpan {
    session: SessionKey,
    first: u32,
    count: u32,
    bytes: u32,
    manner: DeliveryManner,
}

impl Deliveries {
    /// Adds a message for a session: its index in the batch, its bytes, and how it is delivered.
    pub fn push(&mut self, session: SessionKey, index: u32, bytes: u32, manner: DeliveryManner) {
        let last = self.last.get(&session).map(|at| &mut self.spans[*at]);
        match last {
            Some(span) if span.follows(index, bytes, &manner) => span.count += 1,
            _ => {
                self.last.insert(session, self.spans.len());
                self.spans.push(BatchSpan { session, first: index, count: 1, bytes, manner });
            }
        }
    }

    /// Whether no session gets a message.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Appends the records to `out`, and forgets them.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        self.last.clear();
        for BatchSpan { session, first, count, bytes, manner } in self.spans.drain(..) {
            DeliveryRecord::Delivered { session, first, count, bytes, manner }.encode(out);
        }
    }

    /// Forgets all records, because the batch is discarded.
    pub fn clear(&mut self) {
        self.last.clear();
        self.spans.clear();
    }
}

impl BatchSpan {
    fn follows(&self, index: u32, bytes: u32, manner: &DeliveryManner) -> bool {
        self.first + self.count == index && self.bytes == bytes && self.manner == *manner
    }
}
