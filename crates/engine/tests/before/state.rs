//! The state that a journal's records lead to, as JSON that is independent of the names in the code.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use slipring_core::ledger::{
    BatchHead, Carried, DeliveryManner, DeliverySpan, KeptSession, Ledger, Records, RetainedMessage,
};
use slipring_core::{Offset, Options, Owner, ParameterIndex, SessionKey, StreamIndex};
use slipring_journal::{JournalReader, StateBatch};
use slipring_wire::frame::RangeSet;
use slipring_wire::{Properties, Publish, QoS};

/// The state after every record of the journal, without its snapshot.
pub fn from_all_records(folder: &Path) -> Value {
    let mut ledger = Ledger::default();
    follow(&mut JournalReader::open(folder).unwrap(), None, &mut ledger);
    state(&ledger)
}

/// The state after the snapshot and the records behind it.
pub fn from_snapshot(folder: &Path) -> Value {
    let mut reader = JournalReader::open(folder).unwrap();
    let (position, snapshot) = reader.snapshot().unwrap().expect("a snapshot");
    let mut ledger = Ledger::restore(&snapshot).unwrap();
    follow(&mut reader, Some(position), &mut ledger);
    state(&ledger)
}

/// How often each kind of record occurs in the journal and in its snapshot.
pub fn kinds(folder: &Path) -> BTreeMap<u8, usize> {
    let mut reader = JournalReader::open(folder).unwrap();
    let (_, snapshot) = reader.snapshot().unwrap().expect("a snapshot");
    let mut kinds = BTreeMap::new();
    count_kinds(&snapshot, &mut kinds);
    reader.follow(None, &mut |batch| count_kinds(batch.records, &mut kinds)).unwrap();
    kinds
}

fn count_kinds(bytes: &[u8], kinds: &mut BTreeMap<u8, usize>) {
    let mut records = Records::new(bytes);
    loop {
        let at = records.next_at();
        let Some(record) = records.next() else { return };
        record.unwrap();
        let kind = match bytes[at] & 0x1f {
            0 => bytes[at + 1],
            kind => kind,
        };
        *kinds.entry(kind).or_default() += 1;
    }
}

fn follow(
    reader: &mut JournalReader,
    from: Option<slipring_journal::JournalPosition>,
    ledger: &mut Ledger,
) {
    let followed = reader.follow(from, &mut |batch| apply(ledger, &batch)).unwrap();
    assert!(followed.damage.is_empty(), "{:?}", followed.damage);
}

fn apply(ledger: &mut Ledger, batch: &StateBatch<'_>) {
    let StateBatch { base_offset, count: messages, receive_ns, records, .. } = *batch;
    let base_offset = Offset::new(base_offset);
    ledger.apply(BatchHead { base_offset, messages, receive_ns }, records).unwrap();
    for (offset, message) in batch.retained() {
        let qos = QoS::from_bits(message.flags.qos()).unwrap();
        let (topic, properties, payload) = (message.topic, message.properties, message.payload);
        let message = RetainedMessage { topic, qos, properties, payload };
        ledger.retain(Offset::new(offset), receive_ns, message);
    }
    let carried: BTreeMap<Offset, Carried> = ledger.carried().iter().copied().collect();
    for (offset, message) in batch.messages() {
        match carried.get(&Offset::new(offset)) {
            None => {}
            Some(Carried::Frame) => ledger.frame(receive_ns, message.payload).unwrap(),
            Some(Carried::Sample(parameter)) => {
                let properties = Properties::of_publish(message.properties).unwrap();
                ledger.sample(receive_ns, *parameter, properties, message.payload).unwrap();
            }
        }
    }
}

fn state(ledger: &Ledger) -> Value {
    let sessions = ledger.sessions();
    let sessions: Vec<Value> = sessions.iter().map(|(key, kept)| session(*key, kept)).collect();
    let retained = ledger.retained().map(|(topic, kept)| {
        let RetainedMessage { qos, properties, payload, .. } = kept.message(topic);
        json!({
            "topic": topic, "offset": kept.offset, "receive_ns": kept.receive_ns,
            "owner": kept.owner.as_ref().map(Owner::as_str), "qos": qos as u8,
            "properties": properties, "payload": text(payload),
        })
    });
    let waiting = ledger.waiting().map(|(offset, kept)| {
        json!({
            "offset": offset, "priority": kept.priority as u8, "expires_ns": kept.expires_ns,
            "owner": kept.owner.as_ref().map(Owner::as_str),
        })
    });
    json!({
        "highest_session": ledger.highest_session(), "newest_ns": ledger.newest_ns(),
        "needed_offset": ledger.needed(), "sessions": sessions,
        "retained": retained.collect::<Vec<_>>(), "waiting": waiting.collect::<Vec<_>>(),
        "table": table(ledger), "streams": streams(ledger),
    })
}

