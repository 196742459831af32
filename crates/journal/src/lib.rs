//! The journal in segments: append, group commit, recovery, readers. `docs/journal.md` specifies the bytes.
//! Knows nothing of MQTT sessions, sockets or Spark.
//!
//! Offsets are plain `u64` here. This crate is the edge where the engine's `Offset` becomes a number: it uses
//! no other crate of Slipring, stores offsets as eight bytes, and counts through ranges of them.

mod backlog;
mod batch;
mod check;
#[cfg(test)]
mod check_tests;
mod columns;
mod commit;
pub mod consumers;
#[cfg(test)]
mod consumers_tests;
mod directory;
mod encoded_batches;
mod error;
mod excerpt;
mod folder_lock;
mod format;
mod headers;
mod index;
mod index_file;
mod indexes;
mod journal;
#[cfg(test)]
mod keep_tests;
mod log;
mod message;
mod narrowed_excerpt;
mod pending;
mod reader;
mod receipt;
mod recover;
mod remote_protocol;
mod report;
mod reservation;
mod retention;
#[cfg(test)]
mod retention_tests;
mod retire;
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
mod spare_descriptors;
mod status;
mod storage;
mod watermarks;
mod write_queue;

pub use backlog::Backlog;
pub use batch::Batch;
pub use check::check;
pub use columns::{BytesColumn, MessageColumns};
pub use commit::Committer;
pub use error::{AppendError, Damage, JournalFailure, OpenError, ReadError, SalvageError};
pub use format::{Flaw, JournalIdentity, MessageFlags};
pub use journal::{Journal, JournalOptions};
pub use message::{FoundMessage, StoredMessage};
pub use narrowed_excerpt::{JudgedMessage, MayRead};
pub use reader::{Followed, JournalReader, StateBatch};
pub use receipt::RecoveryReceipt;
pub use remote_protocol::{
    DEFINITIONS_ANSWER_HEADER_BYTES, DefinitionsEdition, JournalAnswer, JournalRefusal,
    JournalRequest, READ_ANSWER_HEADER_BYTES, RefusalReason, SAMPLE_PAIR_BYTES,
};
pub use report::{CheckReport, HeaderState, IndexState, SegmentReport, SnapshotState};
pub use retention::RetentionRules;
pub use salvage::{Salvaged, salvage};
pub use segment::JournalPosition;
pub use status::{CommitProgress, JournalFigures, JournalMark};
pub use storage::Storage;
