//! Who holds something in the broker: a user that has proved its name, or else an address.

use std::borrow::Borrow;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

/// Bits of an IPv6 address that are one owner: a host has all addresses of its network to choose from.
const NETWORK_BITS: u32 = 64;

/// Who holds something: `user:anna`, `address:192.0.2.7`, `address:2001:db8:0:1::/64` or `address:unix`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(Arc<str>);

impl Owner {
    /// The user of a client that has proved its name; else its address, as `HOST:PORT` or `unix:PATH`.
    pub fn of(proven: Option<&str>, address: &str) -> Self {
        match (proven, address.parse::<SocketAddr>()) {
            (Some(user), _) => Self(format!("user:{user}").into()),
            (None, Ok(address)) => Self::address(address.ip()),
            (None, Err(_)) => Self("address:unix".into()),
        }
    }

    /// The owner of what an earlier version has kept, which did not know it.
    pub fn unknown(user: Option<&str>) -> Self {
        user.map_or_else(|| Self("address:unknown".into()), |_| Self::of(user, ""))
    }

    /// The broker itself, which has no quota and needs none.
    pub fn broker() -> &'static Self {
        static BROKER: OnceLock<Owner> = OnceLock::new();
        BROKER.get_or_init(|| Self("broker".into()))
    }

    fn address(ip: IpAddr) -> Self {
        let text = match ip.to_canonical() {
            IpAddr::V4(ip) => format!("address:{ip}"),
            IpAddr::V6(ip) if ip.is_loopback() => format!("address:{ip}"),
            IpAddr::V6(ip) => {
                let network = ip.to_bits() >> NETWORK_BITS << NETWORK_BITS;
                format!("address:{}/{NETWORK_BITS}", Ipv6Addr::from_bits(network))
            }
        };
        Self(text.into())
    }

    /// As [`Owner::as_str`] gave it.
    pub fn named(text: &str) -> Self {
        Self(text.into())
    }

    /// As text, for people and for the journal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Owner {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
