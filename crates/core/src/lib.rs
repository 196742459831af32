//! What the broker knows and decides: topic tree, sessions, queues, newest values, the plan.
//!
//! Pure: no sockets, no threads, no clock. Time comes in as an argument; what to do comes out as
//! a value.

mod outbox;
mod plan;
mod session;
mod tree;
mod values;

pub use outbox::{Outbox, Taken};
pub use plan::{JournalRule, Limits, Plan, PlanError};
pub use session::{Action, Change, Identity, Session, WillMessage};
pub use tree::Tree;
pub use values::{Changed, Newest, Slot, Values};
