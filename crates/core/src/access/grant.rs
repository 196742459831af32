//! What all matching rules together say about one topic.

use super::Right;

/// The rights that rules allow and deny on a topic. A rule that denies wins over every rule that allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Grant {
    may: u16,
    may_not: u16,
}

impl Grant {
    /// Every right.
    pub const EVERYTHING: Self = Self { may: u16::MAX, may_not: 0 };

    /// Whether the right is allowed.
    #[inline]
    pub fn allows(self, right: Right) -> bool {
        self.may & !self.may_not & right.bit() != 0
    }

    /// Whether any of the rights is allowed.
    pub fn allows_any(self, rights: &[Right]) -> bool {
        rights.iter().any(|right| self.allows(*right))
    }

    pub(super) fn add(&mut self, other: Self) {
        self.may |= other.may;
        self.may_not |= other.may_not;
    }

    pub(super) fn of_rule(rights: &[Right], is_allowed: bool) -> Self {
        let bits = rights.iter().fold(0, |bits, right| bits | right.bit());
        if is_allowed { Self { may: bits, may_not: 0 } } else { Self { may: 0, may_not: bits } }
    }

    pub(super) fn allowed(self) -> u16 {
        self.may
    }

    pub(super) fn denied(self) -> u16 {
        self.may_not
    }

    /// Whether a rule mentions the right at all.
    pub(super) fn mentions(self, right: Right) -> bool {
        (self.may | self.may_not) & right.bit() != 0
    }
}
