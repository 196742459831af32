//! What subscribers must have in common to be one group.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::Choice;
use super::head::PublishHead;
use crate::access::ClientRights;
use crate::table::{Deliver, Needs, SelectionFilter};

/// Subscribers with equal keys get the same samples in the same packets.
#[derive(Clone, Debug)]
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
    /// The rights that narrow the selection. Only selections with the very same rights are equal.
    pub rights: Option<Arc<ClientRights>>,
}

impl GroupKey {
    /// What is compared.
    fn parts(&self) -> impl PartialEq + Hash + '_ {
        let Self { filter, needs, identifier, packet_bytes_max, body_max, rights } = self;
        let rights = rights.as_ref().map(Arc::as_ptr);
        (filter, needs, identifier, packet_bytes_max, body_max, rights)
    }
}

impl PartialEq for GroupKey {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for GroupKey {}

impl Hash for GroupKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl GroupKey {
    pub fn of(choice: &Choice, head: &PublishHead) -> Self {
        let (filter, needs) = (SelectionFilter::unnamed(&choice.filter).into(), choice.needs);
        let (identifier, packet_bytes_max) = match needs.deliver {
            Deliver::Frame => (0, usize::MAX),
            _ => (choice.identifier, choice.packet_bytes_max),
        };
        let (body_max, rights) = (head.body_max(), choice.rights.clone());
        Self { filter, needs, identifier, packet_bytes_max, body_max, rights }
    }
}
