//! What a subscription chooses, and how: any filter, any user properties.

use arbitrary::{Arbitrary, Unstructured};
use slipring_core::table::{ListId, Needs, SELECTIONS, SelectionFilter};
use slipring_wire::{check_filter, matches};

/// A filter, a topic to match it with, and user properties.
#[derive(Arbitrary, Debug)]
struct Said<'a> {
    filter: &'a str,
    topic: &'a str,
    properties: Vec<(u8, &'a str, &'a str)>,
}

const NAMES: [&str; 7] = ["deliver", "rate", "deadband", "change", "beat", "from", ""];

pub fn choice(data: &[u8]) {
    let Ok(said) = Said::arbitrary_take_rest(Unstructured::new(data)) else { return };
    aim(said.filter, said.topic);
    let name = |number: u8, other| match NAMES[usize::from(number) % NAMES.len()] {
        "" => other,
        name => name,
    };
    needs(said.properties.iter().map(|(number, other, text)| (name(*number, *other), *text)));
}

/// A choice under a name is the same choice; whatever is chosen is a list or a filter that is one.
fn aim(filter: &str, topic: &str) {
    if check_filter(filter).is_err() {
        return;
    }
    let named = format!("{SELECTIONS}plot/{filter}");
    match SelectionFilter::parse(filter) {
        Some(SelectionFilter::Filter(inner)) => {
            check_filter(inner).expect("the rest of a filter is one");
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

/// What is read is written and read as the same; what is wrong is told in a few words.
fn needs<'a>(properties: impl Iterator<Item = (&'a str, &'a str)>) {
    match Needs::parse(properties) {
        Ok(Some(needs)) => {
            let said = needs.properties();
            let pairs = said.iter().map(|(name, text)| (*name, text.as_str()));
            assert_eq!(Needs::parse(pairs), Ok(Some(needs)));
        }
        Ok(None) => {}
        Err(words) => assert!(words.len() < 400, "{words}"),
    }
}
