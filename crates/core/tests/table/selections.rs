//! Lists of parameters under a name.

use serde_json::json;
use slipring_core::SessionKey;
use slipring_core::table::{ListId, Lists};
use slipring_wire::frame::RangeSet;

use crate::asking::Asked;

fn set(indices: impl IntoIterator<Item = u32>) -> RangeSet {
    indices.into_iter().collect()
}

#[test]
fn the_same_parameters_have_the_same_list_however_they_are_named() {
    let mut table = Asked::default();
    table.declare(1, &[("p/a", "u8"), ("p/b", "u8"), ("q", "u8")]);
    let names = table.ask("select", r#"{"names": ["p/b", "none", "p/a", "p/a"]}"#);
    assert_eq!(names["indices"], json!([1, null, 0, 0]));
    assert_eq!((&names["ranges"], &names["errors"][0]["at"]), (&json!([[0, 2]]), &json!(1)));
    let filters = table.ask("select", r#"{"filters": ["p/+", "p/a"]}"#);
    assert_eq!(filters["selection"], names["selection"]);
    assert!(filters.get("indices").is_none());
    let id = ListId::parse(names["selection"].as_str().unwrap()).unwrap();
    assert_eq!(**table.lists.get(id).unwrap(), set(0..2));
}

#[test]
fn the_list_unused_longest_makes_room_and_those_in_use_stay() {
    let mut lists = Lists::default();
    let first = lists.put(7, set([0])).unwrap();
    let second = lists.put(7, set([1])).unwrap();
    let third = lists.put(7, set([2])).unwrap();
    for filter in ["a plot", "an alarm"] {
        assert!(lists.hold(first, SessionKey::new(1), filter).is_some());
    }
    lists.release(first, SessionKey::new(1), "a plot");
    assert_eq!(lists.put(7, set([1])), Ok(second), "asked for again: younger than the third");
    for index in 3..1_025 {
        lists.put(7, set([index])).unwrap();
    }
    assert_eq!(lists.len(), 1_024);
    assert!(lists.get(first).is_some() && lists.get(second).is_some());
    assert!(lists.get(third).is_none());
    lists.release(first, SessionKey::new(1), "an alarm");
    lists.put(7, set([5_000])).unwrap();
    assert!(lists.get(first).is_none());
}

#[test]
fn when_all_lists_are_in_use_a_further_one_is_refused() {
    let mut table = Asked::default();
    for index in 0..1_024 {
        let id = table.lists.put(7, set([index])).unwrap();
        table.lists.hold(id, SessionKey::new(1), "").unwrap();
    }
    let answer = table.ask("select", r##"{"filters": ["#"]}"##);
    assert_eq!(answer["error"], json!("full"));
    assert_eq!(table.lists.len(), 1_024);
}

#[test]
fn the_name_of_a_list_is_sixteen_digits_and_nothing_else() {
    let id = ListId::of(7, &set([1, 2, 9]));
    assert_eq!(ListId::parse(&id.to_string()), Some(id));
    assert_ne!(ListId::of(8, &set([1, 2, 9])), id, "indices mean nothing in another table");
    for other in ["", "0", "+123456789abcdef", "0123456789ABCDEF", "0123456789abcdef0"] {
        assert_eq!(ListId::parse(other), None, "{other}");
    }
}
