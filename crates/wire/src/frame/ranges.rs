//! A set of parameter indices, stored as ranges.

use std::ops::Range;

/// Up to so many ranges are added or removed one by one; more are merged in one pass over both sets.
const FEW: usize = 16;

/// Ascending ranges of indices that neither overlap nor touch. `u32::MAX` is not an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RangeSet {
    ranges: Vec<Range<u32>>,
}

impl RangeSet {
    /// An empty set.
    pub const fn new() -> Self {
        Self { ranges: Vec::new() }
    }

    /// Adds every index of a range.
    pub fn insert(&mut self, range: Range<u32>) {
        if range.is_empty() {
            return;
        }
        match self.ranges.last_mut() {
            Some(last) if range.start > last.end => self.ranges.push(range),
            Some(last) if range.start >= last.start => last.end = last.end.max(range.end),
            Some(_) => self.insert_between(range),
            None => self.ranges.push(range),
        }
    }

    fn insert_between(&mut self, range: Range<u32>) {
        let from = self.ranges.partition_point(|known| known.end < range.start);
        let to = self.ranges.partition_point(|known| known.start <= range.end);
        let mut joined = range;
        if from < to {
            joined.start = joined.start.min(self.ranges[from].start);
            joined.end = joined.end.max(self.ranges[to - 1].end);
        }
        self.ranges.splice(from..to, [joined]);
    }

    /// Removes every index of a range.
    pub fn remove(&mut self, range: Range<u32>) {
        let from = self.ranges.partition_point(|known| known.end <= range.start);
        let to = self.ranges.partition_point(|known| known.start < range.end);
        if range.is_empty() || from >= to {
            return;
        }
        let before = self.ranges[from].start..range.start;
        let after = range.end..self.ranges[to - 1].end;
        let left = [before, after].into_iter().filter(|part| !part.is_empty());
        self.ranges.splice(from..to, left);
    }

    /// Adds all indices of another set.
    pub fn add(&mut self, other: &Self) {
        if other.ranges() <= FEW {
            self.extend(other.iter());
        } else {
            *self = self.union(other);
        }
    }

    /// Removes all indices of another set.
    pub fn take_away(&mut self, other: &Self) {
        if other.ranges() <= FEW {
            other.iter().for_each(|range| self.remove(range));
        } else {
            *self = self.difference(other);
        }
    }

    /// Removes all indices.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Whether it contains an index.
    pub fn contains(&self, index: u32) -> bool {
        let at = self.ranges.partition_point(|known| known.end <= index);
        self.ranges.get(at).is_some_and(|known| known.start <= index)
    }

    /// Whether it contains any index of a range.
    pub fn overlaps(&self, range: &Range<u32>) -> bool {
        let at = self.ranges.partition_point(|known| known.end <= range.start);
        self.ranges.get(at).is_some_and(|known| known.start < range.end)
    }

    /// How many indices of a range it contains.
    pub fn count_in(&self, range: &Range<u32>) -> usize {
        let at = self.ranges.partition_point(|known| known.end <= range.start);
        let inside = self.ranges[at..].iter().take_while(|known| known.start < range.end);
        inside.map(|known| (known.start.max(range.start)..known.end.min(range.end)).len()).sum()
    }

    /// Whether both sets contain a common index.
    pub fn overlaps_any(&self, other: &Self) -> bool {
        let (few, many) =
            if self.ranges() < other.ranges() { (self, other) } else { (other, self) };
        few.iter().any(|range| many.overlaps(&range))
    }

    /// Whether it contains every index of a range.
    pub fn contains_range(&self, range: &Range<u32>) -> bool {
        let at = self.ranges.partition_point(|known| known.end <= range.start);
        range.is_empty()
            || self
                .ranges
                .get(at)
                .is_some_and(|known| known.start <= range.start && range.end <= known.end)
    }

    /// Whether it contains every index of all these ranges.
    pub fn contains_all(&self, ranges: impl IntoIterator<Item = Range<u32>>) -> bool {
        ranges.into_iter().all(|range| self.contains_range(&range))
    }

    /// The indices in both sets.
    #[must_use]
    pub fn intersect(&self, other: &Self) -> Self {
        let mut both = Self::new();
        let (mut mine, mut theirs) = (self.ranges.as_slice(), other.ranges.as_slice());
        while let ([first, rest @ ..], [second, others @ ..]) = (mine, theirs) {
            both.insert(first.start.max(second.start)..first.end.min(second.end));
            if first.end < second.end {
                mine = rest;
            } else {
                theirs = others;
            }
        }
        both
    }

    /// The indices in either set.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut ranges: Vec<_> = self.iter().chain(other.iter()).collect();
        ranges.sort_by_key(|range| range.start); // a stable sort merges two ascending halves in one pass
        ranges.into_iter().collect()
    }

    /// The indices in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut left = Self::new();
        let Some((first, last)) = self.ranges.first().zip(self.ranges.last()) else { return left };
        let from = other.ranges.partition_point(|gone| gone.end <= first.start);
        let to = other.ranges.partition_point(|gone| gone.start < last.end);
        let mut away = other.ranges[from..to].iter().peekable();
        for range in &self.ranges {
            let mut start = range.start;
            while let Some(gone) = away.next_if(|gone| gone.end <= range.end) {
                left.insert(start..gone.start.min(range.end));
                start = start.max(gone.end);
            }
            let end = away.peek().map_or(range.end, |gone| gone.start.min(range.end));
            left.insert(start..end);
        }
        left
    }

    /// Its ranges, ascending.
    pub fn iter(&self) -> Ranges<'_> {
        self.ranges.iter().cloned()
    }

    /// Its ranges, ascending.
    pub fn as_slice(&self) -> &[Range<u32>] {
        &self.ranges
    }

    /// Its indices, ascending.
    pub fn indices(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.iter().flatten()
    }

    /// How many indices it contains.
    pub fn len(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    /// How many ranges it has.
    pub fn ranges(&self) -> usize {
        self.ranges.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

/// The ranges of a [`RangeSet`], ascending.
type Ranges<'a> = std::iter::Cloned<std::slice::Iter<'a, Range<u32>>>;

impl<'a> IntoIterator for &'a RangeSet {
    type Item = Range<u32>;
    type IntoIter = Ranges<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Extend<Range<u32>> for RangeSet {
    fn extend<T: IntoIterator<Item = Range<u32>>>(&mut self, ranges: T) {
        ranges.into_iter().for_each(|range| self.insert(range));
    }
}

impl Extend<u32> for RangeSet {
    fn extend<T: IntoIterator<Item = u32>>(&mut self, indices: T) {
        self.extend(indices.into_iter().map(|index| index..index.saturating_add(1)));
    }
}

impl FromIterator<Range<u32>> for RangeSet {
    fn from_iter<T: IntoIterator<Item = Range<u32>>>(ranges: T) -> Self {
        let mut set = Self::new();
        set.extend(ranges);
        set
    }
}

impl FromIterator<u32> for RangeSet {
    fn from_iter<T: IntoIterator<Item = u32>>(indices: T) -> Self {
        let mut set = Self::new();
        set.extend(indices);
        set
    }
}
