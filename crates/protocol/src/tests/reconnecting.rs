//! A connection that is lost and made again: what is sent again, and what must not be.

use slipring_wire::{Ack, PacketSplit, split_packet};

use super::*;

fn lasting() -> ConnectOptions {
    ConnectOptions { client_id: String::new(), reconnect: Duration::MAX, ..options() }
}

fn open_lasting(options: ConnectOptions, now: Instant) -> ClientProtocol {
    let mut protocol = begin(options, now);
    output(&mut protocol, now);
    let mut terms = PropertiesBuf::new();
    terms.push(PropertyId::AssignedClientIdentifier, Value::Text("given"));
    feed(&mut protocol, &connack(Reason::Success, &terms), now);
    protocol
}

/// Loses the connection and makes another one; the events, and what is sent after CONNECT.
fn again_with(
    protocol: &mut ClientProtocol,
    session_present: bool,
    terms: &PropertiesBuf,
    now: Instant,
) -> (Vec<ProtocolEvent>, Vec<u8>) {
    protocol.receive_eof();
    assert_eq!(protocol.retry(now, 0), Some(Duration::ZERO));
    assert!(protocol.is_away());
    protocol.handle_timeout(now);
    let connect = output(protocol, now);
    assert_eq!((connect[0], connect[9] & 2), (0x10, 0), "CONNECT, not with a clean start");
    let (reason, properties) = (Reason::Success, terms.borrow());
    let connack = Packet::ConnAck(ConnAck { session_present, reason, properties });
    let mut told = feed(protocol, &bytes(&connack), now);
    assert!(matches!(told.remove(0), ProtocolEvent::Client(ClientEvent::Connected(_))));
    (told, output(protocol, now))
}

fn again(
    protocol: &mut ClientProtocol,
    session_present: bool,
    now: Instant,
) -> (Vec<ProtocolEvent>, Vec<u8>) {
    again_with(protocol, session_present, &PropertiesBuf::new(), now)
}

/// First byte and identifier of each packet.
fn seen(output: &[u8]) -> Vec<(u8, u16)> {
    let (mut rest, mut seen) = (output, Vec::new());
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        let id = match Packet::decode(&whole, Version::V5).unwrap() {
            Packet::Publish(publish) => publish.packet_id.map_or(0, PacketId::get),
            Packet::PubRel(ack) | Packet::PubAck(ack) | Packet::PubRec(ack) => ack.packet_id.get(),
            Packet::Subscribe(subscribe) => subscribe.packet_id.get(),
            Packet::Unsubscribe(unsubscribe) => unsubscribe.packet_id.get(),
            other => panic!("{other:?}"),
        };
        seen.push((whole.first, id));
        rest = &rest[whole.length..];
    }
    seen
}

fn publish(protocol: &mut ClientProtocol, qos: QoS) -> PublishId {
    protocol.publish(&Publish { qos, ..Publish::new("a", b"x") }).unwrap().unwrap()
}

fn answer(
    protocol: &mut ClientProtocol,
    kind: fn(Ack<'static>) -> Packet<'static>,
    id: u16,
    now: Instant,
) -> Vec<ProtocolEvent> {
    let (packet_id, reason) = (PacketId::new(id).unwrap(), Reason::Success);
    feed(protocol, &bytes(&kind(Ack { packet_id, reason, properties: Properties::NONE })), now)
}

fn arriving(id: u16, qos: QoS, dup: bool) -> Vec<u8> {
    let packet_id = PacketId::new(id);
    bytes(&Packet::Publish(Publish { qos, packet_id, dup, ..Publish::new("a", b"x") }))
}

fn published(id: PublishId, outcome: PublishOutcome) -> ProtocolEvent {
    ProtocolEvent::Client(ClientEvent::Published { id, outcome })
}

#[test]
fn unacknowledged_messages_are_sent_again_with_dup_in_the_same_session() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    let first = publish(&mut protocol, QoS::AtLeastOnce);
    publish(&mut protocol, QoS::AtLeastOnce);
    let third = publish(&mut protocol, QoS::ExactlyOnce);
    answer(&mut protocol, Packet::PubAck, 2, now);
    let (told, sent) = again(&mut protocol, true, now);
    assert!(told.is_empty());
    assert_eq!(seen(&sent), [(0x3a, 1), (0x3c, 3)]);
    let told = answer(&mut protocol, Packet::PubAck, 1, now);
    assert_eq!(told, [published(first, PublishOutcome::Acknowledged)]);
    answer(&mut protocol, Packet::PubRec, 3, now);
    output(&mut protocol, now);
    let (_, sent) = again(&mut protocol, true, now);
    assert_eq!(seen(&sent), [(0x62, 3)], "only its release is missing");
    let told = answer(&mut protocol, Packet::PubComp, 3, now);
    assert_eq!(told, [published(third, PublishOutcome::Acknowledged)]);
    assert_eq!(protocol.unacknowledged_bytes(), 0);
}

