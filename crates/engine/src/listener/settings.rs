//! The settings of one listener: its name, where it binds, and the protocol spoken there.

use std::path::{Path, PathBuf};

/// What the address of a Unix socket begins with.
pub(super) const UNIX: &str = "unix:";

/// The settings of one listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerSettings {
    /// Its name, which no other listener has.
    pub name: String,
    /// HOST:PORT, `[::]:PORT`, or `unix:` and the path of a socket file; port 0 picks a free one.
    pub listen: String,
    /// Whether MQTT is spoken in WebSocket frames instead of directly on the socket.
    pub websocket: bool,
    /// Pages that may open a WebSocket, as `https://host:port`; `*` is any page. An empty list allows only
    /// pages of this machine and of the host that the client asked for.
    pub origins: Vec<String>,
    /// The files for TLS, if TLS is spoken.
    pub tls: Option<TlsFiles>,
}

impl ListenerSettings {
    /// Plain MQTT on HOST:PORT.
    pub fn tcp(name: &str, listen: &str) -> Self {
        Self::plain(name, listen.into())
    }

    /// Plain MQTT on a Unix socket.
    pub fn unix(name: &str, path: &Path) -> Self {
        Self::plain(name, format!("{UNIX}{}", path.display()))
    }

    fn plain(name: &str, listen: String) -> Self {
        let (websocket, origins) = (false, Vec::new());
        Self { name: name.into(), listen, websocket, origins, tls: None }
    }
}

/// The files of a TLS listener, in PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the server, then the intermediate ones.
    pub certificate: PathBuf,
    /// The key of the certificate.
    pub key: PathBuf,
    /// The authorities whose client certificates count; None asks no client for one.
    pub client_ca: Option<PathBuf>,
    /// Whether a client may come without a certificate.
    pub client_certificates: ClientCertificates,
    /// Which name of a client certificate counts.
    pub client_name: ClientName,
    /// Lists of revoked certificates; without any, none is looked for.
    pub client_crl: Vec<PathBuf>,
}

/// Which name of a client certificate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientName {
    /// The common name of the subject; without one, the first DNS, URI or e-mail name.
    #[default]
    Auto,
    /// The common name of the subject.
    CommonName,
    /// The only DNS name.
    Dns,
    /// The only URI.
    Uri,
    /// The only e-mail address.
    Email,
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
