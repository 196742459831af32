//! Answers about streams as JSON: what a client gets, and what is told to all who follow them.

use serde::Serialize;

use super::declare::Change;
use super::whole::Streams;
use crate::table::AnswerRows;

/// Streams in one message that tells of them, at most.
const TOLD_MAX: usize = 100;

/// What is told of streams: JSON, one message each.
pub type Told = Vec<Vec<u8>>;

/// What is told to those who follow the streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// Streams are there.
    Added,
    /// They are described anew.
    Changed,
    /// They are gone.
    Removed,
    /// Nobody publishes them any more.
    Silent,
    /// Somebody publishes them again.
    Live,
}

#[derive(Serialize)]
pub(super) struct Declared {
    pub revision: u64,
    pub indices: Vec<u32>,
}

#[derive(Serialize)]
pub(super) struct Removed {
    pub revision: u64,
    pub removed: usize,
}

#[derive(Serialize)]
pub(super) struct Listed<'a> {
    index: u32,
    name: &'a str,
    #[serde(flatten)]
    definition: &'a super::Definition,
    /// Whether somebody publishes it, and how many.
    live: bool,
    publishers: usize,
    /// The number of the oldest chunk that is kept, and of the next one.
    first: u64,
    next: u64,
    /// What the chunks that are kept count.
    bytes: usize,
    /// Bytes of all chunks since the start, and when the last one was received.
    received_bytes: u64,
    received_ns: Option<i64>,
}

/// A page of streams, with where to go on.
pub(super) fn listing(revision: u64, next: Option<u32>, rows: &AnswerRows) -> Vec<u8> {
    let next = next.map_or_else(|| "null".to_owned(), |index| index.to_string());
    let head = format!("{{\"revision\":{revision},\"next\":{next},\"streams\":[");
    [head.as_bytes(), rows.text(), b"]}"].concat()
}

pub(super) fn json(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("strings and numbers")
}

impl Streams {
    pub(super) fn listed(&self, index: u32) -> Option<Listed<'_>> {
        let (entry, ring) = (self.catalog.get(index)?, self.rings.get(&index)?);
        Some(Listed {
            index,
            name: &entry.name,
            definition: &entry.definition,
            live: self.publishers.count(index) > 0,
            publishers: self.publishers.count(index),
            first: ring.first(),
            next: ring.next(),
            bytes: ring.bytes(),
            received_bytes: ring.received_bytes(),
            received_ns: ring.received_ns(),
        })
    }

    /// What is to be told of a change.
    pub fn told_of(&self, change: &Change) -> Told {
        let named = |indices: &[u32]| -> Vec<(u32, String)> {
            let name = |index: &u32| Some((*index, self.catalog.get(*index)?.name.to_string()));
            indices.iter().filter_map(name).collect()
        };
        let events = [
            (Event::Added, named(&change.added)),
            (Event::Changed, named(&change.changed)),
            (Event::Removed, change.removed.clone()),
            (Event::Live, named(&change.live)),
        ];
        events.iter().flat_map(|(event, streams)| told(self.revision(), *event, streams)).collect()
    }
}

/// The JSON that tells of an event, in as many messages as it takes.
pub fn told(revision: u64, event: Event, streams: &[(u32, String)]) -> Told {
    #[derive(Serialize)]
    struct Message<'a> {
        revision: u64,
        event: Event,
        indices: Vec<u32>,
        names: Vec<&'a str>,
    }
    let messages = streams.chunks(TOLD_MAX).map(|some| {
        let (indices, names) = some.iter().map(|(index, name)| (*index, &**name)).unzip();
        json(&Message { revision, event, indices, names })
    });
    messages.collect()
}