fn session(key: SessionKey, kept: &KeptSession) -> Value {
    let subscriptions: Vec<Value> = kept
        .subscriptions
        .iter()
        .map(|(filter, one)| {
            json!({
                "filter": filter, "options": options(one.options),
                "list": one.list.as_ref().map(indices),
                "replay": one.replay.as_ref().map(|replay| json!({"after": replay.after})),
            })
        })
        .collect();
    let inflight: Vec<Value> = kept
        .inflight
        .iter()
        .map(|one| {
            json!({"packet_id": one.packet_id.get(), "message": one.message.as_ref().map(messages)})
        })
        .collect();
    json!({
        "session": key, "client_id": kept.client_id, "user": kept.user,
        "owner": kept.owner.as_ref().map(Owner::as_str), "expiry_s": kept.expiry_s,
        "left_ns": kept.left_ns,
        "will": kept.will.as_ref().map(|one| will(&one.publish(), one.delay_s)),
        "subscriptions": subscriptions, "inflight": inflight,
        "incoming": kept.incoming.iter().map(|id| id.get()).collect::<Vec<_>>(),
        "parameters": indices(&kept.parameters), "streams": indices(&kept.streams),
        "queue": kept.queue().map(messages).collect::<Vec<_>>(),
    })
}

fn will(message: &Publish<'_>, delay_s: u32) -> Value {
    json!({
        "topic": message.topic, "payload": text(message.payload), "qos": message.qos as u8,
        "retain": message.retain, "properties": message.properties.encoded(), "delay_s": delay_s,
    })
}

fn options(options: Options) -> Value {
    let needs = options.needs.map(|needs| {
        needs.properties().into_iter().map(|(name, text)| json!([name, text])).collect::<Vec<_>>()
    });
    json!({
        "qos": options.qos as u8, "no_local": options.no_local,
        "retain_as_published": options.retain_as_published, "identifier": options.identifier,
        "needs": needs,
    })
}

fn messages(span: &DeliverySpan) -> Value {
    let DeliveryManner { qos, retain, identifiers, .. } = &*span.manner;
    json!({
        "first": span.first, "count": span.count, "bytes": span.bytes, "qos": *qos as u8,
        "retain": retain, "identifiers": identifiers.as_deref(),
    })
}

fn table(ledger: &Ledger) -> Value {
    let entries = ledger.table().expect("a table");
    let entry = |(index, entry): (ParameterIndex, &slipring_core::table::Entry)| {
        let newest = ledger
            .values()
            .get(index)
            .map(|newest| json!([format!("{:?}", newest.value), newest.time_ns, newest.quality.0]));
        json!({
            "index": index, "name": &*entry.name, "definition": parsed(&entry.definition.to_json()),
            "owner": entries.owner(index).map(Owner::as_str), "newest": newest,
        })
    };
    json!({
        "id": entries.id(), "revision": entries.revision(), "end": entries.end(),
        "parameters": entries.iter_from(ParameterIndex::new(0)).map(entry).collect::<Vec<_>>(),
        "removed": entries.removed().map(entry).collect::<Vec<_>>(),
    })
}

fn streams(ledger: &Ledger) -> Value {
    let streams = ledger.streams();
    let each = streams.iter_from(StreamIndex::new(0)).map(|(index, entry)| {
        json!({
            "index": index, "name": &*entry.name, "definition": parsed(&entry.definition.to_json()),
            "owner": entry.owner.as_ref().map(Owner::as_str),
        })
    });
    json!({"end": streams.end(), "streams": each.collect::<Vec<_>>()})
}

fn indices(set: &RangeSet) -> Vec<u32> {
    set.indices().collect()
}

fn parsed(definition: &str) -> Value {
    serde_json::from_str(definition).unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
