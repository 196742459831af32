//! Where a connection came from.

/// Where a connection came from, and who its transport says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// `127.0.0.1:5000`, or `unix:/run/slipring.sock`.
    pub address: String,
    /// Which of the listeners took it.
    pub listener: usize,
    /// The name a client certificate proves.
    pub user: Option<String>,
}