#[test]
fn in_a_new_session_a_message_at_qos_1_is_a_new_one() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    let id = publish(&mut protocol, QoS::AtLeastOnce);
    again(&mut protocol, true, now);
    let (_, sent) = again(&mut protocol, false, now);
    let [(0x32, packet_id)] = seen(&sent)[..] else { panic!("{sent:x?}") };
    let told = answer(&mut protocol, Packet::PubAck, packet_id, now);
    assert_eq!(told, [published(id, PublishOutcome::Acknowledged)]);
}

#[test]
fn a_message_of_one_session_is_not_sent_again_in_another() {
    let now = Instant::now();
    for same_session in [true, false] {
        let mut protocol = open_lasting(lasting(), now);
        let message = Publish { qos: QoS::AtLeastOnce, ..Publish::new("a", b"x") };
        protocol.publish_in_session(&message).unwrap();
        let id = protocol.publish_in_session(&message).unwrap().unwrap();
        assert!(answer(&mut protocol, Packet::PubAck, 1, now).is_empty(), "no news is good news");
        let (told, sent) = again(&mut protocol, same_session, now);
        if same_session {
            assert!(told.is_empty());
            assert_eq!(seen(&sent), [(0x3a, 2)]);
        } else {
            assert_eq!(told, [published(id, PublishOutcome::Unknown)]);
            assert!(sent.is_empty());
        }
    }
}

#[test]
fn in_a_new_session_a_message_at_qos_2_is_never_sent_twice() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    let released = publish(&mut protocol, QoS::ExactlyOnce);
    answer(&mut protocol, Packet::PubRec, 1, now);
    let unknown = publish(&mut protocol, QoS::ExactlyOnce);
    let batch = protocol.open_batch();
    protocol
        .publish_in(batch, &Publish { qos: QoS::ExactlyOnce, ..Publish::new("a", b"x") })
        .unwrap();
    let (told, sent) = again(&mut protocol, false, now);
    assert!(sent.is_empty());
    let news = ProtocolEvent::Client(ClientEvent::Tallied(batch));
    let first = published(released, PublishOutcome::Acknowledged);
    assert_eq!(told, [first, published(unknown, PublishOutcome::Unknown), news]);
    assert_eq!(protocol.tally(batch).fault, Some((0, PublishOutcome::Unknown)));
    assert_eq!(protocol.unacknowledged_bytes(), 0);
}

#[test]
fn the_window_of_the_new_connection_holds_for_what_is_sent_again() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    for _ in 0..5 {
        publish(&mut protocol, QoS::AtLeastOnce);
    }
    let mut terms = PropertiesBuf::new();
    terms.push(PropertyId::ReceiveMaximum, Value::Two(2));
    let (_, sent) = again_with(&mut protocol, true, &terms, now);
    assert_eq!(seen(&sent), [(0x3a, 1), (0x3a, 2)]);
    answer(&mut protocol, Packet::PubAck, 4, now);
    assert!(protocol.output().is_empty(), "an answer to what this connection did not send");
    for (id, next) in [(1, Some(3)), (2, Some(5)), (3, None), (5, None)] {
        answer(&mut protocol, Packet::PubAck, id, now);
        let sent = seen(&output(&mut protocol, now));
        assert_eq!(sent, next.map(|id| (0x3a, id)).into_iter().collect::<Vec<_>>());
    }
    assert_eq!((protocol.unacknowledged_bytes(), protocol.waiting_bytes()), (0, 0));
}

