//! The client: drives the protocol over a socket, on a background thread.
//!
//! [`Client`] gives bytes, time and calls to the `ClientProtocol` of `slipring-protocol`; a
//! [`Writer`] gathers samples into frames. Neither knows about Python.

mod address;
mod client;
mod clock;
mod driver;
mod inbox;
mod outbox;
mod runtime;
mod secret_file;
mod transport;
mod wake;
mod writer;

pub use address::{Address, AddressError, HostPort};
pub use client::{Client, ClientOptions, ClientStartError};
pub use secret_file::{check_secret_file, read_secret_file};
pub use transport::{ClientTlsError, ClientTlsFiles};
pub use writer::{Block, WriteError, Writer, WriterOptions};
