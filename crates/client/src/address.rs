//! Where a broker is: `mqtt://host:port`, `mqtts://host:port`, `ws://host:port/path`,
//! `wss://host:port/path` or `unix:/path`. Parses only; never resolves a name.

use std::path::{Path, PathBuf};

/// The ports of MQTT over TCP, and over TLS (IANA); of WebSocket, and over TLS (RFC 6455 3).
const PORT: u16 = 1883;
const PORT_TLS: u16 = 8883;
const PORT_WEB: u16 = 80;
const PORT_WEB_TLS: u16 = 443;
/// The path of a WebSocket address that has none.
const PATH: &str = "/mqtt";

/// How to write an address; ends an error message.
const FORMS: &str =
    "write mqtt://host:port, mqtts://host:port, ws://host:port, wss://host:port or unix:/path";

/// A broker's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// Over TCP, in the clear.
    Tcp(HostPort),
    /// Over TLS.
    Tls(HostPort),
    /// Over WebSocket.
    WebSocket {
        /// The host and the port.
        host_port: HostPort,
        /// The path of the HTTP request, with its `/`.
        path: String,
        /// Whether it is over TLS.
        secure: bool,
    },
    /// Over a Unix socket of this computer.
    Unix(PathBuf),
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPort {
    /// A name or an IP address, an IPv6 address without its brackets.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

/// Why a string is not a broker's address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No `scheme://`.
    #[error("{0:?} has no scheme; {FORMS}")]
    NoScheme(String),
    /// A scheme that is not MQTT.
    #[error("{0}:// is not an MQTT address; {FORMS}")]
    NotMqtt(String),
    /// A user name or password in the address, where it ends up in logs.
    #[error("an address has no user name in it; give the user and the password beside it")]
    User,
    /// A path after the port.
    #[error("an MQTT address has no path, but this one has {0:?}; {FORMS}")]
    Path(String),
    /// A path that cannot be requested.
    #[error("{0:?} is not a path; write its characters as in a browser's address, without #")]
    NoPath(String),
    /// No host name.
    #[error("{0:?} names no host; {FORMS}")]
    NoHost(String),
    /// A port that is not 1 to 65535.
    #[error("{0:?} is not a port; give a number from 1 to 65535")]
    Port(String),
    /// Not the path of a socket.
    #[error("{0:?} is not the path of a socket; write unix:/path")]
    NoSocket(String),
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(url: &str) -> Result<Self, AddressError> {
        if let Some(path) = url.strip_prefix("unix:") {
            return socket(path);
        }
        let (scheme, rest) =
            url.split_once("://").ok_or_else(|| AddressError::NoScheme(url.to_owned()))?;
        match scheme.to_ascii_lowercase().as_str() {
            "mqtt" => Ok(Self::Tcp(bare_host_port(url, rest, PORT)?)),
            "mqtts" => Ok(Self::Tls(bare_host_port(url, rest, PORT_TLS)?)),
            "ws" => websocket(url, rest, false),
            "wss" => websocket(url, rest, true),
            _ => Err(AddressError::NotMqtt(scheme.to_owned())),
        }
    }
}

/// `unix:/path`, and `unix:///path` as some write it.
fn socket(path: &str) -> Result<Address, AddressError> {
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path.contains('\0') || path.ends_with('/') {
        return Err(AddressError::NoSocket(path.to_owned()));
    }
    Ok(Address::Unix(Path::new(path).to_owned()))
}

fn websocket(url: &str, rest: &str, secure: bool) -> Result<Address, AddressError> {
    let (host_port, path) = host_port(url, rest, if secure { PORT_WEB_TLS } else { PORT_WEB })?;
    let path = match path {
        "" => PATH.to_owned(),
        path if path.starts_with('/') => path.to_owned(),
        query => format!("{PATH}{query}"),
    };
    if path.contains('#') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(AddressError::NoPath(path));
    }
    Ok(Address::WebSocket { host_port, path, secure })
}

