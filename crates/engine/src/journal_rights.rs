//! What of the journal a client may read: message by message, and parameter by parameter. Only decides.
//!
//! A message is decided by its topic. A frame is decided by the parameters whose samples it has: who may not read one of
//! them does not get the frame.

use std::collections::HashMap;
use std::sync::Arc;

use slipring_core::access::{ClientRights, FilterAccess, Right};
use slipring_core::table::read_frame;
use slipring_core::{Offset, ParameterIndex};
use slipring_journal::JudgedMessage;
use slipring_wire::frame::CONTENT_TYPE;
use slipring_wire::{Properties, PropertyId};

use crate::table::SharedTable;

/// What one request may read.
pub(crate) struct JournalRights<'a> {
    table: &'a SharedTable,
    rights: Arc<ClientRights>,
    /// Parameters that were looked up: the first offset at which their names were theirs, if they may be read.
    known: HashMap<u32, Option<Offset>>,
    inflated: Vec<u8>,
}

impl<'a> JournalRights<'a> {
    /// None if the client may read everything.
    pub fn of(table: &'a SharedTable, rights: Arc<ClientRights>) -> Option<Self> {
        let sees_all = rights.filter_access(Right::Journal, "#") == FilterAccess::Whole;
        let (known, inflated) = (HashMap::new(), Vec::new());
        (!sees_all).then_some(Self { table, rights, known, inflated })
    }

    /// Whether the client may read a message.
    pub fn may_read(&mut self, message: &JudgedMessage<'_>) -> bool {
        let Ok(properties) = Properties::of_publish(message.properties) else { return false };
        if properties.text(PropertyId::ContentType) == Some(CONTENT_TYPE) {
            return self.may_read_frame(message);
        }
        self.may_read_name(message.topic)
    }

    /// Whether the client may read a parameter with this name.
    pub fn may_read_name(&self, name: &str) -> bool {
        self.rights.allow(Right::Journal, name)
    }

    /// Whether the client may read samples of a parameter that came at this offset.
    pub fn may_read_parameter(&mut self, index: u32, offset: u64) -> bool {
        let Self { table, rights, known, .. } = self;
        let since = known.entry(index).or_insert_with(|| {
            let locked = table.lock();
            let entries = locked.table.registry.entries();
            let (name, since) = entries.known_since(ParameterIndex::new(index))?;
            drop(locked);
            rights.allow(Right::Journal, &name).then_some(since)
        });
        since.is_some_and(|since| since.get() <= offset)
    }

    fn may_read_frame(&mut self, message: &JudgedMessage<'_>) -> bool {
        let mut inflated = std::mem::take(&mut self.inflated);
        let is_seen = read_frame(message.payload, &mut inflated).is_ok_and(|view| {
            view.samples() > 0
                && view.header.table == self.table.lock().table.registry.entries().id()
                && view.runs().flat_map(|run| run.ranges()).all(|range| {
                    range.into_iter().all(|index| self.may_read_parameter(index, message.offset))
                })
        });
        self.inflated = inflated;
        self.inflated.clear();
        is_seen
    }
}
