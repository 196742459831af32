//! The change memory of a group: the value it sent last of each parameter, for subscribers that want only
//! changes or moves beyond a dead-band (P5).
//!
//! An example with a dead-band of 0.5: 20.0 is sent first and remembered. 20.3 is not sent, because it is 0.3
//! from 20.0; 20.5 neither, because the dead-band must be exceeded. 20.6 is sent and remembered. 20.2 is not
//! sent: it is 0.4 from 20.6. A sample with another quality is always sent. With `change` and no dead-band,
//! each value that differs from the last one sent is sent.

use std::borrow::Cow;
use std::ops::Range;

use slipring_wire::frame::{Kind, RangeSet, Sample};

use super::super::columns::{Cell, Columns, is_text, value_of};
use super::super::current::span;
use super::super::{Current, Deadband, Names, Needs};
use super::remembered::{RememberedBytes, bytes_with, texts_in};
use crate::ParameterIndex;

/// The samples sent last, one for each remembered parameter: all chosen ones that fit within the memory
/// limit.
#[derive(Debug, Default)]
pub(super) struct LastSent {
    pub columns: Columns,
    /// The remembered ranges, ascending, each with the column position of its first parameter.
    ranges: Vec<(Range<u32>, usize)>,
    /// Chosen parameters that did not fit within the memory limit: each of their samples counts as a change.
    pub uncompared: RangeSet,
    /// The bytes that are counted for this group.
    pub bytes: usize,
    /// How many remembered parameters were counted as texts.
    texts: usize,
    /// The range that was used last, where the next search begins.
    last: usize,
    deadband: Option<Deadband>,
    /// The number of the newest change of what was sent.
    pub number: u64,
}

impl LastSent {
    pub fn new(
        chosen: &RangeSet,
        needs: &Needs,
        current: &Current,
        room: &mut RememberedBytes,
    ) -> Self {
        let mut sent = Self { deadband: needs.deadband, ..Self::default() };
        sent.rechoose(chosen, current, room);
        sent
    }

    /// Calls `add` for each span of positions that changed after `since`, with the index of its first parameter.
    pub fn changed(&self, since: u64, add: &mut dyn FnMut(Range<usize>, u32)) {
        for (range, place) in &self.ranges {
            self.columns.changed(*place..place + range.len(), since, |span| {
                let index = range.start + (span.start - place) as u32;
                add(span, index);
            });
        }
    }

