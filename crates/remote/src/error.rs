//! Errors of reading a journal over the network, and which of them a retry can heal.

use slipring_client::ClientStartError;
use slipring_journal::{Flaw, JournalIdentity, JournalRefusal, RefusalReason};
use slipring_protocol::ConnectionLoss;
use slipring_wire::Reason;

/// Why a remote journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The client could not be started.
    #[error(transparent)]
    Start(#[from] ClientStartError),
    /// The connection was refused or lost.
    #[error("{0}; {advice}", advice = .0.advice())]
    Lost(ConnectionLoss),
    /// A file with a secret cannot be used.
    #[error("{0}")]
    Secret(String),
    /// The broker is connected, but does not answer.
    #[error("the broker gave no answer about its journal within {0:.1} s; is it a Slipring?")]
    Silent(f64),
    /// The broker refused the request.
    #[error("{0}")]
    Refused(JournalRefusal),
    /// The answer is malformed, damaged or belongs to another request.
    #[error("the broker's answer cannot be used: {0}")]
    Unusable(String),
    /// The broker has another journal than before.
    #[error(
        "the broker has journal {found}, but journal {expected} was being read; give it back its \
         journal, or begin with a new checkpoint"
    )]
    OtherJournal {
        /// The broker's journal.
        found: JournalIdentity,
        /// The journal that was read before.
        expected: JournalIdentity,
    },
}

impl RemoteError {
    pub(crate) fn damaged(flaw: Flaw) -> Self {
        Self::Unusable(flaw.to_string())
    }

    /// Whether the broker refused because it is too busy now.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.why == RefusalReason::Busy)
    }

    /// Why the broker refused what this reader proved its name with, if it did.
    pub(crate) fn refused_proof(&self) -> Option<&ConnectionLoss> {
        match self {
            Self::Lost(
                loss @ ConnectionLoss::Refused {
                    reason: Reason::NotAuthorized | Reason::BadUserNameOrPassword,
                    ..
                },
            ) => Some(loss),
            _ => None,
        }
    }

    /// Whether a new connection a little later may succeed.
    /// `renewed`: each connection begins with the newest token.
    pub(crate) fn is_lost(&self, renewed: bool) -> bool {
        match self {
            Self::Lost(ConnectionLoss::Refused { reason, .. }) => {
                matches!(reason, Reason::ServerBusy | Reason::ServerUnavailable)
                    || (renewed && self.refused_proof().is_some())
            }
            Self::Lost(ConnectionLoss::Disconnected { reason, .. }) => {
                renewed || *reason != Reason::NotAuthorized
            }
            Self::Lost(loss) => !is_about_trust(loss),
            Self::Silent(_) => true,
            _ => false,
        }
    }
}

/// Whether client and broker do not trust each other: no retry changes that.
fn is_about_trust(loss: &ConnectionLoss) -> bool {
    matches!(
        loss,
        ConnectionLoss::Untrusted { .. }
            | ConnectionLoss::OtherName { .. }
            | ConnectionLoss::CertificateRefused { .. }
            | ConnectionLoss::NotProved { .. }
    )
}
