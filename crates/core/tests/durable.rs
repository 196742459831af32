//! The queue of a durable session: its records, what it keeps in memory, and what it loads.

use std::sync::Arc;

use slipring_core::ledger::{
    BatchHead, DeliveryManner, DeliveryRecord, Ledger, Record, Records, SessionRecord,
};
use slipring_core::{
    ConnectionKey, Delivery, Durability, JournalPlace, Limit, Limits, Message, Offset, Outgoing,
    Overflow, Packets, Priority, Pushed, RetainedPage, SessionKey, Terms,
};
use slipring_wire::{
    Packet, PacketId, PacketSplit, PropertiesBuf, PropertyId, Publish, QoS, Value, Version,
    split_packet,
};

const SESSION: SessionKey = SessionKey::new(9);
const CONNECTION: ConnectionKey = ConnectionKey::new(1);
const TERMS: Terms =
    Terms { version: Version::V5, receive_max: 100, packet_bytes: 200, topic_aliases: 0 };

fn message(offset: Option<u64>, qos: QoS, payload: &str) -> Arc<Message> {
    let publish = Publish { qos, ..Publish::new("t", payload.as_bytes()) };
    let message = Message::new(&publish, "t".into(), 0);
    let place = |offset| JournalPlace { offset, durability: Durability::Disk };
    Arc::new(match offset {
        Some(offset) => message.at(place(Offset::new(offset))),
        None => message,
    })
}

fn push(outgoing: &mut Outgoing, message: Arc<Message>) -> Pushed {
    let qos = message.qos;
    outgoing.push(Delivery::plain(message, qos))
}

fn away(limits: &Limits) -> Outgoing {
    Outgoing::durable(limits, SESSION, Durability::Disk)
}

fn here(limits: &Limits) -> Outgoing {
    let mut outgoing = away(limits);
    outgoing.attach(CONNECTION, TERMS, limits);
    outgoing
}

/// What a take sends: payloads, and `release` for PUBREL.
fn take(outgoing: &mut Outgoing, now_ms: u64) -> Vec<String> {
    let mut packets = Packets::default();
    outgoing.take(now_ms, &mut |_, _| RetainedPage::default(), &mut packets);
    let bytes = packets.to_vec();
    let (mut rest, mut sent) = (&bytes[..], Vec::new());
    while let Ok(PacketSplit::Whole(whole)) = split_packet(rest, usize::MAX) {
        match Packet::decode(&whole, Version::V5) {
            Ok(Packet::Publish(publish)) => {
                sent.push(String::from_utf8_lossy(publish.payload).into());
            }
            Ok(Packet::PubRel(ack)) => sent.push(format!("release {}", ack.packet_id.get())),
            other => panic!("{other:?}"),
        }
        rest = &rest[whole.length..];
    }
    sent
}

fn records(outgoing: &mut Outgoing) -> (Vec<String>, Option<Durability>) {
    let mut bytes = Vec::new();
    let gate = outgoing.take_records(&mut bytes);
    (shown(&bytes), gate)
}

/// Records in a few words.
fn shown(bytes: &[u8]) -> Vec<String> {
    let show = |record: Record<'_>| match record {
        Record::Delivery(DeliveryRecord::Settled { session: SESSION, offset, count, qos }) => {
            format!("settled {offset}+{count} at {}", qos as u8)
        }
        Record::Delivery(DeliveryRecord::Sent { session: SESSION, packet_id, offset }) => {
            format!("sent {:?} as {}", offset.map(Offset::get), packet_id.get())
        }
        Record::Delivery(DeliveryRecord::Received { session: SESSION, packet_id }) => {
            format!("received {}", packet_id.get())
        }
        Record::Delivery(DeliveryRecord::Completed { session: SESSION, packet_id }) => {
            format!("completed {}", packet_id.get())
        }
        other => panic!("{other:?}"),
    };
    Records::new(bytes).map(|record| show(record.unwrap())).collect()
}

fn id(number: u16) -> PacketId {
    PacketId::new(number).unwrap()
}

