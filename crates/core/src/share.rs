//! Shared subscriptions: which member gets the next message.

/// What a member can do with a message now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is connected and has room.
    Ready,
    /// It is connected, and what it has not taken yet waits.
    Busy,
    /// Only its session is there.
    Away,
}

/// The member for the next message: from the one whose turn it is on, the first that is ready, else the first
/// that is connected, else the one whose turn it is. With it, how many were passed over.
pub fn choose_member(
    turn: usize,
    members: usize,
    readiness: impl Fn(usize) -> Readiness,
) -> (usize, usize) {
    let mut busy = None;
    for passed in 0..members {
        let member = (turn + passed) % members;
        match readiness(member) {
            Readiness::Ready => return (member, passed),
            Readiness::Busy => busy = busy.or(Some(member)),
            Readiness::Away => {}
        }
    }
    (busy.unwrap_or(turn % members), members)
}

#[cfg(test)]
mod tests {
    use super::Readiness::{Away, Busy, Ready};
    use super::*;

    #[test]
    fn a_ready_member_comes_before_a_busy_one_and_that_before_one_that_is_away() {
        for (members, turn, chosen) in [
            ([Ready, Ready, Ready], 4, (1, 0)),
            ([Ready, Busy, Away], 1, (0, 2)),
            ([Away, Busy, Busy], 3, (1, 3)),
            ([Away, Away, Away], 5, (2, 3)),
        ] {
            assert_eq!(choose_member(turn, 3, |at| members[at]), chosen, "{members:?}");
        }
    }
}