#[test]
fn subscriptions_are_made_again_when_the_session_is_not_there() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    let id = protocol.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    feed(&mut protocol, &[0x90, 4, 0, 1, 0, 1], now);
    let (_, sent) = again(&mut protocol, true, now);
    assert!(sent.is_empty(), "the session has it");
    let (_, sent) = again(&mut protocol, false, now);
    let [(0x82, packet_id)] = seen(&sent)[..] else { panic!("{sent:x?}") };
    assert_eq!(sent.last(), Some(&1), "at the same QoS");
    let [high, low] = packet_id.to_be_bytes();
    let told = feed(&mut protocol, &[0x90, 4, high, low, 0, 0x87], now);
    let refused =
        vec![RefusedFilter { filter: "a".to_owned(), reason: Reason::NotAuthorized, text: None }];
    assert_eq!(told, [ProtocolEvent::Client(ClientEvent::Subscribed { id, refused })]);
}

#[test]
fn requests_without_an_answer_are_made_again_in_order() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    let first = protocol.subscribe(&["a"], QoS::AtMostOnce, &[]).unwrap();
    let gone = protocol.subscribe(&["gone"], QoS::AtMostOnce, &[]).unwrap();
    protocol.unsubscribe(gone);
    protocol.receive_eof();
    protocol.retry(now, 0);
    protocol.unsubscribe(first);
    protocol.handle_timeout(now);
    output(&mut protocol, now);
    let present =
        ConnAck { session_present: true, reason: Reason::Success, properties: Properties::NONE };
    feed(&mut protocol, &bytes(&Packet::ConnAck(present)), now);
    let kinds: Vec<u8> =
        seen(&output(&mut protocol, now)).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [0xa2, 0xa2], "neither is wanted any more");
}

#[test]
fn a_message_that_comes_again_is_not_delivered_again() {
    let now = Instant::now();
    for (qos, acked) in [(QoS::AtLeastOnce, 0x40), (QoS::ExactlyOnce, 0x50)] {
        let mut protocol = open_lasting(lasting(), now);
        protocol.subscribe(&["a"], qos, &[]).unwrap();
        let two = [arriving(1, qos, false), arriving(2, qos, false)].concat();
        let tags = tags(&feed(&mut protocol, &two, now));
        protocol.receive_eof();
        protocol.done(&tags[..1]);
        again(&mut protocol, true, now);
        let two = [arriving(1, qos, true), arriving(2, qos, true)].concat();
        assert!(feed(&mut protocol, &two, now).is_empty());
        assert_eq!(output(&mut protocol, now), [acked, 2, 0, 1], "the reader was done with it");
        protocol.done(&tags[1..]);
        assert_eq!(output(&mut protocol, now), [acked, 2, 0, 2]);
    }
}

#[test]
fn an_identifier_used_anew_is_another_message() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    protocol.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    let old = tags(&feed(&mut protocol, &arriving(1, QoS::AtLeastOnce, false), now));
    again(&mut protocol, true, now);
    let new = tags(&feed(&mut protocol, &arriving(1, QoS::AtLeastOnce, false), now));
    protocol.done(&old);
    assert!(protocol.output().is_empty());
    protocol.done(&new);
    assert_eq!(output(&mut protocol, now), [0x40, 2, 0, 1]);
}

#[test]
fn acknowledgements_of_an_old_session_are_not_sent_in_a_new_one() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    protocol.subscribe(&["a"], QoS::ExactlyOnce, &[]).unwrap();
    let old = tags(&feed(&mut protocol, &arriving(1, QoS::ExactlyOnce, false), now));
    again(&mut protocol, false, now);
    protocol.done(&old);
    assert!(protocol.output().is_empty());
    assert_eq!(feed(&mut protocol, &arriving(1, QoS::ExactlyOnce, false), now).len(), 1);
}

#[test]
fn an_abandoned_message_comes_again_and_does_not_hold_up_the_others() {
    let now = Instant::now();
    let mut protocol = open_lasting(ConnectOptions { session_expiry_s: 60, ..lasting() }, now);
    let id = protocol.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    let two = [arriving(1, QoS::AtLeastOnce, false), arriving(2, QoS::AtLeastOnce, false)].concat();
    let taken = tags(&feed(&mut protocol, &two, now));
    output(&mut protocol, now);
    protocol.detach(id);
    protocol.abandon(&taken[..1]);
    protocol.done(&taken[1..]);
    assert_eq!(output(&mut protocol, now), [0x40, 2, 0, 2]);
    again(&mut protocol, true, now);
    let told = feed(&mut protocol, &arriving(1, QoS::AtLeastOnce, true), now);
    assert!(protocol.output().is_empty(), "kept for who subscribes next");
    protocol.done(&tags(&told));
    assert_eq!(output(&mut protocol, now), [0x40, 2, 0, 1]);
}

