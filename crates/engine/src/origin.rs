//! Where a connection comes from: what is known of a client before its CONNECT.

/// The listener's word about a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// `127.0.0.1:5000`, `[::1]:5000` or `unix:/run/slipring.sock`.
    pub address: String,
    /// The place of its listener in the settings.
    #[allow(dead_code, reason = "for the rules of who may do what")]
    pub listener: usize,
    /// The name that a client certificate has proved.
    #[allow(dead_code, reason = "for the rules of who may do what")]
    pub user: Option<String>,
}
