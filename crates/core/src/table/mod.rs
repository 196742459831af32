//! The current value table: which parameters there are, their newest values, who publishes them and who
//! chose them (G3, G8).
//!
//! Pure: requests come in as bytes, answers go out as bytes, and what changed is a value that the
//! engine writes to the journal and tells to others.

mod aging;
mod aim;
mod answer;
mod answer_rows;
mod columns;
mod current;
mod declare;
mod definition;
mod desk;
mod entries;
mod finding;
mod frames;
mod groups;
mod labels;
mod lists;
mod marks;
mod names;
mod needs;
mod plain;
mod problem;
mod readers;
mod refused;
mod registry;
mod request;
mod rows;
mod searches;
mod selecting;
mod spill;
mod spoken;
mod stale;
mod text;
mod texts;
mod values;
mod whole;

pub use aim::{Aim, SELECTIONS};
pub use answer::{Event, told};
pub use answer_rows::PAGE_BYTES_MAX;
pub(crate) use answer_rows::{Added, AnswerRows};
pub use current::{Arrival, Current, CurrentView};
pub use declare::Declared;
pub use definition::{AlarmLimits, Definition, ParameterKind};
pub use desk::{ANSWER_BYTES_MAX, Asking, Desk, Outcome};
pub use entries::{Entries, Entry, INDICES_MAX};
pub use frames::{
    FRAME_RUNS_MAX, FRAME_SAMPLES_MAX, INFLATED_BYTES_FREE, INFLATED_BYTES_MAX, INFLATED_FACTOR,
    frame_steps, inflated_bytes_max, read_frame,
};
pub use groups::{Choice, First, Groups, Room, Scene, frame_topic};
pub use labels::Labels;
pub use lists::{ListId, Lists, ListsFull};
pub use names::Names;
pub use needs::{Band, Deadband, Deliver, Needs};
pub use plain::{PlainError, PlainSample, TIME_PROPERTY, plain_sample};
pub(crate) use problem::told as told_of_json;
pub use problem::{Code, PROBLEMS_MAX, Problem, Refusal};
pub use readers::{PLAIN_RATE, PlainOutlet, PlainReaders, PlainRoom, PlainTerms, ReaderId};
pub use refused::{SampleRefused, refusal_told};
pub use registry::{Bounds, Change, Registry};
pub(crate) use request::check_bytes;
pub use request::{CHANGED_MAX, Declaration, NAMES_MAX, REQUEST_BYTES_MAX, Request, Wanted};
pub use stale::Silence;
pub use text::{Plain, json, text};
pub use values::Question;
pub use whole::{Chosen, Table};

pub use crate::publishers::Publishers;

use crate::Millis;
