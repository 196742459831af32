//! Conformance rows for the server's side: clause, bytes in, bytes out.

use slipring_core::{Action, Limits, Session};
use slipring_wire::{Framed, Packet, Reason, frame};

const CONNECT_V311: &[u8] = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a";
const CONNECT_V5: &[u8] = b"\x10\x0e\x00\x04MQTT\x05\x02\x00\x3c\x00\x00\x01a";
const CONNACK_V311: &[u8] = b"\x20\x02\x00\x00";
/// Maximum QoS 0, no retain, packets of at most 1 MiB, no subscription ids, no shared subscriptions.
const CONNACK_V5: &[u8] =
    b"\x20\x10\x00\x00\x0d\x24\x00\x25\x00\x27\x00\x10\x00\x00\x29\x00\x2a\x00";

/// Feeds a stream to a fresh session as the engine does; what it answers, and how it ended.
fn converse(stream: &[&[u8]]) -> (Vec<u8>, Result<(), Reason>) {
    let mut session = Session::new(Limits::default(), "assigned".into());
    let mut reply = Vec::new();
    let bytes = stream.concat();
    let mut rest = &bytes[..];
    loop {
        let next = frame(rest, session.packet_bytes_max()).and_then(|framed| match framed {
            Framed::Incomplete(_) => Ok(None),
            Framed::Whole(whole) => {
                rest = &rest[whole.length..];
                let packet = Packet::decode(&whole, session.version())?;
                session.receive(packet, &mut reply).map(Some)
            }
        });
        match next {
            Ok(None | Some(Action::Close)) => return (reply, Ok(())),
            Ok(Some(_)) => {}
            Err(violation) => {
                session.farewell(violation.reason, &mut reply);
                return (reply, Err(violation.reason));
            }
        }
    }
}

fn check(clause: &str, stream: &[&[u8]], answer: &[&[u8]], ended: Result<(), Reason>) {
    assert_eq!(converse(stream), (answer.concat(), ended), "{clause}");
}

#[test]
fn connections_begin_as_the_standard_says() {
    check("MQTT-3.1.0-1 a client opens with CONNECT", &[CONNECT_V311], &[CONNACK_V311], Ok(()));
    check("MQTT-3.2.0-1 the answer is CONNACK", &[CONNECT_V5], &[CONNACK_V5], Ok(()));
    let early = Err(Reason::ProtocolError);
    check("MQTT-3.1.0-1 PINGREQ first", &[b"\xc0\x00"], &[], early);
    check("CVE-2021-28166 PUBACK before CONNECT", &[b"\x40\x02\x00\x01"], &[], early);
    check(
        "CVE-2021-28166 CONNACK from a client",
        &[CONNACK_V311],
        &[],
        Err(Reason::MalformedPacket),
    );
    check(
        "MQTT-3.1.0-2 a second CONNECT",
        &[CONNECT_V5, CONNECT_V5],
        &[CONNACK_V5, b"\xe0\x02\x82\x00"],
        early,
    );
    check(
        "MQTT-3.1.2-2 (3.1.1) another protocol level is told so",
        &[b"\x10\x0d\x00\x04MQTT\x03\x02\x00\x3c\x00\x01a"],
        &[b"\x20\x02\x00\x01"],
        Err(Reason::UnsupportedProtocolVersion),
    );
    check(
        "MQTT-3.1.3-8 (3.1.1) a kept session without a client id",
        &[b"\x10\x0c\x00\x04MQTT\x04\x00\x00\x3c\x00\x00"],
        &[b"\x20\x02\x00\x02"],
        Err(Reason::ClientIdentifierNotValid),
    );
}

#[test]
fn a_first_packet_larger_than_a_connect_is_refused_cve_2023_0809() {
    check("a large SUBSCRIBE first", &[b"\x82\xff\xff\x03"], &[], Err(Reason::PacketTooLarge));
}

#[test]
fn an_mqtt_5_client_is_told_what_the_broker_gave_it() {
    let (reply, _) = converse(&[b"\x10\x0d\x00\x04MQTT\x05\x02\x00\x00\x00\x00\x00"]);
    let Ok(Framed::Whole(whole)) = frame(&reply, 1000) else { panic!("no CONNACK") };
    let shown = format!("{:?}", Packet::decode(&whole, slipring_wire::Version::V5));
    assert!(shown.contains("Success"), "{shown}");
    let text = String::from_utf8_lossy(&reply);
    assert!(text.contains("\x12\0\u{8}assigned"), "MQTT-3.1.3-6 an assigned identifier: {text:?}");
    assert!(text.contains("\x13\x0e\x10"), "MQTT-3.1.2-21 a keep-alive of 3,600 s: {text:?}");
}

