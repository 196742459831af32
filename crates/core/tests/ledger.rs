//! The laws of the ledger: a record is read back as it was written, garbage is an error, and a snapshot with the records
//! after it leads to the same state as all the records.

mod records;

use std::borrow::Cow;

use proptest::prelude::*;
use records::{Parts, anything, small};
use slipring_core::ledger::{
    BatchHead, Carried, DeliveryManner, DeliveryRecord, KeptSession, Ledger, Record, RecordError,
    Records, RetainedMessage, SessionRecord, StockRecord, StreamRecord, TableRecord,
};
use slipring_core::table::Entry;
use slipring_core::{Offset, ParameterIndex, SessionKey, StreamIndex};
use slipring_wire::frame::{
    FrameBuf, Header, OwnedValue, Quality, QualityStatus, Sample, ValueView,
};
use slipring_wire::{Properties, QoS};

/// One batch: how many messages, its records, and the retained messages among them.
#[derive(Clone, Debug)]
struct Batch {
    messages: u32,
    records: Vec<Parts>,
    retained: Vec<(u32, String, Vec<u8>)>,
}

fn batch() -> impl Strategy<Value = Batch> {
    let retained = (0u32..4, "[abc]", prop::collection::vec(any::<u8>(), 0..3));
    let retained = prop::collection::vec(retained, 0..2);
    (4u32..6, prop::collection::vec(small(), 0..6), retained)
        .prop_map(|(messages, records, retained)| Batch { messages, records, retained })
}

fn encoded(records: &[Parts]) -> Vec<u8> {
    let mut out = Vec::new();
    for parts in records {
        parts.record().encode(&mut out);
    }
    out
}

/// A frame with a value for every parameter there can be, one of them of another kind.
fn frame((quality, value): (u8, u64), table: u32) -> Vec<u8> {
    let text = value.to_string();
    let mut buf = FrameBuf::new();
    for index in 2 * u32::from(b'a')..=2 * u32::from(b'c') {
        let is_text = index % 2 == 1 || index == 196 && value % 4 == 3;
        let value =
            if is_text { ValueView::Text(&text) } else { ValueView::F64(f64::from(value as u32)) };
        let time_ns = i64::from(index) / 2;
        let sample = Sample { index, time_ns, quality: Quality(quality), value };
        buf.push_samples(value.kind(), &mut [sample]).unwrap();
    }
    let mut out = Vec::new();
    buf.finish(&Header { table, ..Header::default() }, false, &mut out);
    out
}

fn table_id(ledger: &Ledger) -> u32 {
    ledger.table().unwrap().id()
}

fn apply(ledger: &mut Ledger, number: u32, batch: &Batch) {
    let base_offset = Offset::new(u64::from(number) * 3); // fewer than there are messages: offsets come up again
    let receive_ns = 1_000 * i64::from(number);
    let head = BatchHead { base_offset, messages: batch.messages, receive_ns };
    let mut records = Vec::new();
    TableRecord::TableIs { id: 1, revision: 0, end: ParameterIndex::new(0) }.encode(&mut records);
    records.extend(encoded(&batch.records));
    ledger.apply(head, &records).unwrap();
    for (offset, carried) in ledger.carried().to_vec() {
        let value = (offset.get() as u8, u64::from(number));
        match carried {
            Carried::Frame => ledger.frame(receive_ns, &frame(value, table_id(ledger))).unwrap(),
            Carried::Sample(parameter) => {
                let payload = value.1.to_string();
                let payload = payload.as_bytes();
                ledger.sample(receive_ns, parameter, Properties::NONE, payload).unwrap();
            }
        }
    }
    for (index, topic, payload) in &batch.retained {
        let (qos, properties) = (QoS::AtLeastOnce, &[][..]);
        let message = RetainedMessage { topic, qos, properties, payload };
        ledger.retain(base_offset.plus(*index), receive_ns, message);
    }
}

