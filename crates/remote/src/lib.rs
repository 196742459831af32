//! Reads a broker's journal over the network like a local folder: the same ranges, the same columns,
//! every batch's checksum verified again. Calls block. `docs/remote.md` specifies the bytes.
//!
//! A lost connection is opened again, and reading resumes at the offset it had reached. Offsets are plain
//! `u64`, as in the journal's own reader: they come from bytes and go to Python as numbers.

mod connection;
mod definitions;
mod error;
mod journal;
mod options;
mod token_file;

pub use error::RemoteError;
pub use journal::RemoteJournal;
pub use options::RemoteOptions;
