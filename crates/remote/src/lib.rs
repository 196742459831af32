//! Reads a broker's journal over the network, as if its folder were here: the same ranges, the same
//! columns, every batch checked again. Calls block; what goes over the wire is in `docs/remote.md`.
//!
//! A connection that is lost is made again, and reading goes on at the offset it had reached.

mod error;
mod journal;
mod link;

pub use error::RemoteError;
pub use journal::{Options, RemoteJournal};
