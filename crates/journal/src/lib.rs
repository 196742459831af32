//! The segmented journal: append, group commit, recovery, readers. `docs/journal.md` has its bytes.
//! Knows nothing of MQTT's state machine, sockets or Spark.

mod batch;
mod columns;
mod commit;
pub mod consumers;
#[cfg(test)]
mod consumers_tests;
mod directory;
mod durability;
mod error;
mod excerpt;
mod exchange;
mod format;
mod index;
mod index_file;
mod journal;
mod log;
mod message;
mod pending;
mod reader;
mod receipt;
mod recover;
mod retention;
#[cfg(test)]
mod retention_tests;
mod scan;
mod segment;
#[cfg(any(test, feature = "sim"))]
pub mod sim;
#[cfg(test)]
mod sim_tests;
mod snapshot;
mod status;
mod storage;

pub use batch::Batch;
pub use columns::{Bytes, Columns};
pub use commit::Committer;
pub use durability::{Durability, UnknownDurability};
pub use error::{AppendError, Damage, Failure, OpenError, ReadError};
pub use excerpt::Excerpt;
pub use exchange::{Answer, Malformed, READ_ANSWER_BYTES, Refusal, Request, Why};
pub use format::{BODY_BYTES_MAX, Flags, Flaw, Identity, NoIdentity};
pub use journal::{Journal, Options};
pub use message::{Message, StoredMessage};
pub use reader::{Followed, Reader, StateBatch};
pub use receipt::{Cut, Receipt};
pub use retention::Retention;
pub use segment::{Position, SegmentId};
pub use status::{Appended, Mark, Progress, Status};
pub use storage::{ReadSegments, Storage, WriteSegments};
