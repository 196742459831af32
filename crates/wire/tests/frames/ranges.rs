//! A set of ranges equals a set of numbers.

use std::collections::BTreeSet;
use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use slipring_wire::frame::RangeSet;

fn range() -> impl Strategy<Value = Range<u32>> {
    (0..60u32, 0..9u32).prop_map(|(start, length)| start..start + length)
}

/// Ranges that were put in (true) or taken out.
fn steps() -> impl Strategy<Value = Vec<(bool, Range<u32>)>> {
    vec((prop::bool::weighted(0.7), range()), 0..16)
}

fn both(steps: &[(bool, Range<u32>)]) -> (RangeSet, BTreeSet<u32>) {
    let (mut set, mut naive) = (RangeSet::new(), BTreeSet::new());
    for (is_in, range) in steps {
        if *is_in {
            set.insert(range.clone());
            naive.extend(range.clone());
        } else {
            set.remove(range.clone());
            naive.retain(|index| !range.contains(index));
        }
    }
    (set, naive)
}

fn check(set: &RangeSet, naive: &BTreeSet<u32>) {
    assert!(set.indices().eq(naive.iter().copied()), "{set:?} {naive:?}");
    let apart = set.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start);
    assert!(apart && set.iter().all(|range| !range.is_empty()), "{set:?}");
    assert_eq!((set.len(), set.is_empty()), (naive.len(), naive.is_empty()));
    assert_eq!(set.ranges(), set.iter().count());
}

proptest! {
    #[test]
    fn putting_in_and_taking_out_is_that_of_numbers(steps in steps(), asked in range()) {
        let (set, naive) = both(&steps);
        check(&set, &naive);
        for index in 0..70 {
            prop_assert_eq!(set.contains(index), naive.contains(&index));
        }
        let all = asked.clone().all(|index| naive.contains(&index));
        prop_assert_eq!(set.contains_range(&asked), all);
    }

    #[test]
    fn two_sets_together_are_two_sets_of_numbers(one in steps(), other in steps()) {
        let ((one, naive_one), (other, naive_other)) = (both(&one), both(&other));
        check(&one.intersect(&other), &naive_one.intersection(&naive_other).copied().collect());
        check(&one.union(&other), &naive_one.union(&naive_other).copied().collect());
        check(&one.difference(&other), &naive_one.difference(&naive_other).copied().collect());
        prop_assert_eq!(one.contains_all(&other), naive_other.is_subset(&naive_one));
    }

    #[test]
    fn a_set_can_be_made_of_numbers_in_any_order(numbers in vec(0..60u32, 0..40)) {
        check(&numbers.iter().copied().collect(), &numbers.into_iter().collect());
    }
}

#[test]
fn the_largest_number_is_not_an_index() {
    let set: RangeSet = [u32::MAX, u32::MAX - 1].into_iter().collect();
    assert!(set.iter().eq(std::iter::once(u32::MAX - 1..u32::MAX)));
}
