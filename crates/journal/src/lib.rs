//! The segmented journal: append, group commit, recovery, readers. `docs/journal.md` has its bytes.
//! Knows nothing of MQTT's state machine, sockets or Spark.

mod batch;
mod columns;
mod commit;
pub mod consumers;
#[cfg(test)]
mod consumers_tests;
mod durability;
mod error;
mod format;
mod index;
mod index_file;
mod journal;
mod log;
mod pending;
mod reader;
mod retention;
#[cfg(test)]
mod retention_tests;
mod scan;
#[cfg(test)]
mod sim;
#[cfg(test)]
mod sim_tests;
mod status;
mod storage;

pub use batch::Batch;
pub use columns::{Bytes, Columns};
pub use durability::{Durability, UnknownDurability};
pub use error::{AppendError, Cut, Damage, Failure, OpenError, ReadError, Receipt};
pub use format::{BODY_BYTES_MAX, Flags, Flaw, Identity, NoIdentity};
pub use journal::{Journal, Options};
pub use reader::Reader;
pub use retention::Retention;
pub use status::{Appended, Mark, Progress, Status};
