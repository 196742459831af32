//! Priorities in the messages for one client: who overtakes whom, at every QoS, and who makes room.

use std::sync::Arc;

use proptest::prelude::*;
use slipring_core::{
    ConnectionKey, Delivery, Dropped, Durability, JournalPlace, Limit, Limits, Message, Offset,
    Outgoing, Packets, Priority, Pushed, Replay, RetainedPage, SessionKey, Terms,
};
use slipring_wire::{Packet, PacketId, PacketSplit, Publish, QoS, Version, split_packet};

const CONNECTION: ConnectionKey = ConnectionKey::new(1);
const LEVELS: [Priority; 3] = [Priority::Low, Priority::Normal, Priority::High];

fn terms(receive_max: u16) -> Terms {
    Terms { version: Version::V5, receive_max, packet_bytes: u32::MAX, topic_aliases: 0 }
}

fn connected(limits: &Limits, receive_max: u16) -> Outgoing {
    let mut outgoing = Outgoing::new(limits);
    outgoing.attach(CONNECTION, terms(receive_max), limits);
    outgoing
}

fn message(number: u32, qos: QoS) -> Message {
    let payload = number.to_be_bytes();
    Message::new(&Publish { qos, ..Publish::new("t", &payload) }, "t".into(), 0)
}

fn push(outgoing: &mut Outgoing, number: u32, qos: QoS, priority: Priority) -> Pushed {
    if qos == QoS::AtMostOnce {
        let mut bytes = Vec::new();
        Packet::Publish(Publish::new("t", &number.to_be_bytes())).encode(Version::V5, &mut bytes);
        return outgoing.push_encoded(&bytes, None, priority);
    }
    let message = Arc::new(message(number, qos));
    outgoing.push(Delivery { priority, ..Delivery::plain(message, qos) })
}

fn take_with(
    outgoing: &mut Outgoing,
    find: &mut dyn FnMut(&Replay, Option<&str>) -> RetainedPage,
) -> Vec<(u32, Option<PacketId>)> {
    let mut packets = Packets::default();
    outgoing.take(0, find, &mut packets);
    let bytes = packets.to_vec();
    let (mut rest, mut sent) = (&bytes[..], Vec::new());
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        let Ok(Packet::Publish(publish)) = Packet::decode(&whole, Version::V5) else { panic!() };
        let number = u32::from_be_bytes(publish.payload[..4].try_into().unwrap());
        sent.push((number, publish.packet_id));
        rest = &rest[whole.length..];
    }
    sent
}

fn take(outgoing: &mut Outgoing) -> Vec<(u32, Option<PacketId>)> {
    take_with(outgoing, &mut |_, _| RetainedPage::default())
}

fn numbers(taken: Vec<(u32, Option<PacketId>)>) -> Vec<u32> {
    taken.into_iter().map(|(number, _)| number).collect()
}

/// Takes everything, and acknowledges each message at once.
fn drain(outgoing: &mut Outgoing) -> Vec<u32> {
    let mut all = Vec::new();
    loop {
        let taken = take(outgoing);
        if taken.is_empty() {
            return all;
        }
        for (number, id) in taken {
            all.push(number);
            if let Some(id) = id {
                // One of these is for its QoS.
                let _ =
                    outgoing.acked(id) || outgoing.received(id, false) && outgoing.completed(id);
            }
        }
    }
}

#[test]
fn a_high_message_overtakes_whatever_waits_at_any_qos() {
    for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut outgoing = connected(&Limits::default(), 100);
        for number in 0..6 {
            push(&mut outgoing, number, qos, LEVELS[number as usize % 3]);
        }
        assert_eq!(numbers(take(&mut outgoing)), [2, 5, 1, 4, 0, 3], "{qos:?}");
    }
}

#[test]
fn a_high_message_at_qos_0_overtakes_a_queue() {
    let mut outgoing = connected(&Limits::default(), 100);
    push(&mut outgoing, 1, QoS::AtLeastOnce, Priority::Normal);
    push(&mut outgoing, 2, QoS::AtMostOnce, Priority::Normal);
    push(&mut outgoing, 3, QoS::AtMostOnce, Priority::High);
    assert_eq!(numbers(take(&mut outgoing)), [3, 1, 2]);
}

