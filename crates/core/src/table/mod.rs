//! The current value table: which parameters there are, what they are, and who publishes them.
//!
//! Pure: requests come in as bytes, answers go out as bytes, and what changed is a value that the
//! engine writes to the journal and tells to others.

mod answer;
mod declare;
mod definition;
mod desk;
mod entries;
mod labels;
mod lists;
mod problem;
mod publishers;
mod registry;
mod request;
mod spoken;

pub use answer::{Event, told};
pub use declare::Declared;
pub use definition::{AlarmLimits, Definition, ParameterKind};
pub use desk::{Desk, Outcome};
pub use entries::{Entries, Entry, INDICES_MAX};
pub use labels::Labels;
pub use lists::{ListId, Lists, ListsFull};
pub use problem::{Code, PROBLEMS_MAX, Problem, Refusal};
pub use publishers::Publishers;
pub use registry::{Bounds, Change, Registry};
pub use request::{Declaration, Request, Wanted};
