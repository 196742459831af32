//! Who gets the messages of one batch, gathered into as few records as can be.

use std::collections::HashMap;

use super::{Manner, Record};

/// The durable sessions that the messages of one batch are for.
#[derive(Debug, Default)]
pub struct Deliveries {
    runs: Vec<Gathered>,
    /// The last run of each session.
    last: HashMap<u64, usize>,
}

#[derive(Debug)]
struct Gathered {
    session: u64,
    first: u32,
    count: u32,
    bytes: u32,
    manner: Manner,
}

impl Deliveries {
    /// A message is for a session: its index in the batch, its bytes, and how it is delivered.
    pub fn push(&mut self, session: u64, index: u32, bytes: u32, manner: Manner) {
        let last = self.last.get(&session).map(|at| &mut self.runs[*at]);
        match last {
            Some(run) if run.follows(index, bytes, &manner) => run.count += 1,
            _ => {
                self.last.insert(session, self.runs.len());
                self.runs.push(Gathered { session, first: index, count: 1, bytes, manner });
            }
        }
    }

    /// Whether nobody gets anything.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Appends the records, and starts again.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        self.last.clear();
        for Gathered { session, first, count, bytes, manner } in self.runs.drain(..) {
            Record::Delivered { session, first, count, bytes, manner }.encode(out);
        }
    }

    /// Forgets them: the batch is given up.
    pub fn clear(&mut self) {
        self.last.clear();
        self.runs.clear();
    }
}

impl Gathered {
    fn follows(&self, index: u32, bytes: u32, manner: &Manner) -> bool {
        self.first + self.count == index && self.bytes == bytes && self.manner == *manner
    }
}
