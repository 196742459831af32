//! The client's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding.
//!
//! The client proves that it knows the password, and then checks that the broker knows it too. Never sends
//! anything from which the password could be read.

use std::num::NonZeroU32;

use data_encoding::BASE64;
use ring::{digest, hmac, pbkdf2};
use zeroize::Zeroizing;

use super::NonceSeed;

type Digest = [u8; 32];

/// Fewer would make guessing too easy for whoever pretends to be the broker (RFC 7677, section 4); more
/// would keep the thread of all connections busy for longer than a quarter of a second.
const ITERATIONS: std::ops::RangeInclusive<u32> = 4096..=1_000_000;
/// Bytes of a salt, at most; the broker chooses it.
const SALT_BYTES_MAX: usize = 1024;
/// No channel binding; `biws` is this in base64.
const HEADER: &str = "n,,";

/// An exchange that the client has begun.
pub(super) struct ScramExchange {
    /// The first message without its header, which both sides sign.
    bare: String,
    nonce: String,
    /// The broker's proof, known once the client has sent its own.
    expected: Option<Digest>,
}

/// What one salt and one number of iterations make of the password: slow to compute, so it is kept.
pub(super) struct SaltedKeys {
    salt: Vec<u8>,
    iterations: u32,
    client_key: Zeroizing<Digest>,
    server_key: Zeroizing<Digest>,
}

impl ScramExchange {
    /// Begins one. The nonce differs for every number.
    pub fn begin(user: &str, seed: &NonceSeed, number: u64) -> Self {
        let random = sign(&seed.0, &number.to_be_bytes());
        let nonce = BASE64.encode(&random[..24]);
        let user = user.replace('=', "=3D").replace(',', "=2C"); // RFC 5802, section 5.1
        Self { bare: format!("n={user},r={nonce}"), nonce, expected: None }
    }

    /// The client-first-message.
    pub fn first(&self) -> String {
        format!("{HEADER}{}", self.bare)
    }

    /// The client-final-message for the broker's challenge.
    pub fn answer(
        &mut self,
        challenge: &[u8],
        password: &[u8],
        kept: &mut Option<SaltedKeys>,
    ) -> Result<String, &'static str> {
        if self.expected.is_some() {
            return Err("it asks twice");
        }
        let challenge = std::str::from_utf8(challenge).map_err(|_| "its challenge is not text")?;
        let (nonce, salt, iterations) = read(challenge).ok_or("its challenge cannot be read")?;
        if nonce.len() <= self.nonce.len() || !nonce.starts_with(&self.nonce) {
            return Err("its nonce does not continue ours");
        }
        if !ITERATIONS.contains(&iterations) {
            return Err("it asks for too few or too many iterations");
        }
        let keys = SaltedKeys::of(password, salt, iterations, kept);
        let unproved = format!("c={},r={nonce}", BASE64.encode(HEADER.as_bytes()));
        let messages = format!("{},{challenge},{unproved}", self.bare);
        let stored_key = digest::digest(&digest::SHA256, &*keys.client_key);
        let mut proof = sign(stored_key.as_ref(), messages.as_bytes());
        proof.iter_mut().zip(&*keys.client_key).for_each(|(byte, key)| *byte ^= key);
        self.expected = Some(sign(&*keys.server_key, messages.as_bytes()));
        Ok(format!("{unproved},p={}", BASE64.encode(&proof)))
    }

    /// Checks the server-final-message.
    pub fn check(&self, last: &[u8]) -> Result<(), &'static str> {
        let Some(expected) = &self.expected else { return Err("it accepts without asking") };
        let proof = last.strip_prefix(b"v=").ok_or("it sends no proof")?;
        // An extension may follow the proof (RFC 5802, section 7).
        let proof = proof.split(|byte| *byte == b',').next().unwrap_or_default();
        match BASE64.decode(proof) {
            Ok(proof) if are_equal(expected, &proof) => Ok(()),
            _ => Err("its proof is wrong"),
        }
    }
}

impl SaltedKeys {
    fn of<'a>(
        password: &[u8],
        salt: Vec<u8>,
        iterations: u32,
        kept: &'a mut Option<Self>,
    ) -> &'a Self {
        match kept {
            Some(keys) if keys.salt == salt && keys.iterations == iterations => {}
            _ => *kept = Some(Self::derive(password, salt, iterations)),
        }
        kept.as_ref().expect("just derived")
    }

    fn derive(password: &[u8], salt: Vec<u8>, iterations: u32) -> Self {
        let mut salted = Zeroizing::new([0; 32]);
        let rounds = NonZeroU32::new(iterations).expect("at least 4096");
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &salt, password, &mut *salted);
        let client_key = Zeroizing::new(sign(&*salted, b"Client Key"));
        let server_key = Zeroizing::new(sign(&*salted, b"Server Key"));
        Self { salt, iterations, client_key, server_key }
    }
}

