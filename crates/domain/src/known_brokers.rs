//! The newest record of each broker. Never decides what a broker's record says, except for this broker's own.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bounds::BROKERS_MAX;
use crate::recent_changes::RecentChanges;
use crate::record::{ChangedParts, RecordDifference, RecordError, RecordHead};
#[cfg(test)]
use crate::tests::planted_bug::{PlantedBug, is_planted};
use crate::{BrokerId, BrokerRecord, RecordVersion};

/// The record of this broker, and the newest one of each other broker that it heard of.
#[derive(Debug)]
pub struct KnownBrokers {
    own: Arc<BrokerRecord>,
    own_changes: RecentChanges,
    others: BTreeMap<BrokerId, KnownBroker>,
}

/// Another broker.
#[derive(Debug)]
struct KnownBroker {
    record: Arc<BrokerRecord>,
    changes: RecentChanges,
    /// Since when no way leads to it.
    unreachable_since_ms: Option<u64>,
}

/// What a record that arrived means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// It is newer than what was known, which is returned. It is the known one now.
    News {
        /// The record that it replaced.
        before: Option<Arc<BrokerRecord>>,
        /// Another broker, which was out of reach and is forgotten to make room.
        displaced: Option<Arc<BrokerRecord>>,
    },
    /// It is the one that is known.
    Known,
    /// A newer one is known: this one, which its sender lacks.
    Older(Arc<BrokerRecord>),
    /// Two brokers have one identity: a data folder was copied. The record is not taken.
    Clash,
    /// There are [`BROKERS_MAX`] brokers, and all of them are in reach. The record is not taken.
    Full,
}

/// What a difference that arrived means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DifferenceReceived {
    /// It led on from the known record, which had this version.
    News(RecordVersion),
    /// It leads to the record that is known.
    Known,
    /// A newer record is known than the one it leads to.
    Older,
    /// It leads on from a record that is not known.
    OtherBase,
    /// Two brokers have one identity.
    Clash,
}

/// Which brokers are known, and by which version of their records, in ascending order.
pub type RecordDigest = Vec<(BrokerId, RecordVersion)>;

impl KnownBrokers {
    /// Knows this broker alone.
    pub fn new(own: BrokerRecord) -> Self {
        Self { own: Arc::new(own), own_changes: RecentChanges::default(), others: BTreeMap::new() }
    }

    /// This broker's record.
    pub fn own(&self) -> &Arc<BrokerRecord> {
        &self.own
    }

    /// Changes this broker's record, which gets the next version.
    pub(crate) fn change_own(&mut self, parts: &ChangedParts) {
        let before = self.own.version();
        self.own_changes.push(before, before.next(), parts);
        Arc::make_mut(&mut self.own).apply(parts, before.next());
    }

    /// The record of a broker.
    pub fn get(&self, id: BrokerId) -> Option<&Arc<BrokerRecord>> {
        if id == self.own.id() {
            return Some(&self.own);
        }
        self.others.get(&id).map(|known| &known.record)
    }

    /// What leads from a version of a broker's record to the newest, if that is known and no longer than the record.
    pub(crate) fn since(&self, id: BrokerId, version: RecordVersion) -> Option<RecordDifference> {
        if id == self.own.id() {
            return self.own_changes.since(version, &self.own);
        }
        let known = self.others.get(&id)?;
        known.changes.since(version, &known.record)
    }

    /// All records, this broker's first.
    pub fn records(&self) -> impl Iterator<Item = &Arc<BrokerRecord>> {
        std::iter::once(&self.own).chain(self.others.values().map(|known| &known.record))
    }

    /// What this broker knows, for a neighbour to compare.
    pub fn digest(&self) -> RecordDigest {
        let mut digest: RecordDigest =
            self.records().map(|record| (record.id(), record.version())).collect();
        digest.sort_unstable();
        digest
    }

    /// The brokers of which somebody with this digest lacks the newest record.
    pub fn lacking(&self, digest: &[(BrokerId, RecordVersion)]) -> Vec<BrokerId> {
        let known: BTreeMap<_, _> = digest.iter().copied().collect();
        let is_lacking = |record: &&Arc<BrokerRecord>| {
            known.get(&record.id()).is_none_or(|version| *version < record.version())
        };
        self.records().filter(is_lacking).map(|record| record.id()).collect()
    }

    /// What a record means that is not newer than the known one, told by its head alone. What an earlier start of this
    /// broker wrote is still on its way in the domain.
    pub(crate) fn look(&self, head: RecordHead) -> Option<Received> {
        let known = self.get(head.id)?;
        match head.version.cmp(&known.version()) {
            Ordering::Less => Some(Received::Older(Arc::clone(known))),
            Ordering::Equal if head.checksum == known.checksum() => Some(Received::Known),
            Ordering::Equal | Ordering::Greater => None,
        }
    }

