//! What waits to be sent to one neighbour. Bounded, and the newest of each kind: a record that waits is read from the
//! known ones when it is sent, so that a newer one replaces it.

use std::collections::{BTreeMap, BTreeSet};

use crate::bounds::BROKERS_MAX;
use crate::control::{
    ACKNOWLEDGEMENTS_MAX, Acknowledgement, encode_acknowledgements, encode_difference,
    encode_hello, encode_lacking, encode_record,
};
use crate::{BrokerId, KnownBrokers, RecordDigest, RecordVersion};

/// Acknowledgements that wait for one neighbour. Whoever waits for one that finds no room is told that the broker has
/// not answered.
const WAITING_MAX: usize = 16 * ACKNOWLEDGEMENTS_MAX;

/// The other end of a link.
#[derive(Debug)]
pub(crate) struct Neighbour {
    pub cost: u32,
    /// Whether its hello has arrived: before it, nobody knows what the neighbour lacks.
    has_greeted: bool,
    is_greeted: bool,
    records: BTreeSet<BrokerId>,
    /// The versions of brokers' records that it has, or newer ones: as it said, or was sent over this link.
    versions: BTreeMap<BrokerId, RecordVersion>,
    /// Brokers whose records it is asked for.
    lacking: BTreeSet<BrokerId>,
    /// The newest version, by whose record it is and who has taken it.
    acknowledgements: BTreeMap<(BrokerId, BrokerId), RecordVersion>,
}

impl Neighbour {
    pub fn new(cost: u32) -> Self {
        Self {
            cost,
            has_greeted: false,
            is_greeted: false,
            records: BTreeSet::new(),
            versions: BTreeMap::new(),
            lacking: BTreeSet::new(),
            acknowledgements: BTreeMap::new(),
        }
    }

    pub fn has_greeted(&self) -> bool {
        self.has_greeted
    }

    /// Its hello has arrived: it has these versions, and lacks the newest records of these brokers.
    pub fn greet(&mut self, digest: RecordDigest, lacking: Vec<BrokerId>) {
        self.has_greeted = true;
        self.versions = digest.into_iter().collect();
        self.records = lacking.into_iter().collect();
    }

    /// Sends it the record of this broker. Until it has greeted, what it lacks is not known; its hello tells.
    pub fn tell(&mut self, record_of: BrokerId) {
        if self.has_greeted {
            self.records.insert(record_of);
        }
    }

    /// Asks it for a record.
    pub fn ask(&mut self, record_of: BrokerId) {
        if self.lacking.len() < BROKERS_MAX {
            self.lacking.insert(record_of);
        }
    }

    /// It asks for the record of this broker, because it cannot use a difference.
    pub fn send_whole(&mut self, record_of: BrokerId) {
        self.versions.remove(&record_of);
        self.tell(record_of);
    }

    /// It has the newest record of this broker, which has this version.
    pub fn has(&mut self, record_of: BrokerId, version: RecordVersion) {
        self.records.remove(&record_of);
        self.versions.insert(record_of, version);
    }

    /// It has an older record of this broker than the newest.
    pub fn has_older(&mut self, record_of: BrokerId, version: RecordVersion) {
        self.versions.insert(record_of, version);
        self.tell(record_of);
    }

    /// The broker is not known here any more.
    pub fn forget(&mut self, record_of: BrokerId) {
        self.versions.remove(&record_of);
    }

    pub fn acknowledge(&mut self, entry: Acknowledgement) {
        let key = (entry.of, entry.by);
        if self.acknowledgements.len() >= WAITING_MAX && !self.acknowledgements.contains_key(&key) {
            return;
        }
        let newest = self.acknowledgements.entry(key).or_insert(entry.version);
        *newest = entry.version.max(*newest);
    }

    pub fn has_something_to_send(&self) -> bool {
        let is_empty = self.records.is_empty() && self.lacking.is_empty();
        !self.is_greeted || !is_empty || !self.acknowledgements.is_empty()
    }

    /// The next message to it.
    pub fn next_message(&mut self, known: &KnownBrokers) -> Option<Vec<u8>> {
        if !self.is_greeted {
            self.is_greeted = true;
            return Some(encode_hello(known.own().id(), &known.digest()));
        }
        if !self.lacking.is_empty() {
            let lacking: Vec<_> = std::mem::take(&mut self.lacking).into_iter().collect();
            return Some(encode_lacking(&lacking));
        }
        // Records first: who has not heard of a broker takes no acknowledgement of it.
        while let Some(id) = self.records.pop_first() {
            if let Some(bytes) = self.newest_record(id, known) {
                return Some(bytes);
            }
        }
        self.next_acknowledgements()
    }

