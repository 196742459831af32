//! The subscribers of a group, and what each one has received so far.

use std::sync::Arc;

use slipring_wire::frame::RangeSet;

use super::SendPackets;
use super::head::PublishHead;
use super::packets::{GroupPackets, PacketPosition};
use crate::{ParameterIndex, SessionKey};

/// A subscriber in a group.
#[derive(Debug, Default)]
pub(super) struct Member {
    pub subscriber: SessionKey,
    /// The filter as the subscriber wrote it. One subscriber can select the same parameters under several names.
    pub filter: Arc<str>,
    pub head: PublishHead,
    /// Every sample: packets before this position were gathered before it joined, and are not for it.
    pub from: PacketPosition,
    /// Newest values: it has received every change up to this one.
    pub since: u64,
    /// Newest values: it still needs the values of these parameters, even if they changed earlier.
    pub owed: RangeSet,
    /// Newest values: its connection had no room when the last frame was due.
    pub lagging: bool,
    /// Messages to it were dropped, or its first values are not complete: it gets the newest values of the
    /// chosen parameters from this index on.
    pub missing_from: Option<ParameterIndex>,
}

/// The members of a group, and the function that sends packets to one of them.
pub(super) struct Recipients<'a, 's> {
    pub members: &'a mut [Member],
    pub send: &'a mut SendPackets<'s>,
}

impl Recipients<'_, '_> {
    /// Sends the packets from a position on to one member.
    pub fn send_to(&mut self, at: usize, packets: &mut GroupPackets, from: PacketPosition) {
        let member = &mut self.members[at];
        packets.send_to(from, &mut member.head, &mut |packets, messages| {
            (self.send)(member.subscriber, packets, messages);
        });
    }
}
