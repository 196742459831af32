//! A plain message to a parameter's topic, and the text and the JSON that subscribers without frames get.

use std::sync::Arc;

use arbitrary::{Arbitrary, Unstructured};
use slipring_core::ParameterIndex;
use slipring_core::table::{Definition, Entries, PlainSample, json, plain_sample, text};
use slipring_wire::frame::{Kind, OwnedValue};
use slipring_wire::{Properties, PropertiesBuf, PropertyId, Value};

/// A type, and the message.
#[derive(Arbitrary, Debug)]
struct SampleInput<'a> {
    kind: u8,
    labels: Vec<(u32, &'a str)>,
    time: Option<&'a str>,
    payload: &'a [u8],
}

pub fn sample(data: &[u8]) {
    let Ok(input) = SampleInput::arbitrary_take_rest(Unstructured::new(data)) else { return };
    let Some(table) = table(&input) else { return };
    let entry = table.get(ParameterIndex::new(0)).expect("declared");
    let mut properties = PropertiesBuf::new();
    if let Some(time) = input.time.filter(|time| !time.contains('\0') && time.len() < 1 << 16) {
        properties.push(PropertyId::UserProperty, Value::Pair("time", time));
    }
    let Ok(read) = plain_sample(entry, properties.borrow(), input.payload, 5) else { return };
    assert_eq!(read.value.view().kind(), entry.kind);
    let mut plain = Vec::new();
    text(&read.of(ParameterIndex::new(0)), &table, &mut plain);
    let again = plain_sample(entry, Properties::NONE, &plain, read.time_ns);
    // The text of a number without a label may be the label of another number. Then the label wins.
    let meant =
        entry.definition.kind.labels().and_then(|labels| {
            labels.value(std::str::from_utf8(&plain).expect("a label or a number"))
        });
    let is_other = meant.is_some_and(|code| read.value.view().as_f64() != Some(code.into()));
    assert!(again.is_ok_and(|again| is_other || is_same(&again, &read)), "{plain:?}");
    let mut words = Vec::new();
    json(&read.of(ParameterIndex::new(0)), &table, &mut words);
    let told: serde_json::Value = serde_json::from_slice(&words).expect("it is JSON");
    assert_eq!(told["time"].as_i64(), Some(read.time_ns));
}

/// One parameter, if it can be declared.
fn table(input: &SampleInput<'_>) -> Option<Entries> {
    let kind =
        Kind::ALL.get(usize::from(input.kind) % (Kind::ALL.len() + 1)).map(|kind| kind.name());
    let mut definition = serde_json::json!({ "type": kind.unwrap_or("enum") });
    if kind.is_none() {
        let pairs =
            input.labels.iter().map(|(number, label)| (number.to_string(), (*label).into()));
        definition["labels"] = serde_json::Value::Object(pairs.collect());
    }
    let definition = Definition::from_json(&definition.to_string()).ok()?;
    let mut table = Entries::new(1);
    table.put(ParameterIndex::new(0), "a", Arc::new(definition)).ok()?;
    Some(table)
}

/// Whether both are the same. Two values that are not a number count as the same.
fn is_same(one: &PlainSample, other: &PlainSample) -> bool {
    let is_nan = |value: &OwnedValue| value.view().as_f64().is_some_and(f64::is_nan);
    one == other || one.time_ns == other.time_ns && is_nan(&one.value) && is_nan(&other.value)
}
