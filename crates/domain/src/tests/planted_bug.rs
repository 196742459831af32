//! Bugs that the simulation must find.

use std::cell::Cell;

use crate::BrokerId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlantedBug {
    /// Each broker decides ties by the order in which it heard of brokers, which is another order at each.
    TiesByArrival,
    /// A link counts if one of its ends names it.
    OneEndCounts,
    /// A message that was taken before is taken again.
    RepeatsTaken,
    /// Interest counts as known everywhere when the neighbours know it.
    NeighboursSuffice,
    /// Only the last change is sent, and applied to whatever record is known.
    AnyBase,
}

impl PlantedBug {
    pub const ALL: [Self; 5] = [
        Self::TiesByArrival,
        Self::OneEndCounts,
        Self::RepeatsTaken,
        Self::NeighboursSuffice,
        Self::AnyBase,
    ];
}

thread_local! {
    static PLANTED: Cell<Option<PlantedBug>> = const { Cell::new(None) };
}

/// Plants a bug in all brokers of this thread, or pulls it out.
pub fn plant(bug: Option<PlantedBug>) {
    PLANTED.set(bug);
}

pub fn is_planted(bug: PlantedBug) -> bool {
    PLANTED.get() == Some(bug)
}

/// When a broker heard of another one: some order, which is another one for each broker.
pub fn arrival_at(me: BrokerId, other: BrokerId) -> u64 {
    let mixed = u128::from_be_bytes(me.to_bytes()) ^ u128::from_be_bytes(other.to_bytes());
    (mixed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
