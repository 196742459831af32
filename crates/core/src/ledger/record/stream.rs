//! Records about streams: their definitions and indices. Chunks are messages and have no records.

use super::head::record_family;
use crate::StreamIndex;

record_family! {
    /// A change of the streams. Definitions are JSON.
    #[allow(missing_docs, reason = "stream and name mean the same everywhere")]
    StreamRecord<'a> {
        /// A stream was declared, or has another definition.
        Declared = 30 { stream: StreamIndex; name: &'a str, definition: &'a str, }
        /// A stream was removed. No other stream ever gets its index.
        Removed = 31 { stream: StreamIndex; }
    }
}