#[test]
fn a_high_message_is_next_when_the_in_flight_window_has_room_again() {
    let mut outgoing = connected(&Limits::default(), 1);
    push(&mut outgoing, 1, QoS::AtLeastOnce, Priority::Normal);
    let first = take(&mut outgoing);
    push(&mut outgoing, 2, QoS::AtLeastOnce, Priority::Normal);
    push(&mut outgoing, 3, QoS::AtLeastOnce, Priority::High);
    assert!(take(&mut outgoing).is_empty());
    outgoing.acked(first[0].1.unwrap());
    assert_eq!(numbers(take(&mut outgoing)), [3]);
}

#[test]
fn retained_messages_keep_their_place_among_normal_ones_and_high_ones_overtake_them() {
    let mut outgoing = connected(&Limits::default(), 100);
    push(&mut outgoing, 1, QoS::AtLeastOnce, Priority::Normal);
    let (filter, qos) = ("t".into(), QoS::AtLeastOnce);
    outgoing.push_replay(Replay { filter, qos, identifiers: None, until: 9 });
    push(&mut outgoing, 2, QoS::AtLeastOnce, Priority::Normal);
    push(&mut outgoing, 3, QoS::AtLeastOnce, Priority::High);
    push(&mut outgoing, 4, QoS::AtMostOnce, Priority::High);
    push(&mut outgoing, 5, QoS::AtMostOnce, Priority::Normal);
    push(&mut outgoing, 6, QoS::AtLeastOnce, Priority::Low);
    let retained = Arc::new(message(100, QoS::AtLeastOnce));
    let mut find = |_: &Replay, _: Option<&str>| RetainedPage {
        messages: vec![Arc::clone(&retained)],
        next: None,
    };
    assert_eq!(numbers(take_with(&mut outgoing, &mut find)), [4, 3, 1, 100, 2, 6, 5]);
}

#[test]
fn retained_messages_go_although_high_ones_never_end() {
    let mut outgoing = connected(&Limits::default(), 1);
    let (filter, qos) = ("t".into(), QoS::AtLeastOnce);
    outgoing.push_replay(Replay { filter, qos, identifiers: None, until: 9 });
    let retained = Arc::new(message(100, QoS::AtLeastOnce));
    let mut find = |_: &Replay, _: Option<&str>| RetainedPage {
        messages: vec![Arc::clone(&retained)],
        next: None,
    };
    for _ in 0..1_000 {
        push(&mut outgoing, 1, QoS::AtLeastOnce, Priority::High);
        push(&mut outgoing, 1, QoS::AtLeastOnce, Priority::High);
        let (number, id) = take_with(&mut outgoing, &mut find)[0];
        if number == 100 {
            return;
        }
        outgoing.acked(id.unwrap());
    }
    panic!("the retained message starves");
}

#[test]
fn high_messages_go_while_retained_ones_are_sent_although_normal_ones_are_due() {
    let mut outgoing = connected(&Limits::default(), 1);
    let (filter, qos) = ("t".into(), QoS::AtLeastOnce);
    push(&mut outgoing, 1, qos, Priority::Normal);
    assert_eq!(take(&mut outgoing).len(), 1); // nothing more at QoS 1 until it is acknowledged
    outgoing.push_replay(Replay { filter, qos, identifiers: None, until: 9 });
    let retained = Arc::new(message(100, qos));
    let mut find = |_: &Replay, _: Option<&str>| RetainedPage {
        messages: vec![Arc::clone(&retained)],
        next: None,
    };
    push(&mut outgoing, 2, QoS::AtMostOnce, Priority::Normal);
    for number in 1_000..3_000 {
        push(&mut outgoing, number, QoS::AtMostOnce, Priority::High);
        assert_eq!(numbers(take_with(&mut outgoing, &mut find)), [number]);
    }
}

