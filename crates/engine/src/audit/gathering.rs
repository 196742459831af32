//! Repetitions within a window of time: the first is a record, the others are counted, and the count is a record when
//! the window ends. One user or address has so many records of each kind in a window: its flood takes no room from others,
//! and hides nothing else that it does.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::mem;

use slipring_core::{AuditKind, Owner};

use super::record::{AuditRecord, PendingRecord};
use crate::event::Report;

/// How long repetitions are counted.
pub(super) const WINDOW_NS: i64 = 10_000_000_000;
/// Records of one kind of one user or address in a window.
pub(super) const OWNER_RECORDS_MAX: usize = 500;
/// Acts whose repetitions are counted each for itself.
const KEYS_MAX: usize = 4_096;
/// Users and addresses, with a kind, that are counted each for itself; the others share one count.
const OWNERS_MAX: usize = 8_192;

/// What an event is about, as far as repetitions go.
pub(super) struct Key<'a> {
    kind: AuditKind,
    /// The same for the same client, right and topic; None if each is a record.
    repeats: Option<(&'a str, u8, &'a str)>,
    owner: Owner,
}

impl<'a> Key<'a> {
    pub fn of(kind: AuditKind, report: &Report<'a>) -> Self {
        let owner = match report.by {
            Some(by) if by.version.get().is_some() => by.owner().clone(),
            Some(by) => Owner::of(by.proven(), &by.origin.address),
            None => Owner::of(None, report.client),
        };
        let is_single = matches!(
            kind,
            AuditKind::Connected
                | AuditKind::Disconnected
                | AuditKind::Refused
                | AuditKind::Changed
        );
        let right = report.right.map_or(u8::MAX, |right| right as u8);
        let repeats = (!is_single).then_some((report.client, right, report.topic));
        Self { kind, repeats, owner }
    }
}

/// The counts of one window.
#[derive(Default)]
pub(super) struct Gathering {
    hasher: RandomState,
    repeats: HashMap<u64, Repetition>,
    owners: HashMap<(Owner, AuditKind), OwnerRecords>,
    others: OwnerRecords,
    until_ns: i64,
}

struct Repetition {
    first: PendingRecord,
    more: u64,
}

#[derive(Default)]
struct OwnerRecords {
    written: usize,
    unwritten: u64,
}

impl OwnerRecords {
    fn admits(&mut self) -> bool {
        let has_room = self.written < OWNER_RECORDS_MAX;
        if has_room {
            self.written += 1;
        } else {
            self.unwritten += 1;
        }
        has_room
    }

    /// The record of what was not written, if anything was not.
    fn summary(&self, owner: &str, kind: &str, now_ns: i64) -> Option<PendingRecord> {
        let count = self.unwritten;
        let part = |prefix| owner.strip_prefix(prefix).unwrap_or_default().to_owned();
        let record = AuditRecord {
            at_ns: now_ns,
            user: part("user:"),
            address: part("address:"),
            count,
            outcome: "lost".into(),
            detail: format!("{kind}: {count} more than {OWNER_RECORDS_MAX} records of {owner}"),
            ..AuditRecord::new(AuditKind::Lost)
        };
        (count > 0).then(|| PendingRecord::of(record))
    }
}

impl Gathering {
    fn hash(&self, key: &Key<'_>) -> Option<u64> {
        key.repeats.map(|repeats| self.hasher.hash_one((key.kind, repeats)))
    }

    /// Whether an event becomes a record; otherwise it was counted.
    pub fn admits(&mut self, key: &Key<'_>) -> bool {
        let known = self.hash(key).and_then(|hash| self.repeats.get_mut(&hash));
        if let Some(known) = known {
            known.more += 1;
            return false;
        }
        let has_room = self.owners.len() < OWNERS_MAX;
        match self.owners.entry((key.owner.clone(), key.kind)) {
            Entry::Occupied(mut owner) => owner.get_mut().admits(),
            Entry::Vacant(new) if has_room => new.insert(OwnerRecords::default()).admits(),
            Entry::Vacant(_) => self.others.admits(),
        }
    }

    /// Counts repetitions of a record from now on.
    pub fn remember(&mut self, key: &Key<'_>, record: &PendingRecord) {
        if let (Some(hash), true) = (self.hash(key), self.repeats.len() < KEYS_MAX) {
            self.repeats.insert(hash, Repetition { first: record.clone(), more: 0 });
        }
    }

    /// Ends the window if it is over, or if `is_last`. Returns records of what was counted in it.
    pub fn end(&mut self, now_ns: i64, is_last: bool) -> Vec<PendingRecord> {
        if now_ns < self.until_ns && !is_last {
            return Vec::new();
        }
        self.until_ns = now_ns + WINDOW_NS;
        let repeats = mem::take(&mut self.repeats).into_values().filter(|one| one.more > 0);
        let mut records: Vec<_> = repeats.map(|one| one.summary(now_ns)).collect();
        for ((owner, kind), counts) in mem::take(&mut self.owners) {
            records.extend(counts.summary(owner.as_str(), kind.name(), now_ns));
        }
        records.extend(mem::take(&mut self.others).summary("others", "all kinds", now_ns));
        records
    }

    /// How many events had no record.
    pub fn unwritten(&self) -> u64 {
        let owners = self.owners.values().chain([&self.others]);
        owners.map(|owner| owner.unwritten).sum()
    }
}

impl Repetition {
    fn summary(self, now_ns: i64) -> PendingRecord {
        let mut summary = self.first;
        summary.record.at_ns = now_ns;
        summary.record.count = self.more;
        summary.record.detail = format!("{} more since the first", self.more);
        summary
    }
}
