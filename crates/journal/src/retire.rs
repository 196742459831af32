//! Removes the oldest segments that nobody needs, beside the committer. What may go is decided in
//! `retention`; this only asks, removes and tells.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::Mutex;

use crate::index_file;
use crate::indexes::{self, Loaded};
use crate::journal::Journal;
use crate::retention::{Needs, Retention, Segment, age_limit_ns, decide};
use crate::segment::{Position, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::Storage;

/// What retention did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Segments removed.
    pub segments: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Where the journal begins now.
    pub first_offset: u64,
    /// Who needs what the rules would remove.
    pub held_by: Option<String>,
}

/// What is known of sealed segments and of the snapshot, so that it is not read again each time.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// One at a time retires. Held while segments are looked at and removed, never by a connection.
    sealed: Mutex<BTreeMap<SegmentId, Segment>>,
    /// The newest snapshot's place, once it is known.
    snapshot: Mutex<Option<Position>>,
}

impl Journal {
    /// Removes the oldest segments that the rules have no use for and nobody needs: no session, from
    /// the offset `needed` on, no snapshot and, with `keep_unread`, no consumer. Reads and removes
    /// files: not for a thread that serves a connection.
    pub fn retire(&self, rules: &Retention, needed: u64, now_ns: i64) -> io::Result<Retired> {
        let storage = self.clone_storage();
        let mut sealed = self.kept.sealed.lock().expect("retiring never panics");
        if let Some(ns) = age_limit_ns(rules, now_ns) {
            self.seal_older(ns);
        }
        let segments = survey(&*storage, &mut sealed)?;
        let consumers = if rules.keep_unread { storage.consumers()? } else { Vec::new() };
        let needs = Needs {
            snapshot: self.snapshot_at(&*storage)?.map(|at| at.segment),
            sessions: needed,
            consumers: &consumers,
            journal: self.identity(),
        };
        let decision = decide(&segments, &needs, rules, now_ns);
        let first_offset = segments.first().map_or(0, |first| first.id.offset);
        let mut retired = Retired { first_offset, held_by: decision.held_by, ..Retired::default() };
        for pair in segments.windows(2).take(decision.remove) {
            remove(&*storage, pair[0].id)?;
            retired.segments += 1;
            retired.bytes += pair[0].bytes;
            retired.first_offset = pair[1].id.offset;
            self.forget_oldest(pair[0].bytes, retired.first_offset);
        }
        Ok(retired)
    }

    /// Where the newest snapshot stands. One that is damaged is none: everything is then followed.
    fn snapshot_at(&self, storage: &dyn Storage) -> io::Result<Option<Position>> {
        let mut known = self.kept.snapshot.lock().expect("nothing panics while it holds the lock");
        if known.is_none() {
            let stored = storage.get(SNAPSHOT)?;
            *known = stored
                .and_then(|bytes| snapshot::decode(bytes, self.identity()).ok())
                .map(|(at, _)| at);
        }
        Ok(*known)
    }
}

impl Kept {
    /// Notes where a snapshot stands that is on the disk for good.
    pub fn note_snapshot(&self, at: Position) {
        *self.snapshot.lock().expect("nothing panics while it holds the lock") = Some(at);
    }
}

/// Another may have removed it already.
fn remove(storage: &dyn Storage, segment: SegmentId) -> io::Result<()> {
    match storage.remove(segment) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// All segments as retention sees them. Of the last, which may be growing, nothing is asked.
fn survey(
    storage: &dyn Storage,
    known: &mut BTreeMap<SegmentId, Segment>,
) -> io::Result<Vec<Segment>> {
    let ids = storage.segments()?;
    let Some((&last, sealed)) = ids.split_last() else { return Ok(Vec::new()) };
    known.retain(|id, _| sealed.binary_search(id).is_ok());
    let mut segments = Vec::with_capacity(ids.len());
    for &id in sealed {
        let segment = match known.get(&id) {
            Some(segment) => *segment,
            None => learn(storage, id)?,
        };
        known.insert(id, segment);
        segments.push(segment);
    }
    segments.push(Segment { id: last, bytes: storage.size(last)?, newest_ns: i64::MAX });
    Ok(segments)
}

/// A segment without a good index gets one, so that nobody walks it again.
fn learn(storage: &dyn Storage, id: SegmentId) -> io::Result<Segment> {
    let Loaded { index, of, stored } = indexes::load(storage, id)?;
    let bytes = storage.size(id)?;
    if let Some(of) = of.filter(|_| !stored && index.end.position == bytes) {
        let _ = storage.leave(&id.index_file(), &index_file::encode(&of, &index));
    }
    Ok(Segment { id, bytes, newest_ns: index.end.newest_ns })
}
