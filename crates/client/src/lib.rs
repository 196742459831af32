//! The client: a pure protocol machine, and the driver that gives it a socket.
//!
//! [`Machine`] turns bytes into events and calls into bytes; [`Client`] runs one on a background
//! thread. Neither knows about Python.

mod address;
mod client;
mod clock;
mod credentials;
mod driver;
mod inbox;
mod loss;
mod machine;
mod outbox;
mod runtime;
mod transport;
mod wake;
mod writer;

pub use address::{Address, AddressError, Place};
pub use client::{Client, Options, StartError};
pub use credentials::Credentials;
pub use loss::Loss;
pub use machine::{
    BatchId, Event, Extras, FlushId, Greeting, Machine, Message, MessageProperties, Notice,
    Outcome, PingId, PublishId, Receipt, Refusal, SendError, Session, SubscriptionId, Tally,
};
pub use transport::{TlsError, TlsFiles};
pub use writer::{Block, WriteError, Writer, WriterOptions};
