//! A connection that is lost and made again: what is sent again, and what must not be.

use slipring_wire::{Ack, Framed, frame};

use super::*;

fn lasting() -> Greeting {
    Greeting { client_id: String::new(), reconnect: Duration::MAX, ..greeting() }
}

fn open_lasting(greeting: Greeting, now: Instant) -> Machine {
    let mut machine = Machine::new(greeting, now);
    output(&mut machine, now);
    let mut terms = PropertiesBuf::new();
    terms.push(PropertyId::AssignedClientIdentifier, Value::Text("given"));
    feed(&mut machine, &connack(Reason::Success, &terms), now);
    machine
}

/// Loses the connection and makes another one; what is told, and what is sent after CONNECT.
fn again_with(
    machine: &mut Machine,
    session_present: bool,
    terms: &PropertiesBuf,
    now: Instant,
) -> (Vec<Event>, Vec<u8>) {
    machine.receive_eof();
    assert_eq!(machine.retry(now, 0), Some(Duration::ZERO));
    assert!(machine.is_away());
    machine.handle_timeout(now);
    let hello = output(machine, now);
    assert_eq!((hello[0], hello[9] & 2), (0x10, 0), "CONNECT, not with a clean start");
    let (reason, properties) = (Reason::Success, terms.borrow());
    let connack = Packet::ConnAck(ConnAck { session_present, reason, properties });
    let mut told = feed(machine, &bytes(&connack), now);
    assert!(matches!(told.remove(0), Event::Notice(Notice::Connected(_))));
    (told, output(machine, now))
}

fn again(machine: &mut Machine, session_present: bool, now: Instant) -> (Vec<Event>, Vec<u8>) {
    again_with(machine, session_present, &PropertiesBuf::new(), now)
}

/// First byte and identifier of each packet.
fn seen(output: &[u8]) -> Vec<(u8, u16)> {
    let (mut rest, mut seen) = (output, Vec::new());
    while let Ok(Framed::Whole(whole)) = frame(rest, usize::MAX) {
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

fn publish(machine: &mut Machine, qos: QoS) -> PublishId {
    machine.publish(&Publish { qos, ..Publish::new("a", b"x") }).unwrap().unwrap()
}

fn answer(
    machine: &mut Machine,
    kind: fn(Ack<'static>) -> Packet<'static>,
    id: u16,
    now: Instant,
) -> Vec<Event> {
    let (packet_id, reason) = (PacketId::new(id).unwrap(), Reason::Success);
    feed(machine, &bytes(&kind(Ack { packet_id, reason, properties: Properties::NONE })), now)
}

fn arriving(id: u16, qos: QoS, dup: bool) -> Vec<u8> {
    let packet_id = PacketId::new(id);
    bytes(&Packet::Publish(Publish { qos, packet_id, dup, ..Publish::new("a", b"x") }))
}

fn published(id: PublishId, outcome: Outcome) -> Event {
    Event::Notice(Notice::Published { id, outcome })
}

fn receipts(events: &[Event]) -> Vec<Receipt> {
    let receipt = |event: &Event| match event {
        Event::Message { message, .. } => message.receipt,
        Event::Notice(_) => None,
    };
    events.iter().filter_map(receipt).collect()
}

#[test]
fn what_was_not_acknowledged_is_sent_again_with_dup_in_the_same_session() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    let first = publish(&mut machine, QoS::AtLeastOnce);
    publish(&mut machine, QoS::AtLeastOnce);
    let third = publish(&mut machine, QoS::ExactlyOnce);
    answer(&mut machine, Packet::PubAck, 2, now);
    let (told, sent) = again(&mut machine, true, now);
    assert!(told.is_empty());
    assert_eq!(seen(&sent), [(0x3a, 1), (0x3c, 3)]);
    let told = answer(&mut machine, Packet::PubAck, 1, now);
    assert_eq!(told, [published(first, Outcome::Acknowledged)]);
    answer(&mut machine, Packet::PubRec, 3, now);
    output(&mut machine, now);
    let (_, sent) = again(&mut machine, true, now);
    assert_eq!(seen(&sent), [(0x62, 3)], "only its release is missing");
    let told = answer(&mut machine, Packet::PubComp, 3, now);
    assert_eq!(told, [published(third, Outcome::Acknowledged)]);
    assert_eq!(machine.unacknowledged_bytes(), 0);
}

#[test]
fn in_a_new_session_a_message_at_qos_1_is_a_new_one() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    let id = publish(&mut machine, QoS::AtLeastOnce);
    again(&mut machine, true, now);
    let (_, sent) = again(&mut machine, false, now);
    let [(0x32, packet_id)] = seen(&sent)[..] else { panic!("{sent:x?}") };
    let told = answer(&mut machine, Packet::PubAck, packet_id, now);
    assert_eq!(told, [published(id, Outcome::Acknowledged)]);
}

#[test]
fn in_a_new_session_a_message_at_qos_2_is_never_sent_twice() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    let released = publish(&mut machine, QoS::ExactlyOnce);
    answer(&mut machine, Packet::PubRec, 1, now);
    let unknown = publish(&mut machine, QoS::ExactlyOnce);
    let batch = machine.open_batch();
    machine
        .publish_in(batch, &Publish { qos: QoS::ExactlyOnce, ..Publish::new("a", b"x") })
        .unwrap();
    let (told, sent) = again(&mut machine, false, now);
    assert!(sent.is_empty());
    let news = Event::Notice(Notice::Tallied(batch));
    let first = published(released, Outcome::Acknowledged);
    assert_eq!(told, [first, published(unknown, Outcome::Unknown), news]);
    assert_eq!(machine.tally(batch).fault, Some((0, Outcome::Unknown)));
    assert_eq!(machine.unacknowledged_bytes(), 0);
}

