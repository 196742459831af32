//! Repetitions within a window of time: the first is a record, the others are counted, and the count is a record when
//! the window ends. One user or address has so many records in a window, so that its flood takes no room from others.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;

use slipring_core::{AuditKind, Owner};

use super::record::{AuditRecord, PendingRecord};
use crate::event::Report;

/// How long repetitions are counted.
pub(super) const WINDOW_NS: i64 = 10_000_000_000;
/// Records of one user or address in a window.
pub(super) const OWNER_RECORDS_MAX: usize = 500;
/// Acts whose repetitions are counted each for itself.
const KEYS_MAX: usize = 4_096;
/// Users and addresses that are counted each for itself; the others share one count.
const OWNERS_MAX: usize = 4_096;

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
    owners: HashMap<Owner, OwnerRecords>,
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
        if let Some(owner) = self.owners.get_mut(&key.owner) {
            return owner.admits();
        }
        if self.owners.len() >= OWNERS_MAX {
            return self.others.admits();
        }
        self.owners.entry(key.owner.clone()).or_default().admits()
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
        let owners = mem::take(&mut self.owners).into_iter();
        let owners = owners.map(|(owner, counts)| (owner.to_string(), counts.unwritten));
        let others = ("others".to_owned(), mem::take(&mut self.others).unwritten);
        let lost = owners.chain([others]).filter(|(_, count)| *count > 0);
        records.extend(
            lost.map(|(owner, count)| PendingRecord::of(lost_record(&owner, count, now_ns))),
        );
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

fn lost_record(owner: &str, count: u64, now_ns: i64) -> AuditRecord {
    let what = format!("{owner}: {count} more than {OWNER_RECORDS_MAX} records in a few seconds");
    let user = owner.strip_prefix("user:").unwrap_or_default().to_owned();
    let address = owner.strip_prefix("address:").unwrap_or_default().to_owned();
    let lost = AuditRecord::new(AuditKind::Lost);
    AuditRecord {
        at_ns: now_ns,
        user,
        address,
        count,
        outcome: "lost".into(),
        detail: what,
        ..lost
    }
}
