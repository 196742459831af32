//! The topics of a run, and filters that do not match them. All topics have the same length.

use std::fmt::Write;

/// Matches every topic of every run.
pub const ALL: &str = "bench/#";

/// The topic with this number.
pub fn topic(number: u64) -> String {
    format!("bench/gripen/{number:06}/engine/rpm")
}

/// The filter for a number of topics: for a single one, the topic itself.
pub fn filter(topics: u64) -> String {
    if topics == 1 { topic(0) } else { ALL.into() }
}

/// A filter that matches no topic of a run, though it begins like them: exact, or with a wildcard.
pub fn other(number: usize) -> String {
    let mut filter = String::from("bench/gripen/");
    match number % 3 {
        0 => write!(filter, "other-{number}/engine/rpm"),
        1 => write!(filter, "other-{number}/#"),
        _ => write!(filter, "+/engine/rpm-{number}"),
    }
    .expect("a string takes all");
    filter
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use slipring_wire::{check_filter, matches};

    use super::*;

    #[test]
    fn all_topics_have_one_length_and_match() {
        assert_eq!(topic(0).len(), topic(99_999).len());
        assert!(matches(ALL, &topic(7)));
        assert!(matches(&filter(1), &topic(0)));
        assert!(matches(&filter(2), &topic(1)));
    }

    #[test]
    fn other_filters_are_valid_distinct_and_match_no_topic() {
        let others: HashSet<String> = (0..300).map(other).collect();
        assert_eq!(others.len(), 300);
        for filter in &others {
            assert!(check_filter(filter).is_ok(), "{filter}");
            assert!(!matches(filter, &topic(3)), "{filter}");
        }
    }
}
