//! Subscriptions with properties: told apart by their identifiers, and made again as they were.

use slipring_wire::{PacketSplit, Subscribe, split_packet};

use super::*;

const QOS: QoS = QoS::AtMostOnce;
const NEEDS: &[(&str, &str)] = &[("deliver", "frame"), ("rate", "10")];

/// Filters, user properties and identifier of a SUBSCRIBE.
type Asked = (Vec<String>, Vec<(String, String)>, Option<u32>);

/// The SUBSCRIBE packets of some output.
fn asked(output: &[u8]) -> Vec<Asked> {
    let (mut rest, mut asked) = (output, Vec::new());
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        if let Packet::Subscribe(subscribe) = Packet::decode(&whole, Version::V5).unwrap() {
            asked.push(told(&subscribe));
        }
        rest = &rest[whole.length..];
    }
    asked
}

fn told(subscribe: &Subscribe<'_>) -> Asked {
    let filters = subscribe.subscriptions.iter().map(|one| one.filter.to_owned()).collect();
    let pairs = subscribe.properties.iter().filter_map(|(_, value)| match value {
        Value::Pair(name, text) => Some((name.to_owned(), text.to_owned())),
        _ => None,
    });
    let identifier = subscribe.properties.number(PropertyId::SubscriptionIdentifier);
    (filters, pairs.collect(), identifier)
}