fn bare_host_port(url: &str, rest: &str, port: u16) -> Result<HostPort, AddressError> {
    match host_port(url, rest, port)? {
        (host_port, "" | "/") => Ok(host_port),
        (_, path) => Err(AddressError::Path(path.to_owned())),
    }
}

/// A host and a port, and what follows them.
fn host_port<'a>(url: &str, rest: &'a str, port: u16) -> Result<(HostPort, &'a str), AddressError> {
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    if authority.contains('@') {
        return Err(AddressError::User);
    }
    let (host, port) = split_port(authority, port)?;
    if host.is_empty() {
        return Err(AddressError::NoHost(url.to_owned()));
    }
    Ok((HostPort { host: host.to_owned(), port }, path))
}

/// Splits `host`, `host:port`, `[v6]` and `[v6]:port`.
fn split_port(authority: &str, usual: u16) -> Result<(&str, u16), AddressError> {
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, rest) =
            bracketed.split_once(']').ok_or_else(|| AddressError::NoHost(authority.to_owned()))?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, parse_port(port)?)),
            None if rest.is_empty() => Ok((host, usual)),
            None => Err(AddressError::Port(rest.to_owned())),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Ok((host, parse_port(port)?)),
        None => Ok((authority, usual)),
    }
}

fn parse_port(text: &str) -> Result<u16, AddressError> {
    match text.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(AddressError::Port(text.to_owned())),
    }
}

impl std::fmt::Display for HostPort {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(host_port) => write!(f, "mqtt://{host_port}"),
            Self::Tls(host_port) => write!(f, "mqtts://{host_port}"),
            Self::WebSocket { host_port, path, secure } => {
                write!(f, "{}://{host_port}{path}", if *secure { "wss" } else { "ws" })
            }
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_host_and_a_port_or_a_socket() {
        for (url, shown) in [
            ("mqtt://localhost", "mqtt://localhost:1883"),
            ("MQTT://10.0.0.7:1884/", "mqtt://10.0.0.7:1884"),
            ("mqtt://[::1]", "mqtt://[::1]:1883"),
            ("mqtt://[fe80::1]:99", "mqtt://[fe80::1]:99"),
            ("mqtts://broker", "mqtts://broker:8883"),
            ("mqtts://broker:1883", "mqtts://broker:1883"),
            ("ws://broker", "ws://broker:80/mqtt"),
            ("WSS://broker", "wss://broker:443/mqtt"),
            ("ws://[::1]:9001/", "ws://[::1]:9001/"),
            ("wss://broker:9443/a/b?c=d", "wss://broker:9443/a/b?c=d"),
            ("ws://broker?c=d", "ws://broker:80/mqtt?c=d"),
            ("unix:/run/slipring.sock", "unix:/run/slipring.sock"),
            ("unix:///run/slipring.sock", "unix:/run/slipring.sock"),
            ("unix:here.sock", "unix:here.sock"),
        ] {
            assert_eq!(url.parse::<Address>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn a_wrong_address_is_refused_with_the_reason() {
        for (url, words) in [
            ("localhost:1883", "no scheme"),
            ("ws://a/b#c", "not a path"),
            ("ws://a/b c", "not a path"),
            ("ws://a/b\r\nX: y", "not a path"),
            ("wss://me:pw@a", "user name"),
            ("ws://:9001/mqtt", "no host"),
            ("http://a", "not an MQTT address"),
            ("mqtt://:1883", "no host"),
            ("mqtt://a:0", "not a port"),
            ("mqtts://a:b", "not a port"),
            ("mqtt://[::1", "no host"),
            ("mqtt://a/b", "no path"),
            ("mqtt://me:pw@a", "user name"),
            ("unix:", "not the path"),
            ("unix:/run/", "not the path"),
        ] {
            let error = url.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(words), "{url}: {error}");
            assert!(!error.contains("pw"), "{error}");
        }
    }
}
