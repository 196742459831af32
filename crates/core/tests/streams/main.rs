//! Streams: what requests are answered, and the laws of buffers, readers and indices.

mod asking;
mod laws;
mod world;
