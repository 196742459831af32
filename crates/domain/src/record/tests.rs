//! Records survive the way to bytes and back; whatever else arrives is refused with its reason.

use proptest::prelude::*;

use super::{BrokerDescription, BrokerRecord, RecordError};
use crate::bounds::{ADDRESSES_MAX, FILTER_BYTES_MAX, FILTERS_MAX, LINKS_MAX};
use crate::strategies_tests::{broker, record};

fn encoded(record: &BrokerRecord) -> Vec<u8> {
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    bytes
}

/// A record up to its load, with these links. Its checksum is the last thing that is looked at.
fn head(links: u16) -> Vec<u8> {
    let mut bytes = encoded(&BrokerRecord::first(broker(1), 1, BrokerDescription::default()));
    bytes.truncate(bytes.len() - 2 - 8 - 1 - 4);
    bytes.extend(links.to_be_bytes());
    bytes
}

fn with_filters(filters: &[(&str, u32)]) -> Vec<u8> {
    let mut bytes = head(0);
    bytes.extend([0; 8 + 1]);
    bytes.extend((filters.len() as u32).to_be_bytes());
    for (filter, rate) in filters {
        bytes.extend((filter.len() as u16).to_be_bytes());
        bytes.extend(filter.bytes());
        bytes.extend(rate.to_be_bytes());
    }
    bytes
}

proptest! {
    #[test]
    fn a_record_comes_back_from_its_bytes(record in record()) {
        prop_assert_eq!(BrokerRecord::decode(&encoded(&record)), Ok(record));
    }

    #[test]
    fn a_record_that_is_cut_anywhere_is_refused(record in record(), at in any::<prop::sample::Index>()) {
        let bytes = encoded(&record);
        prop_assert!(BrokerRecord::decode(&bytes[..at.index(bytes.len())]).is_err());
    }

    #[test]
    fn a_record_with_a_changed_byte_is_refused_or_is_another_one(
        record in record(), at in any::<prop::sample::Index>(), change in 1u8..,
    ) {
        let mut bytes = encoded(&record);
        let at = at.index(bytes.len());
        bytes[at] ^= change;
        if let Ok(other) = BrokerRecord::decode(&bytes) {
            prop_assert_ne!(&other, &record);
            prop_assert_eq!(encoded(&other), bytes, "there is one way to write a record");
        }
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = BrokerRecord::decode(&bytes);
    }
}

#[test]
fn a_count_beyond_its_bound_is_refused_before_its_entries_are_read() {
    assert_eq!(BrokerRecord::decode(&head(LINKS_MAX as u16 + 1)), Err(RecordError::TooManyLinks));
    let mut bytes = head(0);
    bytes.extend([0; 8 + 1]);
    bytes.extend((FILTERS_MAX as u32 + 1).to_be_bytes());
    assert_eq!(BrokerRecord::decode(&bytes), Err(RecordError::TooManyFilters));
    let mut claimed = head(LINKS_MAX as u16);
    claimed.push(0);
    assert_eq!(BrokerRecord::decode(&claimed), Err(RecordError::Truncated));
}

#[test]
fn filters_have_a_bound_of_bytes_together() {
    let long: Vec<String> = (10..=10 + FILTER_BYTES_MAX / 60_000)
        .map(|at| format!("{at}{}", "x".repeat(60_000)))
        .collect();
    let filters: Vec<_> = long.iter().map(|filter| (filter.as_str(), 1)).collect();
    assert_eq!(BrokerRecord::decode(&with_filters(&filters)), Err(RecordError::TooManyFilters));
    let bytes = with_filters(&filters[..filters.len() - 1]);
    assert_eq!(BrokerRecord::decode(&bytes), Err(RecordError::WrongChecksum));
}

#[test]
fn each_wrong_filter_is_refused_with_its_reason() {
    let deep = "a/".repeat(32);
    for (filters, error) in [
        (&[("a#", 1)][..], RecordError::WrongFilter),
        (&[(&*deep, 1)], RecordError::WrongFilter),
        (&[("a", 0)], RecordError::WrongNumber),
        (&[("b", 1), ("a", 1)], RecordError::Unordered),
        (&[("a", 1), ("a", 2)], RecordError::Unordered),
    ] {
        assert_eq!(BrokerRecord::decode(&with_filters(filters)), Err(error), "{filters:?}");
    }
    let bytes = with_filters(&[("a", 1), ("b", 1)]);
    assert_eq!(BrokerRecord::decode(&bytes), Err(RecordError::WrongChecksum));
}

#[test]
fn a_broker_has_no_link_to_itself_and_names_each_neighbour_once() {
    let entry = |number: u8| [vec![number; 16], vec![0; 4]].concat();
    let record = |links: &[u8]| {
        let mut bytes = head(links.len() as u16);
        bytes.extend(links.iter().flat_map(|number| entry(*number)));
        bytes.extend([0; 8 + 1 + 4]);
        BrokerRecord::decode(&bytes).expect_err("its checksum is wrong at least")
    };
    assert_eq!(record(&[2, 3]), RecordError::WrongChecksum);
    assert_eq!(record(&[1]), RecordError::LinkToItself);
    assert_eq!(record(&[2, 2]), RecordError::Unordered);
}

#[test]
fn other_formats_and_bytes_left_over_are_refused() {
    let record = BrokerRecord::first(broker(1), 1, BrokerDescription::default());
    let mut bytes = encoded(&record);
    bytes.push(0);
    assert_eq!(BrokerRecord::decode(&bytes), Err(RecordError::Trailing));
    bytes[0] = 2;
    assert_eq!(BrokerRecord::decode(&bytes), Err(RecordError::UnknownFormat(2)));
}

#[test]
fn a_description_keeps_to_its_bounds() {
    let long = || "x".repeat(256);
    let many = vec![String::new(); ADDRESSES_MAX + 1];
    assert_eq!(BrokerDescription::new(long(), vec![]), Err(RecordError::LongName));
    assert_eq!(BrokerDescription::new(String::new(), vec![long()]), Err(RecordError::LongAddress));
    assert_eq!(BrokerDescription::new(String::new(), many), Err(RecordError::TooManyAddresses));
}
