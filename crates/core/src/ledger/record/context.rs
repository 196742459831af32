//! Records that the ones behind them depend on.

use super::head::record_family;
use crate::SessionKey;

record_family! {
    /// What has to be known to understand the records that follow.
    #[allow(missing_docs, reason = "the variants say it")]
    ContextRecord<'a> {
        /// A snapshot begins: the highest session key that was ever given, and the newest time that
        /// anything before it in the journal has.
        Known = 1 { session: SessionKey; newest_ns: i64, }
        /// Whose quota everything behind it in this batch counts for, and the batch's retained messages:
        /// sessions, waiting messages, parameters and streams. An empty name is nobody.
        Owner = 33 { ; owner: &'a str, }
    }
}
