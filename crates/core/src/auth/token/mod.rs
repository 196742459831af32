//! Tokens: JSON Web Tokens (RFC 7519) in compact form, signed with Ed25519 (`EdDSA`), ES256 or RS256. Never by a shared secret, never
//! unsigned, and never with a key that the token itself brings or points to.
//!
//! Pure: the caller passes the time, and a new key's random bytes.

#[cfg(test)]
mod attack_tests;
mod claims;
mod error;
mod grant;
mod issuer;
mod json;
mod key;
mod key_set;
mod rules;
mod signing;

pub use error::{TokenError, TokenKeyError};
pub use grant::TokenGrant;
pub use issuer::TokenIssuer;
pub use key::TokenAlgorithm;
pub use key_set::TokenKeys;
pub use rules::{TOKEN_BYTES_MAX, TokenRules};
pub use signing::TokenSigner;

/// The authentication method by which MQTT 5 clients send a token as it is.
pub(crate) const TOKEN_METHOD: &str = "OAUTH2-JWT";
