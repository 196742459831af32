//! What a listener is told: a name, where it binds, and what is spoken there.

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// One door of the broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerSettings {
    /// A name of its own, for messages.
    pub name: String,
    /// Where it listens.
    pub bind: Bind,
    /// MQTT in WebSocket frames instead of straight on the socket.
    pub websocket: bool,
    /// Pages that may open a WebSocket, as `https://host:port`; `*` is any page. Without one,
    /// only pages of this machine and of the host that the client asked for.
    pub origins: Vec<String>,
    /// TLS, if it is spoken.
    pub tls: Option<TlsFiles>,
}

impl ListenerSettings {
    /// Plain MQTT on HOST:PORT.
    pub fn tcp(name: &str, listen: &str) -> Self {
        Self::plain(name, Bind::Tcp(listen.into()))
    }

    /// Plain MQTT on a Unix socket.
    pub fn unix(name: &str, path: &Path) -> Self {
        Self::plain(name, Bind::Unix(path.into()))
    }

    fn plain(name: &str, bind: Bind) -> Self {
        let (websocket, origins) = (false, Vec::new());
        Self { name: name.into(), bind, websocket, origins, tls: None }
    }
}

/// Where a listener listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bind {
    /// HOST:PORT, `[::]:PORT`; port 0 picks a free one.
    Tcp(String),
    /// The path of a socket file.
    Unix(PathBuf),
}

impl fmt::Display for Bind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(listen) => f.write_str(listen),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// The files of a TLS listener, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the server, and those between it and the authority.
    pub certificate: PathBuf,
    /// The key of the certificate.
    pub key: PathBuf,
    /// The authorities whose client certificates count; without one no client is asked.
    pub client_ca: Option<PathBuf>,
    /// Whether a client may come without a certificate.
    pub client_certificates: ClientCertificates,
}

/// Whether a client may come without a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificates {
    /// It may not.
    #[default]
    Required,
    /// It may; one that it shows must be good.
    Optional,
}

/// Where a listener listens, once it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundAddress {
    /// An address and a port.
    Tcp(SocketAddr),
    /// A socket file.
    Unix(PathBuf),
}

impl BoundAddress {
    /// Whether only this machine reaches it by an address.
    pub(crate) fn is_loopback(&self) -> bool {
        matches!(self, Self::Tcp(address) if address.ip().is_loopback())
    }
}

impl fmt::Display for BoundAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
