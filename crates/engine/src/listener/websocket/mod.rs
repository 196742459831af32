//! MQTT over WebSocket (RFC 6455, MQTT 5 chapter 6): the opening, the frames, the stream.

mod frame;
#[cfg(test)]
mod frame_tests;
mod origin;
mod stream;
#[cfg(test)]
mod stream_tests;
mod upgrade;

pub(super) use origin::Origins;
pub(super) use upgrade::accept;
