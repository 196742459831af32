//! Refused requests: each has a code and a message, and changes nothing.

use serde_json::{Value, json};
use slipring_core::desk::{DeskBounds, ProblemCode};
use slipring_core::table::{ClockReading, Table};
use slipring_wire::frame::{Quality, Sample, ValueView};

use crate::asking::{Asked, bounds};

/// A table with one parameter, and its state.
fn table() -> (Asked, Vec<u8>) {
    let mut table = Asked::default();
    let body = r#"{"parameters": [{"name": "rpm", "type": "f64", "unit": "1/min"},
        {"name": "gear", "type": "enum", "labels": {"0": "up", "1": "down"}}]}"#;
    assert_eq!(table.outcome(1, "declare", body).refused, None);
    let state = state(&table);
    (table, state)
}

fn state(table: &Asked) -> Vec<u8> {
    let mut out = Vec::new();
    let all = table.registry.matching("#");
    let change = slipring_core::table::TableChange { added: all, ..Default::default() };
    table.registry.record(&change, &mut out);
    out.extend(format!("{:?}", table.registry.publishers).into_bytes());
    out
}

/// Checks that a request is refused with this code; returns the message of the first problem, or of the refusal.
fn refused(request: &str, body: &str, code: &str) -> String {
    let (mut table, before) = table();
    let outcome = table.outcome(1, request, body);
    assert_eq!(outcome.refused.map(ProblemCode::name), Some(code), "{body}");
    assert!(outcome.change.is_empty() && state(&table) == before, "{body}");
    let answer: Value = serde_json::from_slice(&outcome.answer).unwrap();
    assert_eq!(answer["error"], json!(code), "{body}");
    let problem = answer["problems"].get(0).map(|problem| &problem["message"]);
    problem.unwrap_or(&answer["message"]).as_str().unwrap().to_owned()
}