/// Everything a ledger knows.
fn state(ledger: &Ledger) -> impl PartialEq + std::fmt::Debug {
    let sessions: Vec<(SessionKey, KeptSession)> =
        ledger.sessions().into_iter().map(|(session, kept)| (session, kept.clone())).collect();
    let retained: Vec<_> =
        ledger.retained().map(|(topic, kept)| (topic.to_owned(), kept.clone())).collect();
    let waiting: Vec<_> = ledger.waiting().map(|(offset, kept)| (offset, kept.clone())).collect();
    let newest = (ledger.highest_session(), ledger.newest_ns());
    let streams = ledger.streams().clone();
    (sessions, retained, waiting, newest, table(ledger), values(ledger), streams)
}

fn values(ledger: &Ledger) -> Vec<(u32, OwnedValue, i64, Quality)> {
    let found = (0..200)
        .filter_map(|index| Some((index, ledger.values().get(ParameterIndex::new(index))?)));
    found.map(|(index, at)| (index, at.value.to_owned(), at.time_ns, at.quality)).collect()
}

fn table(ledger: &Ledger) -> impl PartialEq + std::fmt::Debug + use<> {
    ledger.table().map(|entries| {
        let own = |(index, entry): (ParameterIndex, &Entry)| {
            (index, entry.clone(), entries.owner(index).cloned())
        };
        let there: Vec<_> = entries.iter_from(ParameterIndex::new(0)).map(own).collect();
        let removed: Vec<_> = entries.removed().map(own).collect();
        (
            entries.id(),
            entries.revision(),
            entries.end(),
            entries.len(),
            there,
            removed,
            entries.shares().clone(),
            (entries.versions_of(), entries.versions_rows()),
        )
    })
}

fn snapshot(ledger: &Ledger) -> Vec<u8> {
    let mut out = Vec::new();
    ledger.snapshot(&mut out);
    out
}

