//! Owners: users who have proved their names, and addresses of all other clients.

use std::borrow::Borrow;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};

/// Bits of an IPv6 address that make one owner, because a host may use all addresses of its network.
const NETWORK_BITS: u32 = 64;

/// An owner: `user:anna`, `address:192.0.2.7`, `address:2001:db8:0:1::/64` or `address:unix`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(Arc<str>);

impl Owner {
    /// The user name that a client has proved; without one its address, given as `HOST:PORT` or `unix:PATH`.
    pub fn of(proven: Option<&str>, address: &str) -> Self {
        match (proven, address.parse::<SocketAddr>()) {
            (Some(user), _) => Self(format!("user:{user}").into()),
            (None, Ok(address)) => Self::address(address.ip()),
            (None, Err(_)) => Self("address:unix".into()),
        }
    }

    /// The owner of what an earlier version stored without an owner.
    pub fn unknown(user: Option<&str>) -> Self {
        user.map_or_else(|| Self("address:unknown".into()), |_| Self::of(user, ""))
    }

    /// The broker itself, which has no quota.
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

    /// Whether it is the broker, or an address of the broker's own machine: loopback or a Unix socket.
    pub fn is_on_this_machine(&self) -> bool {
        let address = self.0.strip_prefix("address:");
        let is_loopback = |ip: &str| ip.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
        self == Self::broker() || address.is_some_and(|ip| ip == "unix" || is_loopback(ip))
    }

    /// The owner with the text of [`Owner::as_str`].
    pub fn named(text: &str) -> Self {
        Self(text.into())
    }

    /// The text for people and for the journal.
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
