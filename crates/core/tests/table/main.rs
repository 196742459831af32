//! The table from outside: requests as bytes, answers as JSON, and the laws of its indices.

mod answers;
mod asking;
mod bounded;
mod laws;
mod page;
mod refused;
mod selections;
