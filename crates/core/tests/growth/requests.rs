//! Requests about a table: the cost of one depends on what it asks for, not on the size of the table.

use serde_json::{Value, json};
use slipring_core::desk::{Desk, Requester};
use slipring_core::table::{
    CHANGED_MAX, ClockReading, Current, Deliver, Needs, Registry, Selection, Table, TableRequest,
};
use slipring_core::{Limits, Plan, Principal, SessionKey};
use slipring_wire::frame::{Quality, Sample, ValueView};

use crate::growth;

const SMALL: u32 = 2_000;
pub const LARGE: u32 = 16 * SMALL;
/// Far below the ratio of the sizes, and above the effect of caches.
pub const MOST: f64 = 5.0;
pub const NOW: ClockReading = ClockReading { now_ms: 1, now_ns: 1 };

fn ask(table: &mut Table, session: u64, name: &str, body: &Value) -> Value {
    let body = body.to_string();
    let requester = Requester {
        from: Principal {
            session: SessionKey::new(session),
            client_id: "c",
            ..Principal::broker()
        },
        bounds: Table::bounds(&Limits::default()),
        is_taken: &|_| false,
        answer_bytes_max: 16 << 20,
        policy: slipring_core::access::AccessPolicy::open(),
    };
    let outcome = table.answer(TableRequest::parse(name, body.as_bytes()), &requester);
    table.changed(&outcome.change, NOW);
    serde_json::from_slice(&outcome.answer).unwrap()
}

pub fn name(number: u32) -> String {
    format!("s{}/p{number}", number % 10)
}

fn declare(table: &mut Table, session: u64, numbers: impl Iterator<Item = u32>) {
    let parameters: Vec<_> =
        numbers.map(|number| json!({"name": name(number), "type": "u32"})).collect();
    for some in parameters.chunks(CHANGED_MAX) {
        let answer = ask(table, session, "declare", &json!({ "parameters": some }));
        assert!(answer.get("error").is_none(), "{answer}");
    }
}

/// A table with so many parameters, which all have values. Session 1 publishes them, session 2 every second one too.
pub fn table(parameters: u32) -> Table {
    let registry = Registry::new(7);
    let mut table = Table::new(registry, Current::default(), &Plan::default());
    declare(&mut table, 1, 0..parameters);
    declare(&mut table, 2, (0..parameters).step_by(2));
    for index in 0..parameters {
        let value = ValueView::U32(index);
        table.current.set(&Sample { index, time_ns: 1, quality: Quality::GOOD, value }, NOW);
    }
    table
}

/// Ten numbers for each round, none of them twice.
fn ten(round: u32) -> impl Iterator<Item = u32> {
    (0..10).map(move |number| 10 * round + number)
}

fn grows(work: impl Fn(&mut Table, u32)) -> f64 {
    growth(table(SMALL), table(LARGE), work)
}

#[test]
fn a_new_parameter_does_not_make_a_selection_of_all_look_at_every_one() {
    for change in [false, true] {
        let subscribed = |parameters| {
            let mut table = table(parameters);
            let needs = Needs { deliver: Deliver::Frame, change, ..Needs::default() };
            let selection = Selection {
                filter: "#",
                identifier: 0,
                needs,
                packet_bytes_max: 1 << 20,
                rights: None,
            };
            table.choose(SessionKey::new(9), &selection, NOW);
            table
        };
        let grows = growth(subscribed(SMALL), subscribed(LARGE), |table, round| {
            ten(round).for_each(|number| declare(table, 1, 1_000_000 + number..1_000_001 + number));
        });
        assert!(grows < MOST, "{grows} with change={change}");
    }
}

#[test]
fn declaring_a_scattered_parameter_does_not_look_at_all_that_the_client_declared() {
    let grows = grows(|table, round| {
        ten(round).for_each(|number| declare(table, 2, 4 * number + 1..4 * number + 2));
    });
    assert!(grows < MOST, "{grows}");
}

