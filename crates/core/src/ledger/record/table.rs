//! Records about the table: its parameters, and which messages are samples of them.

use super::head::record_family;
use crate::{Offset, ParameterIndex};

record_family! {
    /// A change of the table, or samples of its parameters. Definitions are JSON.
    #[allow(missing_docs, reason = "index, parameter and name mean the same everywhere")]
    TableRecord<'a> {
        /// Identifies the table: its id, the revision that the records behind this one lead to, and one more than the
        /// highest index that was ever used. A table with another id replaces the earlier one.
        TableIs = 24 { id: u32; revision: u64, end: ParameterIndex, }
        /// A parameter was declared: for the first time, again, or with another description.
        Declared = 25 { parameter: ParameterIndex; name: &'a str, definition: &'a str, }
        /// A parameter was removed; its definition is remembered.
        Removed = 26 { parameter: ParameterIndex; }
        /// A message of this batch is a frame.
        Framed = 27 { index: u32; }
        /// A message of this batch is a sample of a parameter.
        Sampled = 28 { index: u32; parameter: ParameterIndex, }
        /// Newest values, as a frame. Only in snapshots.
        ValuesAt = 29 { ; receive_ns: i64, frame: &'a [u8], }
        /// Where in the journal the newest definition of a parameter held, and until where if the parameter was
        /// removed. Only in snapshots.
        DefinedAt = 34 { parameter: ParameterIndex; since: Offset, since_ns: i64, until: Option<Offset>, }
        /// An earlier definition of a parameter, and where it held. Only in snapshots.
        WasDefined = 35 {
            parameter: ParameterIndex;
            since: Offset,
            since_ns: i64,
            until: Offset,
            definition: &'a str,
        }
    }
}
