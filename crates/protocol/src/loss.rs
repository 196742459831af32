//! Why a connection never began or ended, in words for a person.

use std::time::Duration;

use slipring_wire::{Reason, Violation};

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectionLoss {
    /// The host name has no address.
    #[error("the host name {host:?} could not be resolved: {what}")]
    UnknownHost {
        /// The name.
        host: String,
        /// What the resolver said.
        what: String,
    },
    /// No TCP connection.
    #[error("{what}")]
    Unreachable {
        /// What the operating system said.
        what: String,
    },
    /// No authority that we trust has signed the broker's certificate.
    #[error("the broker's certificate is not trusted: {what}")]
    Untrusted {
        /// Why not.
        what: String,
    },
    /// The broker's certificate belongs to another name.
    #[error("the broker's certificate is not for {asked:?}, but for {names}")]
    OtherName {
        /// The name that was asked for.
        asked: String,
        /// The names it is for.
        names: String,
    },
    /// The broker's certificate is too old or too new.
    #[error("the broker's certificate cannot be used now: {what}")]
    NotValidNow {
        /// Which of the two.
        what: &'static str,
    },
    /// The broker refused this client's certificate, or requires one.
    #[error("the broker does not accept this client's certificate ({what})")]
    CertificateRefused {
        /// The name of the alert in TLS.
        what: String,
    },
    /// TLS failed in another way.
    #[error("TLS failed: {what}")]
    Tls {
        /// What the library said.
        what: String,
    },
    /// The broker did not prove that it knows the user's password, or asked for a weak proof.
    #[error("the broker has not proved itself: {what}")]
    NotProved {
        /// What it did.
        what: &'static str,
    },
    /// No answer to CONNECT in time.
    #[error("no answer within {:.1} s", .0.as_secs_f64())]
    ConnectTimeout(Duration),
    /// A program answered that does not speak MQTT 5.
    #[error("something answered, but not as an MQTT 5 broker ({0})")]
    NotMqtt(Violation),
    /// The broker closed the connection before it answered CONNECT.
    #[error("the connection was closed before it was accepted")]
    ClosedEarly,
    /// CONNACK with a reason.
    #[error("the broker refused: {reason}{}", said(.text.as_deref()))]
    Refused {
        /// Its reason.
        reason: Reason,
        /// Its own words, if any.
        text: Option<String>,
    },
    /// DISCONNECT from the broker.
    #[error("the broker disconnected this client: {reason}{}", said(.text.as_deref()))]
    Disconnected {
        /// Its reason.
        reason: Reason,
        /// Its own words, if any.
        text: Option<String>,
    },
    /// The broker closed the connection without DISCONNECT.
    #[error("the broker closed the connection")]
    Closed,
    /// The network failed.
    #[error("the network failed: {what}")]
    Network {
        /// What the operating system said.
        what: String,
    },
    /// The broker broke the rules of MQTT.
    #[error("the broker broke the protocol ({0})")]
    Violation(Violation),
    /// Nothing heard, not even an answer to PINGREQ.
    #[error("the broker was silent for {:.1} s", .0.as_secs_f64())]
    Silent(Duration),
    /// The rest could not be sent while closing.
    #[error("closing took longer than {:.1} s", .0.as_secs_f64())]
    CloseTimeout(Duration),
}

fn said(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(", it says {text:?}"))
}

impl ConnectionLoss {
    /// Whether another try may succeed although nobody has changed anything.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::UnknownHost { .. }
            | Self::Unreachable { .. }
            | Self::Tls { .. }
            | Self::ConnectTimeout(_)
            | Self::ClosedEarly
            | Self::Closed
            | Self::Network { .. }
            | Self::Silent(_) => true,
            Self::Refused { reason, .. } | Self::Disconnected { reason, .. } => is_passing(*reason),
            Self::Untrusted { .. }
            | Self::OtherName { .. }
            | Self::NotValidNow { .. }
            | Self::CertificateRefused { .. }
            | Self::NotProved { .. }
            | Self::NotMqtt(_)
            | Self::Violation(_)
            | Self::CloseTimeout(_) => false,
        }
    }

    /// Whether the broker did not take the proof, such as a token: it may have ended, or not have begun by the
    /// broker's clock.
    pub(super) fn is_end_of_proof(&self) -> bool {
        let (Self::Disconnected { reason, .. } | Self::Refused { reason, .. }) = self else {
            return false;
        };
        matches!(reason, Reason::NotAuthorized | Reason::BadUserNameOrPassword)
    }

    /// What a person can do about it.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::UnknownHost { .. } => "check the host name",
            Self::Unreachable { .. } => {
                "check the address, and that a broker runs there (`slipring serve` starts one)"
            }
            Self::Untrusted { .. } => {
                "if you trust this broker, give the file of the authority that signed it (ca)"
            }
            Self::OtherName { .. } => "connect by a name it is for, or give that one (server_name)",
            Self::NotValidNow { .. } => "check the clock here and the certificate of the broker",
            Self::CertificateRefused { .. } => {
                "give a certificate that an authority of the broker has signed, and its key"
            }
            Self::NotProved { .. } => {
                "check the address and the password: another program may pretend to be the broker"
            }
            Self::Tls { .. } => "check that this port of the broker speaks TLS; mqtt:// is without",
            Self::ConnectTimeout(_) => "check the address and the network on the way to it",
            Self::NotMqtt(_) | Self::ClosedEarly => {
                "check that the port is the broker's MQTT port and that the broker speaks MQTT 5; \
                 a port with TLS needs mqtts://"
            }
            Self::Refused { reason, .. } => refused_advice(*reason),
            Self::Disconnected { reason: Reason::SessionTakenOver, .. } => {
                "give every client a client id of its own"
            }
            Self::Disconnected { .. } | Self::Closed | Self::Violation(_) => {
                "connect again; the broker's log says more"
            }
            Self::Network { .. } | Self::Silent(_) => "check the network, then connect again",
            Self::CloseTimeout(_) => {
                "check that the broker keeps up, or connect with a longer time-out"
            }
        }
    }
}

/// All other reasons are about this client itself, and would come again. A session that was taken over
/// belongs to another client now; if both reconnected, they would disconnect each other for ever.
fn is_passing(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Success
            | Reason::UnspecifiedError
            | Reason::ImplementationSpecificError
            | Reason::ServerUnavailable
            | Reason::ServerBusy
            | Reason::ServerShuttingDown
            | Reason::KeepAliveTimeout
            | Reason::MessageRateTooHigh
            | Reason::QuotaExceeded
            | Reason::AdministrativeAction
            | Reason::ConnectionRateExceeded
            | Reason::MaximumConnectTime
    )
}

fn refused_advice(reason: Reason) -> &'static str {
    match reason {
        Reason::UnsupportedProtocolVersion => "use a broker that speaks MQTT 5",
        Reason::ClientIdentifierNotValid => "choose another client id",
        Reason::BadAuthenticationMethod => {
            "the broker does not take this kind of proof; choose another authentication"
        }
        Reason::BadUserNameOrPassword => {
            "check the user name and the password, or ask whoever runs the broker for access"
        }
        Reason::NotAuthorized | Reason::Banned => {
            "give a user name and a password, or a token (`slipring login` keeps one for commands), \
             or ask whoever runs the broker for access"
        }
        _ => "try again later; the broker's log says more",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_repeats_the_brokers_own_words() {
        let loss =
            ConnectionLoss::Refused { reason: Reason::Banned, text: Some("go away".to_owned()) };
        assert_eq!(loss.to_string(), "the broker refused: banned (0x8a), it says \"go away\"");
        assert!(loss.advice().contains("access"));
    }
}
