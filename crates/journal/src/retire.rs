//! Removes the oldest segments that nobody needs, while the committer writes. `retention` decides which;
//! this module reads what that needs, and removes files.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::sync::Mutex;

use crate::index_file;
use crate::indexes::{self, LoadedIndex};
use crate::journal::Journal;
use crate::retention::{RetentionClaims, RetentionRules, SegmentSummary, age_limit_ns, decide};
use crate::segment::{JournalPosition, SegmentId};
use crate::snapshot::{self, SNAPSHOT};
use crate::storage::Storage;

/// What retention did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// Segments removed.
    pub segments: usize,
    /// Their bytes.
    pub bytes: u64,
    /// The journal's first offset now.
    pub first_offset: u64,
    /// Who still needs segments that the rules would remove.
    pub held_by: Option<String>,
}

/// Facts about sealed segments and the snapshot, so that they are not read again each time.
#[derive(Debug, Default)]
pub(crate) struct RetireCache {
    /// Only one thread retires at a time. Held while segments are read and removed, never by a connection.
    sealed: Mutex<BTreeMap<SegmentId, SegmentSummary>>,
    /// The position of the newest snapshot, once it is known.
    snapshot: Mutex<Option<JournalPosition>>,
}

impl Journal {
    /// Removes the oldest segments that exceed the rules and that nobody needs: no session, which need
    /// everything from the offset `needed` on, no snapshot and, with `keep_unread`, no consumer. Reads and
    /// removes files: not for a thread that serves a connection.
    pub fn retire(&self, rules: &RetentionRules, needed: u64, now_ns: i64) -> io::Result<Retired> {
        let storage = self.clone_storage();
        let mut sealed = self.retire_cache.sealed.lock().expect("retiring never panics");
        if let Some(ns) = age_limit_ns(rules, now_ns) {
            self.seal_older(ns);
        }
        let segments = survey(&*storage, &mut sealed)?;
        let consumers = if rules.keep_unread { storage.consumers()? } else { Vec::new() };
        let needs = RetentionClaims {
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

    /// The position of the newest snapshot. A damaged one counts as none: recovery then follows the
    /// whole journal.
    fn snapshot_at(&self, storage: &dyn Storage) -> io::Result<Option<JournalPosition>> {
        let snapshot = self.retire_cache.snapshot.lock();
        let mut known = snapshot.expect("nothing panics while it holds the lock");
        if known.is_none() {
            let stored = storage.get(SNAPSHOT)?;
            *known = stored
                .and_then(|bytes| snapshot::decode(bytes, self.identity()).ok())
                .map(|(at, _)| at);
        }
        Ok(*known)
    }
}

impl RetireCache {
    /// Notes the position of a snapshot that is synced.
    pub fn note_snapshot(&self, at: JournalPosition) {
        *self.snapshot.lock().expect("nothing panics while it holds the lock") = Some(at);
    }
}

/// Removes a segment. It is no error if it is gone already.
fn remove(storage: &dyn Storage, segment: SegmentId) -> io::Result<()> {
    match storage.remove(segment) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// All segments as retention sees them. The last one may be growing, so its times are not read.
fn survey(
    storage: &dyn Storage,
    known: &mut BTreeMap<SegmentId, SegmentSummary>,
) -> io::Result<Vec<SegmentSummary>> {
    let ids = storage.segments()?;
    let Some((&last, sealed)) = ids.split_last() else { return Ok(Vec::new()) };
    known.retain(|id, _| sealed.binary_search(id).is_ok());
    let mut segments = Vec::with_capacity(ids.len());
    for &id in sealed {
        let segment = match known.get(&id) {
            Some(segment) => *segment,
            None => summarise(storage, id)?,
        };
        known.insert(id, segment);
        segments.push(segment);
    }
    segments.push(SegmentSummary { id: last, bytes: storage.size(last)?, newest_ns: i64::MAX });
    Ok(segments)
}

/// Reads a sealed segment's summary. A segment without a good index gets one, so that it is not walked
/// again.
fn summarise(storage: &dyn Storage, id: SegmentId) -> io::Result<SegmentSummary> {
    let LoadedIndex { index, header, is_stored } = indexes::load(storage, id)?;
    let bytes = storage.size(id)?;
    if let Some(header) = header.filter(|_| !is_stored && index.end.position == bytes) {
        let _ = storage.put_unsynced(&id.index_file(), &index_file::encode(&header, &index));
    }
    Ok(SegmentSummary { id, bytes, newest_ns: index.end.newest_ns })
}
