//! The answers to each request.

use serde_json::{Value, json};
use slipring_core::desk::ChangeEvent;
use slipring_core::table::event_message;
use slipring_core::{ParameterIndex, SessionKey};
use slipring_wire::frame::{Kind, RangeSet};

use crate::asking::Asked;

fn indices(set: &RangeSet) -> Vec<u32> {
    set.indices().collect()
}

#[test]
fn a_declaration_is_answered_with_indices_in_the_order_asked() {
    let mut table = Asked::default();
    let answer = table.ask(
        "declare",
        r#"{"prefix": "gripen/39-7/engine", "parameters": [
            {"name": "rpm", "type": "f64", "unit": "1/min", "description": "", "range": [0, 20000],
             "limits": {"high": 18000}, "rate_hz": 50, "source": "ECU"},
            {"name": "on", "type": "bool"}]}"#,
    );
    assert_eq!(answer, json!({"table": 7, "revision": 1, "indices": [1, 0]}));
    let rpm = table.registry.entries().get(ParameterIndex::new(1)).unwrap();
    assert_eq!((&*rpm.name, rpm.kind), ("gripen/39-7/engine/rpm", Kind::F64));
    let definition = &rpm.definition;
    assert_eq!(definition.description, None, "an empty text says nothing");
    assert_eq!((definition.range, definition.rate_hz), (Some((0.0, 20_000.0)), Some(50.0)));
}

#[test]
fn new_parameters_of_one_kind_get_adjacent_indices_and_older_ones_keep_theirs() {
    let mut table = Asked::default();
    table.declare(1, &[("x", "f64"), ("on", "bool")]);
    let outcome = table.declare(
        1,
        &[("c", "f64"), ("t", "text"), ("on", "bool"), ("a", "f64"), ("z", "u8"), ("b", "bool")],
    );
    let answer: serde_json::Value = serde_json::from_slice(&outcome.answer).unwrap();
    assert_eq!(answer["indices"], json!([4, 6, 0, 5, 3, 2]));
    assert_eq!(indices(&outcome.change.added), [2, 3, 4, 5, 6]);
}

#[test]
fn a_name_without_a_prefix_is_the_whole_topic() {
    let mut table = Asked::default();
    table.ask("declare", r#"{"parameters": [{"name": "a/b", "type": "u8"}]}"#);
    assert_eq!(table.registry.entries().index_of("a/b"), Some(ParameterIndex::new(0)));
}

#[test]
fn declaring_a_parameter_again_adds_a_publisher_and_changes_nothing_else() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8"), ("b", "u8")]);
    let again = table.declare(2, &[("b", "u8")]);
    assert!(again.change.is_empty());
    assert_eq!(table.registry.entries().revision(), 1);
    assert_eq!(
        table.registry.publishers.may_publish(SessionKey::new(2), std::iter::once(1..2)),
        Ok(())
    );
    assert_eq!(
        table.registry.publishers.may_publish(SessionKey::new(2), [1..2, 0..2].into_iter()),
        Err(0)
    );
    assert_eq!(
        table.registry.publishers.may_publish(SessionKey::new(3), std::iter::once(1..2)),
        Err(1)
    );
    assert_eq!(
        indices(&table.registry.publishers.leave(SessionKey::new(1), false)),
        [0],
        "the other has a publisher still"
    );
    assert_eq!(indices(&table.registry.publishers.leave(SessionKey::new(2), false)), [1]);
}

#[test]
fn another_description_is_a_change_of_the_same_parameter() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8")]);
    let body = r#"{"parameters": [{"name": "a", "type": "u8", "description": "flaps"}]}"#;
    let outcome = table.outcome(1, "declare", body);
    assert_eq!(indices(&outcome.change.changed), [0]);
    assert_eq!(
        table
            .registry
            .entries()
            .get(ParameterIndex::new(0))
            .unwrap()
            .definition
            .description
            .as_deref(),
        Some("flaps")
    );
    assert_eq!(table.registry.entries().revision(), 2);
}

