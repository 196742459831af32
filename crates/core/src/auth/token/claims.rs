//! The claims of a token, read into who it names and when it holds. A wrong type is refused, never skipped.

use std::sync::Arc;

use super::error::TokenError;
use super::issuer::TokenIssuer;
use super::json::{Members, StrictJson};
use crate::access::Identity;

/// Values of claims that an identity has.
const CLAIMS_MAX: usize = 64;
const ROLES_MAX: usize = 64;
/// Bytes of a name: of a user, a role, a claim, or a token.
const NAME_BYTES_MAX: usize = 256;
const VALUE_BYTES_MAX: usize = 1_024;
/// Seconds since 1970 that no token reaches: the year 9999.
const TIME_MAX_S: i64 = 253_402_300_799;
const TIME_MAX: f64 = 253_402_300_799.0;
/// Claims about the token itself, which say nothing about its user.
const OWN: [&str; 5] = ["exp", "nbf", "iat", "jti", "aud"];

/// Claims as an identity has them.
type Pairs = Box<[(Box<str>, Box<str>)]>;

/// A claim that is a time in seconds since 1970.
pub(super) fn time(claims: &Members, name: &str) -> Result<Option<i64>, TokenError> {
    let seconds = match claims.get(name) {
        None => return Ok(None),
        Some(StrictJson::Integer(seconds)) => *seconds,
        Some(StrictJson::Fraction(seconds)) if (0.0..=TIME_MAX).contains(seconds) => {
            *seconds as i64
        }
        Some(_) => return Err(TokenError::ClaimType),
    };
    if !(0..=TIME_MAX_S).contains(&seconds) {
        return Err(TokenError::ClaimType);
    }
    Ok(Some(seconds))
}

/// Whom the token is for: one text, or a list.
pub(super) fn audience(claims: &Members) -> Result<Box<[Box<str>]>, TokenError> {
    let names = match claims.get("aud") {
        None => Vec::new(),
        Some(StrictJson::Text(one)) => vec![one.as_str()],
        Some(list) => list.texts().ok_or(TokenError::ClaimType)?,
    };
    if names.len() > CLAIMS_MAX {
        return Err(TokenError::TooManyClaims);
    }
    Ok(names.into_iter().map(Into::into).collect())
}

/// The token's identifier.
pub(super) fn id(claims: &Members) -> Result<Option<Box<str>>, TokenError> {
    match claims.get("jti") {
        None => Ok(None),
        Some(StrictJson::Text(id)) if id.len() > NAME_BYTES_MAX => Err(TokenError::TooManyClaims),
        Some(StrictJson::Text(id)) => Ok(Some(id.as_str().into())),
        Some(_) => Err(TokenError::ClaimType),
    }
}

/// The user, the roles and the other claims. Their text is only text: it is compared, never interpreted.
pub(super) fn identity(
    claims: &Members,
    issuer: &TokenIssuer,
) -> Result<Arc<Identity>, TokenError> {
    let user = match found(claims, &issuer.user_claim) {
        None => return Err(TokenError::Missing),
        Some(StrictJson::Text(user)) => user.as_str(),
        Some(_) => return Err(TokenError::ClaimType),
    };
    if user.is_empty() || user.len() > NAME_BYTES_MAX || user.chars().any(char::is_control) {
        return Err(TokenError::TooManyClaims);
    }
    let (roles, others) = (roles(claims, issuer)?, others(claims, issuer)?);
    Ok(Arc::new(Identity { user: Some(user.into()), roles, claims: others }))
}

fn roles(claims: &Members, issuer: &TokenIssuer) -> Result<Box<[Box<str>]>, TokenError> {
    let names: Vec<&str> = match found(claims, &issuer.roles_claim) {
        None | Some(StrictJson::Null) => Vec::new(),
        Some(StrictJson::Text(text)) => text.split_ascii_whitespace().collect(), // such as `scope`
        Some(list) => list.texts().ok_or(TokenError::ClaimType)?,
    };
    if names.len() > ROLES_MAX || names.iter().any(|name| name.len() > NAME_BYTES_MAX) {
        return Err(TokenError::TooManyClaims);
    }
    Ok(names.into_iter().map(Into::into).collect())
}

/// Claims that are a text, a number, a truth value or a list of them. Objects say nothing to rules.
fn others(claims: &Members, issuer: &TokenIssuer) -> Result<Pairs, TokenError> {
    let mut pairs: Vec<(Box<str>, Box<str>)> = Vec::new();
    for (name, value) in claims {
        if OWN.contains(&name.as_str()) || **name == *issuer.roles_claim {
            continue;
        }
        let values: Vec<String> = match value {
            StrictJson::List(items) => items.iter().filter_map(plain).collect(),
            one => plain(one).into_iter().collect(),
        };
        let is_long = |value: &String| value.len() > VALUE_BYTES_MAX;
        if name.len() > NAME_BYTES_MAX
            || values.iter().any(is_long)
            || pairs.len() + values.len() > CLAIMS_MAX
        {
            return Err(TokenError::TooManyClaims); // a rule that denies by a claim must see all of them
        }
        pairs.extend(values.into_iter().map(|value| (name.as_str().into(), value.into())));
    }
    Ok(pairs.into())
}

fn plain(value: &StrictJson) -> Option<String> {
    match value {
        StrictJson::Text(text) => Some(text.clone()),
        StrictJson::Integer(number) => Some(number.to_string()),
        StrictJson::Fraction(number) => Some(number.to_string()),
        StrictJson::Bool(truth) => Some(truth.to_string()),
        StrictJson::Null | StrictJson::List(_) | StrictJson::Object(_) => None,
    }
}

/// A claim by its name, or by the names on the way to it with dots between them (`realm_access.roles`).
fn found<'a>(claims: &'a Members, name: &str) -> Option<&'a StrictJson> {
    if let Some(value) = claims.get(name) {
        return Some(value);
    }
    let (outer, inner) = name.split_once('.')?;
    match claims.get(outer)? {
        StrictJson::Object(members) => found(members, inner),
        _ => None,
    }
}
