//! What is announced matches whatever a subscription matches; without widening it matches nothing else.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use slipring_wire::matches;

use super::{AnnouncedInterest, Interest, InterestBounds, InterestDifference};
use crate::WantedRate;
use crate::strategies_tests::{filter, rate, topic};

fn interest<'a>(subscriptions: impl IntoIterator<Item = &'a (String, WantedRate)>) -> Interest {
    let mut interest = Interest::default();
    for (filter, rate) in subscriptions {
        interest.subscribe(filter, *rate);
    }
    interest
}

fn rate_of(announced: &AnnouncedInterest, topic: &str) -> Option<WantedRate> {
    let dollar = announced.dollar_topics().filter(|_| topic.starts_with('$'));
    let found = announced.filters().iter().filter(|(filter, _)| matches(filter, topic));
    found.map(|(_, rate)| *rate).chain(dollar).max()
}

fn wanted_rate(subscriptions: &[(String, WantedRate)], topic: &str) -> Option<WantedRate> {
    let found = subscriptions.iter().filter(|(filter, _)| matches(filter, topic));
    found.map(|(_, rate)| *rate).max()
}

fn announced(filters: &[&str]) -> Vec<String> {
    let every = filters.iter().map(|filter| (filter.to_string(), WantedRate::EVERY_SAMPLE));
    let announced = interest(&every.collect::<Vec<_>>()).announce(InterestBounds::default());
    announced.filters().keys().map(ToString::to_string).collect()
}

proptest! {
    #[test]
    fn the_merged_filters_match_what_the_subscriptions_match_at_their_highest_rate(
        subscriptions in vec((filter(), rate()), 0..16), topics in vec(topic(), 1..16),
    ) {
        let announced = interest(&subscriptions).announce(InterestBounds::default());
        prop_assert!(!announced.is_widened() && announced.dollar_topics().is_none());
        for topic in topics {
            prop_assert_eq!(rate_of(&announced, &topic), wanted_rate(&subscriptions, &topic), "{}", topic);
        }
    }

    #[test]
    fn a_widened_interest_keeps_to_its_bounds_and_is_never_narrower(
        subscriptions in vec((filter(), rate()), 1..16), topics in vec(topic(), 1..16),
        filters_max in 1..8usize, bytes_max in 1..40usize,
    ) {
        let bounds = InterestBounds { filters_max, bytes_max };
        let announced = interest(&subscriptions).announce(bounds);
        prop_assert!(announced.filters().len() <= filters_max);
        prop_assert!(announced.filters().keys().map(|filter| filter.len()).sum::<usize>() <= bytes_max);
        for topic in topics {
            let (found, wanted) = (rate_of(&announced, &topic), wanted_rate(&subscriptions, &topic));
            prop_assert!(found >= wanted, "{}", topic);
            prop_assert!(announced.is_widened() || found == wanted, "{}", topic);
        }
    }

    #[test]
    fn the_order_of_subscriptions_changes_nothing(
        subscriptions in vec((filter(), rate()), 0..16), filters_max in 1..8usize,
    ) {
        let bounds = InterestBounds { filters_max, bytes_max: 40 };
        let backwards = interest(subscriptions.iter().rev()).announce(bounds);
        prop_assert_eq!(interest(&subscriptions).announce(bounds), backwards);
    }

    #[test]
    fn an_unsubscribe_takes_back_exactly_what_its_subscribe_gave(
        kept in vec((filter(), rate()), 0..8), passing in vec((filter(), rate()), 0..8),
    ) {
        let mut interest = interest(kept.iter().chain(&passing));
        for (filter, rate) in &passing {
            interest.unsubscribe(filter, *rate);
        }
        let bounds = InterestBounds::default();
        prop_assert_eq!(interest.announce(bounds), self::interest(&kept).announce(bounds));
        for (filter, rate) in &kept {
            interest.unsubscribe(filter, *rate);
        }
        prop_assert!(interest.is_empty());
    }

    #[test]
    fn updates_lead_to_what_is_computed_anew(
        turns in vec(vec((filter(), rate(), any::<bool>()), 0..4), 1..12), filters_max in 1..20usize,
    ) {
        let bounds = InterestBounds { filters_max, bytes_max: 100 };
        let (mut interest, mut announced) = (Interest::default(), AnnouncedInterest::default());
        let mut counted: Vec<(String, WantedRate)> = Vec::new();
        for turn in turns {
            for (filter, rate, is_new) in turn {
                if is_new {
                    interest.subscribe(&filter, rate);
                    counted.push((filter, rate));
                } else if !counted.is_empty() {
                    let (filter, rate) = counted.remove(filter.len() % counted.len());
                    interest.unsubscribe(&filter, rate);
                }
            }
            announced.apply(&interest.update(&announced, bounds).difference);
            prop_assert_eq!(&announced, &self::interest(&counted).announce(bounds));
        }
    }

    #[test]
    fn a_difference_leads_from_each_interest_to_the_other(
        before in vec((filter(), rate()), 0..16), after in vec((filter(), rate()), 0..16),
    ) {
        let [before, after] = [before, after].map(|one| interest(&one).announce(InterestBounds::default()));
        let difference = InterestDifference::between(&before, &after);
        let mut changed = before.clone();
        changed.apply(&difference);
        prop_assert_eq!(&changed, &after);
        changed.apply(&difference);
        prop_assert_eq!(&changed, &after);
        prop_assert_eq!(difference.is_none(&before), before == after);
    }

    #[test]
    fn what_is_told_to_change_nothing_changes_nothing(
        steps in vec((filter(), rate(), any::<bool>()), 0..16),
    ) {
        let mut interest = Interest::default();
        let mut counts: BTreeMap<(String, WantedRate), usize> = BTreeMap::new();
        for (filter, rate, is_new) in steps {
            let before = interest.announce(InterestBounds::default());
            let count = counts.entry((filter.clone(), rate)).or_default();
            let can_change = if is_new {
                *count += 1;
                interest.subscribe(&filter, rate)
            } else {
                *count = count.saturating_sub(1);
                interest.unsubscribe(&filter, rate)
            };
            let has_changed = interest.announce(InterestBounds::default()) != before;
            prop_assert!(can_change || !has_changed);
        }
    }
}

