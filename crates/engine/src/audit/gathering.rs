//! Repetitions: the first is a record, the others are counted, and the count is a record when their time ends: after 10
//! seconds, and later the longer they go on. One user or address has so many records of each kind in 10 seconds: its flood
//! takes no room from others, and hides nothing else that it does.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::net::{IpAddr, SocketAddr};

use slipring_core::{AuditKind, Owner};

use super::record::{AuditRecord, PendingRecord};
use crate::event::Report;

/// How long repetitions are counted at first, and how long the records of an owner.
pub(super) const WINDOW_NS: i64 = 10_000_000_000;
/// How long repetitions are counted that go on and on: each time four times as long, up to this.
pub(super) const REPEATS_NS_MAX: i64 = 64 * WINDOW_NS;
/// Records of one kind of one user or address in a window.
pub(super) const OWNER_RECORDS_MAX: usize = 500;
/// Refusals of one user or address that are records in each window of a flood that does not end.
pub(super) const FLOOD_RECORDS: usize = 10;
/// Acts whose repetitions are counted each for itself.
const KEYS_MAX: usize = 4_096;
/// Users and addresses, with a kind, that are counted each for itself; the others share one count.
const OWNERS_MAX: usize = 8_192;
/// In place of a right, for what is done at the console.
const CONSOLE: u8 = u8::MAX - 1;

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

    /// What the control plane records; None for changes, each of which is a record.
    pub fn of_console(record: &'a AuditRecord) -> Option<Self> {
        let (is_single, proves) = match record.kind {
            AuditKind::Login => (true, record.outcome == "ok"), // else the name is only claimed
            AuditKind::Logout | AuditKind::TokenIssued => (true, true),
            AuditKind::Denied | AuditKind::Read | AuditKind::Quota => (false, true),
            _ => return None,
        };
        let user = Some(&*record.user).filter(|user| proves && !user.is_empty());
        let address = with_port(&record.address);
        let who = user.unwrap_or(&record.address);
        let repeats = (!is_single).then_some((who, CONSOLE, &*record.topic));
        Some(Self { kind: record.kind, repeats, owner: Owner::of(user, &address) })
    }
}

/// The console may know an address without a port.
fn with_port(address: &str) -> String {
    match address.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, 0).to_string(),
        Err(_) => address.to_owned(),
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
    /// How long they are counted, and until when; 0: until the window ends.
    for_ns: i64,
    until_ns: i64,
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

    /// A window ended. Who was refused too often in it has few records in the next. Returns whether anything is left to
    /// remember.
    fn end(&mut self, kind: AuditKind) -> bool {
        self.unwritten = 0;
        let is_refused = matches!(
            kind,
            AuditKind::Refused | AuditKind::Denied | AuditKind::Login | AuditKind::Quota
        );
        self.written = if is_refused { self.written.saturating_sub(FLOOD_RECORDS) } else { 0 };
        self.written > 0
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
            detail: format!("{kind}: {count} more of {owner} than are records"),
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
            let first = record.clone();
            self.repeats
                .insert(hash, Repetition { first, more: 0, for_ns: WINDOW_NS, until_ns: 0 });
        }
    }

    /// Ends the window if it is over, or everything if `is_last`. Returns records of what was counted in it.
    pub fn end(&mut self, now_ns: i64, is_last: bool) -> Vec<PendingRecord> {
        if now_ns < self.until_ns && !is_last {
            return Vec::new();
        }
        self.until_ns = now_ns + WINDOW_NS;
        let mut records = Vec::new();
        self.repeats.retain(|_, one| one.goes_on(now_ns, is_last, &mut records));
        self.owners.retain(|(owner, kind), counts| {
            records.extend(counts.summary(owner.as_str(), kind.name(), now_ns));
            counts.end(*kind)
        });
        records.extend(mem::take(&mut self.others).summary("others", "all kinds", now_ns));
        records
    }

    /// How many events had no record, not even as repetitions of one.
    pub fn unwritten(&self) -> u64 {
        let owners = self.owners.values().chain([&self.others]);
        owners.map(|owner| owner.unwritten).sum()
    }
}

impl Repetition {
    /// Tells how many there were, if it is time to. Returns whether further ones are counted.
    fn goes_on(&mut self, now_ns: i64, is_last: bool, records: &mut Vec<PendingRecord>) -> bool {
        if now_ns < self.until_ns && !is_last {
            return true;
        }
        let more = mem::take(&mut self.more);
        if more > 0 {
            records.push(self.summary(more, now_ns));
            self.for_ns = (4 * self.for_ns).min(REPEATS_NS_MAX);
            self.until_ns = now_ns + self.for_ns;
        }
        more > 0
    }

    fn summary(&self, more: u64, now_ns: i64) -> PendingRecord {
        let mut summary = self.first.clone();
        summary.record.at_ns = now_ns;
        summary.record.count = more;
        summary.record.detail = format!("{more} more since the last record");
        summary
    }
}
