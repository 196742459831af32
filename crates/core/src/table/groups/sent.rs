//! What a group sent last of each parameter, for those who want only what changed or moved (P5).

use std::ops::Range;

use slipring_wire::frame::{Kind, RangeSet, Sample, ValueView};

use super::super::columns::{Columns, bits_of};
use super::super::{Current, Deadband, Names, Needs};

/// The samples sent last, by their place among those that are chosen.
#[derive(Debug, Default)]
pub(super) struct Sent {
    columns: Columns,
    /// The chosen ranges, ascending, and the place of each one's first parameter.
    ranges: Vec<(Range<u32>, usize)>,
    /// The range that was looked into last.
    last: usize,
    deadband: Option<Deadband>,
    number: u64,
}

impl Sent {
    pub fn new(chosen: &RangeSet, needs: &Needs) -> Self {
        let mut sent = Self { deadband: needs.deadband, ..Self::default() };
        sent.rechoose(chosen);
        sent
    }

    /// The number of the newest change of what was sent.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Shows the places that changed since, with the index of the first of each span.
    pub fn changed(&self, since: u64, add: &mut dyn FnMut(Range<usize>, u32)) {
        for (range, place) in &self.ranges {
            self.columns.changed(*place..place + range.len(), since, |span| {
                let index = range.start + (span.start - place) as u32;
                add(span, index);
            });
        }
    }

    /// The place of a range's first parameter; the whole range is chosen.
    pub fn place(&mut self, index: u32) -> Option<usize> {
        if !self.ranges.get(self.last).is_some_and(|(range, _)| range.contains(&index)) {
            self.last = self.ranges.partition_point(|(range, _)| range.end <= index);
        }
        let (range, place) = self.ranges.get(self.last)?;
        range.contains(&index).then(|| place + (index - range.start) as usize)
    }

    /// Other parameters are chosen now; what was sent of those that stay is still known.
    pub fn rechoose(&mut self, chosen: &RangeSet) {
        let mut columns = Columns::default();
        columns.grow(chosen.len());
        let mut place = 0;
        let mut ranges = Vec::with_capacity(chosen.ranges());
        for range in chosen {
            for (index, place) in range.clone().zip(place..) {
                let old = self.place(index).filter(|old| self.columns.has(*old));
                if let Some(sample) = old.and_then(|old| self.columns.sample(old, index)) {
                    columns.set(place, &sample, self.columns.changes[old.unwrap_or_default()]);
                }
            }
            ranges.push((range.clone(), place));
            place += range.len();
        }
        (self.columns, self.ranges, self.last) = (columns, ranges, 0);
    }

    /// Takes a sample of a chosen parameter, if it is worth sending; then it is what was sent last.
    pub fn take(&mut self, sample: &Sample<'_>, names: &dyn Names) -> bool {
        let Some(place) = self.place(sample.index) else { return false };
        let worth = self.differs(place, sample, names);
        if worth {
            self.columns.set(place, sample, self.number + 1);
        }
        worth
    }

    /// Ends a batch of samples taken.
    pub fn number_on(&mut self) {
        self.number += 1;
    }

    /// Takes what changed in the table since, if it is worth sending; or, of these parameters, all
    /// that is not as it was sent. Returns which were looked at and which were taken.
    pub fn settle(
        &mut self,
        current: &Current,
        within: &RangeSet,
        since: u64,
        all: bool,
        names: &dyn Names,
    ) -> Settled {
        let mut settled = Settled::default();
        for range in within {
            let span = range.start as usize..range.end as usize;
            current.columns.changed(span, since, |span| {
                settled.looked = true;
                for (at, index) in span.clone().zip(span.start as u32..) {
                    let Some(sample) = current.columns.sample(at, index) else { continue };
                    if self.settle_one(&sample, all, names) {
                        settled.taken.insert(index..index + 1);
                    }
                }
            });
        }
        if !settled.taken.is_empty() {
            self.number_on();
        }
        settled
    }

    fn settle_one(&mut self, sample: &Sample<'_>, all: bool, names: &dyn Names) -> bool {
        if !all {
            return self.take(sample, names);
        }
        let Some(place) = self.place(sample.index) else { return false };
        let other = self.columns.sample(place, sample.index).is_none_or(|sent| {
            sent.time_ns != sample.time_ns
                || sent.quality != sample.quality
                || !same(&sent.value, &sample.value)
        });
        if other {
            self.columns.set(place, sample, self.number + 1);
        }
        other
    }

    fn differs(&self, place: usize, sample: &Sample<'_>, names: &dyn Names) -> bool {
        let Some(sent) = self.columns.value(place) else { return true };
        if self.columns.qualities[place] != sample.quality.0 {
            return true;
        }
        if same(&sent, &sample.value) {
            return false;
        }
        match self.deadband {
            Some(deadband) => moved(&sent, sample, deadband, names),
            None => true,
        }
    }
}

/// What settling found.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Something had changed, worth it or not.
    pub looked: bool,
    pub taken: RangeSet,
}

fn same(sent: &ValueView<'_>, new: &ValueView<'_>) -> bool {
    match (sent, new) {
        (ValueView::Text(sent), ValueView::Text(new)) => sent == new,
        (ValueView::Bytes(sent), ValueView::Bytes(new)) => sent == new,
        _ => sent.kind() == new.kind() && bits_of(sent) == bits_of(new),
    }
}

/// Whether a value that is another one has left the band around what was sent. Only numbers have a band.
fn moved(sent: &ValueView<'_>, new: &Sample<'_>, deadband: Deadband, names: &dyn Names) -> bool {
    let Some(by) = distance(sent, &new.value) else { return true };
    let width = match deadband {
        Deadband::Absolute(band) => band.get(),
        Deadband::Percent(band) => band.get() / 100.0 * sent.as_f64().unwrap_or_default().abs(),
    };
    // What is not a number, or not finite, is in no band; nor has an enumeration one.
    !(by <= width && by.is_finite()) || names.is_enumeration(new.index)
}

/// How far two numbers of one kind lie apart; none for other values. Whole numbers exactly.
#[expect(
    clippy::cast_precision_loss,
    reason = "a distance beyond 2^53 is beyond any band but its like"
)]
fn distance(sent: &ValueView<'_>, new: &ValueView<'_>) -> Option<f64> {
    match (sent, new) {
        (ValueView::U64(sent), ValueView::U64(new)) => Some(sent.abs_diff(*new) as f64),
        (ValueView::I64(sent), ValueView::I64(new)) => Some(sent.abs_diff(*new) as f64),
        _ if sent.kind() == Kind::Bool => None,
        _ => Some((sent.as_f64()? - new.as_f64()?).abs()),
    }
}
