//! The limits on what clients may do. One line of `limits!` defines the field, the default, the name and the setter of
//! a limit.

use crate::{Overflow, OwnerQuotas};

/// Bytes of a name in a table that all clients share: of a parameter, a stream, or a topic whose newest value is kept.
/// Messages may have longer topics.
pub const NAME_BYTES_MAX: usize = 1_024;

macro_rules! limits {
    (
        $($(#[$doc:meta])* $name:ident, $key:ident: $type:ty = $default:expr;)*
        @quotas $($quota:ident = $quota_name:literal;)*
    ) => {
        /// The limits. The documentation of each says what happens when it is reached.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Limits {
            $($(#[$doc])* pub $key: $type,)*
            /// What happens to a client whose QoS 0 outbox is full.
            pub qos0_full: Overflow,
            /// What happens to a client whose QoS 1 and 2 queue is full.
            pub qos12_full: Overflow,
            /// The quotas of the owner for whom the limits are asked; no part of the configuration's limits.
            pub own: OwnerQuotas,
        }

        impl Default for Limits {
            fn default() -> Self {
                Self {
                    $($key: $default,)*
                    qos0_full: Overflow::DropOldest,
                    qos12_full: Overflow::DropOldest,
                    own: OwnerQuotas::default(),
                }
            }
        }

        impl Limits {
            /// Sets a limit by its key in the configuration. Returns false if there is no such key, or the
            /// number is too large for it.
            #[must_use]
            pub fn set(&mut self, key: &str, number: u64) -> bool {
                match key {
                    $(stringify!($key) => match <$type>::try_from(number) {
                        Ok(number) => self.$key = number,
                        Err(_) => return false,
                    },)*
                    _ => return false,
                }
                true
            }
        }

        /// A limit or a quota that can be reached; its name is the configuration's key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is documented at its field of `Limits`")]
        pub enum Limit { $($name,)* $($quota,)* }

        impl Limit {
            /// Every limit.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// Every quota by user.
            pub const QUOTAS: &'static [Self] = &[$(Self::$quota,)*];

            /// The key it is set by.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => stringify!($key),)*
                    $(Self::$quota => $quota_name,)*
                }
            }
        }
    };
}

limits! {
    /// Connections at once; a further one is refused (0x9c with another server, or 0x89).
    Connections, connections: usize = 10_000;
    /// Sessions that are kept, their clients connected or away; a further one is refused (0x97).
    Sessions, sessions: usize = 100_000;
    /// Bytes of one packet; a larger one ends the connection (0x95).
    PacketBytes, packet_bytes: usize = (4 << 20) + (128 << 10);
    /// Bytes of the CONNECT packet, and of any other before the client is let in.
    ConnectBytes, connect_bytes: usize = 16 << 10;
    /// Milliseconds from accepting a connection to the end of its authentication.
    ConnectMs, connect_ms: u64 = 10_000;
    /// Passwords of one address that wait to be checked; beyond it the client that has waited longest is refused
    /// (0x89).
    PasswordChecks, password_checks: usize = 1_000;
    /// Connections that one address may open in a second; a further one is closed at once. 0 is no bound.
    ConnectsPerS, connects_per_s: usize = 0;
    /// Wrong proofs of one user name by one address in a minute; beyond it the address is refused for that name
    /// (0x9f). 0 is no bound.
    WrongProofsPerMin, wrong_proofs_per_min: usize = 0;
    /// Seconds; an MQTT 5 client that asks for more, or for none, is given this keep-alive.
    KeepAlive, keep_alive_s: u16 = 3_600;
    /// Seconds that a session is kept while its client is away; a longer time is cut to this.
    SessionExpiry, session_expiry_s: u32 = 7 * 24 * 3_600;
    /// Bytes of a client identifier (0x85).
    ClientIdBytes, client_id_bytes: usize = 1_024;
    /// Levels of a topic or a filter (0x90, 0x8f).
    TopicLevels, topic_levels: usize = 32;
    /// Bytes of a topic or a filter (0x90, 0x8f).
    TopicBytes, topic_bytes: usize = 4_096;
    /// User properties of one packet (0x97).
    UserProperties, user_properties: usize = 64;
    /// Topic aliases of one connection, each way (0x94).
    TopicAliases, topic_aliases: u16 = 256;
    /// Subscriptions of one client; a further one is refused (0x97).
    Subscriptions, subscriptions: usize = 1_000;
    /// QoS 2 messages of a client that it has not released (0x93).
    ReceiveMax, receive_max: u16 = 1_024;
    /// QoS 1 and 2 messages sent to a client and not settled; further ones wait in its queue.
    Inflight, inflight: usize = 1_024;
    /// QoS 1 and 2 messages that wait for one client; beyond it `qos12_full` decides.
    QueueMessages, queue_messages: usize = 100_000;
    /// Their bytes.
    QueueBytes, queue_bytes: usize = 64 << 20;
    /// Bytes of QoS 0 messages waiting for one client; beyond it `qos0_full` decides.
    OutboxBytes, outbox_bytes: usize = 8 << 20;
    /// Retained messages; a further topic is not retained (0x97).
    RetainedMessages, retained_messages: usize = 100_000;
    /// Their bytes.
    RetainedBytes, retained_bytes: usize = 256 << 20;
    /// Messages that wait for their first subscriber; a further one is refused (0x97), unless others of
    /// lower priority can make room.
    WaitingMessages, waiting_messages: usize = 100_000;
    /// Their bytes.
    WaitingBytes, waiting_bytes: usize = 64 << 20;
    /// Requests that are not over; a further one is refused (0x97).
    Requests, requests: usize = 1_000_000;
    /// Seconds until a request times out, at most; one that asks for more is refused.
    RequestTimeout, request_timeout_s: u32 = 7 * 24 * 3_600;
    /// Requests for the journal of all clients that wait or are answered; the client of a further one is told to
    /// try again later.
    JournalRequests, journal_requests: usize = 256;
    /// Topics whose newest value is kept; messages of further topics are delivered, but not shown.
    Values, values: usize = 100_000;
    /// Parameters of the table; a further one is refused, with its whole declaration.
    Parameters, parameters: usize = 200_000;
    /// Bytes of the newest values of all text and bytes parameters; a sample that would make more is
    /// refused, with its frame (0x97).
    ParameterBytes, parameter_bytes: usize = 64 << 20;
    /// Bytes of all values that selections with `change` or `deadband` sent last, without texts; a further
    /// selection is refused (0x97).
    SelectionBytes, selection_bytes: usize = 256 << 20;
    /// Streams; a further one is refused, with its whole declaration.
    Streams, streams: usize = 1_000;
    /// Memory of all messages that wait; beyond it messages are dropped, QoS 0 first. 0 is no bound here, and a
    /// quarter of the machine's memory in the configuration.
    MemoryBytes, memory_bytes: usize = 0;
    /// Percent of `connections` that one user, or one address, may have; a further one is refused (0x97).
    OwnerConnections, owner_connections_percent: u8 = 90;
    /// Percent of `sessions` that one user or address may have; a further one is refused (0x97).
    OwnerSessions, owner_sessions_percent: u8 = 75;
    /// Percent of `retained_messages` and `retained_bytes` that one user or address may have.
    OwnerRetained, owner_retained_percent: u8 = 75;
    /// Percent of `waiting_messages` and `waiting_bytes` that one user or address may have.
    OwnerWaiting, owner_waiting_percent: u8 = 75;
    /// Percent of `requests` that one user or address may have.
    OwnerRequests, owner_requests_percent: u8 = 75;
    /// Percent of `parameters` that one user or address may have.
    OwnerParameters, owner_parameters_percent: u8 = 95;
    /// Percent of `selection_bytes` that one user or address may have.
    OwnerSelections, owner_selections_percent: u8 = 75;
    /// Percent of `streams`, and of the bytes of all buffers, that one user or address may have.
    OwnerStreams, owner_streams_percent: u8 = 75;
    /// Percent of each limit with quotas that is reserved for owners that hold little.
    ReservePercent, reserve_percent: u8 = 5;
    @quotas
    QuotaConnections = "quota.connections";
    QuotaMessages = "quota.messages_per_s";
    QuotaBytes = "quota.bytes_per_s";
    QuotaSubscriptions = "quota.subscriptions";
    QuotaStored = "quota.stored_bytes";
    QuotaParameters = "quota.parameters";
    QuotaRequests = "quota.requests";
}

impl Limit {
    /// Every limit and quota.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::ALL.iter().chain(Self::QUOTAS).copied()
    }

    /// Whether it is a quota by user.
    pub fn is_quota(self) -> bool {
        self as usize >= Self::ALL.len()
    }

    /// Where the configuration has it: `limits.connections`, `quota.connections`.
    pub fn path(self) -> String {
        if self.is_quota() { self.name().to_owned() } else { format!("limits.{}", self.name()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../docs/limits.md");

    /// The keys and defaults of the page's first table that are numbers.
    fn documented() -> Vec<(&'static str, u64)> {
        let rows = PAGE.split("\n\n").find(|part| part.starts_with("| key")).expect("a table");
        let cells = rows.lines().map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
        let number = |text: &str| text.replace(',', "").parse().ok();
        cells.filter_map(|row| Some((row[1].trim_matches('`'), number(row[2])?))).collect()
    }

    #[test]
    fn the_page_has_every_limit_with_its_default() {
        let keys: Vec<&str> = documented().iter().map(|(key, _)| *key).collect();
        assert_eq!(keys, Limit::ALL.iter().map(|limit| limit.name()).collect::<Vec<_>>());
        for (key, default) in documented() {
            let mut limits = Limits::default();
            assert!(limits.set(key, default), "{key}");
            assert_eq!(limits, Limits::default(), "{key}");
        }
    }

    #[test]
    fn a_limit_is_set_by_its_key() {
        let mut limits = Limits::default();
        assert!(limits.set("keep_alive_s", 7));
        assert_eq!(limits, Limits { keep_alive_s: 7, ..Limits::default() });
    }

    #[test]
    fn an_unknown_key_and_a_number_that_is_too_large_are_refused() {
        let mut limits = Limits::default();
        assert!(!limits.set("nonsense", 1));
        assert!(!limits.set("keep_alive_s", 1 << 16));
        assert_eq!(limits, Limits::default());
    }
}
