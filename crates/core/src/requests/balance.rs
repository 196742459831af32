//! How one of several services is chosen (T15): all strategies pass over those that are busy or away.

use std::fmt;
use std::str::FromStr;

use super::Speed;
use crate::Readiness;

/// A strategy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Balance {
    /// The next one in turn.
    #[default]
    RoundRobin,
    /// The first one, in the order of their sessions.
    FirstFree,
    /// Any one.
    Random,
    /// The one that answered soonest so far. Those whose times overlap with the best one's take turns, and so do
    /// those that are hardly known: different requests take different times.
    Fastest,
    /// The one that computes least, measured by what it can compute at once.
    LeastLoaded,
}

/// A text that is not a strategy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is not a strategy: first-free, round-robin, random, fastest or least-loaded")]
pub struct UnknownBalance {
    name: String,
}

impl Balance {
    /// Every strategy.
    pub const ALL: [Self; 5] =
        [Self::RoundRobin, Self::FirstFree, Self::Random, Self::Fastest, Self::LeastLoaded];

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|known| *known as u8 == byte)
    }
}

impl fmt::Display for Balance {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::RoundRobin => "round-robin",
            Self::FirstFree => "first-free",
            Self::Random => "random",
            Self::Fastest => "fastest",
            Self::LeastLoaded => "least-loaded",
        })
    }
}

impl FromStr for Balance {
    type Err = UnknownBalance;

    fn from_str(name: &str) -> Result<Self, UnknownBalance> {
        let found = Self::ALL.into_iter().find(|known| known.to_string() == name);
        found.ok_or_else(|| UnknownBalance { name: name.into() })
    }
}

/// One of those that can be chosen.
#[derive(Clone, Copy, Debug)]
pub struct MemberView {
    /// Whether it can take more now.
    pub readiness: Readiness,
    /// How much it computes, in thousandths of what it can.
    pub load: u32,
    /// How soon it answers.
    pub speed: Speed,
}

impl Balance {
    /// Chooses among the ready ones. Returns it, and how many were looked at; None if none is ready.
    ///
    /// `turn` grows by one with each choice.
    pub fn choose(
        self,
        turn: usize,
        members: usize,
        view: impl Fn(usize) -> MemberView,
    ) -> (Option<usize>, usize) {
        if members == 0 {
            return (None, 0);
        }
        let start = match self {
            Self::FirstFree => 0,
            Self::Random => scattered(turn) % members,
            Self::RoundRobin | Self::Fastest | Self::LeastLoaded => turn % members,
        };
        let order = (0..members).map(|passed| (start + passed) % members);
        let is_ready = |member: &usize| view(*member).readiness == Readiness::Ready;
        match self {
            Self::RoundRobin | Self::FirstFree | Self::Random => {
                let found = order.enumerate().find(|(_, member)| is_ready(member));
                found.map_or((None, members), |(passed, member)| (Some(member), passed + 1))
            }
            Self::LeastLoaded => {
                (order.filter(is_ready).min_by_key(|member| view(*member).load), members)
            }
            Self::Fastest => {
                let ready = order.filter(is_ready);
                let best = ready.clone().min_by_key(|member| view(*member).speed.mean_us());
                let Some(best) = best else { return (None, members) };
                let slowest = view(best).speed;
                let mut equal = ready.filter(|member| slowest.is_like(&view(*member).speed));
                (equal.next().or(Some(best)), 2 * members)
            }
        }
    }
}

/// A number that looks like chance, so that the same choices can be made again in a test.
fn scattered(turn: usize) -> usize {
    let mut bits = (turn as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 16) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use Readiness::{Away, Busy, Ready};

    fn chosen(balance: Balance, members: &[(Readiness, u32, Speed)], turns: usize) -> Vec<usize> {
        let mut counts = vec![0; members.len()];
        for turn in 0..turns {
            let view = |at: usize| {
                let (readiness, load, speed) = members[at];
                MemberView { readiness, load, speed }
            };
            if let (Some(member), _) = balance.choose(turn, members.len(), view) {
                counts[member] += 1;
            }
        }
        counts
    }

    fn speed(times_us: &[u64]) -> Speed {
        let mut speed = Speed::default();
        times_us.iter().cycle().take(100).for_each(|time| speed.add(*time));
        speed
    }

    #[test]
    fn every_strategy_passes_over_those_that_are_busy_or_away() {
        let none = Speed::default();
        for balance in Balance::ALL {
            let members = [(Busy, 1, none), (Ready, 2, none), (Away, 0, none)];
            assert_eq!(chosen(balance, &members, 20), [0, 20, 0], "{balance}");
            assert_eq!(chosen(balance, &[(Busy, 0, none), (Away, 0, none)], 20), [0, 0]);
            assert_eq!(chosen(balance, &[], 20), [0; 0]);
        }
    }

    #[test]
    fn the_strategies_differ_among_the_ready_ones() {
        let (slow, quick) = (speed(&[9_000]), speed(&[100]));
        let members = [(Ready, 500, slow), (Ready, 0, quick), (Ready, 900, slow)];
        assert_eq!(chosen(Balance::RoundRobin, &members, 30), [10, 10, 10]);
        assert_eq!(chosen(Balance::FirstFree, &members, 30), [30, 0, 0]);
        assert_eq!(chosen(Balance::LeastLoaded, &members, 30), [0, 30, 0]);
        assert_eq!(chosen(Balance::Fastest, &members, 30), [0, 30, 0]);
        let random = chosen(Balance::Random, &members, 3_000);
        assert!(random.iter().all(|count| (800..1_200).contains(count)), "{random:?}");
    }

    #[test]
    fn the_fastest_take_turns_while_their_times_overlap_or_are_unknown() {
        let (one, other) = (speed(&[100, 1_000]), speed(&[200, 1_200]));
        let (far, unknown) = (speed(&[50_000]), Speed::default());
        let members = [(Ready, 0, one), (Ready, 0, other), (Ready, 0, far)];
        let counts = chosen(Balance::Fastest, &members, 30);
        assert!(counts[0] > 5 && counts[1] > 5 && counts[2] == 0, "{counts:?}");
        let counts = chosen(Balance::Fastest, &[(Ready, 0, one), (Ready, 0, unknown)], 30);
        assert!(counts[1] > 10, "one that is not known is tried: {counts:?}");
    }

    #[test]
    fn a_strategy_is_read_back_from_its_name() {
        for balance in Balance::ALL {
            assert_eq!(balance.to_string().parse(), Ok(balance));
            assert_eq!(Balance::from_byte(balance as u8), Some(balance));
        }
        assert!("best".parse::<Balance>().is_err() && Balance::from_byte(9).is_none());
    }
}