#[test]
fn a_message_whose_bytes_are_freed_in_flight_is_settled_in_the_journal() {
    let mut outgoing = here(&Limits::default());
    push(&mut outgoing, message(Some(5), QoS::AtLeastOnce, "once"));
    push(&mut outgoing, message(Some(6), QoS::ExactlyOnce, "exactly once"));
    push(&mut outgoing, message(None, QoS::AtLeastOnce, "only in memory"));
    assert_eq!(take(&mut outgoing, 0).len(), 3);
    records(&mut outgoing);
    outgoing.forget_sent(Priority::Normal, 0);
    assert_eq!((outgoing.sent_bytes(), outgoing.inflight()), (0, 3));
    assert!(outgoing.acked(id(1)) && outgoing.received(id(2), false) && outgoing.acked(id(3)));
    assert_eq!(records(&mut outgoing).0, ["settled 5+1 at 1", "received 2"]);
    assert_eq!(outgoing.waiting().1, 0);
}

#[test]
fn settled_qos_1_messages_with_consecutive_offsets_share_a_record() {
    let mut outgoing = here(&Limits::default());
    for offset in 5..9 {
        push(&mut outgoing, message(Some(offset), QoS::AtLeastOnce, "x"));
    }
    assert_eq!(take(&mut outgoing, 0).len(), 4);
    assert_eq!(records(&mut outgoing), (vec![], None), "nothing to wait for");
    for number in 1..=3 {
        outgoing.acked(id(number));
    }
    assert_eq!(records(&mut outgoing), (vec!["settled 5+3 at 1".into()], None));
}

#[test]
fn a_qos_2_message_waits_for_the_record_of_its_identifier_and_pubrel_for_that_of_pubrec() {
    let mut outgoing = here(&Limits::default());
    push(&mut outgoing, message(Some(5), QoS::ExactlyOnce, "x"));
    push(&mut outgoing, message(None, QoS::ExactlyOnce, "only in memory"));
    take(&mut outgoing, 0);
    let sent = vec!["sent Some(5) as 1".into(), "sent None as 2".into()];
    assert_eq!(records(&mut outgoing), (sent, Some(Durability::Disk)));
    outgoing.received(id(1), false);
    assert_eq!(records(&mut outgoing), (vec!["received 1".into()], Some(Durability::Disk)));
    outgoing.received(id(2), false);
    assert_eq!(records(&mut outgoing), (vec![], None), "a crash loses it anyway");
    outgoing.completed(id(1));
    outgoing.received(id(2), true);
    assert_eq!(records(&mut outgoing), (vec!["completed 1".into(), "completed 2".into()], None));
}

#[test]
fn a_message_that_is_expired_or_too_large_is_settled() {
    let mut outgoing = here(&Limits::default());
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::MessageExpiryInterval, Value::Four(1));
    let publish = Publish { qos: QoS::ExactlyOnce, ..Publish::new("t", b"old") };
    let publish = Publish { properties: properties.borrow(), ..publish };
    let place = JournalPlace { offset: Offset::new(3), durability: Durability::Disk };
    push(&mut outgoing, Arc::new(Message::new(&publish, "t".into(), 0).at(place)));
    push(&mut outgoing, message(Some(4), QoS::ExactlyOnce, &"large".repeat(50)));
    assert!(take(&mut outgoing, 5_000).is_empty());
    assert_eq!(records(&mut outgoing), (vec!["settled 3+2 at 2".into()], None));
}

#[test]
fn a_dropped_message_is_settled_by_its_publisher() {
    for (qos12_full, first) in [(Overflow::DropOldest, 5), (Overflow::DropNewest, 7)] {
        let limits = Limits { queue_messages: 2, qos12_full, ..Limits::default() };
        let mut outgoing = away(&limits);
        for offset in 5..9 {
            push(&mut outgoing, message(Some(offset), QoS::AtLeastOnce, "x"));
        }
        let mut drops = Vec::new();
        outgoing.take_drops(&mut drops);
        assert_eq!(shown(&drops), [format!("settled {first}+2 at 1")]);
        assert_eq!(records(&mut outgoing), (vec![], None));
        assert_eq!(outgoing.waiting().0, 2);
    }
    let limits =
        Limits { queue_messages: 0, qos12_full: Overflow::Disconnect, ..Limits::default() };
    let mut outgoing = here(&limits);
    let full = push(&mut outgoing, message(Some(5), QoS::AtLeastOnce, "x"));
    assert_eq!(full, Pushed::Overflow(Limit::QueueMessages));
    assert_eq!(records(&mut outgoing).0, ["settled 5+1 at 1"]);
}

