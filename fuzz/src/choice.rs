//! The filter and the needs of a selection: any text, any user properties.

use arbitrary::{Arbitrary, Unstructured};
use slipring_core::table::{ListId, Needs, SELECTIONS, SelectionFilter};
use slipring_wire::{check_filter, matches};

/// A filter, a topic to match it with, and user properties.
#[derive(Arbitrary, Debug)]
struct ChoiceInput<'a> {
    filter: &'a str,
    topic: &'a str,
    properties: Vec<(u8, &'a str, &'a str)>,
}

const NAMES: [&str; 7] = ["deliver", "rate", "deadband", "change", "beat", "from", ""];

pub fn choice(data: &[u8]) {
    let Ok(input) = ChoiceInput::arbitrary_take_rest(Unstructured::new(data)) else { return };
    check_filter_of(input.filter, input.topic);
    let name = |number: u8, other| match NAMES[usize::from(number) % NAMES.len()] {
        "" => other,
        name => name,
    };
    needs(input.properties.iter().map(|(number, other, text)| (name(*number, *other), *text)));
}

/// A filter means the same behind a selection's name. Each is a list, or holds a valid filter.
fn check_filter_of(filter: &str, topic: &str) {
    if check_filter(filter).is_err() {
        return;
    }
    let named = format!("{SELECTIONS}plot/{filter}");
    match SelectionFilter::parse(filter) {
        Some(SelectionFilter::Filter(inner)) => {
            check_filter(inner).expect("the rest of a filter is a filter");
            let is_own = inner == filter;
            assert!(is_own || filter.starts_with(SELECTIONS) && filter.ends_with(inner));
            let again =
                SelectionFilter::parse(&named).filter(|_| is_own && !filter.starts_with("$share/"));
            if let Some(SelectionFilter::Filter(again)) = again {
                assert_eq!(matches(again, topic), matches(filter, topic));
            }
        }
        Some(SelectionFilter::List(list)) => {
            assert_eq!(ListId::parse(&list.to_string()), Some(list));
            assert!(filter.ends_with(&list.to_string()));
        }
        None => assert!(filter.starts_with(SELECTIONS)),
    }
}

/// Needs that are parsed, written and parsed again are the same. An error message is short.
fn needs<'a>(properties: impl Iterator<Item = (&'a str, &'a str)>) {
    match Needs::parse(properties) {
        Ok(Some(needs)) => {
            let written = needs.properties();
            let pairs = written.iter().map(|(name, text)| (*name, text.as_str()));
            assert_eq!(Needs::parse(pairs), Ok(Some(needs)));
        }
        Ok(None) => {}
        Err(words) => assert!(words.len() < 400, "{words}"),
    }
}