#[test]
fn messages_of_an_earlier_session_wait_for_their_subscription() {
    let now = Instant::now();
    let durable = ConnectOptions { session_expiry_s: 60, clean_start: false, ..options() };
    let mut protocol = begin(durable, now);
    let connect = output(&mut protocol, now);
    assert!(connect.windows(5).any(|part| part == [0x11, 0, 0, 0, 60]), "session expiry");
    let present =
        ConnAck { session_present: true, reason: Reason::Success, properties: Properties::NONE };
    feed(&mut protocol, &bytes(&Packet::ConnAck(present)), now);
    let told = feed(&mut protocol, &arriving(7, QoS::ExactlyOnce, true), now);
    let [ProtocolEvent::Message { subscriptions, message }] = &told[..] else { panic!("{told:?}") };
    assert!(subscriptions.is_empty() && message.tag.is_some());
    assert!(protocol.output().is_empty());
    protocol.give_up(&["a"]).unwrap();
    protocol.done(&tags(&told));
    assert_eq!(seen(&output(&mut protocol, now)), [(0xa2, 1), (0x50, 7)]);
    feed(&mut protocol, &arriving(8, QoS::AtLeastOnce, false), now);
    assert_eq!(output(&mut protocol, now), [0x40, 2, 0, 8], "it was given up");
}

#[test]
fn a_session_that_was_not_asked_for_breaks_the_rules() {
    let now = Instant::now();
    let mut protocol = begin(options(), now);
    let present =
        ConnAck { session_present: true, reason: Reason::Success, properties: Properties::NONE };
    feed(&mut protocol, &bytes(&Packet::ConnAck(present)), now);
    assert!(matches!(protocol.loss(), Some(ConnectionLoss::NotMqtt(_))));
}

#[test]
fn calls_wait_while_the_connection_is_away_and_closing_ends_it() {
    let now = Instant::now();
    let mut protocol = open_lasting(lasting(), now);
    protocol.ping(now).unwrap();
    protocol.receive_eof();
    protocol.retry(now, u32::MAX).unwrap();
    let message = Publish::new("a", b"x");
    assert_eq!(protocol.publish(&message), Err(SendError::Away));
    assert_eq!(protocol.deadline(), Some(now + S));
    protocol.handle_timeout(now + S / 2);
    assert!(protocol.is_away() && protocol.output().is_empty());
    protocol.handle_timeout(now + S);
    assert_eq!(protocol.publish(&message), Err(SendError::Away));
    assert!(output(&mut protocol, now).ends_with(b"\0\x05given"), "the name the broker gave");
    protocol.handle_timeout(now + 99 * S);
    assert!(protocol.retry(now, 0).is_some(), "nobody answers: try again");
    protocol.disconnect(S, now);
    assert!(protocol.is_closed());
    assert_eq!(protocol.retry(now, 0), None);
}

#[test]
fn who_sends_between_a_loss_and_the_next_connection_waits_unless_there_will_be_none() {
    let (now, message) = (Instant::now(), Publish::new("a", b"x"));
    let mut protocol = open_lasting(lasting(), now);
    protocol.receive_eof();
    assert_eq!(protocol.publish(&message), Err(SendError::Away));
    assert!(protocol.retry(now, 0).is_some());

    let mut impatient = open_lasting(ConnectOptions { reconnect: S, ..lasting() }, now);
    impatient.receive_eof();
    impatient.retry(now, 0).unwrap();
    impatient.handle_timeout(now);
    impatient.receive_eof();
    assert_eq!(impatient.publish(&message), Err(SendError::Away));
    assert_eq!(impatient.retry(now + S, 0), None);
    assert!(matches!(impatient.publish(&message), Err(SendError::NotConnected(Some(_)))));
}

#[test]
fn a_loss_that_would_come_again_is_the_end() {
    let now = Instant::now();
    for reason in [Reason::SessionTakenOver, Reason::NotAuthorized, Reason::PacketTooLarge] {
        let mut protocol = open_lasting(lasting(), now);
        let goodbye = Packet::Disconnect(Disconnect { reason, properties: Properties::NONE });
        feed(&mut protocol, &bytes(&goodbye), now);
        assert_eq!(protocol.retry(now, 0), None, "{reason}");
        assert!(matches!(
            protocol.publish(&Publish::new("a", b"")),
            Err(SendError::NotConnected(_))
        ));
    }
}