/// The nonce, the salt and the iterations of a server-first-message. A mandatory extension comes first, so
/// that a message with one cannot be read.
fn read(challenge: &str) -> Option<(&str, Vec<u8>, u32)> {
    let mut fields = challenge.split(',');
    let mut field = |name| fields.next().and_then(|field| field.strip_prefix(name));
    let nonce = field("r=")?;
    let salt = field("s=").filter(|salt| salt.len() <= SALT_BYTES_MAX)?;
    let iterations = field("i=")?.parse().ok()?;
    Some((nonce, BASE64.decode(salt.as_bytes()).ok()?, iterations))
}

fn sign(key: &[u8], message: &[u8]) -> Digest {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), message);
    tag.as_ref().try_into().expect("HMAC-SHA-256 gives 32 bytes")
}

/// Compares in constant time, which ring does in `hmac::verify` alone.
fn are_equal(one: &Digest, other: &[u8]) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, one);
    hmac::verify(&key, other, hmac::sign(&key, one).as_ref()).is_ok()
}

impl std::fmt::Debug for ScramExchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScramExchange")
    }
}

impl std::fmt::Debug for SaltedKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SaltedKeys")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7677, section 3.
    const CHALLENGE: &str =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
    const LAST: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                        p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
    const ANSWER: &[u8] = b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

    fn example() -> ScramExchange {
        let nonce = "rOprNGfwEbeRWgbNEkqO".to_owned();
        ScramExchange { bare: format!("n=user,r={nonce}"), nonce, expected: None }
    }

    fn answer(challenge: &str) -> Result<String, &'static str> {
        example().answer(challenge.as_bytes(), b"pencil", &mut None)
    }

    #[test]
    fn the_example_of_the_standard_passes() {
        let (mut exchange, mut kept) = (example(), None);
        assert_eq!(exchange.first(), "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
        assert_eq!(exchange.answer(CHALLENGE.as_bytes(), b"pencil", &mut kept).unwrap(), LAST);
        assert_eq!(exchange.check(ANSWER), Ok(()));
        assert_eq!(exchange.check(&[ANSWER, b",x=1"].concat()), Ok(()));
        // The kept keys give the same proof again.
        assert_eq!(example().answer(CHALLENGE.as_bytes(), b"", &mut kept).unwrap(), LAST);
    }

    #[test]
    fn a_broker_that_does_not_know_the_password_is_not_believed() {
        assert_eq!(example().check(ANSWER), Err("it accepts without asking"));
        let mut exchange = example();
        exchange.answer(CHALLENGE.as_bytes(), b"pencil", &mut None).unwrap();
        assert_eq!(exchange.check(b""), Err("it sends no proof"));
        assert_eq!(exchange.check(b"e=other-error"), Err("it sends no proof"));
        assert_eq!(exchange.check(b"v=AAAA"), Err("its proof is wrong"));
        let other = String::from_utf8(ANSWER.to_vec()).unwrap().replace("6rr", "7rr");
        assert_eq!(exchange.check(other.as_bytes()), Err("its proof is wrong"));
        let again = exchange.answer(CHALLENGE.as_bytes(), b"pencil", &mut None);
        assert_eq!(again, Err("it asks twice"));
    }

    #[test]
    fn a_challenge_that_weakens_the_proof_is_refused() {
        for (from, to) in [
            ("i=4096", "i=1"),
            ("i=4096", "i=1000001"),
            ("r=rOpr", "r=xOpr"),
            ("%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0", ""),
            ("r=", "m=ext,r="),
            ("s=W22", "s=!22"),
            (",i=4096", ""),
        ] {
            assert!(answer(&CHALLENGE.replacen(from, to, 1)).is_err(), "{from} as {to}");
        }
        assert!(example().answer(b"\xff", b"pencil", &mut None).is_err());
    }

    #[test]
    fn nonces_differ_and_names_are_escaped() {
        let seed = NonceSeed([7; 32]);
        let one = ScramExchange::begin("a,b=c", &seed, 1);
        assert!(one.first().starts_with("n,,n=a=2Cb=3Dc,r="));
        assert_ne!(one.nonce, ScramExchange::begin("a,b=c", &seed, 2).nonce);
        assert_ne!(one.nonce, ScramExchange::begin("a,b=c", &NonceSeed([8; 32]), 1).nonce);
    }
}
