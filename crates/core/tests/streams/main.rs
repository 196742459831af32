//! Streams: the answers to requests, and the laws of buffers, readers and indices.

mod asking;
mod laws;
mod world;
