//! Somebody whose tokens are accepted.

use super::TokenKeys;

/// Somebody whose tokens are accepted, and which claims of them are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenIssuer {
    /// The text of the claim `iss`, compared byte by byte.
    pub issuer: Box<str>,
    /// The keys it signs with; none while they could not be read yet.
    pub keys: TokenKeys,
    /// A token must be for one of these; none accepts every token of the issuer.
    pub audience: Box<[Box<str>]>,
    /// The claim that is the user name.
    pub user_claim: Box<str>,
    /// The claim with the roles: a list of texts, or one text with spaces between them.
    pub roles_claim: Box<str>,
    /// Seconds that the clocks may differ.
    pub leeway_s: i64,
}

impl TokenIssuer {
    /// An issuer with the usual claims and a minute of leeway.
    pub fn new(issuer: &str, keys: TokenKeys) -> Self {
        Self {
            issuer: issuer.into(),
            keys,
            audience: Box::default(),
            user_claim: "sub".into(),
            roles_claim: "roles".into(),
            leeway_s: 60,
        }
    }

    /// Whether a token for this audience is for the broker.
    pub(super) fn is_for(&self, audience: &[Box<str>]) -> bool {
        self.audience.is_empty() || self.audience.iter().any(|own| audience.contains(own))
    }
}
