//! Secrets that must not be shown: a client's password and the process's own key. SHA-256 and HMAC over them.

use ring::{digest, hmac};
use zeroize::Zeroize;

/// 32 bytes: the result of SHA-256 and of HMAC-SHA-256.
pub(super) type Digest = [u8; 32];

/// A password as a client sent it. Its memory is overwritten when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(Box<[u8]>);

/// A random key that only this process has.
#[derive(Clone)]
pub struct Secret(Digest);

impl Drop for Password {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

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
    /// A digest of these parts, which only somebody with the secret can compute.
    pub(super) fn digest(&self, parts: &[&[u8]]) -> Digest {
        let mut mac = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &self.0));
        for part in parts {
            // The length in front makes ["ab", "c"] differ from ["a", "bc"].
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        sized(mac.sign().as_ref())
    }
}

/// HMAC-SHA-256.
pub(super) fn hmac(key: &[u8], message: &[u8]) -> Digest {
    sized(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message).as_ref())
}

/// SHA-256.
pub(super) fn sha256(bytes: &[u8]) -> Digest {
    sized(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Whether two digests are equal. The time it takes does not depend on where they differ.
///
/// ring compares in constant time only in `hmac::verify`, so this compares the HMACs of the digests.
pub(super) fn are_equal(one: &Digest, other: &Digest) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, one);
    let tag = hmac::sign(&key, one);
    hmac::verify(&key, other, tag.as_ref()).is_ok()
}

fn sized(digest: &[u8]) -> Digest {
    digest.try_into().expect("SHA-256 gives 32 bytes")
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
