//! Which session publishes what: a session owns what it declared until that is removed.

use std::borrow::Cow;

use slipring_wire::frame::RangeSet;

use super::kept_session::KeptSession;
use super::{Ledger, SessionRecord};
use crate::{SessionKey, streams, table};

impl Ledger {
    /// Takes what was removed away from the sessions that declared it. Called once for many removals,
    /// because it looks at every session.
    pub(super) fn forget_gone(&mut self) {
        let parameters = std::mem::take(&mut self.table.gone);
        let streams = std::mem::take(&mut self.streams.gone);
        if parameters.is_empty() && streams.is_empty() {
            return;
        }
        for kept in self.sessions.by_key.values_mut() {
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

impl KeptSession {
    /// Appends a record of what the session declared, behind the records of the table and the streams.
    pub(super) fn write_declared(&self, session: SessionKey, out: &mut Vec<u8>) {
        write(session, Cow::Borrowed(&self.parameters), Cow::Borrowed(&self.streams), out);
    }
}

impl table::TableChange {
    /// Appends a record of what the asking session publishes from now on, behind the change itself.
    pub fn record_entered(&self, session: SessionKey, out: &mut Vec<u8>) {
        write(session, Cow::Borrowed(&self.entered), Cow::Owned(RangeSet::new()), out);
    }
}

impl streams::StreamsChange {
    /// Appends a record of what the asking session publishes from now on, behind the change itself.
    pub fn record_entered(&self, session: SessionKey, out: &mut Vec<u8>) {
        write(session, Cow::Owned(RangeSet::new()), Cow::Borrowed(&self.entered), out);
    }
}

fn write(
    session: SessionKey,
    parameters: Cow<'_, RangeSet>,
    streams: Cow<'_, RangeSet>,
    out: &mut Vec<u8>,
) {
    if !(parameters.is_empty() && streams.is_empty()) {
        SessionRecord::Publishes { session, parameters, streams }.encode(out);
    }
}
