//! Tests the example in the documentation of the ledger.

use slipring_wire::{PacketId, QoS};

use super::*;
use crate::Options;

const SESSION: SessionKey = SessionKey::new(7);

fn owner() -> Record<'static> {
    Record::Context(ContextRecord::Owner { owner: "user:anna" })
}

fn opened() -> Record<'static> {
    let (session, client_id) = (SESSION, "pump");
    let opened =
        SessionRecord::Opened { session, client_id, user: None, expiry_s: 3_600, will: None };
    Record::Session(opened)
}

fn subscribed() -> Record<'static> {
    let (no_local, retain_as_published) = (false, false);
    let (qos, identifier, needs) = (QoS::ExactlyOnce, 0, None);
    let (serve, priority) = (0, None);
    let options =
        Options { qos, no_local, retain_as_published, identifier, needs, serve, priority };
    let (filter, replay, list) = ("orders/#", false, None);
    let subscription = RecordedSubscription { filter, options, replay, list };
    Record::Session(SessionRecord::Subscribed { session: SESSION, subscription })
}

fn left() -> Record<'static> {
    let (session, at_ns) = (SESSION, 5_000_000_000);
    Record::Session(SessionRecord::Left { session, at_ns, expiry_s: 3_600, will: None })
}

fn delivered(first: u32, count: u32, qos: QoS) -> Record<'static> {
    let (session, bytes, manner) = (SESSION, 20, DeliveryManner::plain(qos));
    Record::Delivery(DeliveryRecord::Delivered { session, first, count, bytes, manner })
}

/// Applies a batch; returns the offsets in flight, the queued offsets, and the lowest needed one.
fn apply(ledger: &mut Ledger, records: &[Record<'_>]) -> (Vec<Option<u64>>, Vec<u64>, Option<u64>) {
    let mut bytes = Vec::new();
    for record in records {
        record.encode(&mut bytes);
    }
    let head = BatchHead { base_offset: Offset::new(100), messages: 3, receive_ns: 0 };
    ledger.apply(head, &bytes).unwrap();
    let kept = ledger.session(SESSION).unwrap();
    let sent = kept.inflight.iter().map(|sent| Some(sent.message.as_ref()?.first.get()));
    let queued = kept.queue().map(DeliverySpan::offsets);
    let queued = queued.flat_map(|offsets| offsets.start.get()..offsets.end.get());
    (sent.collect(), queued.collect(), ledger.needed().map(Offset::get))
}

#[test]
fn the_example_in_the_documentation_is_true() {
    let (session, packet_id) = (SESSION, PacketId::new(1).unwrap());
    let sent = DeliveryRecord::Sent { session, packet_id, offset: Some(Offset::new(100)) };
    let received = DeliveryRecord::Received { session, packet_id };
    let completed = DeliveryRecord::Completed { session, packet_id };
    let qos = QoS::AtLeastOnce;
    let settled = DeliveryRecord::Settled { session, offset: Offset::new(102), count: 1, qos };
    let finished = [completed, settled].map(Record::Delivery);
    let ledger = &mut Ledger::default();
    assert_eq!(apply(ledger, &[owner(), opened(), subscribed()]), (vec![], vec![], None));
    let both = [delivered(0, 2, QoS::ExactlyOnce), delivered(2, 1, qos)];
    assert_eq!(apply(ledger, &both), (vec![], vec![100, 101, 102], Some(100)));
    let sent = apply(ledger, &[Record::Delivery(sent)]);
    assert_eq!(sent, (vec![Some(100)], vec![101, 102], Some(100)));
    let received = apply(ledger, &[Record::Delivery(received)]);
    assert_eq!(received, (vec![None], vec![101, 102], Some(101)));
    assert_eq!(apply(ledger, &finished), (vec![], vec![101], Some(101)));
    assert_eq!(apply(ledger, &[left()]), (vec![], vec![101], Some(101)));
    let (offset, count, bytes, manner) =
        (Offset::new(101), 1, 20, DeliveryManner::plain(QoS::ExactlyOnce));
    let waits = DeliveryRecord::DeliveredAt { session, offset, count, bytes, manner };
    let known = Record::Context(ContextRecord::Known { session, newest_ns: 0 });
    let mut snapshot = Vec::new();
    ledger.snapshot(&mut snapshot);
    let found: Vec<_> = Records::new(&snapshot).map(Result::unwrap).collect();
    let expected = [known, owner(), opened(), left(), subscribed(), Record::Delivery(waits)];
    assert_eq!(found, expected);
}