#[test]
fn a_session_that_ends_with_its_connection_writes_no_records() {
    let limits = Limits::default();
    let mut outgoing = Outgoing::new(&limits);
    outgoing.attach(CONNECTION, TERMS, &limits);
    push(&mut outgoing, message(Some(5), QoS::AtLeastOnce, "x"));
    push(&mut outgoing, message(Some(6), QoS::ExactlyOnce, "x"));
    take(&mut outgoing, 0);
    outgoing.acked(id(1));
    outgoing.received(id(2), false);
    outgoing.completed(id(2));
    assert_eq!(records(&mut outgoing), (vec![], None));
    assert!(!outgoing.is_durable());
}

#[test]
fn messages_for_a_client_that_is_away_are_not_kept_in_memory() {
    let limits = Limits::default();
    let mut outgoing = here(&limits);
    let kept: Vec<_> =
        (5..9).map(|offset| message(Some(offset), QoS::AtLeastOnce, "payload")).collect();
    for message in &kept[..3] {
        push(&mut outgoing, Arc::clone(message));
    }
    take(&mut outgoing, 0);
    push(&mut outgoing, Arc::clone(&kept[3]));
    let waiting = outgoing.waiting();
    outgoing.detach(CONNECTION);
    assert!(kept.iter().all(|message| Arc::strong_count(message) == 1));
    assert_eq!(outgoing.waiting(), waiting, "they still wait");
    let later = message(Some(9), QoS::AtLeastOnce, "payload");
    push(&mut outgoing, Arc::clone(&later));
    assert_eq!(Arc::strong_count(&later), 1);
}

#[test]
fn a_stored_message_is_loaded_once_and_sent_in_its_order() {
    let limits = Limits::default();
    let mut outgoing = away(&limits);
    for offset in [5, 6, 7] {
        push(&mut outgoing, message(Some(offset), QoS::AtLeastOnce, "stored"));
    }
    push(&mut outgoing, message(None, QoS::AtLeastOnce, "in memory"));
    outgoing.attach(CONNECTION, TERMS, &limits);
    push(&mut outgoing, message(Some(8), QoS::AtLeastOnce, "new"));
    let taken = outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut Packets::default());
    assert!(taken.wants && taken.messages == 0, "order is kept");
    assert_eq!(outgoing.wanted(2), [5, 6].map(Offset::new));
    assert!(!outgoing.has_work(), "it waits until they are loaded");
    assert!(!outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut Packets::default()).wants);
    let five = message(Some(5), QoS::AtLeastOnce, "five");
    let woken = outgoing.fill(&[(Offset::new(5), Some(five)), (Offset::new(6), None)]);
    assert_eq!(woken, Pushed::Wake);
    let taken = outgoing.take(0, &mut |_, _| RetainedPage::default(), &mut Packets::default());
    assert_eq!((taken.messages, taken.lost, taken.wants), (1, 1, true));
    assert_eq!(records(&mut outgoing).0, ["settled 6+1 at 1"], "a lost message is settled");
    assert_eq!(outgoing.wanted(2), [7].map(Offset::new));
    outgoing.fill(&[(Offset::new(7), Some(message(Some(7), QoS::AtLeastOnce, "seven")))]);
    assert_eq!(take(&mut outgoing, 0), ["seven", "in memory", "new"]);
}

