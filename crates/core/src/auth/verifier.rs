//! A verifier: what is stored for a user instead of the password (RFC 5802, section 3).
//!
//! Its text is the one of Postgres: `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`.

use std::num::NonZeroU32;

use data_encoding::BASE64;
use ring::pbkdf2;

use super::scram::METHOD;
use super::secret::{Digest, are_equal, hmac, sha256};

/// Fewer make guessing too easy (RFC 7677, section 4); more would delay other clients.
const ITERATIONS: std::ops::RangeInclusive<u32> = 4096..=1_000_000;
const SALT_BYTES: std::ops::RangeInclusive<usize> = 8..=32;

/// Checks a password. Nobody can log in with the verifier itself.
#[derive(Clone, PartialEq, Eq)]
pub struct Verifier {
    pub(super) salt: Box<[u8]>,
    pub(super) iterations: u32,
    pub(super) stored_key: Digest,
    pub(super) server_key: Digest,
}

/// Why a text is not a verifier. The message never contains the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifierError {
    /// It does not have the five parts.
    #[error("not a verifier; `slipring password` prints one, SCRAM-SHA-256$...")]
    Outline,
    /// The iterations are too few, too many, or not a number.
    #[error("the iterations of a verifier are {} to {}", ITERATIONS.start(), ITERATIONS.end())]
    Iterations,
    /// The salt is too short, too long, or not base64.
    #[error("the salt of a verifier is base64 of {} to {} bytes", SALT_BYTES.start(), SALT_BYTES.end())]
    Salt,
    /// The keys are not 32 bytes each in base64.
    #[error("the keys of a verifier are base64 of 32 bytes each")]
    Keys,
}

impl Verifier {
    /// The verifier of a password.
    pub fn new(password: &[u8], salt: &[u8], iterations: u32) -> Result<Self, VerifierError> {
        check(salt, iterations)?;
        let salted = salted(password, salt, iterations);
        let stored_key = sha256(&hmac(&salted, b"Client Key"));
        let server_key = hmac(&salted, b"Server Key");
        Ok(Self { salt: salt.into(), iterations, stored_key, server_key })
    }

    /// Reads the text that [`Verifier::written`] returns.
    pub fn parse(text: &str) -> Result<Self, VerifierError> {
        let parts: Vec<&str> = text.split(['$', ':']).collect();
        let [METHOD, iterations, salt, stored_key, server_key] = parts[..] else {
            return Err(VerifierError::Outline);
        };
        let iterations = iterations.parse().map_err(|_| VerifierError::Iterations)?;
        let salt = BASE64.decode(salt.as_bytes()).map_err(|_| VerifierError::Salt)?;
        check(&salt, iterations)?;
        let (stored_key, server_key) = (key(stored_key)?, key(server_key)?);
        Ok(Self { salt: salt.into(), iterations, stored_key, server_key })
    }

    /// The text for a config file. It is not `Display`, so that no log shows it by accident.
    pub fn written(&self) -> String {
        let [salt, stored_key, server_key] =
            [&*self.salt, &self.stored_key, &self.server_key].map(|bytes| BASE64.encode(bytes));
        format!("{METHOD}${}:{salt}${stored_key}:{server_key}", self.iterations)
    }

    /// Whether this is the password. Slow on purpose.
    pub(super) fn matches(&self, password: &[u8]) -> bool {
        let salted = salted(password, &self.salt, self.iterations);
        self.has_client_key(&hmac(&salted, b"Client Key"))
    }

    /// Whether this is the client key of the password. Takes equally long for all keys.
    pub(super) fn has_client_key(&self, client_key: &Digest) -> bool {
        are_equal(&self.stored_key, &sha256(client_key))
    }
}

fn check(salt: &[u8], iterations: u32) -> Result<(), VerifierError> {
    if !ITERATIONS.contains(&iterations) {
        return Err(VerifierError::Iterations);
    }
    if !SALT_BYTES.contains(&salt.len()) {
        return Err(VerifierError::Salt);
    }
    Ok(())
}

fn key(text: &str) -> Result<Digest, VerifierError> {
    let bytes = BASE64.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or(VerifierError::Keys)
}

pub(super) fn salted(password: &[u8], salt: &[u8], iterations: u32) -> Digest {
    let iterations = NonZeroU32::new(iterations).expect("`check` refuses less than 4,096");
    let mut salted = Digest::default();
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password, &mut salted);
    salted
}

#[cfg(test)]
mod tests {
    use super::*;

    const SALT: &str = "W22ZaJ0SNY7soEsUEjb6gQ==";
    const KEYS: &str =
        "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";

    #[test]
    fn a_verifier_is_written_as_postgres_writes_it() {
        let salt = BASE64.decode(SALT.as_bytes()).unwrap();
        let verifier = Verifier::new(b"pencil", &salt, 4096).unwrap();
        let text = format!("SCRAM-SHA-256$4096:{SALT}${KEYS}");
        assert_eq!(verifier.written(), text);
        assert!(Verifier::parse(&text) == Ok(verifier));
    }

    #[test]
    fn an_error_says_what_is_wrong_and_does_not_repeat_the_text() {
        let rows = [
            (String::new(), VerifierError::Outline),
            ("pencil".into(), VerifierError::Outline),
            (format!("SCRAM-SHA-1$4096:{SALT}${KEYS}"), VerifierError::Outline),
            (format!("SCRAM-SHA-256$4096:{SALT}${KEYS}:"), VerifierError::Outline),
            (format!("SCRAM-SHA-256$4095:{SALT}${KEYS}"), VerifierError::Iterations),
            (format!("SCRAM-SHA-256$1000001:{SALT}${KEYS}"), VerifierError::Iterations),
            (format!("SCRAM-SHA-256$many:{SALT}${KEYS}"), VerifierError::Iterations),
            (format!("SCRAM-SHA-256$4096:c2FsdA==${KEYS}"), VerifierError::Salt),
            (format!("SCRAM-SHA-256$4096:!${KEYS}"), VerifierError::Salt),
            (format!("SCRAM-SHA-256$4096:{SALT}$AAAA:AAAA"), VerifierError::Keys),
        ];
        for (text, error) in rows {
            let found = Verifier::parse(&text).err();
            assert_eq!(found, Some(error), "{text}");
            assert!(!error.to_string().contains("pencil"));
        }
    }
}