#[test]
fn the_window_of_the_new_connection_holds_for_what_is_sent_again() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    for _ in 0..5 {
        publish(&mut machine, QoS::AtLeastOnce);
    }
    let mut terms = PropertiesBuf::new();
    terms.push(PropertyId::ReceiveMaximum, Value::Two(2));
    let (_, sent) = again_with(&mut machine, true, &terms, now);
    assert_eq!(seen(&sent), [(0x3a, 1), (0x3a, 2)]);
    answer(&mut machine, Packet::PubAck, 4, now);
    assert!(machine.output().is_empty(), "an answer to what this connection did not send");
    for (id, next) in [(1, Some(3)), (2, Some(5)), (3, None), (5, None)] {
        answer(&mut machine, Packet::PubAck, id, now);
        let sent = seen(&output(&mut machine, now));
        assert_eq!(sent, next.map(|id| (0x3a, id)).into_iter().collect::<Vec<_>>());
    }
    assert_eq!((machine.unacknowledged_bytes(), machine.waiting_bytes()), (0, 0));
}

#[test]
fn subscriptions_are_made_again_when_the_session_is_not_there() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    let id = machine.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    feed(&mut machine, &[0x90, 4, 0, 1, 0, 1], now);
    let (_, sent) = again(&mut machine, true, now);
    assert!(sent.is_empty(), "the session has it");
    let (_, sent) = again(&mut machine, false, now);
    let [(0x82, packet_id)] = seen(&sent)[..] else { panic!("{sent:x?}") };
    assert_eq!(sent.last(), Some(&1), "at the same quality");
    let [high, low] = packet_id.to_be_bytes();
    let told = feed(&mut machine, &[0x90, 4, high, low, 0, 0x87], now);
    let refused =
        vec![Refusal { filter: "a".to_owned(), reason: Reason::NotAuthorized, text: None }];
    assert_eq!(told, [Event::Notice(Notice::Subscribed { id, refused })]);
}

#[test]
fn requests_without_an_answer_are_made_again_in_order() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    let first = machine.subscribe(&["a"], QoS::AtMostOnce, &[]).unwrap();
    let gone = machine.subscribe(&["gone"], QoS::AtMostOnce, &[]).unwrap();
    machine.unsubscribe(gone);
    machine.receive_eof();
    machine.retry(now, 0);
    machine.unsubscribe(first);
    machine.handle_timeout(now);
    output(&mut machine, now);
    let present =
        ConnAck { session_present: true, reason: Reason::Success, properties: Properties::NONE };
    feed(&mut machine, &bytes(&Packet::ConnAck(present)), now);
    let kinds: Vec<u8> =
        seen(&output(&mut machine, now)).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [0xa2, 0xa2], "neither is wanted any more");
}

#[test]
fn a_message_that_comes_again_is_not_delivered_again() {
    let now = Instant::now();
    for (qos, acked) in [(QoS::AtLeastOnce, 0x40), (QoS::ExactlyOnce, 0x50)] {
        let mut machine = open_lasting(lasting(), now);
        machine.subscribe(&["a"], qos, &[]).unwrap();
        let two = [arriving(1, qos, false), arriving(2, qos, false)].concat();
        let receipts = receipts(&feed(&mut machine, &two, now));
        machine.receive_eof();
        machine.done(&receipts[..1]);
        again(&mut machine, true, now);
        let two = [arriving(1, qos, true), arriving(2, qos, true)].concat();
        assert!(feed(&mut machine, &two, now).is_empty());
        assert_eq!(output(&mut machine, now), [acked, 2, 0, 1], "the reader was done with it");
        machine.done(&receipts[1..]);
        assert_eq!(output(&mut machine, now), [acked, 2, 0, 2]);
    }
}

#[test]
fn an_identifier_used_anew_is_another_message() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    machine.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    let old = receipts(&feed(&mut machine, &arriving(1, QoS::AtLeastOnce, false), now));
    again(&mut machine, true, now);
    let new = receipts(&feed(&mut machine, &arriving(1, QoS::AtLeastOnce, false), now));
    machine.done(&old);
    assert!(machine.output().is_empty());
    machine.done(&new);
    assert_eq!(output(&mut machine, now), [0x40, 2, 0, 1]);
}