/// Who gets a message with these identifiers.
fn readers(protocol: &mut ClientProtocol, topic: &str, identifiers: &[u32]) -> Vec<SubscriptionId> {
    let mut properties = PropertiesBuf::new();
    for identifier in identifiers {
        properties.push(PropertyId::SubscriptionIdentifier, Value::Varint(*identifier));
    }
    let publish = Publish { properties: properties.borrow(), ..Publish::new(topic, b"x") };
    match &feed(protocol, &bytes(&Packet::Publish(publish)), Instant::now())[..] {
        [ProtocolEvent::Message { subscriptions, .. }] => subscriptions.to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn properties_and_an_identifier_go_with_the_filters() {
    let now = Instant::now();
    let mut protocol = open(now);
    protocol.subscribe(&["a/+", "b"], QOS, NEEDS).unwrap();
    protocol.subscribe(&["c"], QOS, NEEDS).unwrap();
    protocol.subscribe(&["d"], QOS, &[]).unwrap();
    let needs: Vec<_> = NEEDS.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
    let expected = [
        (vec!["a/+".to_owned(), "b".to_owned()], needs.clone(), Some(1)),
        (vec!["c".to_owned()], needs, Some(2)),
        (vec!["d".to_owned()], vec![], None),
    ];
    assert_eq!(asked(&output(&mut protocol, now)), expected);
}

#[test]
fn a_message_with_identifiers_goes_to_those_subscriptions_alone() {
    let now = Instant::now();
    let mut protocol = open(now);
    let plain = protocol.subscribe(&["a/#"], QOS, &[]).unwrap();
    let first = protocol.subscribe(&["a/+"], QOS, NEEDS).unwrap();
    let second = protocol.subscribe(&["+/b"], QOS, NEEDS).unwrap();
    assert_eq!(readers(&mut protocol, "a/b", &[]), [plain]);
    assert_eq!(readers(&mut protocol, "a/b", &[1]), [first]);
    assert_eq!(readers(&mut protocol, "a/b", &[2, 1]), [first, second]);
    assert_eq!(readers(&mut protocol, "a/b", &[9]), []);
    assert_eq!(readers(&mut protocol, "x/b", &[1]), [], "the number of an earlier client");
    protocol.unsubscribe(first);
    assert_eq!(readers(&mut protocol, "a/b", &[1]), []);
}

#[test]
fn where_the_broker_has_no_identifiers_messages_are_matched() {
    let now = Instant::now();
    let mut terms = PropertiesBuf::new();
    terms.push(PropertyId::SubscriptionIdentifierAvailable, Value::Byte(0));
    let mut protocol = open_with(&terms, now);
    let id = protocol.subscribe(&["a"], QOS, NEEDS).unwrap();
    assert_eq!(asked(&output(&mut protocol, now))[0].2, None);
    assert_eq!(readers(&mut protocol, "a", &[]), [id]);
}

#[test]
fn a_filter_is_not_shared_between_other_properties() {
    let now = Instant::now();
    let mut protocol = open(now);
    let selected = protocol.subscribe(&["a", "b"], QOS, NEEDS).unwrap();
    let taken = Err(SendError::Taken("b".to_owned()));
    assert_eq!(protocol.subscribe(&["c", "b"], QOS, NEEDS), taken);
    assert_eq!(protocol.subscribe(&["b"], QOS, &[]), taken);
    protocol.unsubscribe(selected);
    protocol.subscribe(&["b"], QOS, &[]).unwrap();
    assert_eq!(protocol.subscribe(&["b"], QOS, NEEDS), taken);
    let long = "x".repeat(65_536);
    let refused = protocol.subscribe(&["z"], QOS, &[("rate", &long)]);
    assert_eq!(refused, Err(SendError::Property("rate".to_owned())));
}

#[test]
fn a_subscription_with_properties_is_made_again_as_it_was_even_in_the_same_session() {
    let now = Instant::now();
    for session_present in [true, false] {
        let mut protocol = lasting(now);
        protocol.subscribe(&["plain"], QOS, &[]).unwrap();
        let id = protocol.subscribe(&["a"], QOS, NEEDS).unwrap();
        let first = asked(&output(&mut protocol, now)).pop().unwrap();
        let reasons = vec![Reason::Success];
        for packet_id in [1, 2].map(|id| PacketId::new(id).unwrap()) {
            let (properties, reasons) = (Properties::NONE, reasons.clone());
            let suback = Packet::SubAck(SubAck { packet_id, properties, reasons });
            feed(&mut protocol, &bytes(&suback), now);
        }
        let mut made = asked(&again(&mut protocol, session_present, now));
        assert_eq!(made.pop(), Some(first));
        assert_eq!(made.len(), usize::from(!session_present), "the plain one");
        assert_eq!(readers(&mut protocol, "a", &[1]), [id]);
    }
}

#[test]
fn an_unanswered_subscription_is_made_again_once() {
    let now = Instant::now();
    let mut protocol = lasting(now);
    protocol.subscribe(&["a"], QOS, NEEDS).unwrap();
    assert_eq!(asked(&again(&mut protocol, true, now)).len(), 1);
}

#[test]
fn a_refusal_has_the_brokers_words() {
    let now = Instant::now();
    let mut protocol = open(now);
    let id = protocol.subscribe(&["a"], QOS, &[("rate", "fast")]).unwrap();
    let mut words = PropertiesBuf::new();
    words.push(PropertyId::ReasonString, Value::Text("rate is a number"));
    let (packet_id, reason) = (PacketId::new(1).unwrap(), Reason::ImplementationSpecificError);
    let suback = SubAck { packet_id, properties: words.borrow(), reasons: vec![reason] };
    let text = Some("rate is a number".to_owned());
    let refused = vec![RefusedFilter { filter: "a".to_owned(), reason, text }];
    let told = feed(&mut protocol, &bytes(&Packet::SubAck(suback)), now);
    assert_eq!(told, [ProtocolEvent::Client(ClientEvent::Subscribed { id, refused })]);
}

#[test]
fn answers_are_listened_for_without_asking_the_broker() {
    let now = Instant::now();
    let mut protocol = lasting(now);
    let id = protocol.listen(&["$slipring/answer"], QoS::AtMostOnce);
    assert!(protocol.output().is_empty());
    assert_eq!(readers(&mut protocol, "$slipring/answer", &[]), [id]);
    assert!(again(&mut protocol, false, now).is_empty());
    assert_eq!(readers(&mut protocol, "$slipring/answer", &[]), [id]);
    protocol.unsubscribe(id);
    assert!(protocol.output().is_empty());
}

#[test]
fn a_service_is_alone_with_its_filter_and_gets_what_its_topic_says() {
    let now = Instant::now();
    let mut protocol = open(now);
    let serve: &[(&str, &str)] = &[("slipring-serve", "4")];
    let service = protocol.subscribe(&["$share/group/a/#"], QOS, serve).unwrap();
    let (_, pairs, identifier) = asked(&output(&mut protocol, now)).remove(0);
    assert_eq!(pairs, [("slipring-serve".to_owned(), "4".to_owned())]);
    assert_eq!(identifier, None);
    assert_eq!(readers(&mut protocol, "a/b", &[]), [service]);
    let taken = Err(SendError::Taken("$share/group/a/#".to_owned()));
    assert_eq!(protocol.subscribe(&["$share/group/a/#"], QOS, &[]), taken);
}

fn unsuback(id: u16) -> Vec<u8> {
    let (packet_id, properties) = (PacketId::new(id).unwrap(), Properties::NONE);
    bytes(&Packet::UnsubAck(UnsubAck { packet_id, properties, reasons: vec![Reason::Success] }))
}

#[test]
fn a_retired_subscription_gets_what_comes_before_the_brokers_answer() {
    let now = Instant::now();
    let mut protocol = lasting(now);
    let id = protocol.subscribe(&["a"], QOS, &[]).unwrap();
    output(&mut protocol, now);
    protocol.retire(id);
    assert_eq!(output(&mut protocol, now), b"\xa2\x06\0\x02\0\0\x01a");
    assert_eq!(readers(&mut protocol, "a", &[]), [id]);
    let told = feed(&mut protocol, &unsuback(2), now);
    assert_eq!(told, [ProtocolEvent::Client(ClientEvent::Unsubscribed(id))]);
    protocol.detach(id);
    assert_eq!(readers(&mut protocol, "a", &[]), []);
    assert!(asked(&again(&mut protocol, false, now)).is_empty());
}

#[test]
fn answers_may_come_at_the_qos_that_is_listened_for() {
    let now = Instant::now();
    let mut protocol = open(now);
    protocol.listen(&["answers"], QoS::AtLeastOnce);
    let (qos, packet_id) = (QoS::AtLeastOnce, PacketId::new(1));
    let publish = Publish { qos, packet_id, ..Publish::new("answers", b"x") };
    assert_eq!(feed(&mut protocol, &bytes(&Packet::Publish(publish)), now).len(), 1);
    assert!(protocol.loss().is_none());
}
