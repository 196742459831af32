//! Shared subscriptions: which member gets the next message.

/// Whether a member can take a message now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// It is connected and has room.
    Ready,
    /// It is connected, and earlier messages still wait for it.
    Busy,
    /// It is not connected; only its session exists.
    Away,
}

/// Chooses the member for the next message, beginning with the one whose turn it is: the first that is ready, else
/// the first that is connected, else the one whose turn it is. Returns it, and how many members were passed over.
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
    fn ready_members_come_before_busy_ones_and_those_before_members_that_are_away() {
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
