//! The subscribers of a group, and how far each one is.

use std::sync::Arc;

use slipring_wire::frame::RangeSet;

use super::Send;
use super::outlet::{Cover, Mark, Packets};

/// A subscriber in a group.
#[derive(Debug, Default)]
pub(super) struct Member {
    pub subscriber: u64,
    /// As it wrote it: it may have chosen the same under several names.
    pub filter: Arc<str>,
    pub cover: Cover,
    /// Every sample: what was gathered before it joined.
    pub from: Mark,
    /// Newest: the change up to which it has everything.
    pub since: u64,
    /// Newest: it gets the values of these too, though they are older.
    pub owed: RangeSet,
    /// Newest: it was not ready when it was its turn.
    pub lagging: bool,
    /// From this parameter on something was dropped on its way, perhaps: it gets the newest of those that are
    /// chosen once more.
    pub missing_from: Option<u32>,
}

/// A group's subscribers, and how something is sent to them.
pub(super) struct Audience<'a, 's> {
    pub members: &'a mut [Member],
    pub send: &'a mut Send<'s>,
}

impl Audience<'_, '_> {
    /// Sends the packets that came after the mark to one of them.
    pub fn give(&mut self, at: usize, packets: &mut Packets, from: Mark) {
        let member = &mut self.members[at];
        packets.give(from, &mut member.cover, &mut |packets, messages| {
            (self.send)(member.subscriber, packets, messages);
        });
    }
}
