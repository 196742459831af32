//! How to reach a broker, and how long to wait for it. Values only.

use std::path::PathBuf;
use std::time::Duration;

use slipring_client::ClientTlsFiles;
use slipring_protocol::Credentials;

/// How to reach the broker, and how long to wait for it.
#[derive(Clone, Debug)]
pub struct RemoteOptions {
    /// User name and password.
    pub credentials: Credentials,
    /// A file whose first line is the token; it is read again before every connection.
    pub token_file: Option<PathBuf>,
    /// Certificates and keys for TLS; unused unless the address asks for TLS.
    pub tls: Option<ClientTlsFiles>,
    /// Longest wait for the connection, and for each answer.
    pub timeout: Duration,
    /// How long to retry after a lost connection, while the broker says that it is busy, or while it refuses
    /// the token of the file.
    pub patience: Duration,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            credentials: Credentials::default(),
            token_file: None,
            tls: None,
            timeout: Duration::from_secs(10),
            patience: Duration::from_secs(60),
        }
    }
}
