//! Filters, topics, rates and records for property tests: short alphabets, so that they meet.

use std::num::NonZeroU32;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::control::{
    Acknowledgement, ControlMessage, Hello, encode_acknowledgements, encode_difference,
    encode_hello, encode_lacking, encode_record,
};
use crate::interest::InterestDifference;
use crate::record::{ChangedParts, RecordDifference};
use crate::{
    BrokerDescription, BrokerId, BrokerRecord, Interest, InterestBounds, Load, RecordDigest,
    RecordVersion, WantedRate,
};

pub fn filter() -> impl Strategy<Value = String> {
    let level = prop_oneof![Just("a"), Just("b"), Just(""), Just("+"), Just("$x")];
    let levels = (vec(level, 0..5), any::<bool>());
    levels
        .prop_map(|(mut levels, ends_open)| {
            if ends_open {
                levels.push("#");
            }
            levels.join("/")
        })
        .prop_filter("a filter is not empty", |filter| !filter.is_empty())
}

pub fn topic() -> impl Strategy<Value = String> {
    let level = prop_oneof![Just("a"), Just("b"), Just(""), Just("c"), Just("$x")];
    vec(level, 1..6)
        .prop_map(|levels| levels.join("/"))
        .prop_filter("a topic is not empty", |topic| !topic.is_empty())
}

pub fn rate() -> impl Strategy<Value = WantedRate> {
    (1..4u32).prop_map(|rate| match rate {
        3 => WantedRate::EVERY_SAMPLE,
        _ => WantedRate::from_mhz(NonZeroU32::new(rate).expect("it is above 0")),
    })
}

pub fn interest() -> impl Strategy<Value = Interest> {
    vec((filter(), rate()), 0..12).prop_map(|subscriptions| {
        let mut interest = Interest::default();
        for (filter, rate) in subscriptions {
            interest.subscribe(&filter, rate);
        }
        interest
    })
}

pub fn record() -> impl Strategy<Value = BrokerRecord> {
    let links = btree_map((1..99u8).prop_map(broker), any::<u32>(), 0..5);
    let parts = (any::<(u64, u64)>(), ".{0,9}", vec(".{0,9}", 0..3), links);
    (parts, interest(), any::<(u32, u32)>(), 0..12usize).prop_map(
        |((version, name, addresses, links), interest, load, filters_max)| {
            let description = BrokerDescription::new(name, addresses).expect("within the bounds");
            let mut record = BrokerRecord::first(broker(0), 0, description);
            record.version = RecordVersion::new(version.0, version.1);
            record.links = links;
            record.load = Load { clients: load.0, clients_max: load.1 };
            let bounds = InterestBounds { filters_max: filters_max.max(1), bytes_max: 99 };
            record.interest = interest.announce(bounds);
            record
        },
    )
}

fn version() -> impl Strategy<Value = RecordVersion> {
    any::<(u64, u64)>().prop_map(|(start, counter)| RecordVersion::new(start, counter))
}

/// What leads from one record to another one, or from neither.
fn difference() -> impl Strategy<Value = RecordDifference> {
    let parts = (record(), record(), any::<[bool; 4]>());
    (parts, any::<u64>(), 0..u64::MAX, any::<u64>()).prop_map(
        |((before, after, has), start, counter, checksum)| {
            let interest = InterestDifference::between(before.interest(), after.interest());
            let parts = ChangedParts {
                description: has[0].then(|| after.description().clone()),
                links: has[1].then(|| after.links().clone()),
                load: has[2].then(|| after.load()),
                interest: has[3].then_some(interest),
            };
            let before = RecordVersion::new(start, counter);
            RecordDifference { of: broker(0), before, after: before.next(), checksum, parts }
        },
    )
}

/// A control message, and its bytes.
pub fn control_message() -> impl Strategy<Value = (ControlMessage<'static>, Vec<u8>)> {
    let digest = prop::collection::btree_map((0..99u8).prop_map(broker), version(), 0..9);
    let hello = digest.prop_map(|digest| {
        let digest: RecordDigest = digest.into_iter().collect();
        let bytes = encode_hello(broker(1), &digest);
        (ControlMessage::Hello(Hello { id: broker(1), digest }), bytes)
    });
    let record = record().prop_map(|record| {
        let bytes = encode_record(&record);
        (ControlMessage::Record(bytes[1..].to_vec().into()), bytes)
    });
    let entry = (0..9u8, version(), 0..9u8).prop_map(|(of, version, by)| Acknowledgement {
        of: broker(of),
        version,
        by: broker(by),
    });
    let entries = prop::collection::vec(entry, 0..9).prop_map(|entries| {
        let bytes = encode_acknowledgements(&entries);
        (ControlMessage::Acknowledgements(entries), bytes)
    });
    let difference = difference().prop_map(|difference| {
        let bytes = encode_difference(&difference);
        (ControlMessage::Difference(Box::new(difference)), bytes)
    });
    let lacking = vec((0..9u8).prop_map(broker), 0..9).prop_map(|brokers| {
        let bytes = encode_lacking(&brokers);
        (ControlMessage::Lacking(brokers), bytes)
    });
    prop_oneof![hello, record, difference, entries, lacking]
}

pub fn broker(number: u8) -> BrokerId {
    BrokerId::from_bytes([number; BrokerId::BYTES])
}
