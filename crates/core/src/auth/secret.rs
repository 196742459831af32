//! What must not be shown: a client's password, and the key that only this process has.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// 32 bytes: what SHA-256 and HMAC give.
pub(super) type Digest = [u8; 32];

/// A password as a client sent it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Box<[u8]>);

/// A random key that only this process has.
#[derive(Clone)]
pub struct Secret(Digest);

impl From<&[u8]> for Password {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }
}

impl AsRef<[u8]> for Password {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Digest> for Secret {
    fn from(random: Digest) -> Self {
        Self(random)
    }
}

impl Secret {
    /// A digest of these parts that nobody without the secret can make.
    pub(super) fn digest(&self, parts: &[&[u8]]) -> Digest {
        let mut mac = keyed(&self.0);
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes()); // no two lists of parts run together
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

/// HMAC-SHA-256.
pub(super) fn hmac(key: &[u8], message: &[u8]) -> Digest {
    let mut mac = keyed(key);
    mac.update(message);
    mac.finalize().into_bytes().into()
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password")
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}
