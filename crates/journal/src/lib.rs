//! The segmented journal: append, group commit, recovery, readers. `docs/journal.md` has its bytes.
//! Knows nothing of MQTT's state machine, sockets or Spark.

mod backlog;
mod batch;
mod bounds;
mod check;
#[cfg(test)]
mod check_tests;
mod chunks;
mod columns;
mod commit;
pub mod consumers;
#[cfg(test)]
mod consumers_tests;
mod directory;
mod error;
mod excerpt;
mod exchange;
mod format;
mod hold;
mod index;
mod index_file;
mod indexes;
mod journal;
#[cfg(test)]
mod keep_tests;
mod log;
mod message;
mod pending;
mod reader;
mod receipt;
mod recover;
mod report;
mod reservation;
mod retention;
#[cfg(test)]
mod retention_tests;
mod retire;
mod run;
mod salvage;
mod scan;
mod segment;
#[cfg(test)]
mod sharing_tests;
#[cfg(any(test, feature = "sim"))]
pub mod sim;
#[cfg(test)]
mod sim_tests;
mod snapshot;
mod spare;
mod status;
mod storage;

pub use backlog::Backlog;
pub use batch::Batch;
pub use check::{CheckProgress, check};
pub use columns::{Bytes, Columns};
pub use commit::Committer;
pub use error::{AppendError, Damage, Failure, OpenError, ReadError, SalvageError};
pub use excerpt::Excerpt;
pub use exchange::{Answer, Malformed, PAIR_BYTES, READ_ANSWER_BYTES, Refusal, Request, Why};
pub use format::{BODY_BYTES_MAX, Flags, Flaw, Identity, NoIdentity};
pub use index_file::IndexFlaw;
pub use journal::{Journal, Options};
pub use message::{Message, StoredMessage};
pub use reader::{Followed, Reader, StateBatch};
pub use receipt::{Cut, Receipt};
pub use report::{DAMAGE_MAX, Head, IndexState, Report, SegmentReport, SnapshotState, Tail};
pub use retention::Retention;
pub use retire::Retired;
pub use salvage::{SalvageProgress, Salvaged, salvage};
pub use segment::{Position, SegmentId};
pub use status::{Appended, Mark, Progress, Status};
pub use storage::{ReadSegments, Storage, WriteSegments};
