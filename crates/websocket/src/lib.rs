//! WebSocket for MQTT (RFC 6455, MQTT 5 chapter 6): a stream of the bytes inside the frames, for both
//! sides, and the client's opening. Knows nothing of MQTT packets; whom a server lets in is its own
//! matter.

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
