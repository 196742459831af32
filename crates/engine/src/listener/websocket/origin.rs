//! Which web pages may open a WebSocket here. Pure.
//!
//! A browser lets any page connect to any address that its user can reach, and names the page in the Origin
//! header (CVE-2026-67405). Other programs send no such header.

use std::net::IpAddr;

/// The pages that a listener lets in.
#[derive(Clone, Debug)]
pub(crate) struct Origins {
    listed: Vec<String>,
    /// Whether only this machine reaches the listener.
    loopback: bool,
}

impl Origins {
    pub fn new(listed: &[String], loopback: bool) -> Self {
        let listed = listed.iter().map(|origin| origin.trim_end_matches('/').to_lowercase());
        Self { listed: listed.collect(), loopback }
    }

    /// Whether a page of this origin may connect, having asked for this host.
    pub fn admit(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        if !self.listed.is_empty() {
            return self.listed.iter().any(|listed| listed == "*" || *listed == origin);
        }
        let Some((_, authority)) = origin.split_once("://") else { return false };
        let page = host_of(authority);
        if is_this_machine(page) {
            return true;
        }
        // A foreign name that points to this machine is an attack (DNS rebinding).
        !self.loopback && !page.is_empty() && page == host_of(&host.to_ascii_lowercase())
    }
}

/// The host of HOST, HOST:PORT or [HOST]:PORT.
fn host_of(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => authority.split(':').next().unwrap_or(authority),
    }
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(listed: &[&str], loopback: bool) -> Origins {
        let listed: Vec<String> = listed.iter().map(ToString::to_string).collect();
        Origins::new(&listed, loopback)
    }

    #[test]
    fn pages_of_this_machine_and_of_the_same_host_are_let_in() {
        let public = origins(&[], false);
        for origin in ["http://localhost:8080", "https://127.0.0.1", "http://[::1]:80"] {
            assert!(public.admit(origin, "broker.example:9001"), "{origin}");
        }
        assert!(public.admit("https://Broker.example", "broker.EXAMPLE:9001"));
        assert!(public.admit("http://[2001:db8::1]", "[2001:db8::1]:9001"));
    }

    #[test]
    fn pages_of_elsewhere_are_not_let_in() {
        let public = origins(&[], false);
        let strange = ["https://evil.example", "null", "", "://", "https://localhost.evil.example"];
        for origin in strange {
            assert!(!public.admit(origin, "broker.example:9001"), "{origin}");
        }
        assert!(!public.admit("https://", ""));
    }

    #[test]
    fn a_foreign_name_that_points_to_this_machine_is_not_let_in() {
        assert!(!origins(&[], true).admit("http://evil.example", "evil.example:9001"));
    }

    #[test]
    fn where_origins_are_listed_only_they_are_let_in() {
        let listed = origins(&["https://Console.example/"], false);
        assert!(listed.admit("https://console.example", "broker.example"));
        for origin in ["http://console.example", "https://console.example:8443", "http://localhost"]
        {
            assert!(!listed.admit(origin, "broker.example"), "{origin}");
        }
        assert!(origins(&["*"], true).admit("null", "evil.example"));
    }
}