#[test]
fn a_filter_that_another_covers_is_left_out() {
    for (filters, expected) in [
        (&["a/#", "a/b/+", "a", "b"][..], &["a/#", "b"][..]),
        (&["#", "$SYS/#", "+/a", "/"], &["#", "$SYS/#"]),
        (&["+/#", "#"], &["#"]),
        (&["+/b", "a/+", "a/b", "$a/b"], &["$a/b", "+/b", "a/+"]),
        (&["$share/g/a/b", "$share/h/a/#"], &["a/#"]),
        (&["a/+/#", "a/#", "a/+"], &["a/#"]),
        (&["+", "+/+", "/"], &["+", "+/+"]),
    ] {
        assert_eq!(announced(filters), expected, "{filters:?}");
    }
}

#[test]
fn a_covered_filter_with_a_higher_rate_stays() {
    let slow = WantedRate::from_wire(1_000).expect("it is above 0");
    let mut interest = Interest::default();
    interest.subscribe("a/#", slow);
    interest.subscribe("a/b", WantedRate::EVERY_SAMPLE);
    interest.subscribe("a/c", slow);
    let announced = interest.announce(InterestBounds::default());
    let expected = [("a/#".into(), slow), ("a/b".into(), WantedRate::EVERY_SAMPLE)];
    assert_eq!(*announced.filters(), expected.into());
}

#[test]
fn the_largest_groups_are_widened_first_and_as_deep_as_there_is_room() {
    let every = |filter: &str| (filter.to_owned(), WantedRate::EVERY_SAMPLE);
    let subscriptions = ["a/1/x", "a/1/y", "a/2/x", "b/1/x"].map(every);
    let widened = |filters_max| {
        let bounds = InterestBounds { filters_max, bytes_max: 99 };
        let announced = interest(&subscriptions).announce(bounds);
        assert_eq!(announced.is_widened(), filters_max < 4);
        announced.filters().keys().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(widened(4), ["a/1/x", "a/1/y", "a/2/x", "b/1/x"]);
    assert_eq!(widened(3), ["a/1/#", "a/2/x", "b/1/x"]);
    assert_eq!(widened(2), ["a/#", "b/1/x"]);
    assert_eq!(widened(1), ["#"]);
}

#[test]
fn topics_with_a_dollar_are_wanted_as_such_when_there_is_no_room_for_their_filters() {
    let every = |filter: &str| (filter.to_owned(), WantedRate::EVERY_SAMPLE);
    let bounds = InterestBounds { filters_max: 1, bytes_max: 99 };
    let announced = interest(&["$a/x", "$b/x"].map(every)).announce(bounds);
    assert!(announced.is_widened() && announced.filters().is_empty());
    assert_eq!(announced.dollar_topics(), Some(WantedRate::EVERY_SAMPLE));
}

#[test]
fn a_filter_with_many_levels_is_cut_and_that_is_told() {
    let deep = "a/".repeat(40_000);
    let mut interest = Interest::default();
    interest.subscribe(&deep[..60_000], WantedRate::EVERY_SAMPLE);
    let announced = interest.announce(InterestBounds::default());
    assert!(announced.is_widened());
    assert!(announced.filters().contains_key(&*("a/".repeat(31) + "#")));
}

#[test]
fn an_update_looks_at_what_begins_like_a_changed_filter_alone() {
    let mut interest = Interest::default();
    for number in 0..2_000 {
        interest.subscribe(&format!("{}/{number}", number % 10), WantedRate::EVERY_SAMPLE);
    }
    let bounds = InterestBounds::default();
    let mut announced = AnnouncedInterest::default();
    announced.apply(&interest.update(&announced, bounds).difference);
    let mut changes = |filter: &str| {
        interest.subscribe(filter, WantedRate::EVERY_SAMPLE);
        let update = interest.update(&announced, bounds);
        announced.apply(&update.difference);
        (update.difference.filters.len(), update.looked_at_bytes)
    };
    assert_eq!(changes("new"), (1, 3));
    assert_eq!(changes("3/+").0, 201);
    assert!(changes("4/+/x").1 < 2_000);
    assert!(changes("#").0 > 1_000);
}
