//! Who publishes which streams: what a session declared is its own while the session lives.
//!
//! A session whose client is away publishes nothing; a stream is live again when the client is back
//! and writes to it.

use std::collections::{BTreeMap, HashMap};

/// Declared streams of all sessions together.
const DECLARED_MAX: usize = 1 << 20;
/// Those of sessions whose clients are away; one that would make more has to declare again.
const AWAY_MAX: usize = DECLARED_MAX / 2;

#[derive(Debug, Default)]
pub(super) struct Publishers {
    sessions: HashMap<u64, Publisher>,
    /// How many sessions publish a stream.
    counts: HashMap<u32, usize>,
    /// Declared streams of all sessions.
    declared: usize,
    /// Of those that are away.
    away: usize,
}

#[derive(Debug, Default)]
struct Publisher {
    /// What it declared, and whether that is live.
    streams: BTreeMap<u32, bool>,
    is_away: bool,
}

impl Publishers {
    /// Whether a stream that a session has declared is live by it; none if it has not declared it.
    pub fn is_live(&self, session: u64, stream: u32) -> Option<bool> {
        self.sessions.get(&session)?.streams.get(&stream).copied()
    }

    /// How many sessions publish a stream.
    pub fn count(&self, stream: u32) -> usize {
        self.counts.get(&stream).copied().unwrap_or_default()
    }

    /// How many others publish a stream.
    pub fn others(&self, session: u64, stream: u32) -> usize {
        self.count(stream) - usize::from(self.is_live(session, stream) == Some(true))
    }

    /// Whether there is room for so many more.
    pub fn has_room(&self, more: usize) -> bool {
        self.declared + more <= DECLARED_MAX
    }

    /// A session, whose client is here, publishes a stream; whether nobody did before.
    pub fn enter(&mut self, session: u64, stream: u32) -> bool {
        let publisher = self.sessions.entry(session).or_default();
        if std::mem::take(&mut publisher.is_away) {
            self.away -= publisher.streams.len();
        }
        let before = publisher.streams.insert(stream, true);
        self.declared += usize::from(before.is_none());
        if before == Some(true) {
            return false;
        }
        let count = self.counts.entry(stream).or_default();
        *count += 1;
        *count == 1
    }

    /// A session's client is gone; the streams that nobody publishes any more. What it declared stays
    /// its own if the session is kept.
    pub fn leave(&mut self, session: u64, is_kept: bool) -> Vec<u32> {
        let Some(mut publisher) = self.take_out(session) else { return Vec::new() };
        let mut silent = Vec::new();
        for (stream, is_live) in &mut publisher.streams {
            if std::mem::take(is_live) && self.discount(*stream) {
                silent.push(*stream);
            }
        }
        publisher.is_away = true;
        if is_kept {
            self.stay(session, publisher);
        }
        silent
    }

    /// A session of an earlier run has declared these; its client is away.
    pub fn restore(&mut self, session: u64, streams: impl Iterator<Item = u32>) {
        let streams = streams.map(|stream| (stream, false)).collect();
        self.stay(session, Publisher { streams, is_away: true });
    }

    /// Keeps what a session whose client is away has declared, if there is room.
    fn stay(&mut self, session: u64, publisher: Publisher) {
        let count = publisher.streams.len();
        if count > 0 && self.away + count <= AWAY_MAX {
            self.put(session, publisher);
        }
    }

    /// A session is over; if its client is still here, what it declared goes when that leaves.
    pub fn end(&mut self, session: u64) {
        if self.sessions.get(&session).is_some_and(|publisher| publisher.is_away) {
            self.take_out(session);
        }
    }

    /// A stream is another one now: who declared the earlier one and is silent has to declare it again.
    pub fn forget_silent(&mut self, stream: u32) {
        self.forget_of(stream, |publisher| publisher.streams.get(&stream) == Some(&false));
    }

    /// A stream is gone.
    pub fn forget(&mut self, stream: u32) {
        self.counts.remove(&stream);
        self.forget_of(stream, |_| true);
    }

    fn forget_of(&mut self, stream: u32, is_meant: impl Fn(&Publisher) -> bool) {
        self.sessions.retain(|_, publisher| {
            if is_meant(publisher) && publisher.streams.remove(&stream).is_some() {
                self.declared -= 1;
                self.away -= usize::from(publisher.is_away);
            }
            !publisher.streams.is_empty()
        });
    }

    /// One less publishes a stream; whether it was the last.
    fn discount(&mut self, stream: u32) -> bool {
        let Some(count) = self.counts.get_mut(&stream) else { return false };
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            self.counts.remove(&stream);
        }
        is_last
    }

    fn take_out(&mut self, session: u64) -> Option<Publisher> {
        let publisher = self.sessions.remove(&session)?;
        self.declared -= publisher.streams.len();
        self.away -= publisher.away();
        Some(publisher)
    }

    fn put(&mut self, session: u64, publisher: Publisher) {
        self.declared += publisher.streams.len();
        self.away += publisher.away();
        self.sessions.insert(session, publisher);
    }
}

impl Publisher {
    fn away(&self) -> usize {
        if self.is_away { self.streams.len() } else { 0 }
    }
}