proptest! {
    #[test]
    fn a_record_is_read_back_as_it_was_written(all in prop::collection::vec(anything(), 0..20)) {
        let bytes = encoded(&all);
        let read: Vec<Record<'_>> = Records::new(&bytes).map(Result::unwrap).collect();
        let written: Vec<Record<'_>> = all.iter().map(Parts::record).collect();
        prop_assert_eq!(read, written);
    }

    #[test]
    fn garbage_is_an_error_with_its_position(
        all in prop::collection::vec(anything(), 0..6),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = encoded(&all);
        for (at, byte) in changes.iter().filter(|_| !all.is_empty()) {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let good = Records::new(&bytes).take_while(Result::is_ok).count();
        let head = BatchHead { base_offset: Offset::new(u64::MAX - 3), messages: 4, receive_ns: 0 };
        if let Err(error) = Ledger::default().apply(head, &bytes) {
            prop_assert!(error.at < bytes.len());
        }
        if let Some(Err(error)) = Records::new(&bytes).nth(good) {
            let before = Records::new(&bytes[..error.at]);
            prop_assert!(before.clone().all(|record| record.is_ok()) && before.count() == good);
        }
    }

    #[test]
    fn a_snapshot_and_later_records_lead_to_the_same_state_as_all_records(
        history in prop::collection::vec(batch(), 0..30),
        splits in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
    ) {
        let splits: Vec<u32> =
            splits.iter().map(|at| at.index(history.len() + 1) as u32).collect();
        let (mut whole, mut resumed) = (Ledger::default(), Ledger::default());
        for (number, batch) in (0..).zip(&history) {
            if splits.contains(&number) {
                resumed = Ledger::restore(&snapshot(&resumed)).unwrap();
            }
            apply(&mut whole, number, batch);
            apply(&mut resumed, number, batch);
        }
        prop_assert_eq!(state(&resumed), state(&whole));
        let last = Ledger::restore(&snapshot(&resumed)).unwrap();
        prop_assert_eq!(state(&last), state(&whole));
    }

    #[test]
    fn the_needed_offset_is_the_lowest_that_any_session_or_waiting_message_has(history in prop::collection::vec(batch(), 0..20)) {
        let mut ledger = Ledger::default();
        for (number, batch) in (0..).zip(&history) {
            apply(&mut ledger, number, batch);
            let queued = ledger.sessions().into_values().flat_map(|kept| {
                let sent = kept.inflight.iter().filter_map(|sent| sent.message.as_ref());
                kept.queue().chain(sent).map(|span| span.offsets().start).collect::<Vec<_>>()
            });
            let waiting = ledger.waiting().map(|(offset, _)| offset);
            prop_assert_eq!(ledger.needed(), queued.chain(waiting).min());
        }
    }
}

/// The ledger after these records, as of one batch of eight messages from offset 100 on.
fn after(records: &[Record<'_>]) -> Ledger {
    let mut bytes = Vec::new();
    for record in records {
        record.encode(&mut bytes);
    }
    let mut ledger = Ledger::default();
    let head = BatchHead { base_offset: Offset::new(100), messages: 8, receive_ns: 5 };
    ledger.apply(head, &bytes).unwrap();
    ledger
}

fn opened(session: u64, client_id: &str) -> Record<'_> {
    Record::Session(SessionRecord::Opened {
        session: SessionKey::new(session),
        client_id,
        user: None,
        expiry_s: 60,
        will: None,
    })
}

#[test]
fn a_new_session_of_a_client_ends_its_earlier_one() {
    let ledger = after(&[opened(3, "pump"), opened(4, "pump"), opened(5, "fan")]);
    assert_eq!(ledger.sessions().into_keys().collect::<Vec<_>>(), [4, 5].map(SessionKey::new));
    let ledger = after(&[
        opened(3, "pump"),
        Record::Session(SessionRecord::Ended { session: SessionKey::new(3) }),
    ]);
    assert_eq!(
        (ledger.sessions().len(), ledger.highest_session().get()),
        (0, 3),
        "the key is not used again"
    );
}

#[test]
fn a_record_about_impossible_messages_is_refused() {
    let session = SessionKey::new(1);
    let manner = || DeliveryManner::plain(QoS::AtLeastOnce);
    let batch = |first, count| DeliveryRecord::Delivered {
        session,
        first,
        count,
        bytes: 1,
        manner: manner(),
    };
    let settled = |offset, count, qos| DeliveryRecord::Settled { session, offset, count, qos };
    for (record, what) in [
        (batch(6, 3), "it names a message that its batch does not have"),
        (batch(u32::MAX, 2), "it names a message that its batch does not have"),
        (batch(0, 0), "a record is about no message"),
        (settled(Offset::new(0), 0, QoS::AtLeastOnce), "a record is about no message"),
        (
            settled(Offset::new(u64::MAX), 1, QoS::AtLeastOnce),
            "an offset does not fit into 64 bits",
        ),
    ] {
        let mut bytes = Vec::new();
        opened(1, "a").encode(&mut bytes);
        let at = bytes.len();
        record.encode(&mut bytes);
        let head = BatchHead { base_offset: Offset::new(0), messages: 8, receive_ns: 0 };
        assert_eq!(Ledger::default().apply(head, &bytes), Err(RecordError { at, what }));
    }
}

#[test]
fn an_empty_retained_message_removes_the_earlier_one_and_an_expired_one_is_removed() {
    let mut ledger = after(&[Record::Stock(StockRecord::Unretained { index: 1 })]);
    let expires = [2, 0, 0, 0, 1];
    for (offset, topic, properties, payload) in [
        (100, "a", &[][..], &b"1"[..]),
        (101, "refused", &[], b"1"),
        (102, "b", &expires, b"1"),
        (103, "c", &[], b"1"),
        (104, "a", &[], b""),
    ] {
        let qos = QoS::AtMostOnce;
        ledger.retain(Offset::new(offset), 5, RetainedMessage { topic, qos, properties, payload });
    }
    let topics = |ledger: &Ledger| -> Vec<String> {
        ledger.retained().map(|(topic, _)| topic.to_owned()).collect()
    };
    assert_eq!(topics(&ledger), ["b", "c"]);
    ledger.expire(1_000_000_005);
    assert_eq!(topics(&ledger), ["c"]);
}

#[test]
fn the_table_is_restored_with_its_values_which_are_stale() {
    let definition = r#"{"type":"f64"}"#;
    let mut ledger = after(&[
        table_is(3, 1),
        Record::Table(TableRecord::Declared {
            parameter: ParameterIndex::new(194),
            name: "a",
            definition,
        }),
        Record::Table(TableRecord::Declared {
            parameter: ParameterIndex::new(196),
            name: "b",
            definition,
        }),
        Record::Table(TableRecord::Framed { index: 2 }),
        Record::Table(TableRecord::Sampled { index: 4, parameter: ParameterIndex::new(196) }),
    ]);
    assert_eq!(
        ledger.carried(),
        [(102, Carried::Frame), (104, Carried::Sample(ParameterIndex::new(196)))]
            .map(|(at, what)| (Offset::new(at), what))
    );
    ledger.frame(5, &frame((0, 7), 3)).unwrap();
    ledger.sample(6, ParameterIndex::new(196), Properties::NONE, b"2.5").unwrap();
    ledger.frame(7, &frame((0, 8), 4)).unwrap();
    let good = Quality::GOOD;
    let expected = [(194, OwnedValue::F64(7.0), 97, good), (196, OwnedValue::F64(2.5), 6, good)];
    assert_eq!(values(&ledger), expected, "the frame of another table is ignored");
    let restored = Ledger::restore(&snapshot(&ledger)).unwrap();
    assert_eq!(values(&restored), expected);
    let current = restored.restored_values(0, usize::MAX);
    let at = current.get(ParameterIndex::new(196)).unwrap();
    assert_eq!((at.value, at.time_ns, at.receive_ns), (ValueView::F64(2.5), 6, 7));
    assert_eq!(
        (at.quality.status(), at.quality.reason()),
        (QualityStatus::Stale, Quality::RESTORED)
    );
    let entries = restored.table().unwrap();
    assert_eq!((entries.id(), entries.revision(), entries.end().get()), (3, 1, 197));
}

#[test]
fn a_removed_parameter_has_no_value_even_after_it_is_declared_again() {
    let definition = r#"{"type":"f64"}"#;
    let declared = Record::Table(TableRecord::Declared {
        parameter: ParameterIndex::new(194),
        name: "a",
        definition,
    });
    let mut ledger = after(&[table_is(3, 1), declared.clone()]);
    ledger.frame(5, &frame((0, 7), 3)).unwrap();
    for record in
        [Record::Table(TableRecord::Removed { parameter: ParameterIndex::new(194) }), declared]
    {
        assert_eq!(
            values(&ledger).len(),
            usize::from(
                record
                    == Record::Table(TableRecord::Removed { parameter: ParameterIndex::new(194) })
            )
        );
        let mut bytes = Vec::new();
        record.encode(&mut bytes);
        ledger.apply(BatchHead::default(), &bytes).unwrap();
    }
    assert_eq!(values(&ledger), []);
}

#[test]
fn a_parameter_before_any_table_is_refused() {
    let mut bytes = Vec::new();
    let definition = r#"{"type":"f64"}"#;
    TableRecord::Declared { parameter: ParameterIndex::new(0), name: "a", definition }
        .encode(&mut bytes);
    let error = Ledger::default().apply(BatchHead::default(), &bytes).unwrap_err();
    assert_eq!(error.what, "no record says before it which table this is");
}

fn table_is(id: u32, revision: u64) -> Record<'static> {
    Record::Table(TableRecord::TableIs { id, revision, end: ParameterIndex::new(0) })
}