    /// The newest record of a broker, or what leads to it from the one that the neighbour has.
    fn newest_record(&mut self, id: BrokerId, known: &KnownBrokers) -> Option<Vec<u8>> {
        let record = known.get(id)?;
        let before = self.versions.insert(id, record.version());
        let difference = before.and_then(|before| known.since(id, before));
        Some(difference.map_or_else(|| encode_record(record), |one| encode_difference(&one)))
    }

    fn next_acknowledgements(&mut self) -> Option<Vec<u8>> {
        let next = std::iter::from_fn(|| self.acknowledgements.pop_first());
        let entry = |((of, by), version)| Acknowledgement { of, version, by };
        let entries: Vec<_> = next.take(ACKNOWLEDGEMENTS_MAX).map(entry).collect();
        (!entries.is_empty()).then(|| encode_acknowledgements(&entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::ControlMessage;
    use crate::strategies_tests::broker;
    use crate::{BrokerDescription, BrokerRecord};

    fn known() -> KnownBrokers {
        KnownBrokers::new(BrokerRecord::first(broker(1), 1, BrokerDescription::default()))
    }

    fn entry(by: u32, counter: u64) -> Acknowledgement {
        let mut bytes = [0; BrokerId::BYTES];
        bytes[..4].copy_from_slice(&by.to_be_bytes());
        let version = RecordVersion::new(1, counter);
        Acknowledgement { of: broker(2), version, by: BrokerId::from_bytes(bytes) }
    }

    fn messages(neighbour: &mut Neighbour) -> Vec<ControlMessage<'static>> {
        let known = known();
        std::iter::from_fn(|| neighbour.next_message(&known))
            .map(|bytes| ControlMessage::decode(bytes.leak()).expect("it makes sense"))
            .collect()
    }

    #[test]
    fn hello_comes_first_then_records_then_acknowledgements() {
        let mut neighbour = Neighbour::new(1);
        neighbour.acknowledge(entry(1, 1));
        neighbour.greet(Vec::new(), vec![broker(1), broker(9)]);
        let messages = messages(&mut neighbour);
        assert!(matches!(
            messages[..],
            [
                ControlMessage::Hello(_),
                ControlMessage::Record(_),
                ControlMessage::Acknowledgements(_)
            ]
        ));
        assert!(!neighbour.has_something_to_send(), "broker 9 is not known any more");
    }

    #[test]
    fn a_newer_acknowledgement_replaces_one_that_waits() {
        let mut neighbour = Neighbour::new(1);
        for counter in [3, 5, 4] {
            neighbour.acknowledge(entry(1, counter));
        }
        let expected = ControlMessage::Acknowledgements(vec![entry(1, 5)]);
        assert_eq!(messages(&mut neighbour)[1..], [expected]);
    }

    #[test]
    fn acknowledgements_beyond_their_bound_are_left_out_and_many_are_several_messages() {
        let mut neighbour = Neighbour::new(1);
        for by in 0..WAITING_MAX as u32 + 5 {
            neighbour.acknowledge(entry(by, 1));
        }
        neighbour.acknowledge(entry(0, 2));
        assert_eq!(neighbour.acknowledgements.len(), WAITING_MAX);
        assert_eq!(messages(&mut neighbour).len(), 1 + WAITING_MAX / ACKNOWLEDGEMENTS_MAX);
    }

    #[test]
    fn no_more_records_are_asked_for_than_there_can_be_brokers() {
        let mut neighbour = Neighbour::new(1);
        for by in 0..BROKERS_MAX as u32 + 5 {
            neighbour.ask(entry(by, 1).by);
        }
        let ControlMessage::Lacking(lacking) = &messages(&mut neighbour)[1] else { panic!() };
        assert_eq!(lacking.len(), BROKERS_MAX);
    }

    #[test]
    fn before_a_neighbour_greets_nothing_is_known_to_be_missing() {
        let mut neighbour = Neighbour::new(1);
        neighbour.tell(broker(1));
        assert_eq!(messages(&mut neighbour).len(), 1, "hello alone");
    }
}