#[test]
fn what_was_not_offered_is_refused_with_its_reason() {
    let qos1 = b"\x32\x06\x00\x01t\x00\x07\x00";
    let rows: [(&str, &[u8], Reason); 5] = [
        ("MQTT-3.2.2-11 QoS 1", qos1, Reason::QoSNotSupported),
        ("MQTT-3.2.2-14 retain", b"\x31\x04\x00\x01t\x00", Reason::RetainNotSupported),
        (
            "MQTT-3.3.2-9 topic alias",
            b"\x30\x07\x00\x01t\x03\x23\x00\x01",
            Reason::TopicAliasInvalid,
        ),
        (
            "MQTT-3.2.2-17 subscription identifier",
            b"\x82\x09\x00\x01\x02\x0b\x05\x00\x01t\x00",
            Reason::SubscriptionIdentifiersNotSupported,
        ),
        ("AUTH without a method", b"\xf0\x00", Reason::ProtocolError),
    ];
    for (clause, bytes, reason) in rows {
        let farewell = [0xe0, 0x02, reason.code(), 0x00];
        check(clause, &[CONNECT_V5, bytes], &[CONNACK_V5, &farewell], Err(reason));
    }
    check(
        "QoS 1 at 3.1.1, which has no word for it",
        &[CONNECT_V311, b"\x32\x05\x00\x01t\x00\x07"],
        &[CONNACK_V311],
        Err(Reason::QoSNotSupported),
    );
}

#[test]
fn every_filter_gets_its_own_answer() {
    check(
        "MQTT-3.8.4-5, MQTT-3.9.3-1",
        &[CONNECT_V5, b"\x82\x1c\x00\x09\x00\x00\x03a/b\x01\x00\x03a#b\x00\x00\x0a$share/g/t\x00"],
        &[CONNACK_V5, b"\x90\x06\x00\x09\x00\x00\x8f\x9e"],
        Ok(()),
    );
    check(
        "MQTT-3.11.3-1",
        &[
            CONNECT_V5,
            b"\x82\x09\x00\x09\x00\x00\x03a/b\x00",
            b"\xa2\x0d\x00\x0a\x00\x00\x03a/b\x00\x03a/c",
        ],
        &[CONNACK_V5, b"\x90\x04\x00\x09\x00\x00", b"\xb0\x05\x00\x0a\x00\x00\x11"],
        Ok(()),
    );
}

#[test]
fn a_topic_of_thousands_of_levels_is_refused_cve_2019_11779() {
    let topic = "/".repeat(5000);
    let mut publish = Vec::new();
    Packet::Publish(slipring_wire::Publish::new(&topic, b""))
        .encode(slipring_wire::Version::V311, &mut publish);
    check("deep topic", &[CONNECT_V311, &publish], &[CONNACK_V311], Err(Reason::TopicNameInvalid));
}

#[test]
fn pings_are_answered() {
    check("MQTT-3.12.4-1", &[CONNECT_V311, b"\xc0\x00"], &[CONNACK_V311, b"\xd0\x00"], Ok(()));
}

#[test]
fn a_will_is_kept_unless_the_client_says_goodbye() {
    let connect = b"\x10\x14\x00\x04MQTT\x04\x06\x00\x3c\x00\x01a\x00\x01w\x00\x02me";
    for (goodbye, left) in [(&b""[..], true), (b"\xe0\x00", false)] {
        let mut session = Session::new(Limits::default(), String::new());
        let mut rest = &[&connect[..], goodbye].concat()[..];
        while let Ok(Framed::Whole(whole)) = frame(rest, 1000) {
            let packet = Packet::decode(&whole, session.version()).unwrap();
            session.receive(packet, &mut Vec::new()).unwrap();
            rest = &rest[whole.length..];
        }
        assert_eq!(session.take_will().is_some(), left, "MQTT-3.1.2-8, MQTT-3.14.4-3");
    }
}