/// A parameter, the code of its refusal, and a part of the message.
const REFUSED: &[(&str, &str, &str)] = &[
    (r#"{"type": "f64"}"#, "name", "the entry has no name"),
    (r#"{"name": "", "type": "f64"}"#, "name", "the name is empty"),
    (r#"{"name": "a/+", "type": "f64"}"#, "name", "no wildcard"),
    (r#"{"name": "a/#", "type": "f64"}"#, "name", "no wildcard"),
    (r#"{"name": "a\u0000", "type": "f64"}"#, "name", "no null character"),
    (r#"{"name": "$SYS/a", "type": "f64"}"#, "name", "begins with $"),
    (r#"{"name": "a"}"#, "malformed", "missing field `type`"),
    (r#"{"name": "a", "type": "float64"}"#, "type", "no type \"float64\"; types are"),
    (r#"{"name": "a", "type": 7}"#, "malformed", "invalid type: integer"),
    (r#"{"name": "a", "type": "u8", "units": "m"}"#, "malformed", "`units`"),
    (r#"{"name": "a", "name": "b", "type": "u8"}"#, "malformed", "duplicate"),
    (r#""rpm""#, "malformed", "an object such as"),
    (r#"{"name": "a", "type": "enum"}"#, "labels", "an enum needs labels"),
    (r#"{"name": "a", "type": "enum", "labels": {}}"#, "labels", "needs labels"),
    (
        r#"{"name": "a", "type": "enum", "labels": {"4294967296": "x"}}"#,
        "labels",
        "\"4294967296\" is no number of a label",
    ),
    (r#"{"name": "a", "type": "enum", "labels": {"-1": "x"}}"#, "labels", "\"-1\""),
    (r#"{"name": "a", "type": "enum", "labels": {"01": "x"}}"#, "labels", "\"01\""),
    (
        r#"{"name": "a", "type": "enum", "labels": {"1": "x", "1": "y"}}"#,
        "labels",
        "1 has two labels",
    ),
    (
        r#"{"name": "a", "type": "enum", "labels": {"1": "x", "2": "x"}}"#,
        "labels",
        "1 and 2 have the same label",
    ),
    (r#"{"name": "a", "type": "u8", "labels": {"1": "x"}}"#, "labels", "u8 has no labels"),
    (r#"{"name": "a", "type": "f64", "range": [2, 1]}"#, "range", "ends at 1, below"),
    (r#"{"name": "a", "type": "f64", "range": [0, 1e999]}"#, "malformed", "out of range"),
    (r#"{"name": "a", "type": "f64", "range": ["NaN", 1]}"#, "malformed", "invalid type"),
    (r#"{"name": "a", "type": "f64", "range": [NaN, 1]}"#, "malformed", "expected value"),
    (r#"{"name": "a", "type": "f64", "range": [1]}"#, "malformed", "invalid length"),
    (r#"{"name": "a", "type": "text", "range": [0, 1]}"#, "range", "text has no range"),
    (
        r#"{"name": "a", "type": "f64", "limits": {"low": 5, "high_critical": 4}}"#,
        "limits",
        "low (5) is above high_critical (4)",
    ),
    (r#"{"name": "a", "type": "bytes", "limits": {"low": 5}}"#, "limits", "bytes has no"),
    (r#"{"name": "a", "type": "f64", "limits": {"top": 5}}"#, "malformed", "`top`"),
    (r#"{"name": "a", "type": "f64", "rate_hz": 0}"#, "rate", "0 Hz"),
    (r#"{"name": "a", "type": "f64", "rate_hz": -5}"#, "rate", "-5 Hz"),
    (r#"{"name": "a", "type": "f64", "rate_hz": 1000001}"#, "rate", "1000001 Hz"),
    (
        r#"{"name": "rpm", "type": "f32", "unit": "1/min"}"#,
        "clash",
        "it is declared as f64 in 1/min, and asked for as f32 in 1/min;",
    ),
    (r#"{"name": "rpm", "type": "f64"}"#, "clash", "as f64 in 1/min, and asked for as f64;"),
    (
        r#"{"name": "gear", "type": "enum", "labels": {"0": "up"}}"#,
        "clash",
        "as enum (0 up, 1 down), and asked for as enum (0 up);",
    ),
];

fn refused_parameter(parameter: &str, code: &str, words: &str) {
    let good = r#"{"name": "good", "type": "u8"}"#;
    let body = format!(r#"{{"parameters": [{good}, {parameter}]}}"#);
    let message = refused("declare", &body, code);
    assert!(message.contains(words), "{parameter}: {message}");
}

#[test]
fn a_wrong_parameter_is_refused_with_a_code_and_a_message() {
    for (parameter, code, words) in REFUSED {
        refused_parameter(parameter, code, words);
    }
}

#[test]
fn a_parameter_with_a_text_that_is_too_long_is_refused() {
    let long = "x".repeat(1_025);
    let deep = ["x"; 33].join("/");
    let text = "y".repeat(1_001);
    for (parameter, code, words) in [
        (format!(r#"{{"name": "{long}", "type": "f64"}}"#), "name", "1025 bytes; 1024 are allowed"),
        (format!(r#"{{"name": "{deep}", "type": "f64"}}"#), "name", "33 levels; 32 are allowed"),
        (format!(r#"{{"name": "a", "type": "u8", "unit": "{text}"}}"#), "unit", "1001 bytes; 64"),
        (
            format!(r#"{{"name": "a", "type": "u8", "description": "{text}"}}"#),
            "description",
            "1001 bytes; 1000",
        ),
        (
            format!(r#"{{"name": "a", "type": "u8", "source": "{text}"}}"#),
            "source",
            "1001 bytes; 256",
        ),
    ] {
        refused_parameter(&parameter, code, words);
    }
}

#[test]
fn a_request_that_cannot_be_parsed_is_refused_with_a_message() {
    let list = [("list", r#"{"filter": "a#"}"#, "filter", "# stands alone")];
    for (request, body, code, words) in list.into_iter().chain([
        ("declare", "", "malformed", "a declaration is {\"prefix\""),
        ("declare", "[]", "malformed", "a declaration is"),
        ("declare", "{}", "malformed", "missing field `parameters`"),
        ("declare", r#"{"parameters": [], "more": 1}"#, "malformed", "unknown field `more`"),
        ("declare", r#"{"prefix": "a/", "parameters": []}"#, "name", "the prefix ends with /"),
        ("declare", "\u{feff}{}", "malformed", "expected value"),
        ("find", "{", "malformed", "EOF"),
        ("find", r#"{"names": "a"}"#, "malformed", "invalid type: string"),
        ("list", r#"{"from": -1}"#, "malformed", "invalid value"),
        ("select", "{}", "malformed", "give either names or filters"),
        ("select", r#"{"names": [], "filters": []}"#, "malformed", "give either"),
        ("select", r#"{"filters": ["ok", "a+"]}"#, "filter", "+ stands alone"),
        ("delete", "{}", "request", "there is no request \"delete\"; there are declare"),
        ("", "{}", "request", "there is no request \"\""),
    ]) {
        let message = refused(request, body, code);
        assert!(message.contains(words), "{request} {body}: {message}");
    }
    let deep = format!("{{\"names\": {}", "[".repeat(200_000));
    refused("find", &deep, "malformed");
    let deep = format!(r#"{{"parameters": [{}{}]}}"#, "[".repeat(10_000), "]".repeat(10_000));
    refused("declare", &deep, "malformed");
}

#[test]
fn a_request_that_is_not_utf_8_is_refused() {
    let mut table = Asked::default();
    let outcome = table.outcome_of(1, "find", b"{\"names\": [\"\xff\"]}");
    assert_eq!(outcome.refused, Some(ProblemCode::Malformed));
}

#[test]
fn a_refusal_lists_all_problems_with_their_positions() {
    let (mut table, before) = table();
    let answer = table.ask(
        "declare",
        r#"{"prefix": "p", "parameters": [{"name": "a", "type": "f46", "unit": "m"},
            {"name": "b", "type": "u8", "range": [3, 1], "rate_hz": 0}, {"name": "c", "type": "u8"},
            {"name": "c", "type": "u8"}, {"name": "d", "type": []}]}"#,
    );
    let problems = answer["problems"].as_array().unwrap();
    let told: Vec<_> = problems
        .iter()
        .map(|one| (one["at"].as_u64().unwrap(), one["name"].as_str().unwrap(), &one["code"]))
        .map(|(at, name, code)| (at, name, code.as_str().unwrap()))
        .collect();
    let expected = [
        (0, "p/a", "type"),
        (1, "p/b", "range"),
        (1, "p/b", "rate"),
        (3, "p/c", "duplicate"),
        (4, "p/d", "malformed"),
    ];
    assert_eq!(told, expected);
    let message = answer["message"].as_str().unwrap();
    assert!(message.starts_with("p/a (entry 0): there is no type \"f46\""), "{message}");
    assert!(message.ends_with("; and 4 more problems"), "{message}");
    assert_eq!(state(&table), before);
}

#[test]
fn a_refusal_lists_a_hundred_problems_at_most() {
    let (mut table, _) = table();
    let bad: Vec<_> = (0..300).map(|n| json!({"name": format!("n{n}"), "type": "x"})).collect();
    let answer = table.ask("declare", &json!({"parameters": bad}).to_string());
    assert_eq!(answer["problems"].as_array().unwrap().len(), 100);
    assert!(answer["message"].as_str().unwrap().ends_with("; and 299 more problems"));
}

#[test]
fn a_very_long_name_is_shown_in_part() {
    let (mut table, _) = table();
    let name = "ä".repeat(30_000);
    let answer = table.ask("find", &json!({"names": [name]}).to_string());
    let shown = answer["errors"][0]["name"].as_str().unwrap();
    assert!(shown.starts_with('ä') && shown.ends_with("...") && shown.len() <= 260);
}

#[test]
fn labels_that_differ_late_are_shown_where_they_differ() {
    let labels = |last: &str| -> Value {
        (0..9)
            .map(|n| (n.to_string(), json!(format!("l{n}"))))
            .chain([("9".into(), json!(last))])
            .collect()
    };
    let body = |last: &str| {
        json!({"parameters": [{"name": "a", "type": "enum", "labels": labels(last)}]}).to_string()
    };
    let mut table = Asked::default();
    table.ask("declare", &body("on"));
    let answer = table.ask("declare", &body("off"));
    let message = answer["problems"][0]["message"].as_str().unwrap();
    assert!(message.contains("with 9 on") && message.contains("with 9 off"), "{message}");
}

#[test]
fn a_full_table_refuses_new_parameters_and_serves_those_it_has() {
    let bounds = DeskBounds { entries: 2, ..bounds() };
    let mut table = Asked { bounds, ..Asked::default() };
    assert_eq!(table.declare(1, &[("a", "u8"), ("b", "u8")]).refused, None);
    let refused = table.declare(1, &[("a", "u8"), ("c", "u8"), ("d", "u8")]);
    assert_eq!(refused.refused, Some(ProblemCode::Full));
    let answer: Value = serde_json::from_slice(&refused.answer).unwrap();
    assert_eq!(answer["problems"].as_array().unwrap().len(), 1);
    assert_eq!(answer["problems"][0]["at"], json!(1));
    let words = "there are 2 parameters, and room for 2 (limits.parameters)";
    assert_eq!(answer["problems"][0]["message"], json!(words));
    assert_eq!(table.declare(1, &[("a", "u8"), ("b", "u8")]).refused, None);
    table.ask("remove", r#"{"names": ["a"]}"#);
    assert_eq!(table.declare(1, &[("c", "u8")]).refused, None);
    assert_eq!(table.declare(1, &[("a", "u8")]).refused, Some(ProblemCode::Full), "not even again");
}

#[test]
fn definitions_that_take_too_many_bytes_are_refused() {
    let bounds = DeskBounds { bytes: 2_000, ..bounds() };
    let mut table = Asked { bounds, ..Asked::default() };
    let one = |name: &str| json!({"parameters": [{"name": name, "type": "u8", "description": "d".repeat(1_000)}]});
    assert_eq!(table.outcome(1, "declare", &one("a").to_string()).refused, None);
    let answer = table.ask("declare", &one("b").to_string());
    assert_eq!(answer["error"], json!("full"));
}

#[test]
fn a_longer_description_is_refused_if_there_is_no_room_for_it() {
    let bounds = DeskBounds { bytes: 1_000, ..bounds() };
    let mut table = Asked { bounds, ..Asked::default() };
    let one = |bytes: usize| json!({"parameters": [{"name": "a", "type": "u8", "description": "d".repeat(bytes)}]});
    for (bytes, refused) in [(100, None), (1_000, Some(ProblemCode::Full)), (100, None), (50, None)]
    {
        assert_eq!(table.outcome(1, "declare", &one(bytes).to_string()).refused, refused);
    }
}

#[test]
fn existing_parameters_can_be_declared_again_in_a_table_that_is_too_full() {
    let mut table = Asked::default();
    table.declare(1, &[("a", "u8"), ("b", "u8")]);
    table.bounds = DeskBounds { entries: 1, bytes: 1, ..bounds() };
    assert_eq!(table.declare(1, &[("a", "u8"), ("b", "u8")]).refused, None);
    assert_eq!(table.declare(1, &[("c", "u8")]).refused, Some(ProblemCode::Full));
}

#[test]
fn a_request_whose_answer_is_too_large_is_refused_before_it_changes_anything() {
    let mut table = Asked { answer_bytes_max: 400, ..Asked::default() };
    let names: Vec<_> = (0..100).map(|number| format!("n{number}")).collect();
    let all: Vec<_> = names.iter().map(|name| (&**name, "u8")).collect();
    let outcome = table.declare(1, &all);
    assert_eq!(outcome.refused, Some(ProblemCode::TooLarge));
    assert!(table.registry.entries().is_empty() && outcome.answer.len() <= 400);
    assert_eq!(table.declare(1, &all[..20]).refused, None);
    let body = json!({"names": names}).to_string();
    assert_eq!(table.outcome(1, "find", &body).refused, Some(ProblemCode::TooLarge));
    let removed = table.outcome(1, "remove", &body);
    assert!(removed.refused.is_none() && removed.answer.len() <= 400, "errors are cut");
    let answer: Value = serde_json::from_slice(&removed.answer).unwrap();
    assert_eq!(answer["removed"], json!(20));
    let told = answer["errors"].as_array().unwrap().len() as u64;
    assert_eq!(told + answer["more_errors"].as_u64().unwrap(), 80);
}

#[test]
fn a_parameter_cannot_have_the_name_of_a_stream() {
    let mut table = Asked::default();
    let outcome = table.declare(1, &[("a", "u8"), ("stream/sound", "bytes")]);
    assert_eq!(outcome.refused, Some(ProblemCode::Clash));
    let answer: Value = serde_json::from_slice(&outcome.answer).unwrap();
    let words = "a stream has this name; take another one";
    assert_eq!(answer["problems"][0]["message"], json!(words));
    assert_eq!(answer["problems"][0]["at"], json!(1));
    assert!(table.registry.entries().is_empty());
}

#[test]
fn values_are_asked_for_by_names_or_by_a_filter() {
    let mut table = Asked::default();
    let codes = [
        (r#"{"filter": "a/#/b"}"#, "filter"),
        (r#"{"filter": "a", "names": ["a"]}"#, "malformed"),
        (r#"{"names": "a"}"#, "malformed"),
    ];
    for (body, code) in codes {
        assert_eq!(table.ask("values", body)["error"], json!(code), "{body}");
    }
    let names: Vec<_> = (0..103).map(|number| format!("n{number}")).collect();
    let answer = table.ask("values", &json!({"names": names}).to_string());
    assert_eq!(answer["errors"].as_array().unwrap().len(), 100);
    assert_eq!(answer["more_errors"], json!(3));
}

#[test]
fn errors_leave_room_for_values() {
    let mut table = Asked::default();
    table.declare(1, &[("rpm", "u8")]);
    let Table { current, registry, .. } = &mut table.table;
    current.define(&registry.matching("#"), registry.entries());
    let (quality, value) = (Quality::GOOD, ValueView::U8(7));
    table.current.set(&Sample { index: 0, time_ns: 1, quality, value }, ClockReading::default());
    let unknown = (0..100).map(|number| format!("{number}/{}", "n".repeat(200)));
    let names: Vec<_> = unknown.chain(["rpm".to_owned()]).collect();
    table.answer_bytes_max = 4_000;
    let answer = table.ask("values", &json!({"names": names}).to_string());
    assert_eq!(answer["values"][0]["value"], json!(7), "{answer}");
    let told = answer["errors"].as_array().unwrap().len();
    assert_eq!(told as u64 + answer["more_errors"].as_u64().unwrap(), 100);
}

#[test]
fn a_name_that_is_there_twice_is_not_reported_as_a_full_table() {
    let mut table = Asked::default();
    let declared = |descriptions: &[&str]| {
        let one = |text: &&str| json!({"name": "rpm", "type": "u8", "description": text});
        json!({"parameters": descriptions.iter().map(one).collect::<Vec<_>>()}).to_string()
    };
    table.ask("declare", &declared(&[&"d".repeat(900)]));
    let answer = table.ask("declare", &declared(&["", "", ""]));
    let problems = answer["problems"].as_array().unwrap();
    let codes: Vec<_> = problems.iter().map(|problem| &problem["code"]).collect();
    assert_eq!(codes, ["duplicate", "duplicate"], "{answer}");
}

#[test]
fn an_error_message_repeats_little_of_a_wrong_request() {
    let long = "é".repeat(100_000);
    for body in [
        json!({ &long: 1 }),
        json!({"names": {&long: 1}}),
        json!({"parameters": [{&long: 1}]}),
        json!({"parameters": [{"name": "a", "type": "u8", "range": long}]}),
    ] {
        for request in ["declare", "find", "list", "remove", "select", "values"] {
            let outcome = Asked::default().outcome(1, request, &body.to_string());
            assert!(outcome.refused.is_some() && outcome.answer.len() < 4_000, "{request}");
        }
    }
}
