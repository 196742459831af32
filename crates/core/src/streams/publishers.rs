//! Who publishes which streams: those that a session declared since it connected.

use std::collections::{BTreeSet, HashMap};

#[derive(Debug, Default)]
pub(super) struct Publishers {
    /// The streams of each session.
    sessions: HashMap<u64, BTreeSet<u32>>,
    /// How many sessions publish a stream.
    counts: HashMap<u32, usize>,
}

impl Publishers {
    pub fn is_one(&self, session: u64, stream: u32) -> bool {
        self.sessions.get(&session).is_some_and(|declared| declared.contains(&stream))
    }

    /// How many sessions publish a stream.
    pub fn count(&self, stream: u32) -> usize {
        self.counts.get(&stream).copied().unwrap_or_default()
    }

    /// How many others publish a stream.
    pub fn others(&self, session: u64, stream: u32) -> usize {
        self.count(stream) - usize::from(self.is_one(session, stream))
    }

    /// A session publishes a stream; whether nobody did before.
    pub fn enter(&mut self, session: u64, stream: u32) -> bool {
        if !self.sessions.entry(session).or_default().insert(stream) {
            return false;
        }
        let count = self.counts.entry(stream).or_default();
        *count += 1;
        *count == 1
    }

    /// A session is gone; the streams that nobody publishes any more.
    pub fn leave(&mut self, session: u64) -> Vec<u32> {
        let mut silent = Vec::new();
        for stream in self.sessions.remove(&session).unwrap_or_default() {
            if let Some(count) = self.counts.get_mut(&stream) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(&stream);
                    silent.push(stream);
                }
            }
        }
        silent
    }

    /// A stream is gone.
    pub fn forget(&mut self, stream: u32) {
        if self.counts.remove(&stream).is_some() {
            self.sessions.retain(|_, declared| {
                declared.remove(&stream);
                !declared.is_empty()
            });
        }
    }
}