/// A session with one QoS 2 message in flight and one that waits.
fn restored(limits: &Limits) -> Outgoing {
    let (client_id, user, will) = ("client", None, None);
    let manner = DeliveryManner::plain(QoS::ExactlyOnce);
    let mut bytes = Vec::new();
    for record in [
        Record::Session(SessionRecord::Opened {
            session: SESSION,
            client_id,
            user,
            expiry_s: 60,
            will,
        }),
        Record::Delivery(DeliveryRecord::DeliveredAt {
            session: SESSION,
            offset: Offset::new(40),
            count: 3,
            bytes: 9,
            manner,
        }),
        Record::Delivery(DeliveryRecord::Sent {
            session: SESSION,
            packet_id: id(65_535),
            offset: Some(Offset::new(40)),
        }),
        Record::Delivery(DeliveryRecord::Sent {
            session: SESSION,
            packet_id: id(2),
            offset: Some(Offset::new(41)),
        }),
        Record::Delivery(DeliveryRecord::Received { session: SESSION, packet_id: id(2) }),
    ] {
        record.encode(&mut bytes);
    }
    let mut ledger = Ledger::default();
    ledger.apply(BatchHead::default(), &bytes).unwrap();
    let kept = ledger.session(SESSION).unwrap();
    let mut outgoing = Outgoing::restore(limits, SESSION, Durability::Disk, kept);
    outgoing.attach(CONNECTION, TERMS, limits);
    outgoing
}

#[test]
fn a_restored_session_continues_with_its_identifiers() {
    let mut outgoing = restored(&Limits::default());
    assert!(take(&mut outgoing, 0).is_empty());
    assert_eq!(outgoing.wanted(10), [40, 42].map(Offset::new));
    let load = |offset| (Offset::new(offset), Some(message(Some(offset), QoS::ExactlyOnce, "m")));
    outgoing.fill(&[load(40), load(42)]);
    assert_eq!(take(&mut outgoing, 0), ["m", "release 2", "m"]);
    let (sent, gate) = records(&mut outgoing);
    assert_eq!(sent, ["sent Some(42) as 3"], "after those that are in use");
    assert_eq!(gate, Some(Durability::Disk));
    outgoing.received(id(65_535), false);
    outgoing.completed(id(65_535));
    outgoing.completed(id(2));
    assert_eq!(records(&mut outgoing).0, ["received 65535", "completed 65535", "completed 2"]);
}

#[test]
fn the_identifier_of_a_lost_message_is_released_so_that_the_next_is_no_duplicate() {
    let mut outgoing = restored(&Limits::default());
    take(&mut outgoing, 0);
    outgoing.wanted(10);
    outgoing.fill(&[(Offset::new(40), None), (Offset::new(42), None)]);
    assert_eq!(take(&mut outgoing, 0), ["release 65535", "release 2"]);
    let (written, _) = records(&mut outgoing);
    assert_eq!(written, ["settled 42+1 at 2", "received 65535"]);
}

#[test]
fn when_memory_is_short_journaled_messages_are_unloaded_and_none_is_dropped() {
    let mut outgoing = here(&Limits::default());
    let payload = "x".repeat(10_000);
    for offset in 0..20 {
        push(&mut outgoing, message(Some(offset), QoS::AtLeastOnce, &payload));
    }
    assert!(outgoing.loaded_bytes() >= 200_000);
    assert_eq!(outgoing.unload(), 0);
    assert_eq!((outgoing.loaded_bytes(), outgoing.queue_bytes()), (0, 0));
    let dropped = outgoing.shrink_queue(Priority::Normal, 0);
    assert_eq!(dropped, 0, "nothing is left in memory that could be dropped");
}

#[test]
fn messages_that_are_only_in_memory_are_dropped_down_to_the_newest() {
    let mut outgoing = here(&Limits::default());
    for _ in 0..20 {
        push(&mut outgoing, message(None, QoS::AtLeastOnce, &"x".repeat(10_000)));
    }
    assert_eq!(outgoing.unload(), 0);
    assert!(outgoing.shrink_queue(Priority::Normal, slipring_core::SHORT_BYTES) >= 13);
    assert!(outgoing.queue_bytes() <= slipring_core::SHORT_BYTES);
}
