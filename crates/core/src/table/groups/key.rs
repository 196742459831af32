//! What makes subscribers one group.

use std::sync::Arc;

use super::Choice;
use super::outlet::Cover;
use crate::table::{Aim, Deliver, Needs};

/// What subscribers of one group have alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    /// Without a name.
    pub filter: Arc<str>,
    pub needs: Needs,
    /// 0 for frames: it is in the head of a packet, which is each one's own.
    pub identifier: u32,
    /// No bound for frames: each one has its own.
    pub packet_bytes_max: usize,
    /// Bytes of runs that a frame takes.
    pub body_max: usize,
}

impl Key {
    pub fn of(choice: &Choice, cover: &Cover) -> Self {
        let (filter, needs) = (Aim::unnamed(&choice.filter).into(), choice.needs);
        let (identifier, packet_bytes_max) = match needs.deliver {
            Deliver::Frame => (0, usize::MAX),
            _ => (choice.identifier, choice.packet_bytes_max),
        };
        Self { filter, needs, identifier, packet_bytes_max, body_max: cover.body_max() }
    }
}
