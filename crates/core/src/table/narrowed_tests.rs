//! A narrowed search equals a look at every parameter, whatever happens in between.

use std::collections::HashMap;

use super::super::{Definition, Registry, Table};
use super::*;
use crate::access::{AccessRule, Identity};
use crate::desk::{DeclaredEntry, Desk};
use crate::{Limits, SessionKey};

const COUNT: u32 = 20_000;

fn declare(registry: &mut Registry, names: impl Iterator<Item = String>) {
    let definition = Definition::from_json(r#"{"type": "u8"}"#).unwrap();
    let asked: Vec<_> = (0..)
        .zip(names)
        .map(|(at, name)| DeclaredEntry::new(at, name, definition.clone()))
        .collect();
    let bounds = Table::bounds(&Limits::default());
    registry.declare(SessionKey::new(1), "c", &asked, &bounds, Vec::new()).unwrap();
}

fn policy(topics: &[&str]) -> Arc<AccessPolicy> {
    let rule = AccessRule::parse(&["known"], true, &["select"], topics).unwrap();
    Arc::new(AccessPolicy::enforced(vec![rule], HashMap::new()))
}

fn world() -> (Registry, Arc<ClientRights>) {
    let mut registry = Registry::new(7);
    declare(&mut registry, (0..COUNT).map(|number| format!("a/{}/{number}", number % 10)));
    let anna = Arc::new(Identity::named("anna"));
    (registry, Arc::new(ClientRights::new(&policy(&["a/3/#"]), anna, "c")))
}

/// Searches until the search has finished; `meanwhile` is called between its turns. Returns how many turns it took.
fn turns(
    registry: &mut Registry,
    rights: &Arc<ClientRights>,
    mut meanwhile: impl FnMut(usize, &mut Registry),
) -> usize {
    let (mut work, mut turns) = (Work::default(), 1);
    while !registry.search_within("#", Some((rights, Right::Select)), &mut work) {
        assert!(work.is_over());
        meanwhile(turns, registry);
        work.begin();
        turns += 1;
    }
    turns
}

/// What a look at every parameter gives.
fn expected(registry: &Registry, rights: &ClientRights) -> RangeSet {
    let all = registry.entries().iter_from(ParameterIndex::new(0));
    let seen = all.filter(|(_, entry)| rights.allow(Right::Select, &entry.name));
    seen.map(|(index, _)| index.get()).collect()
}

fn is_known(registry: &Registry, rights: &Arc<ClientRights>) -> bool {
    registry.narrowed.known("#", Right::Select, |one| Arc::ptr_eq(one, rights)).is_some()
}

#[test]
fn a_wide_filter_is_narrowed_in_several_turns() {
    let (mut registry, rights) = world();
    assert!(turns(&mut registry, &rights, |_, _| ()) > 4);
    assert!(is_known(&registry, &rights));
    let usable = registry.usable("#", &rights, Right::Select);
    assert_eq!(usable.len(), COUNT as usize / 10);
    assert_eq!(usable, expected(&registry, &rights));
    assert_eq!(turns(&mut registry, &rights, |_, _| ()), 1, "it is known now");
}

#[test]
fn it_follows_the_table() {
    let (mut registry, rights) = world();
    turns(&mut registry, &rights, |turn, registry| match turn {
        2 => declare(registry, ["a/3/new".to_owned(), "a/4/new".to_owned()].into_iter()),
        3 => drop(registry.remove(SessionKey::new(1), &["a/3/3", "a/3/19993"], false)),
        _ => {}
    });
    declare(&mut registry, ["a/3/last".to_owned(), "a/3/3".to_owned()].into_iter());
    assert!(is_known(&registry, &rights));
    assert_eq!(registry.usable("#", &rights, Right::Select), expected(&registry, &rights));
}

#[test]
fn another_policy_voids_it_before_and_after_it_is_done() {
    let (mut registry, rights) = world();
    turns(&mut registry, &rights, |turn, _| {
        if turn == 3 {
            rights.follow(&policy(&["a/5/#"]));
        }
    });
    assert_eq!(registry.usable("#", &rights, Right::Select), expected(&registry, &rights));
    rights.follow(&policy(&["a/7/1"]));
    assert!(!is_known(&registry, &rights));
    assert_eq!(registry.usable("#", &rights, Right::Select), expected(&registry, &rights));
}

#[test]
fn searches_of_many_clients_do_not_grow_without_end_and_all_finish() {
    let (mut registry, _) = world();
    let by = policy(&["a/3/#"]);
    let rights = |number: usize| {
        let identity = Arc::new(Identity::named(&format!("user-{number}")));
        Arc::new(ClientRights::new(&by, identity, "c"))
    };
    let all: Vec<_> = (0..2 * KEPT_MAX).map(rights).collect();
    let mut work = Work::default();
    for one in &all {
        work.end();
        registry.search_within("#", Some((one, Right::Select)), &mut work);
    }
    assert!(registry.narrowed.all.len() <= KEPT_MAX);
    for one in &all {
        turns(&mut registry, one, |_, _| ());
        assert!(is_known(&registry, one));
    }
}
