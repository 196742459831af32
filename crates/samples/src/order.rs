//! The order by parameter and time.

/// The positions of samples by index, and for each index by time; equal ones stay in their order. None if they are in
/// this order already.
pub(crate) fn order(index: &[i32], source_ns: &[i64]) -> Option<Vec<u32>> {
    let before =
        |one: usize, other: usize| (index[one], source_ns[one]) <= (index[other], source_ns[other]);
    if (1..index.len()).all(|at| before(at - 1, at)) {
        return None;
    }
    let mut positions = by_index(index);
    for group in positions.chunk_by_mut(|one, other| index[*one as usize] == index[*other as usize])
    {
        let time = |position: &u32| source_ns[*position as usize];
        if !group.is_sorted_by_key(time) {
            group.sort_by_key(time);
        }
    }
    Some(positions)
}

/// The positions of samples by index; equal ones stay in their order.
fn by_index(index: &[i32]) -> Vec<u32> {
    grouped(index).0
}

/// The same, and where the samples of each index end, for those that have any. Counts the samples of each index, then
/// puts each one behind those before it: two passes whatever their order.
pub(crate) fn grouped(index: &[i32]) -> (Vec<u32>, Vec<(u32, usize)>) {
    let highest = index.iter().max().map_or(0, |highest| *highest as usize);
    let mut starts = vec![0_u32; highest + 2];
    for index in index {
        starts[*index as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let runs = (0..)
        .zip(starts.windows(2))
        .filter(|(_, bounds)| bounds[0] < bounds[1])
        .map(|(index, bounds)| (index, bounds[1] as usize))
        .collect();
    let mut positions = vec![0; index.len()];
    for (at, index) in (0_u32..).zip(index) {
        let start = &mut starts[*index as usize];
        positions[*start as usize] = at;
        *start += 1;
    }
    (positions, runs)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn samples_are_sorted_by_parameter_then_by_time(
            samples in prop::collection::vec((0_i32..6, -5_i64..5), 0..60)
        ) {
            let (index, source_ns): (Vec<_>, Vec<_>) = samples.into_iter().unzip();
            let mut expected: Vec<u32> = (0..index.len() as u32).collect();
            expected.sort_by_key(|at| (index[*at as usize], source_ns[*at as usize]));
            let found = order(&index, &source_ns);
            prop_assert_eq!(found.unwrap_or_else(|| (0..index.len() as u32).collect()), expected);
        }
    }

    #[test]
    fn nothing_is_moved_if_all_are_in_order() {
        assert_eq!(order(&[1, 1, 4], &[5, 6, 0]), None);
        assert_eq!(order(&[], &[]), None);
    }
}
