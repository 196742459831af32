//! Streams: ordered chunks of bytes, such as sound and video, each with a bounded buffer (G5).
//!
//! Pure: requests and chunks come in as bytes, answers and packets go out as bytes. Definitions and
//! indices are in the journal; the buffers are in memory alone.

mod answer;
mod catalog;
mod declare;
mod definition;
mod desk;
mod follows;
mod request;
mod ring;
mod state;

pub use answer::{StreamsEvent, told};
pub use catalog::{Catalog, StreamEntry};
pub use declare::{BUFFERS_BYTES_MAX, StreamsChange};
pub use definition::{BUFFER_BYTES, BUFFER_BYTES_MAX, BUFFER_BYTES_MIN, Definition};
pub use follows::Following;
pub use request::{StreamDeclaration, StreamsRequest};
pub use ring::{Chunk, Ring};
pub use state::{Arrived, ChunkRefused, Portion, Serving, Streams};
