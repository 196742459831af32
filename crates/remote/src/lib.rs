//! Reads a broker's journal over the network like a local folder: the same ranges, the same columns,
//! every batch's checksum verified again. Calls block. `docs/remote.md` specifies the bytes.
//!
//! A lost connection is opened again, and reading resumes at the offset it had reached.

mod connection;
mod error;
mod journal;

pub use error::RemoteError;
pub use journal::{RemoteJournal, RemoteOptions};
