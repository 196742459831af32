//! What a group sent last of each parameter, for those who want only what changed or moved (P5).

use std::borrow::Cow;
use std::ops::Range;

use slipring_wire::frame::{Kind, RangeSet, Sample};

use super::super::columns::{Cell, Columns, is_text, value_of};
use super::super::{Current, Deadband, Names, Needs};
use super::remembered::{Remembered, bytes_with, texts_in};

/// The samples sent last, by their place among those that are remembered: all that are chosen, unless
/// there was no room for them.
#[derive(Debug, Default)]
pub(super) struct Sent {
    columns: Columns,
    /// The ranges that are remembered, ascending, and the place of each one's first parameter.
    ranges: Vec<(Range<u32>, usize)>,
    /// Chosen, and not remembered for want of room: each sample of these counts as a change.
    pub left: RangeSet,
    /// What is counted of this group.
    pub bytes: usize,
    /// How many of those that are remembered were counted as texts.
    texts: usize,
    /// The range that was looked into last.
    last: usize,
    deadband: Option<Deadband>,
    number: u64,
}

impl Sent {
    pub fn new(chosen: &RangeSet, needs: &Needs, current: &Current, room: &mut Remembered) -> Self {
        let mut sent = Self { deadband: needs.deadband, ..Self::default() };
        sent.rechoose(chosen, current, room);
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

    /// Those of some chosen parameters that are remembered.
    fn known<'a>(&self, within: &'a RangeSet) -> Cow<'a, RangeSet> {
        if self.left.is_empty() {
            Cow::Borrowed(within)
        } else {
            Cow::Owned(within.difference(&self.left))
        }
    }

    /// Where the samples of some chosen parameters are, with the index of the first of each span.
    pub fn places(&mut self, within: &RangeSet) -> Vec<(Range<usize>, u32)> {
        let mut places = Vec::with_capacity(within.ranges());
        for range in self.known(within).iter() {
            let Some(first) = self.place(range.start) else { continue };
            self.columns.changed(first..first + range.len(), 0, |span| {
                let index = range.start + (span.start - first) as u32;
                places.push((span, index));
            });
        }
        places
    }

    /// The place of a range's first parameter; the whole range is remembered.
    pub fn place(&mut self, index: u32) -> Option<usize> {
        if !self.ranges.get(self.last).is_some_and(|(range, _)| range.contains(&index)) {
            self.last = self.ranges.partition_point(|(range, _)| range.end <= index);
        }
        let (range, place) = self.ranges.get(self.last)?;
        range.contains(&index).then(|| place + (index - range.start) as usize)
    }

    /// Other parameters are chosen now; what was sent of those that stay is still known. Those that are
    /// new find room together, or are left.
    pub fn rechoose(&mut self, chosen: &RangeSet, current: &Current, room: &mut Remembered) {
        let known: RangeSet = self.ranges.iter().map(|(range, _)| range.clone()).collect();
        let mut wanted = chosen.difference(&self.left);
        let mut texts = self.texts_of(&wanted, &known, current);
        if !room.has_room(bytes_with(&wanted, texts).saturating_sub(self.bytes)) {
            wanted = wanted.intersect(&known);
            texts = self.texts_of(&wanted, &known, current);
            room.uncompared += 1;
        }
        let bytes = bytes_with(&wanted, texts);
        room.recount(std::mem::replace(&mut self.bytes, bytes), bytes);
        self.texts = texts;
        self.left = chosen.difference(&wanted);
        self.remember(&wanted);
    }

    /// How many of these are texts. Of those that are remembered already it was counted.
    fn texts_of(&self, wanted: &RangeSet, known: &RangeSet, current: &Current) -> usize {
        if known.difference(wanted).is_empty() {
            self.texts + texts_in(&wanted.difference(known), current)
        } else {
            texts_in(wanted, current)
        }
    }

    fn remember(&mut self, chosen: &RangeSet) {
        if self.is_begun_by_known(chosen) {
            return self.remember_more(chosen);
        }
        let mut columns = Columns::default();
        columns.grow(chosen.len());
        let mut place = 0;
        let mut ranges = Vec::with_capacity(chosen.ranges());
        for range in chosen {
            for (index, place) in range.clone().zip(place..) {
                let Some(old) = self.place(index) else { continue };
                if let Some(cell) = self.columns.cell(old) {
                    let change = self.columns.changes[old];
                    columns.set_shared(place, &cell, change, &self.columns, old);
                }
            }
            ranges.push((range.clone(), place));
            place += range.len();
        }
        (self.columns, self.ranges, self.last) = (columns, ranges, 0);
    }

    /// Whether all that is remembered keeps its place: what is new lies behind, as new parameters do.
    fn is_begun_by_known(&self, chosen: &RangeSet) -> bool {
        let Some(last) = self.ranges.len().checked_sub(1) else { return false };
        let mut new = chosen.iter();
        self.ranges.iter().enumerate().all(|(at, (known, _))| {
            new.next().is_some_and(|new| {
                let is_longer = at == last && new.start == known.start && new.end > known.end;
                is_longer || new == *known
            })
        })
    }

    fn remember_more(&mut self, chosen: &RangeSet) {
        self.columns.grow(chosen.len());
        let (_, mut place) = self.ranges.pop().expect("something is remembered");
        for range in chosen.iter().skip(self.ranges.len()) {
            let length = range.len();
            self.ranges.push((range, place));
            place += length;
        }
        self.last = 0;
    }

    /// Takes a sample of a chosen parameter, if it is worth sending; then it is what was sent last.
    /// The table has taken it over already.
    pub fn take(&mut self, sample: &Sample<'_>, current: &Current, names: &dyn Names) -> bool {
        let Some(place) = self.place(sample.index) else {
            return self.left.contains(sample.index);
        };
        let new = Cell::of(sample);
        let worth = self.is_worth(place, &new, sample.index, names);
        if worth {
            self.put(place, &new, current, sample.index);
        }
        worth
    }

    /// Ends a batch of samples taken.
    pub fn number_on(&mut self) {
        self.number += 1;
    }

    /// Takes what changed in the table since, where it is worth sending; or all that is not as it was
    /// sent. Parameters `within` are chosen; what is not remembered is passed over.
    pub fn settle(
        &mut self,
        current: &Current,
        within: &RangeSet,
        since: u64,
        all: bool,
        names: &dyn Names,
    ) -> Settled {
        let mut settled = Settled::default();
        for range in self.known(within).iter() {
            let Some(first) = self.place(range.start) else { continue };
            let span = range.start as usize..range.end as usize;
            current.columns.changed(span.clone(), since, |changed| {
                settled.looked = true;
                for at in changed {
                    let Some(new) = current.columns.cell(at) else { continue };
                    let (place, index) = (first + at - span.start, at as u32);
                    let worth = if all {
                        self.columns.cell(place) != Some(new)
                    } else {
                        self.is_worth(place, &new, index, names)
                    };
                    if worth {
                        self.put(place, &new, current, index);
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

    #[inline]
    fn put(&mut self, place: usize, new: &Cell<'_>, current: &Current, index: u32) {
        self.columns.set_shared(place, new, self.number + 1, &current.columns, index as usize);
    }

    /// Lets go of texts that are newest no more: the newest are taken in their stead, as if it were time
    /// for that. Returns those that differ; what is no parameter any more is forgotten.
    pub fn let_go(&mut self, current: &Current) -> RangeSet {
        let mut taken = RangeSet::new();
        let mut places: Vec<usize> = self.columns.texts.places().collect();
        places.sort_unstable();
        for place in places {
            let index = self.index(place);
            if self.columns.texts.is_shared(place, &current.columns.texts, index as usize) {
                continue;
            }
            let Some(new) = current.columns.cell(index as usize) else {
                self.columns.clear(place);
                continue;
            };
            let is_as_sent = self.columns.cell(place).is_some_and(|sent| sent.is_like(&new));
            if is_as_sent {
                let there = &current.columns.texts;
                self.columns.texts.share(place, new.text, there, index as usize);
            } else {
                self.put(place, &new, current, index);
                taken.insert(index..index + 1);
            }
        }
        if !taken.is_empty() {
            self.number_on();
        }
        taken
    }

    /// The parameter of a place.
    fn index(&self, place: usize) -> u32 {
        let at = self.ranges.partition_point(|(_, first)| *first <= place) - 1;
        let (range, first) = &self.ranges[at];
        range.start + (place - first) as u32
    }

    fn is_worth(&self, place: usize, new: &Cell<'_>, index: u32, names: &dyn Names) -> bool {
        let Some(sent) = self.columns.cell(place) else { return true };
        if sent.quality != new.quality || sent.kind != new.kind {
            return true;
        }
        if sent.bits == new.bits && sent.text == new.text {
            return false;
        }
        match self.deadband {
            Some(deadband) => has_moved(&sent, new, deadband) || names.is_enumeration(index),
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

/// Whether a value that is another one has left the band around what was sent. Only numbers have a
/// band, and only finite ones.
fn has_moved(sent: &Cell<'_>, new: &Cell<'_>, deadband: Deadband) -> bool {
    if is_text(sent.kind) || sent.kind == Kind::Bool {
        return true;
    }
    let width = match deadband {
        Deadband::Absolute(band) => band.get(),
        Deadband::Percent(band) => band.get() / 100.0 * number(sent.kind, sent.bits).abs(),
    };
    is_beyond(sent.kind, sent.bits, new.bits, width)
}

fn number(kind: Kind, bits: u64) -> f64 {
    value_of(kind, bits).as_f64().unwrap_or(f64::NAN)
}

/// Whether two numbers lie further apart than this; of whole ones exactly, where floats are not.
#[expect(clippy::cast_sign_loss, reason = "a width is not negative")]
#[expect(clippy::cast_possible_wrap, reason = "the same bits")]
fn is_beyond(kind: Kind, sent: u64, new: u64, width: f64) -> bool {
    match kind {
        Kind::U64 => sent.abs_diff(new) > width as u64,
        Kind::I64 => (sent as i64).abs_diff(new as i64) > width as u64,
        _ => {
            let by = (number(kind, sent) - number(kind, new)).abs();
            !(by <= width && by.is_finite())
        }
    }
}