    /// Takes a record that a neighbour sent, if it is newer than the known one.
    pub fn receive(&mut self, record: BrokerRecord, now_ms: u64) -> Received {
        if let Some(received) = self.look(record.head()) {
            return received;
        }
        let id = record.id();
        if id == self.own.id() {
            // It is newer than the own record, or as new and different: it is of somebody else.
            return Received::Clash;
        }
        match self.others.get_mut(&id) {
            Some(known) => known.receive(record),
            None => self.receive_first(record, now_ms),
        }
    }

    /// Takes what leads on from the known record of a broker; an error if no broker may write what it leads to.
    pub(crate) fn receive_difference(
        &mut self,
        difference: &RecordDifference,
    ) -> Result<DifferenceReceived, RecordError> {
        let Some(record) = self.get(difference.of) else {
            return Ok(DifferenceReceived::OtherBase);
        };
        match difference.after.cmp(&record.version()) {
            Ordering::Less => return Ok(DifferenceReceived::Older),
            Ordering::Equal if difference.checksum == record.checksum() => {
                return Ok(DifferenceReceived::Known);
            }
            Ordering::Equal => return Ok(DifferenceReceived::Clash),
            Ordering::Greater => {}
        }
        match self.others.get_mut(&difference.of) {
            Some(known) => known.receive_difference(difference),
            None => Ok(DifferenceReceived::Clash),
        }
    }

    /// Takes the record of a broker that was not known, which is out of reach until its links are looked at.
    fn receive_first(&mut self, record: BrokerRecord, now_ms: u64) -> Received {
        let is_full = self.others.len() + 1 >= BROKERS_MAX;
        let displaced = if is_full { self.displace() } else { None };
        if is_full && displaced.is_none() {
            return Received::Full;
        }
        let id = record.id();
        let known = KnownBroker {
            record: Arc::new(record),
            changes: RecentChanges::default(),
            unreachable_since_ms: Some(now_ms),
        };
        self.others.insert(id, known);
        Received::News { before: None, displaced }
    }

    /// Forgets the broker that has been out of reach for longest.
    fn displace(&mut self) -> Option<Arc<BrokerRecord>> {
        let since = |(id, known): (&BrokerId, &KnownBroker)| {
            known.unreachable_since_ms.map(|since| (since, *id))
        };
        let (_, oldest) = self.others.iter().filter_map(since).min()?;
        self.others.remove(&oldest).map(|known| known.record)
    }

    /// Remembers which brokers are in reach, and since when the others are not.
    pub(crate) fn reach(&mut self, is_reachable: impl Fn(BrokerId) -> bool, now_ms: u64) {
        for (id, known) in &mut self.others {
            known.unreachable_since_ms = match known.unreachable_since_ms {
                _ if is_reachable(*id) => None,
                since => since.or(Some(now_ms)),
            };
        }
    }

    /// When the next broker that is out of reach now will be forgotten.
    pub(crate) fn next_forgotten_ms(&self, after_ms: u64) -> Option<u64> {
        let since = self.others.values().filter_map(|known| known.unreachable_since_ms).min();
        since.map(|since| since.saturating_add(after_ms))
    }

    /// Forgets the brokers that have been out of reach for so long, and returns their records.
    pub(crate) fn forget(&mut self, after_ms: u64, now_ms: u64) -> Vec<Arc<BrokerRecord>> {
        let is_over = |since: u64| now_ms >= since.saturating_add(after_ms);
        let (forgotten, others): (BTreeMap<_, _>, BTreeMap<_, _>) =
            std::mem::take(&mut self.others)
                .into_iter()
                .partition(|(_, known)| known.unreachable_since_ms.is_some_and(is_over));
        self.others = others;
        forgotten.into_values().map(|known| known.record).collect()
    }
}

impl KnownBroker {
    /// The record is newer than the known one, or as new and different.
    fn receive(&mut self, record: BrokerRecord) -> Received {
        if record.version() == self.record.version() {
            return Received::Clash;
        }
        self.changes = RecentChanges::default();
        let before = std::mem::replace(&mut self.record, Arc::new(record));
        Received::News { before: Some(before), displaced: None }
    }

    /// The difference leads to a newer record than the known one.
    fn receive_difference(
        &mut self,
        difference: &RecordDifference,
    ) -> Result<DifferenceReceived, RecordError> {
        let RecordDifference { before: base, after, checksum, parts, .. } = difference;
        let before = self.record.version();
        let can_lead_on = *base <= before && before.start() == after.start();
        #[cfg(test)]
        let (can_lead_on, checksum) = if is_planted(PlantedBug::AnyBase) {
            (true, &self.checksum_after(difference))
        } else {
            (can_lead_on, checksum)
        };
        if !can_lead_on || !self.record.leads_to(parts, *checksum)? {
            return Ok(DifferenceReceived::OtherBase);
        }
        Arc::make_mut(&mut self.record).apply(parts, *after);
        self.changes.push(before, *after, parts);
        Ok(DifferenceReceived::News(before))
    }

    #[cfg(test)]
    fn checksum_after(&self, difference: &RecordDifference) -> u64 {
        let mut record = (*self.record).clone();
        record.apply(&difference.parts, difference.after);
        record.checksum()
    }
}
