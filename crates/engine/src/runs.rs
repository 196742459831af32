//! What the sessions that outlive the broker get of one batch: a record for each run of messages.

use std::collections::HashMap;

use slipring_core::{Manner, Record};

/// Messages of one batch for sessions that outlive the broker: consecutive ones as one record.
#[derive(Default)]
pub(crate) struct Runs {
    runs: Vec<Run>,
    /// The last run of a session.
    last: HashMap<u64, usize>,
}

struct Run {
    session: u64,
    first: u32,
    count: u32,
    bytes: u32,
    manner: Manner,
}

impl Runs {
    /// Adds a message by its place in the batch.
    pub fn add(&mut self, session: u64, place: u32, bytes: u32, manner: &Manner) {
        if let Some(run) = self.last.get(&session).map(|at| &mut self.runs[*at]) {
            let same = run.bytes == bytes && run.manner == *manner;
            if same && run.first + run.count == place {
                run.count += 1;
                return;
            }
        }
        self.last.insert(session, self.runs.len());
        self.runs.push(Run { session, first: place, count: 1, bytes, manner: manner.clone() });
    }

    /// Writes the records; then there are no runs.
    pub fn write(&mut self, records: &mut Vec<u8>) {
        for Run { session, first, count, bytes, manner } in self.runs.drain(..) {
            Record::Delivered { session, first, count, bytes, manner }.encode(records);
        }
        self.last.clear();
    }
}
