//! Where a client is in the life of its connection.

use std::time::{Duration, Instant};

use crate::{ClientProtocol, ConnectionLoss};

#[derive(Debug)]
pub(crate) enum Phase {
    /// CONNECT waits for its CONNACK.
    Connecting {
        until: Instant,
    },
    Open,
    /// The owner wants to disconnect; the broker still has messages to acknowledge.
    Draining {
        until: Instant,
        timeout: Duration,
    },
    /// DISCONNECT is in the output; nothing more is read.
    Closing {
        until: Instant,
        timeout: Duration,
        loss: Option<ConnectionLoss>,
    },
    /// The connection is lost; the driver makes another one at `until`.
    Away {
        until: Instant,
        loss: ConnectionLoss,
    },
    Closed(Option<ConnectionLoss>),
}

impl ClientProtocol {
    /// Whether the client only waits for acknowledgements. Messages that arrive are ignored, and
    /// stay unacknowledged.
    pub fn is_draining(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
    }

    /// Whether DISCONNECT is in the output; nothing else is left to do.
    pub fn is_closing(&self) -> bool {
        matches!(self.phase, Phase::Closing { .. })
    }

    /// Whether there is no connection, and the driver will make another one.
    pub fn is_away(&self) -> bool {
        matches!(self.phase, Phase::Away { .. })
    }

    /// Whether nothing more is received or sent.
    pub fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed(_))
    }

    /// Why the connection ended or is ending; `None` if the owner asked for it.
    pub fn loss(&self) -> Option<&ConnectionLoss> {
        match &self.phase {
            Phase::Closing { loss, .. } | Phase::Closed(loss) => loss.as_ref(),
            Phase::Away { loss, .. } => Some(loss),
            _ => None,
        }
    }
}