fn publishes(session: u64, parameters: &[u32], streams: &[u32]) -> Record<'static> {
    let [parameters, streams] =
        [parameters, streams].map(|all| Cow::Owned(all.iter().copied().collect()));
    Record::Session(SessionRecord::Publishes {
        session: SessionKey::new(session),
        parameters,
        streams,
    })
}

/// What a session has declared.
fn declared(ledger: &Ledger, session: u64) -> (Vec<u32>, Vec<u32>) {
    let kept = ledger.session(SessionKey::new(session)).unwrap();
    (kept.parameters.indices().collect(), kept.streams.indices().collect())
}

fn stream(stream: u32, definition: &str) -> Record<'_> {
    Record::Stream(StreamRecord::Declared {
        stream: StreamIndex::new(stream),
        name: "sound",
        definition,
    })
}

#[test]
fn a_session_keeps_what_it_declared_until_that_is_removed() {
    let parameter = |index, name| {
        let parameter = ParameterIndex::new(index);
        Record::Table(TableRecord::Declared { parameter, name, definition: r#"{"type":"f64"}"# })
    };
    let sound = r#"{"media":"audio/pcm"}"#;
    let mut history = vec![
        table_is(3, 1),
        opened(1, "pump"),
        opened(2, "fan"),
        parameter(0, "a"),
        parameter(1, "b"),
        stream(0, sound),
        publishes(1, &[0], &[]),
        publishes(1, &[1], &[0]),
        publishes(2, &[0, 1], &[]),
        publishes(9, &[0], &[0]),
    ];
    for (record, first, second) in [
        (
            Record::Session(SessionRecord::Left {
                session: SessionKey::new(1),
                at_ns: 1,
                expiry_s: 9,
                will: None,
            }),
            (&[0, 1][..], &[0][..]),
            &[0, 1][..],
        ),
        (
            Record::Table(TableRecord::Removed { parameter: ParameterIndex::new(0) }),
            (&[1], &[0]),
            &[1],
        ),
        (parameter(0, "a"), (&[1], &[0]), &[1]),
        (publishes(2, &[0], &[]), (&[1], &[0]), &[0, 1]),
        (stream(0, r#"{"media":"audio/pcm","source":"eye"}"#), (&[1], &[0]), &[0, 1]),
        (stream(0, r#"{"media":"video/h264"}"#), (&[1], &[]), &[0, 1]),
        (publishes(1, &[], &[0]), (&[1], &[0]), &[0, 1]),
        (
            Record::Stream(StreamRecord::Removed { stream: StreamIndex::new(0) }),
            (&[1], &[]),
            &[0, 1],
        ),
        (table_is(3, 2), (&[1], &[]), &[0, 1]),
        (table_is(4, 1), (&[], &[]), &[]),
    ] {
        history.push(record);
        let ledger = after(&history);
        for ledger in [&ledger, &Ledger::restore(&snapshot(&ledger)).unwrap()] {
            assert_eq!(declared(ledger, 1), (first.0.to_vec(), first.1.to_vec()), "{history:?}");
            assert_eq!(declared(ledger, 2).0, second, "{history:?}");
        }
    }
    let ledger = after(&[opened(1, "pump"), publishes(1, &[0], &[0]), opened(2, "pump")]);
    assert_eq!(declared(&ledger, 2), (vec![], vec![]), "another session of the same client");
}

#[test]
fn only_a_kind_that_needs_a_second_byte_has_one() {
    let mut bytes = Vec::new();
    publishes(1, &[0], &[]).encode(&mut bytes);
    assert_eq!(bytes, [0, 32, 1, 1, 0, 0, 0]);
    for second in [0, 6, 31] {
        bytes[1] = second;
        assert!(Records::new(&bytes).next().unwrap().is_err());
    }
}

#[test]
fn a_kind_of_a_newer_version_is_refused_and_the_records_before_it_are_applied() {
    let mut ledger = Ledger::default();
    let mut bytes = Vec::new();
    opened(3, "pump").encode(&mut bytes);
    let at = bytes.len();
    for kind in (37..=255).filter(|kind| *kind != 48 && !(64..=68).contains(kind)) {
        bytes.truncate(at);
        bytes.extend([0xe0, kind, 7]);
        let error = ledger.apply(BatchHead::default(), &bytes).unwrap_err().to_string();
        let why = "this version of Slipring does not know its kind";
        assert_eq!(error, format!("the record at byte {at} cannot be read: {why}"));
        assert!(ledger.session(SessionKey::new(3)).is_some());
    }
}
