//! The current value table: the parameters, their newest values, their publishers and their subscribers (G3, G8).
//!
//! It does no I/O: requests come in as bytes, answers go out as bytes, and each change is returned as a value that
//! the engine writes to the journal and announces.

mod aging;
mod answer;
mod bit_set;
mod change_numbers;
mod columns;
mod current;
mod declare;
mod definition;
mod definition_json;
mod desk;
mod entries;
mod finding;
mod frame_filler;
mod frames;
mod groups;
mod labels;
mod lists;
mod names;
mod narrowed;
mod needs;
mod plain;
mod readers;
mod refused;
mod registry;
mod request;
mod rows;
mod sample_text;
mod searches;
mod selection_filter;
mod shared_texts;
mod stale;
mod value_table;
mod values;
mod versions;

pub use answer::event_message;
pub use current::{ClockReading, Current, CurrentView};
pub use declare::Declared;
pub use definition::{AlarmLimits, Definition, ParameterKind};
pub use entries::{Entries, Entry};
pub use finding::ALL;
pub use frames::{
    FRAME_RUNS_MAX, FRAME_SAMPLES_MAX, INFLATED_BYTES_FREE, INFLATED_BYTES_MAX, frame_steps,
    inflated_bytes_max, read_frame,
};
pub use groups::{
    Choice, FirstValues, GroupLimits, Groups, Narrowing, Selector, TableState, frame_topic,
};
pub use labels::Labels;
pub use lists::ListId;
pub use names::Names;
pub use needs::{Band, Deadband, Deliver, Needs};
pub use plain::{PlainError, PlainSample, plain_sample};
pub(crate) use plain::{TIME_PROPERTY, time_text};
pub use readers::{PLAIN_RATE, PlainOutlet, PlainReaders, PlainRoom, PlainTerms, ReaderId};
pub use refused::{SampleRefused, refusal_message};
pub use registry::{Registry, TableChange};
pub use request::{CHANGED_MAX, ListContent, NAMES_MAX, TableRequest};
pub use sample_text::{SampleWriter, json, text};
pub use selection_filter::{SELECTIONS, SelectionFilter};
pub use stale::Silence;
pub use value_table::{Selection, Table};
pub use versions::{DefinitionVersion, ParameterVersion, VERSIONS_MAX, definitions_json};

use crate::Millis;
