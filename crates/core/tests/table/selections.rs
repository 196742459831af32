//! Lists of parameters, by their identity.

use std::sync::Arc;

use serde_json::{Value, json};
use slipring_core::SessionKey;
use slipring_core::table::ListId;
use slipring_wire::frame::RangeSet;

use crate::asking::Asked;

fn set(indices: impl IntoIterator<Item = u32>) -> RangeSet {
    indices.into_iter().collect()
}

/// Subscribes to the list of an answer.
fn hold(table: &mut Asked, answer: &Value) -> Arc<RangeSet> {
    let filter = format!("$selection/{}", answer["selection"].as_str().unwrap());
    table.hold(SessionKey::new(1), &filter).unwrap()
}

#[test]
fn the_same_parameters_are_the_same_list_in_any_order() {
    let mut table = Asked::default();
    table.declare(1, &[("p/a", "u8"), ("p/b", "u8"), ("q", "u8")]);
    let names = table.ask("select", r#"{"names": ["p/b", "none", "p/a", "p/a"]}"#);
    assert_eq!(names["indices"], json!([1, null, 0, 0]));
    assert_eq!((&names["ranges"], &names["errors"][0]["at"]), (&json!([[0, 2]]), &json!(1)));
    let filters = table.ask("select", r#"{"filters": ["p/+", "p/a"]}"#);
    assert_eq!(filters["selection"], names["selection"]);
    assert!(filters.get("indices").is_none());
    assert_eq!(*hold(&mut table, &names), set(0..2));
}

#[test]
fn when_all_lists_are_in_use_a_further_one_is_refused() {
    let mut table = Asked::default();
    let names: Vec<String> = (0..1_025).map(|number| format!("p/{number}")).collect();
    table.declare(1, &names.iter().map(|name| (&**name, "u8")).collect::<Vec<_>>());
    for name in &names[..1_024] {
        let answer = table.ask("select", &json!({"names": [name]}).to_string());
        hold(&mut table, &answer);
    }
    let answer = table.ask("select", r##"{"filters": ["#"]}"##);
    assert_eq!(answer["error"], json!("full"));
}

#[test]
fn the_identity_of_a_list_is_sixteen_hexadecimal_digits() {
    let id = ListId::of(7, &set([1, 2, 9]));
    assert_eq!(ListId::parse(&id.to_string()), Some(id));
    assert_ne!(ListId::of(8, &set([1, 2, 9])), id, "indices mean nothing in another table");
    for other in ["", "0", "+123456789abcdef", "0123456789ABCDEF", "0123456789abcdef0"] {
        assert_eq!(ListId::parse(other), None, "{other}");
    }
}