    /// Those of `within` that are remembered.
    fn remembered<'a>(&self, within: &'a RangeSet) -> Cow<'a, RangeSet> {
        if self.uncompared.is_empty() {
            Cow::Borrowed(within)
        } else {
            Cow::Owned(within.difference(&self.uncompared))
        }
    }

    /// The positions of the samples of `within`, in spans with the index of the first parameter.
    pub fn places(&mut self, within: &RangeSet) -> Vec<(Range<usize>, u32)> {
        let mut places = Vec::with_capacity(within.ranges());
        for range in self.remembered(within).iter() {
            let Some(first) = self.place(range.start) else { continue };
            self.columns.changed(first..first + range.len(), 0, |span| {
                let index = range.start + (span.start - first) as u32;
                places.push((span, index));
            });
        }
        places
    }

    /// The position of a parameter; None if it is not remembered.
    pub fn place(&mut self, index: u32) -> Option<usize> {
        if !self.ranges.get(self.last).is_some_and(|(range, _)| range.contains(&index)) {
            self.last = self.ranges.partition_point(|(range, _)| range.end <= index);
        }
        let (range, place) = self.ranges.get(self.last)?;
        range.contains(&index).then(|| place + (index - range.start) as usize)
    }

    /// Takes over another set of chosen parameters and keeps the values of those that stay. The new ones are
    /// remembered only if all of them fit within the memory limit.
    pub fn rechoose(&mut self, chosen: &RangeSet, current: &Current, room: &mut RememberedBytes) {
        let known: RangeSet = self.ranges.iter().map(|(range, _)| range.clone()).collect();
        let mut wanted = chosen.difference(&self.uncompared);
        let mut texts = self.texts_of(&wanted, &known, current);
        if !room.has_room(bytes_with(&wanted, texts).saturating_sub(self.bytes)) {
            wanted = wanted.intersect(&known);
            texts = self.texts_of(&wanted, &known, current);
            room.uncompared += 1;
        }
        let bytes = bytes_with(&wanted, texts);
        room.recount(std::mem::replace(&mut self.bytes, bytes), bytes);
        self.texts = texts;
        self.uncompared = chosen.difference(&wanted);
        self.remember(&wanted);
    }

    /// How many of `wanted` are texts. Parameters that are remembered already are not counted again.
    fn texts_of(&self, wanted: &RangeSet, known: &RangeSet, current: &Current) -> usize {
        if known.difference(wanted).is_empty() {
            self.texts + texts_in(&wanted.difference(known), current)
        } else {
            texts_in(wanted, current)
        }
    }

    fn remember(&mut self, chosen: &RangeSet) {
        if self.only_appends(chosen) {
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

    /// Whether all remembered parameters keep their positions because the new ones have higher indices, as newly
    /// declared parameters do.
    fn only_appends(&self, chosen: &RangeSet) -> bool {
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

    /// Whether a sample of a chosen parameter is to be sent; if so, it is remembered as sent. The table
    /// already holds it.
    pub fn take(&mut self, sample: &Sample<'_>, current: &Current, names: &dyn Names) -> bool {
        let Some(place) = self.place(sample.index) else {
            return self.uncompared.contains(sample.index);
        };
        let new = Cell::of(sample);
        let worth = self.is_worth(place, &new, sample.index, names);
        if worth {
            self.put(place, &new, current, sample.index);
        }
        worth
    }

    /// Ends a batch of taken samples, which share one change number.
    pub fn end_batch(&mut self) {
        self.number += 1;
    }

    /// Takes the table's changes after `since` that are to be sent; with `all`, every value that differs from
    /// what was sent. Parameters of `within` are chosen; those that are not remembered are skipped.
    pub fn take_changed(
        &mut self,
        current: &Current,
        within: &RangeSet,
        since: u64,
        all: bool,
        names: &dyn Names,
    ) -> TakenChanges {
        let mut changes = TakenChanges::default();
        for range in self.remembered(within).iter() {
            let Some(first) = self.place(range.start) else { continue };
            let span = span(&range);
            current.columns.changed(span.clone(), since, |changed| {
                changes.any_changed = true;
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
                        changes.taken.insert(index..index + 1);
                    }
                }
            });
        }
        if !changes.taken.is_empty() {
            self.end_batch();
        }
        changes
    }

    #[inline]
    fn put(&mut self, place: usize, new: &Cell<'_>, current: &Current, index: u32) {
        self.columns.set_shared(place, new, self.number + 1, &current.columns, index as usize);
    }

    /// Forgets texts that are no longer the newest, and takes the newest instead, before they are due. Returns
    /// the parameters whose values differ. Parameters that were removed are forgotten.
    pub fn forget_old_texts(&mut self, current: &Current) -> RangeSet {
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
            self.end_batch();
        }
        taken
    }

    /// The parameter at a position.
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
            Some(deadband) => {
                has_moved(&sent, new, deadband) || names.is_enumeration(ParameterIndex::new(index))
            }
            None => true,
        }
    }
}

/// The result of [`LastSent::take_changed`].
#[derive(Debug, Default)]
pub(super) struct TakenChanges {
    /// Whether anything had changed, to be sent or not.
    pub any_changed: bool,
    pub taken: RangeSet,
}

/// Whether a value has moved beyond the dead-band around the value sent last. Only finite numbers have a
/// dead-band: other values always count as moved.
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

/// Whether two numbers are more than `width` apart. 64-bit integers are compared exactly, not as floats.
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
