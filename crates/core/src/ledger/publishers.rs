//! Who publishes what, as the records tell it: a session keeps what it declared as long as that is there.

use std::borrow::Cow;

use slipring_wire::frame::RangeSet;

use super::kept::Kept;
use super::{Ledger, Record};
use crate::{streams, table};

impl Ledger {
    /// A session has declared these, too. What is gone before must not take them with it.
    pub(super) fn publish(&mut self, session: u64, parameters: &RangeSet, streams: &RangeSet) {
        self.forget_gone();
        if let Some(kept) = self.sessions.get_mut(&session) {
            kept.parameters = kept.parameters.union(parameters);
            kept.streams = kept.streams.union(streams);
        }
    }

    /// What is gone is nobody's any more. For many at once, because it looks at every session.
    pub(super) fn forget_gone(&mut self) {
        let parameters = std::mem::take(&mut self.table.gone);
        let streams = std::mem::take(&mut self.streams.gone);
        if parameters.is_empty() && streams.is_empty() {
            return;
        }
        for kept in self.sessions.values_mut() {
            forget(&mut kept.parameters, &parameters);
            forget(&mut kept.streams, &streams);
        }
    }
}

fn forget(declared: &mut RangeSet, gone: &RangeSet) {
    if declared.iter().any(|range| gone.overlaps(&range)) {
        *declared = declared.difference(gone);
    }
}

impl Kept {
    /// Appends what it declared; the records of the table and of the streams come first.
    pub(super) fn write_declared(&self, session: u64, out: &mut Vec<u8>) {
        write(session, Cow::Borrowed(&self.parameters), Cow::Borrowed(&self.streams), out);
    }
}

impl table::Change {
    /// Appends what the session that asked for it publishes from now on; behind the change itself.
    pub fn record_entered(&self, session: u64, out: &mut Vec<u8>) {
        write(session, Cow::Borrowed(&self.entered), Cow::Owned(RangeSet::new()), out);
    }
}

impl streams::Change {
    /// Appends what the session that asked for it publishes from now on; behind the change itself.
    pub fn record_entered(&self, session: u64, out: &mut Vec<u8>) {
        let entered = self.entered.iter().copied().collect();
        write(session, Cow::Owned(RangeSet::new()), Cow::Owned(entered), out);
    }
}

fn write(
    session: u64,
    parameters: Cow<'_, RangeSet>,
    streams: Cow<'_, RangeSet>,
    out: &mut Vec<u8>,
) {
    if !(parameters.is_empty() && streams.is_empty()) {
        Record::Publishes { session, parameters, streams }.encode(out);
    }
}
