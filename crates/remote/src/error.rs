//! What can go wrong on the way to a journal elsewhere, in words for a person. Holds no logic but
//! which of it passes by itself.

use slipring_client::{Loss, StartError};
use slipring_journal::{Flaw, Identity, Refusal, Why};
use slipring_wire::Reason;

/// Why a journal elsewhere cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// The client was not even started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// There is no connection, or no longer.
    #[error("{0}; {advice}", advice = .0.advice())]
    Lost(Loss),
    /// The broker is there, but does not answer.
    #[error("the broker gave no answer about its journal within {0:.1} s; is it a Slipring?")]
    Silent(f64),
    /// The broker answers, but not with what was asked for.
    #[error("{0}")]
    Refused(Refusal),
    /// What came is no answer, or a damaged one.
    #[error("the broker's answer cannot be used: {0}")]
    Nonsense(String),
    /// The broker has another journal than before.
    #[error(
        "the broker has journal {found}, but journal {expected} was being read; give it back its \
         journal, or begin with a new checkpoint"
    )]
    OtherJournal {
        /// What it has.
        found: Identity,
        /// What was meant.
        expected: Identity,
    },
}

impl RemoteError {
    pub(crate) fn damaged(flaw: Flaw) -> Self {
        Self::Nonsense(flaw.to_string())
    }

    /// Whether the broker said only that it is too busy now.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.why == Why::Busy)
    }

    /// Whether another connection, a little later, may do better.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Lost(Loss::Refused { reason, .. }) => {
                matches!(reason, Reason::ServerBusy | Reason::ServerUnavailable)
            }
            Self::Lost(Loss::Disconnected { reason, .. }) => *reason != Reason::NotAuthorized,
            Self::Lost(loss) => !is_about_trust(loss),
            Self::Silent(_) => true,
            _ => false,
        }
    }
}

/// Whether the two ends do not trust each other, which waiting does not change.
fn is_about_trust(loss: &Loss) -> bool {
    matches!(
        loss,
        Loss::Untrusted { .. } | Loss::OtherName { .. } | Loss::CertificateRefused { .. }
    )
}
