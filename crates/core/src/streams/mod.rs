//! Streams: ordered chunks of bytes, such as sound and video, each with a bounded buffer (G5).
//!
//! This module does no I/O: requests and chunks come in as bytes, answers and packets go out as bytes. Definitions and
//! indices are in the journal; the buffers are only in memory.

mod answer;
mod catalog;
mod declare;
mod definition;
mod desk;
mod readers;
mod request;
mod ring;
mod state;

pub use catalog::{Catalog, StreamEntry};
pub use declare::StreamsChange;
pub use definition::StreamDefinition;
pub use request::StreamsRequest;
pub use ring::{Chunk, Ring};
pub use state::{ChunkArrival, ChunkBudget, ChunkRefused, ServedChunks, Streams};
