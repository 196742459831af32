//! Loading messages from the journal whose bytes are not in memory.

use std::sync::Arc;

use super::{Outgoing, Pushed};
use crate::{Message, Offset};

/// Bytes of messages that are loaded at one time, unless one alone is larger.
const LOAD_BYTES_MAX: u64 = 1 << 20;

impl Outgoing {
    /// At most `most` offsets to load next, in ascending order. Call it again only after `fill`.
    pub fn wanted(&mut self, most: usize) -> Vec<Offset> {
        let Some(durable) = &mut self.durable else { return Vec::new() };
        let (mut offsets, mut bytes) = (Vec::new(), 0);
        for (offset, length) in self.window.stored().chain(self.queue.stored()).take(most) {
            bytes += u64::from(length);
            if bytes > LOAD_BYTES_MAX && !offsets.is_empty() {
                break;
            }
            offsets.push(offset);
        }
        durable.loading = !offsets.is_empty();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }

    /// Adds loaded messages, by ascending offset; None if the journal does not have the message any more.
    pub fn fill(&mut self, loaded: &[(Offset, Option<Arc<Message>>)]) -> Pushed {
        debug_assert!(loaded.is_sorted_by_key(|(offset, _)| *offset));
        let Some(durable) = &mut self.durable else { return Pushed::Quiet };
        durable.loading = false;
        let find = |offset: Offset| {
            let at = loaded.binary_search_by_key(&offset, |(offset, _)| *offset).ok()?;
            Some(loaded[at].1.clone())
        };
        let mut lost = 0;
        self.queue.fill(find, |offset, qos| {
            durable.settled(Some(offset), qos);
            lost += 1;
        });
        for id in self.window.fill(find) {
            self.give_up(id);
            lost += 1;
        }
        self.lost += lost;
        self.unreported += lost;
        self.wake()
    }

    /// Whether the next message to send has to be loaded, and is not being loaded.
    pub(super) fn is_wanting(&self) -> bool {
        let loading = self.durable.as_ref().is_none_or(|durable| durable.loading);
        !loading && self.is_blocked()
    }

    /// Whether the next message to send has to be loaded.
    pub(super) fn is_blocked(&self) -> bool {
        if self.window.is_resending() { self.window.is_stored() } else { self.queue.is_stored() }
    }
}
