//! One part of a client's outbound messages for each priority, and whose turn it is. Pure.
//!
//! A higher level goes first. A lower one that waits gets a sixteenth of what is taken: when 240 KiB have overtaken it,
//! it is its turn, and each byte that it sends pays for fifteen that overtook it. An example: while high messages of
//! 1 KiB never end and one low message of 1 KiB waits, it goes after at most 240 of them.

use super::Overflow;
use crate::Priority;
use crate::priority::VictimRank;

/// Bytes that a byte of a lower level pays for.
const OVERTAKING_SHARE: usize = 15;
/// Bytes that overtake a lower level until it is its turn.
const OVERTAKING_BYTES: usize = 240 << 10;
/// Bytes counted for each message beyond its own: so 480 small ones overtake as much as 240 KiB.
const MESSAGE_COST: usize = 512;

/// The levels that others may overtake.
const OVERTAKEN: [Priority; 2] = [Priority::Normal, Priority::Low];
const HIGHEST_FIRST: [Priority; 3] = [Priority::High, Priority::Normal, Priority::Low];

/// What counts of a message that was taken.
pub(super) fn cost(messages: u64, bytes: usize) -> usize {
    bytes.saturating_add(MESSAGE_COST.saturating_mul(messages as usize))
}

/// The levels whose messages make room for a new one, the first to be dropped first.
pub(super) fn victims(new: Priority, overflow: Overflow) -> impl Iterator<Item = Priority> {
    let rank = VictimRank::of(new);
    let mut levels = HIGHEST_FIRST;
    levels.sort_by_key(|level| VictimRank::of(*level));
    levels.into_iter().filter(move |level| match overflow {
        Overflow::DropOldest => VictimRank::of(*level) <= rank,
        Overflow::DropNewest => VictimRank::of(*level) < rank,
        Overflow::Disconnect => false,
    })
}

/// The messages of one priority.
pub(super) trait Level: Default {
    fn is_empty(&self) -> bool;
}

/// A part for each priority. Most clients need only that of `normal`; the others exist once they are used.
#[derive(Debug, Default)]
pub(super) struct Levels<T> {
    pub normal: T,
    others: Option<Box<OtherLevels<T>>>,
}

#[derive(Debug, Default)]
struct OtherLevels<T> {
    high: T,
    low: T,
    /// What has overtaken `normal`, and `low`, while they waited.
    overtaken: [usize; 2],
}

impl<T: Level> Levels<T> {
    /// Whether only `normal` is used.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.others.is_none()
    }

    /// Whether nothing waits.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        let is_unused = |others: &OtherLevels<T>| others.high.is_empty() && others.low.is_empty();
        self.normal.is_empty() && self.others.as_deref().is_none_or(is_unused)
    }

    /// The part of a level, if it is used.
    pub(super) fn get(&self, level: Priority) -> Option<&T> {
        match (level, &self.others) {
            (Priority::Normal, _) => Some(&self.normal),
            (_, None) => None,
            (Priority::High, Some(others)) => Some(&others.high),
            (Priority::Low, Some(others)) => Some(&others.low),
        }
    }

    /// The part of a level, if it is used.
    pub(super) fn get_mut(&mut self, level: Priority) -> Option<&mut T> {
        match (level, &mut self.others) {
            (Priority::Normal, _) => Some(&mut self.normal),
            (_, None) => None,
            (Priority::High, Some(others)) => Some(&mut others.high),
            (Priority::Low, Some(others)) => Some(&mut others.low),
        }
    }

    /// The part of a level.
    pub(super) fn at(&mut self, level: Priority) -> &mut T {
        match level {
            Priority::Normal => &mut self.normal,
            Priority::High => &mut self.others.get_or_insert_default().high,
            Priority::Low => &mut self.others.get_or_insert_default().low,
        }
    }

    /// The parts that are used, the highest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        HIGHEST_FIRST.into_iter().filter_map(|level| self.get(level))
    }

    /// Calls `change` for each part that is used.
    pub(super) fn for_each(&mut self, mut change: impl FnMut(&mut T)) {
        change(&mut self.normal);
        if let Some(others) = &mut self.others {
            change(&mut others.high);
            change(&mut others.low);
        }
    }

    /// A figure of all parts together.
    #[inline]
    pub(super) fn sum(&self, figure: impl Fn(&T) -> usize) -> usize {
        match &self.others {
            None => figure(&self.normal),
            Some(_) => self.iter().map(figure).fold(0, usize::saturating_add),
        }
    }

    /// Frees the parts that are not needed now.
    pub(super) fn rest(&mut self) {
        let is_unused = |others: &OtherLevels<T>| others.high.is_empty() && others.low.is_empty();
        if self.others.as_deref().is_some_and(is_unused) {
            self.others = None;
        }
    }

    fn waits(&self, level: Priority) -> bool {
        self.get(level).is_some_and(|part| !part.is_empty())
    }

    /// The level whose turn it is. `is_normal_more` if something of `normal` waits elsewhere.
    #[inline]
    pub(super) fn next(&self, is_normal_more: bool) -> Priority {
        match &self.others {
            None => Priority::Normal,
            Some(others) => self.next_of(others, is_normal_more),
        }
    }

    fn next_of(&self, others: &OtherLevels<T>, is_normal_more: bool) -> Priority {
        let waits = |level| self.waits(level) || (level == Priority::Normal && is_normal_more);
        let due = OVERTAKEN.into_iter().zip(others.overtaken);
        let mut due = due.filter(|(_, overtaken)| *overtaken >= OVERTAKING_BYTES);
        let due = due.find(|(level, _)| waits(*level)).map(|(level, _)| level);
        due.or_else(|| HIGHEST_FIRST.into_iter().find(|level| waits(*level))).unwrap_or_default()
    }

    /// Counts what was taken of a level: see [`cost`].
    #[inline]
    pub(super) fn took(&mut self, level: Priority, cost: usize, is_normal_more: bool) {
        if self.others.is_some() {
            self.count(level, cost, is_normal_more);
        }
    }

    /// High messages go although others are due only while those cannot go: then they are not counted further.
    fn count(&mut self, taken: Priority, cost: usize, is_normal_more: bool) {
        let waiting = OVERTAKEN
            .map(|level| self.waits(level) || (level == Priority::Normal && is_normal_more));
        let Some(others) = &mut self.others else { return };
        let counts = OVERTAKEN.into_iter().zip(waiting).zip(&mut others.overtaken);
        for ((level, waits), overtaken) in counts {
            if !waits {
                *overtaken = 0;
            } else if level == taken {
                *overtaken = overtaken.saturating_sub(cost.saturating_mul(OVERTAKING_SHARE));
            } else if level < taken && (taken < Priority::High || *overtaken < OVERTAKING_BYTES) {
                *overtaken = overtaken.saturating_add(cost);
            }
        }
    }

    /// How many bytes of a level, whose turn it is, may go until it is another one's turn.
    pub(super) fn turn_bytes(&self, turn: Priority) -> usize {
        let Some(others) = &self.others else { return usize::MAX };
        let counts = OVERTAKEN.into_iter().zip(others.overtaken);
        let bytes =
            counts.filter(|(level, _)| self.waits(*level)).map(
                |(level, overtaken)| match overtaken.checked_sub(OVERTAKING_BYTES) {
                    Some(beyond) if level == turn => beyond / OVERTAKING_SHARE,
                    None if level < turn => OVERTAKING_BYTES - overtaken,
                    _ => usize::MAX,
                },
            );
        bytes.min().unwrap_or(usize::MAX).max(1)
    }
}
