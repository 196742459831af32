//! Where a connection came from.

use crate::listener::PeerCertificates;

/// Where a connection came from, and the name that its client certificate proves.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// `127.0.0.1:5000`, or `unix:/run/slipring.sock`.
    pub address: String,
    /// The index of the listener that accepted it.
    pub listener: usize,
    /// The name a client certificate proves.
    pub user: Option<String>,
    /// The certificates it has shown, to verify them again when the listener's files change.
    pub certificates: Option<PeerCertificates>,
}
