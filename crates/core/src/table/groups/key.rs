//! What subscribers must have in common to be one group.

use std::sync::Arc;

use super::Choice;
use super::head::PublishHead;
use crate::table::{Deliver, Needs, SelectionFilter};

/// Subscribers with equal keys get the same samples in the same packets.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct GroupKey {
    /// The filter without the name of the selection.
    pub filter: Arc<str>,
    pub needs: Needs,
    /// 0 for frames, where each subscriber's own packet head carries its identifier.
    pub identifier: u32,
    /// No limit for frames, where each subscriber has its own.
    pub packet_bytes_max: usize,
    /// The most bytes of runs in one frame.
    pub body_max: usize,
}

impl GroupKey {
    pub fn of(choice: &Choice, head: &PublishHead) -> Self {
        let (filter, needs) = (SelectionFilter::unnamed(&choice.filter).into(), choice.needs);
        let (identifier, packet_bytes_max) = match needs.deliver {
            Deliver::Frame => (0, usize::MAX),
            _ => (choice.identifier, choice.packet_bytes_max),
        };
        Self { filter, needs, identifier, packet_bytes_max, body_max: head.body_max() }
    }
}
