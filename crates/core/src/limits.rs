//! The bounds on what a client may do, what happens there, and how often that was.

use crate::Overflow;

/// The bounds. Each says what happens when it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at once; a further one is sent away (0x9c with another server, or 0x89).
    pub connections: usize,
    /// Sessions, connected or waiting for their client; a further one is refused (0x97).
    pub sessions: usize,
    /// Bytes of one packet; a larger one ends the connection (0x95).
    pub packet_bytes: usize,
    /// Bytes of the CONNECT packet, before anyone has proved who they are.
    pub connect_bytes: usize,
    /// Milliseconds from accepting a connection to its whole CONNECT and proof.
    pub connect_ms: u64,
    /// Seconds; a client that asks for more, or for none, is given this keep-alive.
    pub keep_alive_s: u16,
    /// Seconds a session is kept for a client that is away; more is cut to this.
    pub session_expiry_s: u32,
    /// Bytes of a client identifier (0x85).
    pub client_id_bytes: usize,
    /// Levels of a topic or a filter (0x90, 0x8f).
    pub topic_levels: usize,
    /// Bytes of a topic or a filter (0x90, 0x8f).
    pub topic_bytes: usize,
    /// User properties of one packet (0x97).
    pub user_properties: usize,
    /// Topic aliases of one connection, each way (0x94).
    pub topic_aliases: u16,
    /// Subscriptions of one client; a further one is refused (0x97).
    pub subscriptions: usize,
    /// QoS 2 messages a client may have unfinished (0x93).
    pub receive_max: u16,
    /// QoS 1 and 2 messages sent to a client and not settled; further ones wait in its queue.
    pub inflight: usize,
    /// QoS 1 and 2 messages that wait for one client; beyond it `qos12_full` acts.
    pub queue_messages: usize,
    /// Their bytes.
    pub queue_bytes: usize,
    /// Bytes of QoS 0 messages waiting for one client; beyond it `qos0_full` acts.
    pub outbox_bytes: usize,
    /// What happens to a client whose QoS 0 outbox is full.
    pub qos0_full: Overflow,
    /// What happens to a client whose QoS 1 and 2 queue is full.
    pub qos12_full: Overflow,
    /// Retained messages; a further topic is not retained (0x97).
    pub retained_messages: usize,
    /// Their bytes.
    pub retained_bytes: usize,
    /// Messages that wait for their first subscriber; a further one is refused (0x97), unless others of
    /// lower priority can go.
    pub waiting_messages: usize,
    /// Their bytes.
    pub waiting_bytes: usize,
    /// Requests of readers on other machines that wait or are answered, of all clients; a further one
    /// is told to ask again later.
    pub journal_requests: usize,
    /// Topics whose newest value is kept; further topics are carried, but not shown.
    pub values: usize,
    /// Parameters of the table; a further one is refused, with its whole declaration.
    pub parameters: usize,
    /// Bytes of the newest values of all text and bytes parameters; a sample that would make more is
    /// refused, with its frame (0x97).
    pub parameter_bytes: usize,
    /// Streams; a further one is refused, with its whole declaration.
    pub streams: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            sessions: 100_000,
            packet_bytes: 1 << 20,
            connect_bytes: 16 << 10,
            connect_ms: 10_000,
            keep_alive_s: 3_600,
            session_expiry_s: 7 * 24 * 3_600,
            client_id_bytes: 256,
            topic_levels: 32,
            topic_bytes: 1_024,
            user_properties: 64,
            topic_aliases: 256,
            subscriptions: 1_000,
            receive_max: 1_024,
            inflight: 1_024,
            queue_messages: 100_000,
            queue_bytes: 64 << 20,
            outbox_bytes: 8 << 20,
            qos0_full: Overflow::DropOldest,
            qos12_full: Overflow::DropOldest,
            retained_messages: 100_000,
            retained_bytes: 256 << 20,
            waiting_messages: 100_000,
            waiting_bytes: 64 << 20,
            journal_requests: 256,
            values: 100_000,
            parameters: 200_000,
            parameter_bytes: 64 << 20,
            streams: 1_000,
        }
    }
}

macro_rules! limits {
    ($($name:ident = $text:literal;)*) => {
        /// A limit that can be reached; its name is the configuration's key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is documented at its field of `Limits`")]
        pub enum Limit { $($name,)* }

        impl Limit {
            /// Every limit.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The key it is set by.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

limits! {
    Connections = "connections";
    Sessions = "sessions";
    PacketBytes = "packet_bytes";
    ConnectBytes = "connect_bytes";
    ConnectMs = "connect_ms";
    KeepAlive = "keep_alive_s";
    SessionExpiry = "session_expiry_s";
    ClientIdBytes = "client_id_bytes";
    TopicLevels = "topic_levels";
    TopicBytes = "topic_bytes";
    UserProperties = "user_properties";
    TopicAliases = "topic_aliases";
    Subscriptions = "subscriptions";
    ReceiveMax = "receive_max";
    Inflight = "inflight";
    QueueMessages = "queue_messages";
    QueueBytes = "queue_bytes";
    OutboxBytes = "outbox_bytes";
    RetainedMessages = "retained_messages";
    RetainedBytes = "retained_bytes";
    WaitingMessages = "waiting_messages";
    WaitingBytes = "waiting_bytes";
    JournalRequests = "journal_requests";
    Values = "values";
    Parameters = "parameters";
    ParameterBytes = "parameter_bytes";
    Streams = "streams";
}
