//! Records with information that applies to the records behind them.

use super::head::record_family;
use crate::SessionKey;

record_family! {
    /// Information that applies to the records that follow.
    #[allow(missing_docs, reason = "the variants explain their fields")]
    ContextRecord<'a> {
        /// Begins a snapshot: the highest session key that was ever used, and the newest time of anything earlier in
        /// the journal.
        Known = 1 { session: SessionKey; newest_ns: i64, }
        /// The owner of everything behind it in this batch, and of the batch's retained messages: its quotas count
        /// the sessions, waiting messages, parameters and streams. An empty name is nobody.
        Owner = 33 { ; owner: &'a str, }
    }
}
