//! What a token that was checked gives.

use std::sync::Arc;

use crate::access::Identity;

/// A token that was checked: whom it names, until when, and what it depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenGrant {
    /// The user, the roles and the other claims.
    pub identity: Arc<Identity>,
    /// Who signed it.
    pub issuer: Box<str>,
    /// What tells the key from others.
    pub key: [u8; 32],
    /// Its identifier, `jti`.
    pub id: Option<Box<str>>,
    /// Whom it is for.
    pub audience: Box<[Box<str>]>,
    /// When it was made, in seconds since 1970.
    pub issued_s: Option<i64>,
    /// When it ends, in seconds since 1970.
    pub expires_s: i64,
    /// Seconds beyond its end that it is still accepted.
    pub leeway_s: i64,
}

impl TokenGrant {
    /// The user name.
    pub fn user(&self) -> &str {
        self.identity.user.as_deref().unwrap_or_default()
    }

    /// Seconds that it still lasts.
    pub fn remaining_s(&self, now_s: i64) -> u64 {
        let until = self.expires_s.saturating_add(self.leeway_s);
        u64::try_from(until.saturating_sub(now_s)).unwrap_or(0)
    }
}
