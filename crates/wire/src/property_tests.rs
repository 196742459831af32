//! Tests of the properties of packets: one by one, and as they are stored.

use super::*;
use crate::PropertiesBuf;

#[test]
fn pieces_are_the_properties_one_by_one() {
    let mut all = PropertiesBuf::new();
    all.push(PropertyId::PayloadFormatIndicator, Value::Byte(1))
        .push(PropertyId::TopicAlias, Value::Two(7))
        .push(PropertyId::MessageExpiryInterval, Value::Four(9))
        .push(PropertyId::SubscriptionIdentifier, Value::Varint(300))
        .push(PropertyId::ResponseTopic, Value::Text("a/b"))
        .push(PropertyId::CorrelationData, Value::Binary(b"xyz"))
        .push(PropertyId::UserProperty, Value::Pair("name", "value"))
        .push(PropertyId::UserProperty, Value::Pair("nam", "other"));
    let properties = all.borrow();
    let mut copy = PropertiesBuf::with_capacity(1);
    for (_, piece) in properties.pieces() {
        copy.push_piece(piece);
    }
    assert_eq!(copy, all);
    assert_eq!(properties.pieces().count(), 8);
    assert_eq!(properties.get(PropertyId::SubscriptionIdentifier), Some(Value::Varint(300)));
    assert_eq!(properties.get(PropertyId::ContentType), None);
    assert_eq!((properties.pair("name"), properties.pair("nam")), (Some("value"), Some("other")));
    assert_eq!((properties.pair("na"), properties.pair("")), (None, None));
    for cut in 0..properties.encoded().len() {
        let cut = Properties { encoded: &properties.encoded()[..cut], kinds: properties.kinds() };
        assert!(cut.pieces().count() < 8);
    }
}

#[test]
fn stored_properties_are_checked_like_those_of_a_packet() {
    let mut stored = PropertiesBuf::new();
    stored.push(PropertyId::ContentType, Value::Text("a/b"));
    let read = Properties::of_publish(stored.borrow().encoded());
    assert_eq!(read, Ok(stored.borrow()));
    assert!(Properties::of_publish(&[0x03, 0x00]).is_err(), "cut short");
    assert!(Properties::of_publish(&[0x21, 0x00, 0x01]).is_err(), "of another packet");
}