#[test]
fn a_full_queue_drops_the_lowest_first_and_nothing_for_a_lower_one() {
    let limits = Limits { queue_messages: 2, inflight: 1, ..Limits::default() };
    let mut outgoing = connected(&limits, 1);
    let qos = QoS::AtLeastOnce;
    let one = Dropped { limit: Some(Limit::QueueMessages), messages: 1, wake: false };
    push(&mut outgoing, 0, qos, Priority::Normal);
    let first = take(&mut outgoing);
    push(&mut outgoing, 1, qos, Priority::Normal);
    push(&mut outgoing, 2, qos, Priority::Low);
    assert_eq!(push(&mut outgoing, 3, qos, Priority::Normal), Pushed::Dropped(one), "the low one");
    assert_eq!(push(&mut outgoing, 4, qos, Priority::Low), Pushed::Dropped(one), "itself");
    assert_eq!(
        push(&mut outgoing, 5, qos, Priority::High),
        Pushed::Dropped(one),
        "the oldest normal"
    );
    assert_eq!(push(&mut outgoing, 6, qos, Priority::High), Pushed::Dropped(one));
    assert_eq!(push(&mut outgoing, 7, qos, Priority::Normal), Pushed::Dropped(one), "itself");
    outgoing.acked(first[0].1.unwrap());
    assert_eq!(drain(&mut outgoing), [5, 6]);
}

#[test]
fn when_memory_is_short_the_lowest_go_first() {
    let mut outgoing = connected(&Limits::default(), 1);
    push(&mut outgoing, 0, QoS::AtLeastOnce, Priority::Normal);
    let first = take(&mut outgoing);
    let payload = vec![0; 16 << 10];
    for number in 0..12u8 {
        let mut payload = payload.clone();
        payload[3] = number;
        let priority = LEVELS[usize::from(number % 3)];
        let publish = Publish { qos: QoS::AtLeastOnce, ..Publish::new("t", &payload) };
        let message = Arc::new(Message::new(&publish, "t".into(), 0));
        outgoing.push(Delivery { priority, ..Delivery::plain(message, QoS::AtLeastOnce) });
    }
    let kept = 4 * (payload.len() + 1);
    let shrunk = LEVELS.map(|level| outgoing.shrink_queue(level, kept - 1));
    assert_eq!(shrunk, [4, 4, 1], "until enough is free");
    outgoing.acked(first[0].1.unwrap());
    assert_eq!(drain(&mut outgoing), [5, 8, 11]);
}

/// A message as it is in the journal at the offset of its number.
fn placed(number: u32) -> Message {
    let place =
        JournalPlace { offset: Offset::new(number.into()), durability: Durability::Process };
    message(number, QoS::AtLeastOnce).at(place)
}

#[test]
fn messages_that_are_only_in_the_journal_are_loaded_in_the_order_of_their_priority() {
    let limits = Limits::default();
    let mut outgoing = Outgoing::durable(&limits, SessionKey::new(7), Durability::Disk);
    for number in 0..6 {
        let priority = LEVELS[number as usize % 3];
        let message = Arc::new(placed(number));
        outgoing.push(Delivery { priority, ..Delivery::plain(message, QoS::AtLeastOnce) });
    }
    outgoing.attach(CONNECTION, terms(100), &limits);
    let mut sent = Vec::new();
    while outgoing.has_work() {
        let wanted = outgoing.wanted(2);
        let loaded: Vec<_> = wanted
            .into_iter()
            .map(|offset| (offset, Some(Arc::new(placed(offset.get() as u32)))))
            .collect();
        outgoing.fill(&loaded);
        sent.extend(numbers(take(&mut outgoing)));
    }
    assert_eq!(sent, [2, 5, 1, 4, 0, 3]);
}

#[derive(Clone, Debug)]
enum Step {
    Push { qos: QoS, level: usize },
    Take,
    Lose,
}

fn step() -> impl Strategy<Value = Step> {
    let qos = prop_oneof![Just(QoS::AtMostOnce), Just(QoS::AtLeastOnce), Just(QoS::ExactlyOnce)];
    prop_oneof![
        8 => (qos, 0usize..3).prop_map(|(qos, level)| Step::Push { qos, level }),
        3 => Just(Step::Take),
        1 => Just(Step::Lose),
    ]
}

