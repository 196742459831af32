//! Laws of the accounting, and the edges of a quota.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::access::{AccessPolicy, Identity, Subject};

fn owner(number: u8) -> Owner {
    Owner::of(Some(&format!("user-{number}")), "127.0.0.1:1")
}

fn quota(limit: usize, one: u8, reserve_percent: u8) -> Quota {
    let (all, one) = ((limit, Limit::Sessions), (one, Limit::OwnerSessions));
    Quota { all, one, reserve_percent, own: None }
}

proptest! {
    #[test]
    fn the_total_is_the_sum_after_any_order_of_taking_and_giving(
        steps in prop::collection::vec((0u8..5, 0usize..50, any::<bool>()), 0..100),
    ) {
        let (mut shares, mut naive) = (Shares::default(), BTreeMap::<u8, usize>::new());
        for (number, amount, takes) in steps {
            let held = naive.entry(number).or_default();
            if takes {
                shares.take(&owner(number), amount);
                *held += amount;
            } else {
                let amount = amount.min(*held);
                shares.give(&owner(number), amount);
                *held -= amount;
            }
            prop_assert_eq!(shares.held(&owner(number)), *held);
            prop_assert_eq!(shares.total(), naive.values().sum::<usize>());
        }
        naive.retain(|_, held| *held > 0);
        prop_assert_eq!(shares.owners(), naive.len());
        let greatest = shares.greatest(3);
        let mut sorted: Vec<usize> = naive.values().copied().collect();
        sorted.sort_unstable_by_key(|held| std::cmp::Reverse(*held));
        sorted.truncate(3);
        prop_assert_eq!(greatest.iter().map(|(_, held)| *held).collect::<Vec<_>>(), sorted);
    }

    #[test]
    fn greedy_owners_leave_room_for_newcomers(
        limit in 0usize..5_000, one in 1u8..=100, reserve in 0u8..=50,
        asks in prop::collection::vec((0u8..4, 1usize..200), 0..200),
    ) {
        let quota = quota(limit, one, reserve);
        let mut shares = Shares::default();
        for (number, amount) in asks {
            if quota.check(&shares, &owner(number), amount).is_ok() {
                shares.take(&owner(number), amount);
            }
            prop_assert!(shares.total() <= limit);
            prop_assert!(shares.held(&owner(number)) <= quota.of_one());
        }
        if quota.reserve() > 4 * quota.of_newcomer() {
            prop_assert_eq!(quota.check(&shares, &owner(9), 1), Ok(()), "a newcomer gets in");
        }
    }
}

#[test]
fn an_owner_at_its_quota_is_refused_and_others_are_not() {
    let (quota, mut shares) = (quota(1_000, 75, 5), Shares::default());
    let (greedy, modest) = (owner(1), owner(2));
    assert_eq!((quota.of_one(), quota.reserve(), quota.of_newcomer()), (750, 50, 1));
    shares.take(&greedy, 749);
    assert_eq!(quota.check(&shares, &greedy, 1), Ok(()));
    shares.take(&greedy, 1);
    assert_eq!(quota.check(&shares, &greedy, 1), Err(Limit::OwnerSessions));
    assert_eq!(quota.check(&shares, &greedy, 0), Ok(()), "nothing more needs no room");
    shares.take(&modest, 200);
    assert_eq!(quota.check(&shares, &modest, 1), Err(Limit::ReservePercent));
    assert_eq!(quota.check(&shares, &owner(3), 1), Ok(()));
    assert_eq!(quota.check(&shares, &owner(3), 2), Err(Limit::ReservePercent));
    shares.take(&owner(3), 50);
    assert_eq!(quota.check(&shares, &owner(4), 1), Err(Limit::Sessions));
}

#[test]
fn a_small_limit_is_not_divided() {
    for limit in 1..4 {
        let quota = quota(limit, 75, 5);
        assert_eq!((quota.of_one(), quota.reserve()), (limit, 0));
    }
    assert_eq!(quota(4, 75, 5).of_one(), 3);
    assert_eq!(quota(usize::MAX, 100, 0).of_one(), usize::MAX);
    assert_eq!(quota(0, 75, 5).check(&Shares::default(), &owner(1), 1), Err(Limit::Sessions));
}

#[test]
fn a_limit_lowered_below_what_is_held_refuses_without_a_panic() {
    let mut shares = Shares::default();
    shares.take(&owner(1), 100);
    let quota = quota(10, 75, 5);
    assert_eq!(quota.check(&shares, &owner(1), 1), Err(Limit::Sessions));
    assert_eq!(quota.check(&shares, &owner(2), 1), Err(Limit::Sessions));
}

#[test]
fn an_owner_is_a_proven_user_or_an_address() {
    let rows = [
        (Some("anna"), "192.0.2.7:5000", "user:anna"),
        (None, "192.0.2.7:5000", "address:192.0.2.7"),
        (None, "192.0.2.7:6000", "address:192.0.2.7"),
        (None, "[::ffff:192.0.2.7]:5000", "address:192.0.2.7"),
        (None, "[2001:db8:0:1:2:3:4:5]:5000", "address:2001:db8:0:1::/64"),
        (None, "[::1]:5000", "address:::1"),
        (None, "unix:/run/slipring.sock", "address:unix"),
        (None, "", "address:unix"),
    ];
    for (proven, address, text) in rows {
        let owner = Owner::of(proven, address);
        assert_eq!(owner.as_str(), text);
        assert_eq!(Owner::named(text), owner);
    }
}

#[test]
fn clients_of_this_machine_come_by_loopback_or_by_a_unix_socket() {
    for address in
        ["127.0.0.1:1883", "127.8.8.8:1", "[::1]:1883", "[::ffff:127.0.0.1]:1", "unix:/s"]
    {
        assert!(Owner::of(None, address).is_on_this_machine(), "{address}");
    }
    for address in ["192.0.2.7:1883", "[2001:db8::1]:1883"] {
        assert!(!Owner::of(None, address).is_on_this_machine(), "{address}");
    }
    assert!(!Owner::of(Some("unix"), "127.0.0.1:1").is_on_this_machine(), "a user is no address");
}

/// The quotas as the words of docs/limits.md say them: rule by rule, key by key.
fn naive_connections(tables: &[(Vec<String>, Option<usize>)], user: Option<&str>) -> Option<usize> {
    let is_about = |who: &String| match who.strip_prefix("user:") {
        Some(name) => user == Some(name),
        None => {
            who == "anyone"
                || who == "known" && user.is_some()
                || who == "anonymous" && user.is_none()
        }
    };
    tables.iter().filter(|(who, _)| who.iter().any(is_about)).find_map(|(_, number)| *number)
}

proptest! {
    #[test]
    fn the_first_table_about_somebody_counts_as_a_naive_look_finds_it(
        tables in prop::collection::vec((
            prop::collection::vec("user:[abc]|anyone|known|anonymous", 1..4),
            prop::option::of(0_usize..100),
        ), 0..8),
    ) {
        let mut rules = QuotaRules::default();
        for (who, connections) in &tables {
            let quotas = OwnerQuotas { connections: *connections, ..OwnerQuotas::default() };
            rules.add(who, quotas).unwrap();
        }
        for user in [None, Some("a"), Some("b"), Some("c"), Some("d")] {
            let identity = user.map_or_else(|| Identity::clone(Identity::anonymous()), Identity::named);
            let subject = Subject { identity: &identity, client_id: "" };
            let found = rules.of(AccessPolicy::open(), subject).connections;
            prop_assert_eq!(found, naive_connections(&tables, user));
        }
    }
}