#[test]
fn finding_gives_an_index_or_says_why_not() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8"), ("b", "u8")]);
    table.ask("remove", r#"{"names": ["b"]}"#);
    let answer = table.ask("find", r#"{"names": ["x", "a", "b"]}"#);
    let expected = json!({"table": 7, "revision": 2, "indices": [null, 0, null], "errors": [
        {"at": 0, "name": "x", "code": "unknown", "message": "no parameter has this name"},
        {"at": 2, "name": "b", "code": "removed", "message": "this parameter was removed"},
    ]});
    assert_eq!(answer, expected);
}

#[test]
fn an_answer_lists_a_hundred_errors_and_counts_the_others() {
    let mut table = Asked::default();
    let names: Vec<_> = (0..250).map(|number| format!("n{number}")).collect();
    let answer = table.ask("find", &json!({"names": names}).to_string());
    assert_eq!(answer["errors"].as_array().unwrap().len(), 100);
    assert_eq!(
        (answer["more_errors"].as_u64(), answer["indices"][249].is_null()),
        (Some(150), true)
    );
}

#[test]
fn the_pages_of_a_list_have_every_parameter_with_its_whole_definition() {
    let mut table = Asked::default();
    let body = r#"{"prefix": "p", "parameters": [
        {"name": "mode", "type": "enum", "labels": {"1": "on", "0": "off"}, "unit": "-"},
        {"name": "x", "type": "f32", "limits": {"low": -1.5}}, {"name": "y", "type": "f32"}]}"#;
    table.ask("declare", body);
    let first = table.ask("list", r#"{"count": 2}"#);
    let parameters = json!([
        {"index": 0, "name": "p/mode", "type": "enum", "labels": {"0": "off", "1": "on"}, "unit": "-"},
        {"index": 1, "name": "p/x", "type": "f32", "limits": {"low": -1.5}},
    ]);
    let expected = json!({"table": 7, "revision": 1, "next": 2, "parameters": parameters});
    assert_eq!(first, expected);
    let rest = table.ask("list", r#"{"filter": "p/#", "from": 2}"#);
    assert_eq!(rest["next"], json!(null));
    assert_eq!(rest["parameters"], json!([{"index": 2, "name": "p/y", "type": "f32"}]));
    assert_eq!(table.ask("list", "")["parameters"].as_array().unwrap().len(), 3);
    assert_eq!(table.ask("list", r#"{"filter": "p/+/z"}"#)["parameters"], json!([]));
}

#[test]
fn a_list_has_removed_parameters_if_the_request_asks_for_them() {
    let mut table = Asked::default();
    table.declare(1, &[("p/x", "f32"), ("p/y", "f32"), ("q/z", "f32")]);
    table.ask("remove", r#"{"names": ["p/x", "q/z"]}"#);
    table.declare(1, &[("p/x", "text")]);
    let mut listed = |body: &str| {
        let answer = table.ask("list", body);
        let parameters = answer["parameters"].as_array().unwrap().clone();
        let row = |one: &Value| (one["index"].as_u64().unwrap(), one["removed"] == json!(true));
        parameters.iter().map(row).collect::<Vec<_>>()
    };
    assert_eq!(listed("{}"), [(1, false), (3, false)]);
    let all = [(0, true), (1, false), (2, true), (3, false)];
    assert_eq!(listed(r#"{"removed": true}"#), all);
    assert_eq!(listed(r#"{"removed": true, "from": 1, "count": 2}"#), all[1..3]);
    assert_eq!(listed(r#"{"removed": true, "filter": "p/#"}"#), [all[0], all[1], all[3]]);
}

#[test]
fn a_page_of_a_list_is_no_larger_than_the_client_accepts() {
    let mut table = Asked { answer_bytes_max: 2_000, ..Asked::default() };
    let names: Vec<_> = (0..100).map(|number| format!("pump/7/parameter/{number}")).collect();
    for part in names.chunks(50) {
        let part: Vec<_> = part.iter().map(|name| (&**name, "f64")).collect();
        table.declare(1, &part);
    }
    let (mut from, mut seen) = (json!(0), 0);
    while !from.is_null() {
        let body = json!({"from": from}).to_string();
        assert!(table.outcome(1, "list", &body).answer.len() <= 2_000);
        let answer = table.ask("list", &body);
        seen += answer["parameters"].as_array().unwrap().len();
        from = answer["next"].clone();
    }
    assert_eq!(seen, 100);
}

#[test]
fn a_removed_parameter_gets_its_old_index_when_it_is_declared_again() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8"), ("b", "u8")]);
    let answer = table.ask("remove", r#"{"names": ["a", "nothing"]}"#);
    assert_eq!((&answer["removed"], &answer["errors"][0]["code"]), (&json!(1), &json!("unknown")));
    assert!(
        table.registry.entries().get(ParameterIndex::new(0)).is_none()
            && table.registry.entries().index_of("a").is_none()
    );
    assert_eq!(
        table.registry.publishers.may_publish(SessionKey::new(1), std::iter::once(0..1)),
        Err(0)
    );
    let revived = table.declare(1, &[("a", "u8")]);
    assert_eq!(indices(&revived.change.revived), [0]);
    table.ask("remove", r#"{"names": ["a"]}"#);
    let other = table.declare(1, &[("a", "i8")]);
    assert_eq!(indices(&other.change.added), [2], "another type is another parameter");
    assert_eq!(
        &*table.registry.entries().known(ParameterIndex::new(0)).unwrap().name,
        "a",
        "old frames can be read"
    );
}

#[test]
fn a_parameter_that_another_client_publishes_is_not_removed() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8")]);
    table.declare(2, &[("a", "u8")]);
    let answer = table.ask("remove", r#"{"names": ["a"]}"#);
    assert_eq!(
        (&answer["removed"], &answer["errors"][0]["code"]),
        (&json!(0), &json!("published"))
    );
    let until = "remove it when no other client publishes it, or with \"force\": true";
    let words = format!("the client client-2 publishes it now; {until}");
    assert_eq!(answer["errors"][0]["message"], json!(words));
    table.declare(3, &[("a", "u8")]);
    let answer = table.ask("remove", r#"{"names": ["a"], "force": false}"#);
    let words = format!("the client client-2 and 1 more publish it now; {until}");
    assert_eq!(answer["errors"][0]["message"], json!(words));
    table.registry.publishers.leave(SessionKey::new(2), true);
    table.registry.publishers.leave(SessionKey::new(3), false);
    assert_eq!(table.ask("remove", r#"{"names": ["a"]}"#)["removed"], json!(1));
    assert_eq!(
        table.registry.publishers.may_publish(SessionKey::new(2), std::iter::once(0..1)),
        Err(0),
        "it is gone for all"
    );
}

#[test]
fn with_force_a_parameter_that_another_client_publishes_is_removed() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8"), ("b", "u8")]);
    table.declare(2, &[("a", "u8"), ("b", "u8")]);
    assert_eq!(table.ask("remove", r#"{"names": ["a"], "force": true}"#)["removed"], json!(1));
    assert_eq!(
        table.registry.publishers.may_publish(SessionKey::new(2), std::iter::once(0..1)),
        Err(0)
    );
    assert_eq!(
        table.registry.publishers.may_publish(SessionKey::new(2), std::iter::once(1..2)),
        Ok(())
    );
}

#[test]
fn a_session_owns_the_parameters_it_declared_until_it_ends() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8"), ("b", "u8")]);
    table.declare(2, &[("b", "u8")]);
    let a = || std::iter::once(0..1);
    assert_eq!(
        indices(&table.registry.publishers.leave(SessionKey::new(1), true)),
        [0],
        "somebody else publishes b"
    );
    assert_eq!(table.registry.publishers.count(ParameterIndex::new(0)), 0);
    assert!(
        table.registry.publishers.leave(SessionKey::new(1), true).is_empty(),
        "it is away already"
    );
    table.registry.publishers.come_back(SessionKey::new(1));
    assert_eq!(table.registry.publishers.may_publish(SessionKey::new(1), a()), Ok(()));
    assert_eq!(
        (
            table.registry.publishers.count(ParameterIndex::new(0)),
            table.registry.publishers.count(ParameterIndex::new(1))
        ),
        (1, 2)
    );
    table.registry.publishers.end(SessionKey::new(1));
    assert_eq!(
        table.registry.publishers.may_publish(SessionKey::new(1), a()),
        Ok(()),
        "its connection is not over"
    );
    table.registry.publishers.leave(SessionKey::new(1), true);
    table.registry.publishers.end(SessionKey::new(1));
    assert_eq!(table.registry.publishers.may_publish(SessionKey::new(1), a()), Err(0));
    table.registry.publishers.come_back(SessionKey::new(1));
    assert_eq!(table.registry.publishers.may_publish(SessionKey::new(1), a()), Err(0));
}

#[test]
fn a_change_is_announced_by_ranges_of_indices() {
    let mut table = Asked::default();
    let outcome = table.declare(1, &[("a", "u8"), ("b", "u8")]);
    let text = event_message(&table.registry, ChangeEvent::Added, &outcome.change.added, None);
    let expected = json!({"table": 7, "revision": 1, "event": "added", "ranges": [[0, 2]]});
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&text).unwrap(), expected);
    let text = event_message(
        &table.registry,
        ChangeEvent::Stale,
        &outcome.change.added,
        Some("publisher gone"),
    );
    let told: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!((&told["event"], &told["why"]), (&json!("stale"), &json!("publisher gone")));
}

#[test]
fn the_json_of_a_table_has_its_removed_parameters_too() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8"), ("b", "text")]);
    table.ask("remove", r#"{"names": ["a"]}"#);
    let whole: serde_json::Value =
        serde_json::from_str(&table.registry.entries().to_json()).unwrap();
    let parameters = json!([
        {"index": 0, "name": "a", "type": "u8", "removed": true},
        {"index": 1, "name": "b", "type": "text"},
    ]);
    assert_eq!(whole, json!({"table": 7, "revision": 2, "parameters": parameters}));
}
