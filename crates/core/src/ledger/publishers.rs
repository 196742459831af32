//! What each session has declared: it keeps a parameter or stream until that is removed, or the session ends.

use std::borrow::Cow;

use slipring_wire::frame::RangeSet;

use super::kept_session::KeptSession;
use super::{Ledger, SessionRecord};
use crate::{SessionKey, streams, table};

impl Ledger {
    /// Removes deleted parameters and streams from the sessions that declared them. It looks at every session, so it
    /// is called once for many removals.
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
    /// Appends a record of what the session declared. The records of the table and the streams come first.
    pub(super) fn write_declared(&self, session: SessionKey, out: &mut Vec<u8>) {
        write(session, &self.parameters, &self.streams, out);
    }
}

impl table::TableChange {
    /// Appends a record of what the requesting session publishes from now on. The records of the change come first.
    pub fn record_entered(&self, session: SessionKey, out: &mut Vec<u8>) {
        write(session, &self.entered, &RangeSet::new(), out);
    }
}

impl streams::StreamsChange {
    /// Appends a record of what the requesting session publishes from now on. The records of the change come first.
    pub(crate) fn record_entered(&self, session: SessionKey, out: &mut Vec<u8>) {
        write(session, &RangeSet::new(), &self.entered, out);
    }
}

fn write(session: SessionKey, parameters: &RangeSet, streams: &RangeSet, out: &mut Vec<u8>) {
    if !(parameters.is_empty() && streams.is_empty()) {
        let [parameters, streams] = [parameters, streams].map(Cow::Borrowed);
        SessionRecord::Publishes { session, parameters, streams }.encode(out);
    }
}
