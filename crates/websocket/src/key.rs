//! The key of an opening request, and the answer that proves that the server speaks WebSocket.

use data_encoding::BASE64;
use ring::rand::{SecureRandom, SystemRandom};

/// The subprotocol (MQTT-6.0.0-3).
pub const SUBPROTOCOL: &str = "mqtt";
/// The GUID that is hashed with the key (RFC 6455 1.3).
const SALT: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The value of `Sec-WebSocket-Accept` for this key.
pub fn proof(key: &str) -> String {
    let mut salted = key.as_bytes().to_vec();
    salted.extend_from_slice(SALT);
    let hash = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, &salted);
    BASE64.encode(hash.as_ref())
}

/// A random key: 16 bytes in base 64 (RFC 6455 4.1).
pub(crate) fn new_key() -> String {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).expect("the system has random bytes");
    BASE64.encode(&bytes)
}
