//! The current value table: which parameters there are, their newest values, who publishes them and who
//! chose them (G3, G8).
//!
//! Pure: requests come in as bytes, answers go out as bytes, and what changed is a value that the
//! engine writes to the journal and tells to others.

mod aim;
mod answer;
mod columns;
mod current;
mod declare;
mod definition;
mod desk;
mod entries;
mod groups;
mod labels;
mod lists;
mod marks;
mod names;
mod needs;
mod plain;
mod problem;
mod refused;
mod registry;
mod request;
mod rows;
mod spill;
mod spoken;
mod stale;
mod text;
mod texts;
mod values;
mod whole;

pub use aim::{Aim, SELECTIONS};
pub use answer::{Event, told};
pub use current::{Arrival, Current, CurrentView};
pub use declare::Declared;
pub use definition::{AlarmLimits, Definition, ParameterKind};
pub use desk::{Asking, Desk, Outcome};
pub use entries::{Entries, Entry, INDICES_MAX};
pub use groups::{Choice, First, Groups, Room, Scene, frame_topic};
pub use labels::Labels;
pub use lists::{ListId, Lists, ListsFull};
pub use names::Names;
pub use needs::{Band, Deadband, Deliver, Needs};
pub use plain::{PlainError, PlainSample, TIME_PROPERTY, plain_sample};
pub(crate) use problem::told as told_of_json;
pub use problem::{Code, PROBLEMS_MAX, Problem, Refusal};
pub use refused::{SampleRefused, refusal_told};
pub use registry::{Bounds, Change, Registry};
pub use request::{Declaration, Request, Wanted};
pub use stale::Silence;
pub use text::{Plain, json, text};
pub use values::Question;
pub use whole::{Chosen, Table};

pub use crate::publishers::Publishers;

use crate::Millis;
