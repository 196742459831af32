//! Samples summed up by parameter and window of source time. Two parts of one window can be combined later.

use std::ops::Range;

use slipring_wire::frame::{Quality, QualityStatus};

use crate::columns::SampleColumns;
use crate::optional::OptionalColumn;

/// A row for each parameter and window. Where no sample counts, there is no least, greatest, first or last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RollupColumns {
    /// The index of the parameter.
    pub index: Vec<i32>,
    /// Where the window begins, nanoseconds since 1970.
    pub window_ns: Vec<i64>,
    /// The samples that count: numbers of a good or uncertain quality.
    pub count: Vec<i64>,
    /// The samples that do not: bad or stale ones, and those that are not a number.
    pub bad: Vec<i64>,
    /// The least value.
    pub min: OptionalColumn<f64>,
    /// The greatest value.
    pub max: OptionalColumn<f64>,
    /// The sum of the values.
    pub sum: OptionalColumn<f64>,
    /// The value of the first sample.
    pub first: OptionalColumn<f64>,
    /// Its source time.
    pub first_ns: OptionalColumn<i64>,
    /// The value of the last sample.
    pub last: OptionalColumn<f64>,
    /// Its source time.
    pub last_ns: OptionalColumn<i64>,
    /// The integral over time, in nanoseconds: each value holds until the next one.
    pub weighted: Vec<f64>,
    /// The time from the first to the last sample.
    pub weighted_ns: Vec<i64>,
    /// The highest offset of a sample in it.
    pub offset: Vec<i64>,
    /// When the broker received the newest sample in it.
    pub receive_ns: Vec<i64>,
}

/// Sums up samples that are sorted by parameter and time. The columns receive time, offset, quality and value are
/// needed. Samples without a number have no window.
pub fn rollup(samples: &SampleColumns, window_ns: i64) -> RollupColumns {
    let mut columns = RollupColumns::default();
    let window = |row: usize| samples.source_ns[row].div_euclid(window_ns);
    let mut begin = 0;
    while begin < samples.len() {
        let (index, at) = (samples.index[begin], window(begin));
        let belongs = |row: &usize| samples.index[*row] == index && window(*row) == at;
        let end = (begin + 1..samples.len()).find(|row| !belongs(row)).unwrap_or(samples.len());
        columns.push(samples, begin..end, at.saturating_mul(window_ns));
        begin = end;
    }
    columns
}

/// The values of one window so far.
struct WindowSum {
    min: f64,
    max: f64,
    sum: f64,
    first: (f64, i64),
    last: (f64, i64),
    weighted: f64,
}

impl WindowSum {
    fn new(value: f64, time_ns: i64) -> Self {
        let first = (value, time_ns);
        Self { min: value, max: value, sum: value, first, last: first, weighted: 0.0 }
    }

    fn add(&mut self, value: f64, time_ns: i64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.sum += value;
        self.weighted += self.last.0 * time_ns.saturating_sub(self.last.1) as f64;
        self.last = (value, time_ns);
    }
}

impl RollupColumns {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Appends the window of these rows.
    fn push(&mut self, samples: &SampleColumns, rows: Range<usize>, window_ns: i64) {
        let (mut count, mut bad) = (0, 0);
        let mut found: Option<WindowSum> = None;
        for row in rows.clone() {
            let Some(value) = samples.value.get(row) else { continue };
            if value.is_nan() || !counts(samples.quality[row]) {
                bad += 1;
                continue;
            }
            count += 1;
            let time_ns = samples.source_ns[row];
            match &mut found {
                Some(sum) => sum.add(value, time_ns),
                None => found = Some(WindowSum::new(value, time_ns)),
            }
        }
        if count + bad == 0 {
            return;
        }
        self.index.push(samples.index[rows.start]);
        self.window_ns.push(window_ns);
        self.count.push(count);
        self.bad.push(bad);
        let newest =
            |column: &[i64]| column[rows.clone()].iter().copied().max().unwrap_or_default();
        self.offset.push(newest(&samples.offset));
        self.receive_ns.push(newest(&samples.receive_ns));
        let of = found.as_ref();
        self.min.push(of.map(|sum| sum.min));
        self.max.push(of.map(|sum| sum.max));
        self.sum.push(of.map(|sum| sum.sum));
        self.first.push(of.map(|sum| sum.first.0));
        self.first_ns.push(of.map(|sum| sum.first.1));
        self.last.push(of.map(|sum| sum.last.0));
        self.last_ns.push(of.map(|sum| sum.last.1));
        self.weighted.push(of.map_or(0.0, |sum| sum.weighted));
        self.weighted_ns.push(of.map_or(0, |sum| sum.last.1.saturating_sub(sum.first.1)));
    }
}

/// Whether a sample of this quality counts.
fn counts(quality: i16) -> bool {
    let status = Quality(quality as u8).status();
    matches!(status, QualityStatus::Good | QualityStatus::Uncertain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples of parameter 3: source time, value, quality.
    fn samples(all: &[(i64, Option<f64>, i16)]) -> SampleColumns {
        let mut columns = SampleColumns::default();
        for (offset, (time, value, quality)) in (50..).zip(all) {
            columns.index.push(3);
            columns.source_ns.push(*time);
            columns.offset.push(offset);
            columns.receive_ns.push(offset * 10);
            columns.quality.push(*quality);
            columns.value.push(*value);
        }
        columns
    }

    #[test]
    fn a_window_has_what_its_samples_add_up_to() {
        let given = samples(&[
            (10, Some(2.0), 0),
            (14, Some(6.0), 0x40),
            (15, Some(f64::NAN), 0),
            (16, Some(100.0), 0x80),
            (18, Some(4.0), 0),
            (20, Some(1.0), 0),
        ]);
        let found = rollup(&given, 10);
        assert_eq!((found.index, found.window_ns), (vec![3, 3], vec![10, 20]));
        assert_eq!((found.count, found.bad), (vec![3, 1], vec![2, 0]));
        assert_eq!(
            (found.min.get(0), found.max.get(0), found.sum.get(0)),
            (Some(2.0), Some(6.0), Some(12.0))
        );
        assert_eq!((found.first.get(0), found.first_ns.get(0)), (Some(2.0), Some(10)));
        assert_eq!((found.last.get(0), found.last_ns.get(0)), (Some(4.0), Some(18)));
        assert_eq!(
            (found.weighted, found.weighted_ns),
            (vec![2.0 * 4.0 + 6.0 * 4.0, 0.0], vec![8, 0])
        );
        assert_eq!((found.offset, found.receive_ns), (vec![54, 55], vec![540, 550]));
    }

    #[test]
    fn bad_samples_have_a_window_without_values_and_texts_have_none() {
        let found = rollup(&samples(&[(-1, Some(5.0), 0xc0), (7, None, 0)]), 10);
        assert_eq!((found.window_ns, found.count, found.bad), (vec![-10], vec![0], vec![1]));
        assert_eq!((found.min.get(0), found.last_ns.get(0)), (None, None));
    }
}
