//! Requests, answers and frames have limits; a refusal says how to stay within them.

use serde_json::{Value, json};
use slipring_core::desk::{PAGE_BYTES_MAX, REQUEST_BYTES_MAX};
use slipring_core::table::{
    CHANGED_MAX, FRAME_RUNS_MAX, FRAME_SAMPLES_MAX, INFLATED_BYTES_FREE, INFLATED_BYTES_MAX,
    NAMES_MAX, SampleRefused, inflated_bytes_max, read_frame,
};
use slipring_wire::frame::{FrameBuf, Header, Kind, Qualities, Quality};

use crate::asking::Asked;

const MANY: usize = 30_000;

/// The most bytes of an answer before and after its rows.
const HEAD_BYTES: usize = 160;

/// A table of many parameters; every thousandth is below `rare/`.
fn many() -> Asked {
    let mut table = Asked::default();
    let name = |number: usize| {
        let first = if number % 1_000 == 7 { "rare" } else { "often" };
        json!({"name": format!("{first}/{number}"), "type": "u8", "description": "x".repeat(200)})
    };
    let all: Vec<Value> = (0..MANY).map(name).collect();
    for some in all.chunks(1_000) {
        let answer = table.ask("declare", &json!({ "parameters": some }).to_string());
        assert!(answer.get("error").is_none(), "{answer}");
    }
    table
}

/// What a filter matches, page by page, and how many pages there were.
fn listed(table: &mut Asked, mut body: Value) -> (Vec<u64>, usize) {
    let (mut found, mut pages) = (Vec::new(), 0);
    loop {
        let answer = table.ask("list", &body.to_string());
        assert!(answer.to_string().len() <= PAGE_BYTES_MAX + HEAD_BYTES);
        pages += 1;
        let rows = answer["parameters"].as_array().unwrap();
        found.extend(rows.iter().map(|row| row["index"].as_u64().unwrap()));
        match answer["next"].as_u64() {
            Some(next) => body["from"] = next.into(),
            None => return (found, pages),
        }
    }
}

#[test]
fn the_pages_of_a_list_have_each_matching_parameter_once() {
    let mut table = many();
    let rare: Vec<u64> = (0..MANY as u64).filter(|number| number % 1_000 == 7).collect();
    let all: Vec<u64> = (0..MANY as u64).collect();
    for (filter, expected, pages_least) in
        [("rare/#", &rare, 1), ("+/7", &vec![7], 1), ("#", &all, 100), ("+/+/nothing", &vec![], 2)]
    {
        let (found, pages) = listed(&mut table, json!({ "filter": filter }));
        assert_eq!(&found, expected, "{filter}");
        assert!(pages >= pages_least, "{filter}: {pages} pages");
    }
    let (found, pages) = listed(&mut table, json!({"filter": "#", "count": 1_000_000}));
    assert_eq!(found, all);
    assert!(pages > 80, "an answer has a bound, whatever count says: {pages} pages");
}

#[test]
fn a_request_that_is_too_long_or_has_too_many_names_is_refused_with_a_reason() {
    let mut table = Asked::default();
    let names = |count| json!({ "names": vec!["a"; count] }).to_string();
    for request in ["find", "select", "values"] {
        assert!(table.ask(request, &names(NAMES_MAX)).get("error").is_none(), "{request}");
        let answer = table.ask(request, &names(NAMES_MAX + 1));
        assert_eq!(answer["error"], "too_large", "{request}: {answer}");
        assert!(answer["message"].as_str().unwrap().contains("4096 are allowed: ask in parts"));
    }
    assert_eq!(table.ask("remove", &names(CHANGED_MAX + 1))["error"], "too_large");
    let rows = |count: usize| {
        let row = |number| json!({"name": format!("n{number}"), "type": "u8"});
        json!({ "parameters": (0..count).map(row).collect::<Vec<_>>() }).to_string()
    };
    assert_eq!(table.ask("declare", &rows(CHANGED_MAX + 1))["error"], "too_large");
    assert!(table.ask("declare", &rows(CHANGED_MAX)).get("error").is_none());
    let long = format!("{{}}{}", " ".repeat(REQUEST_BYTES_MAX - 2));
    assert!(table.ask("list", &long).get("error").is_none());
    assert_eq!(table.ask("list", &(long + " "))["error"], "too_large");
}

/// A frame with so many samples of one parameter.
fn frame(rows: usize, deflate: bool) -> Vec<u8> {
    let times: Vec<i64> = (0..).take(rows).collect();
    let (mut buf, mut bytes) = (FrameBuf::new(), Vec::new());
    let good = Qualities::All(Quality::GOOD);
    buf.push_grid(Kind::U8, std::slice::from_ref(&(0..1)), &times, good, &vec![0; rows]).unwrap();
    buf.finish(&Header::default(), deflate, &mut bytes);
    bytes
}

#[test]
fn a_frame_with_too_many_samples_is_refused() {
    let mut scratch = Vec::new();
    assert!(read_frame(&frame(FRAME_SAMPLES_MAX, false), &mut scratch).is_ok());
    let refused = read_frame(&frame(FRAME_SAMPLES_MAX + 1, false), &mut scratch).unwrap_err();
    assert_eq!(refused, SampleRefused::Samples { most: FRAME_SAMPLES_MAX });
}

#[test]
fn a_frame_with_too_many_runs_is_refused() {
    let (mut buf, mut scratch) = (FrameBuf::new(), Vec::new());
    for (runs, is_taken) in [(FRAME_RUNS_MAX, true), (FRAME_RUNS_MAX + 1, false)] {
        for _ in 0..runs {
            buf.push_row(
                Kind::U8,
                std::slice::from_ref(&(0..1)),
                0,
                Qualities::All(Quality::GOOD),
                &[0],
            )
            .unwrap();
        }
        let mut bytes = Vec::new();
        buf.finish(&Header::default(), false, &mut bytes);
        assert_eq!(read_frame(&bytes, &mut scratch).is_ok(), is_taken);
    }
}

#[test]
fn a_frame_that_would_inflate_beyond_its_limit_is_refused() {
    assert_eq!(inflated_bytes_max(0), INFLATED_BYTES_FREE);
    assert_eq!(inflated_bytes_max(40 << 10), 640 << 10);
    assert_eq!(inflated_bytes_max(usize::MAX), INFLATED_BYTES_MAX);
    let (deflated, mut scratch) = (frame(300_000, true), Vec::new());
    assert!(deflated.len() < 8 << 10, "{} bytes", deflated.len());
    let refused = read_frame(&deflated, &mut scratch).unwrap_err();
    assert!(matches!(
        refused,
        SampleRefused::Inflated { bytes: 600_000.., most: INFLATED_BYTES_FREE }
    ));
    assert_eq!(scratch.capacity(), 0, "nothing was inflated");
    assert!(read_frame(&frame(30_000, true), &mut scratch).is_ok());
}
