//! MQTT over WebSocket (RFC 6455, MQTT 5 chapter 6): who is let in, and the opening.

mod origin;
mod upgrade;

pub(super) use origin::Origins;
pub(super) use upgrade::accept;