#[test]
fn acknowledgements_of_an_old_session_are_not_sent_in_a_new_one() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    machine.subscribe(&["a"], QoS::ExactlyOnce, &[]).unwrap();
    let old = receipts(&feed(&mut machine, &arriving(1, QoS::ExactlyOnce, false), now));
    again(&mut machine, false, now);
    machine.done(&old);
    assert!(machine.output().is_empty());
    assert_eq!(feed(&mut machine, &arriving(1, QoS::ExactlyOnce, false), now).len(), 1);
}

#[test]
fn what_a_reader_abandoned_comes_again_and_does_not_hold_up_the_others() {
    let now = Instant::now();
    let mut machine = open_lasting(Greeting { session_expiry_s: 60, ..lasting() }, now);
    let id = machine.subscribe(&["a"], QoS::AtLeastOnce, &[]).unwrap();
    let two = [arriving(1, QoS::AtLeastOnce, false), arriving(2, QoS::AtLeastOnce, false)].concat();
    let taken = receipts(&feed(&mut machine, &two, now));
    output(&mut machine, now);
    machine.detach(id);
    machine.abandon(&taken[..1]);
    machine.done(&taken[1..]);
    assert_eq!(output(&mut machine, now), [0x40, 2, 0, 2]);
    again(&mut machine, true, now);
    let told = feed(&mut machine, &arriving(1, QoS::AtLeastOnce, true), now);
    assert!(machine.output().is_empty(), "kept for who subscribes next");
    machine.done(&receipts(&told));
    assert_eq!(output(&mut machine, now), [0x40, 2, 0, 1]);
}

#[test]
fn messages_of_an_earlier_session_wait_for_their_subscription() {
    let now = Instant::now();
    let durable = Greeting { session_expiry_s: 60, clean_start: false, ..greeting() };
    let mut machine = Machine::new(durable, now);
    let hello = output(&mut machine, now);
    assert!(hello.windows(5).any(|part| part == [0x11, 0, 0, 0, 60]), "session expiry");
    let present =
        ConnAck { session_present: true, reason: Reason::Success, properties: Properties::NONE };
    feed(&mut machine, &bytes(&Packet::ConnAck(present)), now);
    let told = feed(&mut machine, &arriving(7, QoS::ExactlyOnce, true), now);
    let [Event::Message { subscriptions, message }] = &told[..] else { panic!("{told:?}") };
    assert!(subscriptions.is_empty() && message.receipt.is_some());
    assert!(machine.output().is_empty());
    machine.give_up(&["a"]).unwrap();
    machine.done(&receipts(&told));
    assert_eq!(seen(&output(&mut machine, now)), [(0xa2, 1), (0x50, 7)]);
    feed(&mut machine, &arriving(8, QoS::AtLeastOnce, false), now);
    assert_eq!(output(&mut machine, now), [0x40, 2, 0, 8], "it was given up");
}

#[test]
fn a_session_that_was_not_asked_for_breaks_the_rules() {
    let now = Instant::now();
    let mut machine = Machine::new(greeting(), now);
    let present =
        ConnAck { session_present: true, reason: Reason::Success, properties: Properties::NONE };
    feed(&mut machine, &bytes(&Packet::ConnAck(present)), now);
    assert!(matches!(machine.loss(), Some(Loss::NotMqtt(_))));
}

#[test]
fn calls_wait_while_the_connection_is_away_and_closing_ends_it() {
    let now = Instant::now();
    let mut machine = open_lasting(lasting(), now);
    machine.ping(now).unwrap();
    machine.receive_eof();
    machine.retry(now, u32::MAX).unwrap();
    let message = Publish::new("a", b"x");
    assert_eq!(machine.publish(&message), Err(SendError::Away));
    assert_eq!(machine.deadline(), Some(now + S));
    machine.handle_timeout(now + S / 2);
    assert!(machine.is_away() && machine.output().is_empty());
    machine.handle_timeout(now + S);
    assert_eq!(machine.publish(&message), Err(SendError::Away));
    assert!(output(&mut machine, now).ends_with(b"\0\x05given"), "the name the broker gave");
    machine.handle_timeout(now + 99 * S);
    assert!(machine.retry(now, 0).is_some(), "nobody answers: try again");
    machine.disconnect(S, now);
    assert!(machine.is_closed());
    assert_eq!(machine.retry(now, 0), None);
}

#[test]
fn a_loss_that_would_come_again_is_the_end() {
    let now = Instant::now();
    for reason in [Reason::SessionTakenOver, Reason::NotAuthorized, Reason::PacketTooLarge] {
        let mut machine = open_lasting(lasting(), now);
        let goodbye = Packet::Disconnect(Disconnect { reason, properties: Properties::NONE });
        feed(&mut machine, &bytes(&goodbye), now);
        assert_eq!(machine.retry(now, 0), None, "{reason}");
        assert!(matches!(
            machine.publish(&Publish::new("a", b"")),
            Err(SendError::NotConnected(_))
        ));
    }
}
