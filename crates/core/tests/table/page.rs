//! The examples of `docs/table.md` are true: each request on the page is answered as the page says.

use serde_json::Value;

use crate::asking::Asked;

const PAGE: &str = include_str!("../../../../docs/table.md");
const TOPIC: &str = "`$slipring/table/";

/// The blocks of JSON behind a line.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("```json\n").skip(1).filter_map(|rest| rest.split_once("```").map(|(json, _)| json))
}

#[test]
fn every_request_on_the_page_is_answered_as_the_page_says() {
    let mut table = Asked::default();
    let mut asked = 0;
    for part in PAGE.split(&format!("\n{TOPIC}")).skip(1) {
        let (name, rest) = part.split_once('`').unwrap();
        let mut blocks = blocks(rest);
        let (request, answer) = (blocks.next().unwrap(), blocks.next().unwrap());
        let expected: Value = serde_json::from_str(answer).unwrap();
        assert_eq!(table.ask(name, request), expected, "{name} {request}");
        asked += 1;
    }
    assert_eq!(asked, 7);
}

#[test]
fn every_block_of_json_on_the_page_is_json() {
    assert!(blocks(PAGE).count() > 14);
    for block in blocks(PAGE) {
        serde_json::from_str::<Value>(block).unwrap();
    }
}

#[test]
fn the_page_has_every_code() {
    let table = PAGE.split("### Codes").nth(1).unwrap().split("## ").next().unwrap();
    for code in slipring_core::desk::ProblemCode::ALL {
        assert!(table.contains(&format!("`{}`", code.name())), "{}", code.name());
    }
}