#[test]
fn removing_a_parameter_does_not_look_at_all_that_clients_declared() {
    let grows = grows(|table, round| {
        for number in ten(round) {
            let names = [name(4 * number + 1)];
            assert_eq!(ask(table, 1, "remove", &json!({ "names": names }))["removed"], json!(1));
        }
    });
    assert!(grows < MOST, "{grows}");
}

#[test]
fn a_page_of_a_list_does_not_look_at_all_that_its_filter_matches() {
    let grows = grows(|table, _| {
        let page = ask(table, 1, "list", &json!({"filter": "+/#", "from": 1_000, "count": 100}));
        assert_eq!(
            (page["next"].as_u64(), &page["parameters"][0]["index"]),
            (Some(1_100), &json!(1_000))
        );
    });
    assert!(grows < MOST, "{grows}");
}

#[test]
fn a_page_of_values_does_not_look_at_all_that_its_filter_matches() {
    let grows = grows(|table, _| {
        let page = ask(table, 1, "values", &json!({"filter": "+/#", "from": 1_000, "count": 100}));
        assert_eq!(
            (page["next"].as_u64(), &page["values"][0]["value"]),
            (Some(1_100), &json!(1_000))
        );
    });
    assert!(grows < MOST, "{grows}");
}

#[test]
fn pages_have_each_matching_parameter_once_whether_many_or_few_match() {
    let mut table = table(LARGE);
    for (filter, is_meant) in [
        ("+/#", (|_| true) as fn(u32) -> bool),
        ("s3/#", |number| number % 10 == 3),
        ("s3/p13", |number| number == 13),
        ("s4/p13", |_| false),
    ] {
        for (request, rows) in [("list", "parameters"), ("values", "values")] {
            let (mut found, mut from) = (Vec::new(), json!(0));
            while !from.is_null() {
                let body = json!({"filter": filter, "from": from, "count": 3_000});
                let page = ask(&mut table, 1, request, &body);
                found.extend(page[rows].as_array().unwrap().iter().map(|row| row["index"].clone()));
                from = page["next"].clone();
            }
            let meant: Vec<_> =
                (0..LARGE).filter(|number| is_meant(*number)).map(|n| json!(n)).collect();
            assert!(found == meant, "{request} {filter}: {} of {}", found.len(), meant.len());
        }
    }
}

#[test]
fn a_list_of_too_many_wide_filters_is_refused() {
    let mut table = table(SMALL);
    let filters = |count| -> Vec<_> { (0..count).map(|number| format!("+/+/x{number}")).collect() };
    let few = ask(&mut table, 1, "select", &json!({"filters": filters(20)}));
    assert_eq!(few["ranges"], json!([]));
    let many = ask(&mut table, 1, "select", &json!({"filters": filters(1_000)}));
    assert_eq!(many["error"], json!("too_large"), "{many}");
    let narrow: Vec<_> = (0..SMALL).map(name).collect();
    let narrow = ask(&mut table, 1, "select", &json!({ "filters": narrow }));
    assert_eq!(narrow["ranges"], json!([[0, SMALL]]));
}

#[test]
fn a_filter_that_a_list_names_many_times_is_searched_once() {
    let grows = growth((table(SMALL), 1), (table(SMALL), 500), |(table, times), _| {
        let filters = vec!["#"; *times];
        let list = ask(table, 1, "select", &json!({ "filters": filters }));
        assert_eq!(list["ranges"], json!([[0, SMALL]]));
    });
    assert!(grows < MOST, "{grows}");
}

#[test]
fn whether_a_filter_matches_any_parameter_is_found_without_looking_at_all() {
    let grows = grows(|table, _| {
        for _ in 0..50 {
            std::hint::black_box(table.registry.matches_any("+/+/nothing"));
        }
    });
    assert!(grows < MOST, "{grows:.1} times as long");
}
