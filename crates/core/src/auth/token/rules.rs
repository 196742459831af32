//! Which tokens are accepted: the issuers, and what was revoked. Immutable, and a part of the plan.

use std::collections::HashMap;

use data_encoding::BASE64URL_NOPAD;

use super::claims;
use super::error::TokenError;
use super::grant::TokenGrant;
use super::issuer::TokenIssuer;
use super::json::{Members, StrictJson};
use super::key::{KEY_ID_BYTES_MAX, TokenAlgorithm};

/// Bytes of a token. What a token costs before its signature is checked is bounded by its size.
pub const TOKEN_BYTES_MAX: usize = 8 << 10;

/// Which tokens are accepted.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TokenRules {
    issuers: Vec<TokenIssuer>,
    /// Tokens that were taken back, by `jti`, and when each ends by itself.
    revoked: HashMap<Box<str>, i64>,
    /// Users whose tokens were taken back: those made until this second.
    revoked_users: HashMap<Box<str>, i64>,
}

impl TokenRules {
    /// Issuers with different names.
    pub fn new(
        issuers: Vec<TokenIssuer>,
        revoked: HashMap<Box<str>, i64>,
        revoked_users: HashMap<Box<str>, i64>,
    ) -> Self {
        Self { issuers, revoked, revoked_users }
    }

    /// Whether no token is accepted.
    pub fn is_empty(&self) -> bool {
        self.issuers.is_empty()
    }

    /// The issuers.
    pub fn issuers(&self) -> &[TokenIssuer] {
        &self.issuers
    }

    /// Whether a password is meant as a token: three parts, and the first is a header. Only if there are issuers.
    pub fn is_token(&self, password: &[u8]) -> bool {
        if self.is_empty() || !password.starts_with(b"ey") {
            return false; // `{"` in base64url
        }
        let Some((header, _, _)) = split(password) else { return false };
        header.len() <= TOKEN_BYTES_MAX
            && decoded(header).is_some_and(|header| header.contains_key("alg"))
    }

    /// Checks a token; the order of the checks tells an attacker nothing that the token does not.
    pub fn verify(&self, token: &[u8], now_s: i64) -> Result<TokenGrant, TokenError> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(TokenError::TooLong);
        }
        let (header, payload, signature) = split(token).ok_or(TokenError::Malformed)?;
        let signed = &token[..header.len() + 1 + payload.len()];
        let (algorithm, key_id) = read_header(&decoded(header).ok_or(TokenError::Malformed)?)?;
        let claims = decoded(payload).ok_or(TokenError::Malformed)?;
        let issuer = self.issuer_of(&claims)?;
        let key = issuer.keys.find(key_id.as_deref(), algorithm).ok_or(TokenError::UnknownKey)?;
        let signature = BASE64URL_NOPAD.decode(signature).map_err(|_| TokenError::Malformed)?;
        if key.algorithm != algorithm || !key.verifies(signed, &signature) {
            return Err(TokenError::Signature);
        }
        let grant = grant(&claims, issuer, key.fingerprint())?;
        check_times(&claims, &grant, now_s)?;
        if !issuer.is_for(&grant.audience) {
            return Err(TokenError::Audience);
        }
        if self.is_revoked(&grant) {
            return Err(TokenError::Revoked);
        }
        Ok(grant)
    }

    /// The issuer of a token whose key is not known, so that its keys can be read again.
    pub fn issuer_to_read(&self, token: &[u8]) -> Option<&str> {
        let (_, payload, _) = split(token)?;
        let claims = decoded(payload)?;
        self.issuer_of(&claims).ok().map(|issuer| &*issuer.issuer)
    }

    /// Whether a token that was checked earlier would be accepted by these rules, apart from the time.
    pub fn holds(&self, grant: &TokenGrant) -> bool {
        let issuer = self.issuers.iter().find(|known| known.issuer == grant.issuer);
        issuer.is_some_and(|issuer| issuer.keys.has(&grant.key) && issuer.is_for(&grant.audience))
            && !self.is_revoked(grant)
    }

    fn is_revoked(&self, grant: &TokenGrant) -> bool {
        let by_id = grant.id.as_ref().is_some_and(|id| self.revoked.contains_key(id));
        let until_s = self.revoked_users.get(grant.user());
        // The issuer's clock may be ahead: a token of earlier then seems to be of later.
        let made_s = grant.issued_s.unwrap_or(0).saturating_sub(grant.leeway_s);
        by_id || until_s.is_some_and(|until_s| made_s <= *until_s)
    }

    fn issuer_of(&self, claims: &Members) -> Result<&TokenIssuer, TokenError> {
        let name = match claims.get("iss") {
            None => return Err(TokenError::UnknownIssuer),
            Some(name) => name.text().ok_or(TokenError::ClaimType)?,
        };
        let known = self.issuers.iter().find(|known| *known.issuer == *name);
        known.ok_or(TokenError::UnknownIssuer)
    }
}

fn grant(claims: &Members, issuer: &TokenIssuer, key: [u8; 32]) -> Result<TokenGrant, TokenError> {
    Ok(TokenGrant {
        expires_s: claims::time(claims, "exp")?.ok_or(TokenError::Missing)?,
        issued_s: claims::time(claims, "iat")?,
        audience: claims::audience(claims)?,
        id: claims::id(claims)?,
        identity: claims::identity(claims, issuer)?,
        issuer: issuer.issuer.clone(),
        leeway_s: issuer.leeway_s,
        key,
    })
}

fn check_times(claims: &Members, grant: &TokenGrant, now_s: i64) -> Result<(), TokenError> {
    let begins_s = claims::time(claims, "nbf")?.into_iter().chain(grant.issued_s).max();
    if grant.remaining_s(now_s) == 0 {
        return Err(TokenError::Ended);
    }
    if begins_s.is_some_and(|begins_s| begins_s > now_s.saturating_add(grant.leeway_s)) {
        return Err(TokenError::NotYet);
    }
    Ok(())
}

/// The algorithm and the key identifier. `jku`, `x5u`, `jwk` and `x5c` are not read: a token does not choose who
/// is trusted.
fn read_header(header: &Members) -> Result<(TokenAlgorithm, Option<String>), TokenError> {
    let name = header.get("alg").and_then(StrictJson::text).ok_or(TokenError::Algorithm)?;
    let algorithm = TokenAlgorithm::named(name).ok_or(TokenError::Algorithm)?;
    if header.contains_key("crit") {
        return Err(TokenError::Header); // RFC 7515, 4.1.11: none of it is supported
    }
    let is_usual = |kind: &str| matches!(kind.to_ascii_lowercase().as_str(), "jwt" | "at+jwt");
    match header.get("typ") {
        None => {}
        Some(StrictJson::Text(kind)) if is_usual(kind) => {}
        Some(_) => return Err(TokenError::Header), // RFC 8725, 3.11: a token of another use
    }
    match header.get("kid") {
        None => Ok((algorithm, None)),
        Some(StrictJson::Text(id)) if id.len() <= KEY_ID_BYTES_MAX => {
            Ok((algorithm, Some(id.clone())))
        }
        Some(_) => Err(TokenError::Header),
    }
}

/// The three parts of a token.
fn split(token: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let mut parts = token.split(|byte| *byte == b'.');
    let found = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(found)
}

/// A JSON object in base64url without padding; another encoding of the same bytes is refused.
fn decoded(part: &[u8]) -> Option<Members> {
    StrictJson::object(&BASE64URL_NOPAD.decode(part).ok()?)
}

impl std::fmt::Debug for TokenRules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenRules({} issuers, {} revoked)", self.issuers.len(), self.revoked.len())
    }
}
