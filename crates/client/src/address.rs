//! Where a broker is: `mqtt://host:port`. Parses only; never resolves a name.

/// The port of MQTT over TCP (IANA).
const PORT: u16 = 1883;

/// A broker's host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    host: String,
    port: u16,
}

/// Why a string is not a broker's address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// No `scheme://`.
    #[error("{0:?} has no scheme; write mqtt://host:port")]
    NoScheme(String),
    /// A transport that is planned.
    #[error("{0}:// is not supported yet; use mqtt://host:port")]
    NotYet(String),
    /// A scheme that is not MQTT.
    #[error("{0}:// is not an MQTT address; write mqtt://host:port")]
    NotMqtt(String),
    /// A user name or password in the address.
    #[error("a user name in the address is not supported yet; write mqtt://host:port")]
    User,
    /// A path after the port.
    #[error("an MQTT address has no path, but this one has {0:?}; write mqtt://host:port")]
    Path(String),
    /// No host name.
    #[error("{0:?} names no host; write mqtt://host:port")]
    NoHost(String),
    /// A port that is not 1 to 65535.
    #[error("{0:?} is not a port; give a number from 1 to 65535")]
    Port(String),
}

impl Address {
    /// The host name or IP address, an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The TCP port.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl std::str::FromStr for Address {
    type Err = AddressError;

    fn from_str(url: &str) -> Result<Self, AddressError> {
        let (scheme, rest) =
            url.split_once("://").ok_or_else(|| AddressError::NoScheme(url.to_owned()))?;
        check_scheme(scheme)?;
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        if !matches!(path, "" | "/") {
            return Err(AddressError::Path(path.to_owned()));
        }
        if authority.contains('@') {
            return Err(AddressError::User);
        }
        let (host, port) = split_port(authority)?;
        if host.is_empty() {
            return Err(AddressError::NoHost(url.to_owned()));
        }
        Ok(Self { host: host.to_owned(), port })
    }
}

fn check_scheme(scheme: &str) -> Result<(), AddressError> {
    match scheme.to_ascii_lowercase().as_str() {
        "mqtt" => Ok(()),
        "mqtts" | "ws" | "wss" => Err(AddressError::NotYet(scheme.to_owned())),
        _ => Err(AddressError::NotMqtt(scheme.to_owned())),
    }
}

/// Splits `host`, `host:port`, `[v6]` and `[v6]:port`.
fn split_port(authority: &str) -> Result<(&str, u16), AddressError> {
    if let Some(bracketed) = authority.strip_prefix('[') {
        let (host, rest) =
            bracketed.split_once(']').ok_or_else(|| AddressError::NoHost(authority.to_owned()))?;
        return match rest.strip_prefix(':') {
            Some(port) => Ok((host, parse_port(port)?)),
            None if rest.is_empty() => Ok((host, PORT)),
            None => Err(AddressError::Port(rest.to_owned())),
        };
    }
    match authority.split_once(':') {
        Some((host, port)) => Ok((host, parse_port(port)?)),
        None => Ok((authority, PORT)),
    }
}

fn parse_port(text: &str) -> Result<u16, AddressError> {
    match text.parse() {
        Ok(port) if port > 0 => Ok(port),
        _ => Err(AddressError::Port(text.to_owned())),
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.host.contains(':') {
            write!(f, "mqtt://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "mqtt://{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_host_and_a_port() {
        for (url, shown) in [
            ("mqtt://localhost", "mqtt://localhost:1883"),
            ("MQTT://10.0.0.7:1884/", "mqtt://10.0.0.7:1884"),
            ("mqtt://[::1]", "mqtt://[::1]:1883"),
            ("mqtt://[fe80::1]:99", "mqtt://[fe80::1]:99"),
        ] {
            assert_eq!(url.parse::<Address>().unwrap().to_string(), shown);
        }
    }

    #[test]
    fn what_is_not_an_address_is_refused_with_the_reason() {
        for (url, words) in [
            ("localhost:1883", "no scheme"),
            ("mqtts://a", "not supported yet"),
            ("ws://a", "not supported yet"),
            ("http://a", "not an MQTT address"),
            ("mqtt://:1883", "no host"),
            ("mqtt://a:0", "not a port"),
            ("mqtt://a:b", "not a port"),
            ("mqtt://[::1", "no host"),
            ("mqtt://a/b", "no path"),
            ("mqtt://me:pw@a", "user name"),
        ] {
            let error = url.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(words), "{url}: {error}");
        }
    }
}
