//! How soon a client acknowledges messages: one message is timed at a time.

use slipring_wire::PacketId;

use super::Outgoing;
use crate::Millis;
use crate::requests::Speed;

/// The message that is timed, and the times so far.
#[derive(Debug, Default)]
pub(super) struct Pace {
    sent: Option<(PacketId, Millis)>,
    is_settled: bool,
    speed: Speed,
}

impl Pace {
    /// A message was sent.
    #[inline]
    pub(super) fn sent(&mut self, id: PacketId, now_ms: Millis) {
        if self.sent.is_none() {
            self.sent = Some((id, now_ms));
        }
    }

    /// A message was acknowledged.
    #[inline]
    pub(super) fn settled(&mut self, id: PacketId) {
        self.is_settled |= self.sent.is_some_and(|(sent, _)| sent == id);
    }
}

impl Outgoing {
    /// Notes the time after acknowledgements.
    pub fn time_settled(&mut self, now_ms: Millis) {
        if std::mem::take(&mut self.pace.is_settled) {
            if let Some((_, at_ms)) = self.pace.sent.take() {
                self.pace.speed.add(now_ms.saturating_sub(at_ms) * 1_000);
            }
        }
    }

    /// How soon the client acknowledges.
    pub fn speed(&self) -> Speed {
        self.pace.speed
    }
}
