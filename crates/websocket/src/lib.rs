//! WebSocket for MQTT (RFC 6455, MQTT 5 chapter 6): the bytes inside the frames as a stream, for client and
//! server, and the client's opening handshake. Knows nothing of MQTT packets. The server checks the opening
//! request itself.

mod frame;
#[cfg(test)]
mod frame_tests;
mod key;
mod mask;
mod opening;
mod stream;
#[cfg(test)]
mod stream_tests;

pub use key::{SUBPROTOCOL, proof};
pub use opening::open;
pub use stream::WebSocket;