proptest! {
    /// Within a level and a kind of queue, messages arrive in order, none twice, and none is lost but QoS 0 messages
    /// of a lost connection.
    #[test]
    fn order_holds_within_a_level_and_nothing_is_lost_or_doubled(
        steps in prop::collection::vec(step(), 0..120),
        receive_max in 1u16..6,
    ) {
        let limits = Limits::default();
        let mut outgoing = connected(&limits, receive_max);
        let (mut connection, mut unsent) = (CONNECTION.get(), Vec::new());
        let (mut pushed, mut sent) = (Vec::new(), Vec::new());
        for step in steps {
            match step {
                Step::Push { qos, level } => {
                    let number = pushed.len() as u32;
                    pushed.push((qos, level));
                    push(&mut outgoing, number, qos, LEVELS[level]);
                    if qos == QoS::AtMostOnce {
                        unsent.push(number);
                    }
                }
                Step::Take => {
                    let taken = drain(&mut outgoing);
                    unsent.retain(|number| !taken.contains(number));
                    sent.extend(taken);
                }
                Step::Lose => {
                    outgoing.detach(ConnectionKey::new(connection));
                    connection += 1;
                    outgoing.attach(ConnectionKey::new(connection), terms(receive_max), &limits);
                    for lost in unsent.drain(..) {
                        pushed[lost as usize].1 = usize::MAX;
                    }
                }
            }
        }
        sent.extend(drain(&mut outgoing));
        prop_assert_eq!(outgoing.waiting(), (0, 0));
        for level in 0..3 {
            for is_queued in [false, true] {
                let of = |number: &u32| {
                    let (qos, found) = pushed[*number as usize];
                    found == level && (qos > QoS::AtMostOnce) == is_queued
                };
                let arrived: Vec<u32> = sent.iter().copied().filter(of).collect();
                let expected: Vec<u32> = (0..pushed.len() as u32).filter(of).collect();
                prop_assert_eq!(arrived, expected);
            }
        }
    }

    /// What one take sends begins with the high messages, and ends with the low ones of each kind.
    #[test]
    fn everything_that_waits_goes_in_the_order_of_priority(
        waiting in prop::collection::vec((any::<bool>(), 0usize..3), 0..100),
    ) {
        let mut outgoing = connected(&Limits::default(), 1_000);
        for (number, (is_queued, level)) in waiting.iter().enumerate() {
            let qos = if *is_queued { QoS::AtLeastOnce } else { QoS::AtMostOnce };
            push(&mut outgoing, number as u32, qos, LEVELS[*level]);
        }
        let sent = numbers(take(&mut outgoing));
        let level = |number: &u32| waiting[*number as usize].1;
        let high = waiting.iter().filter(|(_, level)| *level == 2).count();
        prop_assert!(sent[..high].iter().all(|number| level(number) == 2));
        for is_queued in [false, true] {
            let of = |number: &&u32| waiting[**number as usize].0 == is_queued;
            let levels: Vec<usize> = sent.iter().filter(of).map(level).collect();
            prop_assert!(levels.is_sorted_by(|first, second| first >= second), "{:?}", levels);
        }
    }
}

#[test]
fn a_low_message_is_not_overtaken_for_ever() {
    for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut outgoing = connected(&Limits::default(), 10);
        push(&mut outgoing, 0, qos, Priority::Low);
        let (mut overtaken, mut is_sent) = (0, false);
        for _ in 0..100 {
            for _ in 0..20 {
                push(&mut outgoing, 1, qos, Priority::High);
            }
            let mut taken = take(&mut outgoing);
            let found = taken.iter().position(|(number, _)| *number == 0);
            overtaken += found.unwrap_or(taken.len());
            for (_, id) in taken.drain(..) {
                let _ = id.is_some_and(|id| {
                    outgoing.acked(id) || outgoing.received(id, false) && outgoing.completed(id)
                });
            }
            is_sent = found.is_some();
            if is_sent {
                break;
            }
        }
        assert!(is_sent && overtaken <= 500, "{qos:?}: {overtaken}");
    }
}
