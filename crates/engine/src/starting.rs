//! The settings that an engine starts with, and why it may not start.

use std::path::PathBuf;

use crate::audit::AuditSettings;
use crate::listener::{ListenerSettings, TlsError};

/// The settings of an engine, which stay the same until it stops.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The listeners, one or more; each has another name.
    pub listeners: Vec<ListenerSettings>,
    /// The folder of the journal; None journals nothing.
    pub journal: Option<PathBuf>,
    /// Bytes of a journal segment.
    pub segment_bytes: u64,
    /// Where the audit is kept; None keeps none, whatever the plan says.
    pub audit: Option<AuditSettings>,
    /// Threads that serve connections.
    pub threads: usize,
    /// How many descriptors are reserved for connections to the console.
    pub console_connections: usize,
}

/// Why an engine did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no listener.
    #[error("the broker has nothing to listen on")]
    NoListener,
    /// Two listeners have the same name.
    #[error("two listeners are named '{name}'")]
    SameName {
        /// The name.
        name: String,
    },
    /// A listener cannot use one of its files for TLS.
    #[error("listener '{name}': {source}")]
    Tls {
        /// The listener.
        name: String,
        /// The file, and what is wrong with it.
        source: TlsError,
    },
    /// The address is malformed, taken, or not of this machine.
    #[error("listener '{name}' cannot listen on {listen}: {source}")]
    Listen {
        /// The listener.
        name: String,
        /// The address in the settings.
        listen: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The journal cannot be opened.
    #[error(transparent)]
    Journal(#[from] slipring_journal::OpenError),
    /// The journal of the audit cannot be opened.
    #[error("the audit: {0}")]
    Audit(slipring_journal::OpenError),
    /// The journal cannot be read.
    #[error(transparent)]
    Recovery(#[from] slipring_journal::ReadError),
    /// The system gave no threads.
    #[error("cannot start the engine's threads: {0}")]
    Threads(std::io::Error),
}
