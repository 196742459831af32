//! The rows of a file: which sample each one is. Columns are looked up by it, so that none is moved but source times.

use std::ops::Range;

use crate::columns::SampleColumns;
use crate::order::grouped;
use crate::runs::Arrival;

const DAY_NS: i64 = 86_400 * 1_000_000_000;

/// Rows by parameter and source time; at the same time as they came.
pub(super) struct FileRows {
    /// Where each row is among the samples.
    pub positions: Vec<u32>,
    pub source_ns: Vec<i64>,
    /// The number of the message that each row came in.
    pub message: Vec<u32>,
    /// The index of each parameter, and the row behind its last.
    ends: Vec<(u32, usize)>,
}

impl FileRows {
    /// All samples.
    pub fn sorted(samples: &SampleColumns, arrivals: &[Arrival]) -> Self {
        let (mut positions, ends) = grouped(&samples.index);
        let time = |at: &u32| samples.source_ns[*at as usize];
        let mut source_ns: Vec<i64> = positions.iter().map(time).collect();
        let mut begin = 0;
        for (_, end) in &ends {
            let times = &mut source_ns[begin..*end];
            if !times.is_sorted() {
                let positions = &mut positions[begin..*end];
                positions.sort_by_key(time);
                times.iter_mut().zip(&*positions).for_each(|(found, at)| *found = time(at));
            }
            begin = *end;
        }
        let messages = messages(samples.len(), arrivals);
        let message = positions.iter().map(|at| messages[*at as usize]).collect();
        Self { positions, source_ns, message, ends }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// The rows of each day of receive time, in the order in which the days come.
    pub fn by_day(self, arrivals: &[Arrival]) -> Vec<(i64, Self)> {
        let days: Vec<i64> =
            arrivals.iter().map(|one| one.arrived.receive_ns.div_euclid(DAY_NS)).collect();
        if days.iter().all(|day| *day == days[0]) {
            return days.first().map(|day| (*day, self)).into_iter().collect();
        }
        let mut seen: Vec<i64> = Vec::new();
        for message in &self.message {
            let day = days[*message as usize];
            if !seen.contains(&day) {
                seen.push(day);
            }
        }
        seen.into_iter().map(|day| (day, self.filtered(|message| days[message] == day))).collect()
    }

    /// The index of each parameter in a range of rows, and how many of these it has.
    pub fn runs(&self, range: Range<usize>) -> impl Iterator<Item = (u32, usize)> {
        let first = self.ends.partition_point(|(_, end)| *end <= range.start);
        let mut begin = range.start;
        self.ends[first..].iter().map_while(move |(index, end)| {
            let count = range.end.min(*end) - begin;
            begin += count;
            (count > 0).then_some((*index, count))
        })
    }

    /// The rows of some messages.
    fn filtered(&self, has: impl Fn(usize) -> bool) -> Self {
        let (positions, source_ns, message, ends) = Default::default();
        let mut found = Self { positions, source_ns, message, ends };
        let mut begin = 0;
        for (index, end) in &self.ends {
            let before = found.len();
            for row in (begin..*end).filter(|row| has(self.message[*row] as usize)) {
                found.positions.push(self.positions[row]);
                found.source_ns.push(self.source_ns[row]);
                found.message.push(self.message[row]);
            }
            if found.len() > before {
                found.ends.push((*index, found.len()));
            }
            begin = *end;
        }
        found
    }
}

/// The number of the message of each sample, as they came.
fn messages(count: usize, arrivals: &[Arrival]) -> Vec<u32> {
    let mut messages = Vec::with_capacity(count);
    for (number, arrival) in (0..).zip(arrivals) {
        messages.resize(arrival.end, number);
    }
    messages
}
