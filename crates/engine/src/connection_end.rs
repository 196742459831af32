//! Why a connection ended.

use slipring_core::{ConnectRefusal, Goodbye, Stop};
use slipring_wire::Reason;

/// Why a connection ended.
#[derive(Debug)]
pub(crate) enum ConnectionEnd {
    /// The client sent DISCONNECT.
    Goodbye(Goodbye),
    /// The client closed the socket, or the network did.
    Lost(String),
    /// The client broke a rule or reached a limit.
    Stopped(Stop),
    /// The broker refused CONNECT.
    Refused(ConnectRefusal),
    /// The client did not finish CONNECT and its authentication in time.
    Silent,
    /// The broker ends it.
    Closed(Reason),
    /// The code that served it panicked with this message.
    Panicked(String),
}

/// Another connection has the session.
pub(crate) const TAKEN_OVER: ConnectionEnd = ConnectionEnd::Closed(Reason::SessionTakenOver);

impl ConnectionEnd {
    /// Whether it ended because the client did not prove who it is.
    pub fn is_unproven(&self) -> bool {
        let reason = match self {
            Self::Refused(refusal) => refusal.reason,
            Self::Stopped(stop) => stop.violation.reason,
            _ => return false,
        };
        matches!(
            reason,
            Reason::BadUserNameOrPassword | Reason::NotAuthorized | Reason::BadAuthenticationMethod
        )
    }
}

impl From<std::io::Error> for ConnectionEnd {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl From<Stop> for ConnectionEnd {
    fn from(stop: Stop) -> Self {
        Self::Stopped(stop)
    }
}

impl std::fmt::Display for ConnectionEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Goodbye(goodbye) if goodbye.with_will => {
                f.write_str("said goodbye with its will")
            }
            Self::Goodbye(_) => f.write_str("said goodbye"),
            Self::Lost(why) => f.write_str(why),
            Self::Stopped(stop) => stop.fmt(f),
            Self::Refused(refusal) => write!(f, "{}: {}", refusal.reason, refusal.why),
            Self::Silent => {
                f.write_str("no whole CONNECT, or no proof, in time (limits.connect_ms)")
            }
            Self::Closed(reason) => reason.fmt(f),
            Self::Panicked(_) => f.write_str("what served it panicked"),
        }
    }
}
