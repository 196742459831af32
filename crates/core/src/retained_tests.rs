//! Tests of the retained messages: what filters find, and how quotas count them.

use super::*;
use crate::{Durability, Offset};
use proptest::prelude::*;
use slipring_wire::{Publish, matches};
use std::collections::BTreeSet;

fn message(topic: &str) -> Arc<Message> {
    Arc::new(Message::new(&Publish::new(topic, b"payload"), topic.into(), 0))
}

fn anna() -> Owner {
    Owner::named("user:anna")
}

fn all_of(retained: &Retained, filter: &str, until: u64) -> Vec<Arc<Message>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = retained.page(filter, after.as_deref(), until);
        assert!(page.messages.len() <= PAGE_TOPICS);
        found.extend(page.messages);
        let Some(next) = page.next else { return found };
        after = Some(next);
    }
}

fn levels(with: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(with), 1..5).prop_map(|levels| levels.join("/"))
}

proptest! {
    #[test]
    fn a_filter_finds_what_it_matches_after_any_history(
        history in prop::collection::vec((levels(&["a", "b", "", "$x"]), any::<bool>()), 0..30),
        filter in levels(&["a", "b", "", "$x", "+"]),
        all in any::<bool>(),
    ) {
        let filter = if all { format!("{filter}/#") } else { filter };
        let (mut retained, mut naive) = (Retained::default(), BTreeSet::new());
        for (topic, set) in history {
            if set {
                retained.set(message(&topic), &anna(), &Limits::default()).unwrap();
                naive.insert(topic);
            } else {
                retained.remove(&topic);
                naive.remove(&topic);
            }
        }
        let counted = naive.iter().filter(|topic| !topic.starts_with('$')).count();
        prop_assert_eq!(retained.len(), counted);
        let found: Vec<String> = all_of(&retained, &filter, u64::MAX)
            .iter().map(|found| found.topic().to_string()).collect();
        naive.retain(|topic| matches(&filter, topic));
        prop_assert_eq!(found, naive.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn a_filter_does_not_look_at_topics_that_only_begin_alike() {
    let (mut retained, limits) = (Retained::default(), Limits::default());
    let alike = (0..2 * PAGE_TOPICS).flat_map(|n| [format!("ab{n}"), format!("a-{n}/x")]);
    for topic in alike.chain(["a", "a/b"].map(str::to_owned)) {
        retained.set(message(&topic), &anna(), &limits).unwrap();
    }
    for (filter, found) in [("a", &["a"][..]), ("a/#", &["a", "a/b"]), ("a/+", &["a/b"])] {
        let page = retained.page(filter, None, u64::MAX);
        let topics: Vec<_> = page.messages.iter().map(|found| &**found.topic()).collect();
        assert_eq!((&*topics, page.next), (found, None), "{filter}");
    }
}

#[test]
fn a_message_retained_later_is_not_found_and_a_place_in_the_journal_makes_none_newer() {
    let (mut retained, limits) = (Retained::default(), Limits::default());
    let place = JournalPlace { offset: Offset::new(7), durability: Durability::Disk };
    let first = message("a");
    retained.set(Arc::clone(&first), &anna(), &limits).unwrap();
    let until = retained.newest();
    retained.set(message("b"), &anna(), &limits).unwrap();
    retained.set_place(&first, place);
    let found = all_of(&retained, "#", until);
    assert_eq!(found.iter().map(|found| found.place).collect::<Vec<_>>(), [Some(place)]);
    let second = message("a");
    retained.set(Arc::clone(&second), &anna(), &limits).unwrap();
    retained.set_place(&first, place);
    assert!(Arc::ptr_eq(retained.get("a").unwrap(), &second), "a newer one stays");
    assert_eq!(all_of(&retained, "#", until).len(), 0, "a subscriber gets it as a live message");
}

#[test]
fn many_messages_are_found_page_by_page_each_once() {
    let (mut retained, limits) = (Retained::default(), Limits::default());
    for number in 0..=2 * PAGE_TOPICS {
        retained.set(message(&format!("a-{number}/b")), &anna(), &limits).unwrap();
    }
    assert_eq!(all_of(&retained, "#", u64::MAX).len(), 2 * PAGE_TOPICS + 1);
    assert_eq!(all_of(&retained, "+/b", u64::MAX).len(), 2 * PAGE_TOPICS + 1);
    assert_eq!(all_of(&retained, "a-7/#", u64::MAX).len(), 1);
    let nothing = retained.page("+/c", None, u64::MAX);
    assert_eq!(
        (nothing.messages.len(), nothing.next.is_some()),
        (0, true),
        "the first page ends before the last topic"
    );
}

#[test]
fn a_full_store_takes_no_further_topic_but_replaces_those_it_has() {
    let mut retained = Retained::default();
    let limits = Limits { retained_messages: 1, ..Limits::default() };
    retained.set(message("a"), &anna(), &limits).unwrap();
    assert_eq!(retained.set(message("b"), &anna(), &limits), Err(Limit::RetainedMessages));
    retained.set(message("a"), &anna(), &limits).unwrap();
    retained.remove("a");
    assert_eq!((retained.len(), retained.bytes()), (0, 0));
    let limits = Limits { retained_messages: 0, retained_bytes: 10, ..Limits::default() };
    retained.set(message("$SYS/broker/uptime"), &anna(), &limits).unwrap();
    assert_eq!((retained.len(), retained.bytes()), (0, 0), "the broker's own take no room");
    let limits = Limits { retained_bytes: 10, ..Limits::default() };
    assert_eq!(retained.set(message("b"), &anna(), &limits), Err(Limit::RetainedBytes));
}

#[test]
fn an_owner_reaches_its_quota_before_the_limit_and_takes_over_what_it_replaces() {
    let (mut retained, berta) = (Retained::default(), Owner::named("user:berta"));
    let anna = anna();
    let limits = Limits { retained_messages: 8, ..Limits::default() };
    for number in 0..6 {
        retained.set(message(&number.to_string()), &anna, &limits).unwrap();
    }
    assert_eq!(retained.set(message("a"), &anna, &limits), Err(Limit::OwnerRetained));
    retained.set(message("5"), &anna, &limits).unwrap();
    retained.set(message("0"), &berta, &limits).unwrap();
    let held = |retained: &Retained, owner| retained.shares().map(|one| one.held(owner));
    let each = message("0").bytes() + ENTRY_BYTES;
    assert_eq!(held(&retained, &berta), [1, each]);
    assert_eq!(held(&retained, &anna), [5, 5 * each]);
    retained.set(message("a"), &anna, &limits).unwrap();
    assert_eq!(retained.set(message("0"), &anna, &limits), Err(Limit::OwnerRetained));
    assert_eq!(held(&retained, &berta), [1, each], "a refused message replaces nothing");
    retained.remove("0");
    assert_eq!(held(&retained, &berta), [0, 0]);
}

#[test]
fn the_oldest_are_those_that_were_set_longest_ago_and_none_of_the_brokers_own() {
    let mut retained = Retained::default();
    for topic in ["b", "c", "$SYS/a", "a", "b"] {
        retained.set(message(topic), &anna(), &Limits::default()).unwrap();
    }
    let oldest: Vec<_> = retained.oldest().iter().map(ToString::to_string).collect();
    assert_eq!(oldest, ["c", "a", "b"]);
}
