//! MQTT over WebSocket (RFC 6455, MQTT 5 chapter 6): which pages may connect, and the opening handshake.

mod origin;
mod upgrade;

pub(super) use origin::Origins;
pub(super) use upgrade::accept;
