//! The broker's side of SCRAM-SHA-256 (RFC 5802, RFC 7677), without channel binding.
//!
//! Neither side sends the password: the client proves that it knows it, and the broker proves that
//! it has the verifier.

use data_encoding::BASE64;
use slipring_wire::Reason;

use super::secret::{Digest, hmac};
use super::users::Candidate;
use super::{Secret, Users};
use crate::Stop;

/// The name of the method, in MQTT and in a verifier.
pub(crate) const METHOD: &str = "SCRAM-SHA-256";
/// Random bytes of the broker's part of the nonce.
pub const NONCE_BYTES: usize = 18;
/// Bytes of the client's part of the nonce, which the broker sends back.
pub(super) const CLIENT_NONCE_BYTES_MAX: usize = 256;
/// What the client is told if its proof is wrong in any way.
pub(super) const WRONG: &str = "the authentication has failed";

/// An authentication after its first message: the client has named a user and not proved it.
pub(crate) struct Scram {
    user: String,
    candidate: Candidate,
    /// The header that the client has to repeat, in base64.
    binding: String,
    nonce: String,
    /// The messages so far, which both sides sign.
    messages: String,
}

/// A client that has proved its user name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proven {
    /// The user name.
    pub user: String,
    /// The broker's proof for the client: server-final-message.
    pub answer: String,
}

impl Scram {
    /// Takes the client-first-message and the broker's nonce as text; returns the server-first-message, too.
    pub(crate) fn begin(
        first: &[u8],
        users: &Users,
        secret: &Secret,
        nonce: &str,
    ) -> Result<(Self, String), Stop> {
        let (header, bare) = split_header(text(first)?)?;
        let (user, client_nonce) = read_bare(bare)?;
        let candidate = users.candidate(&user, secret);
        let nonce = format!("{client_nonce}{nonce}");
        let salt = BASE64.encode(&candidate.verifier.salt);
        let answer = format!("r={nonce},s={salt},i={}", candidate.verifier.iterations);
        let messages = format!("{bare},{answer}");
        let binding = BASE64.encode(header.as_bytes());
        Ok((Self { user, candidate, binding, nonce, messages }, answer))
    }

    /// Takes the client-final-message, and checks the proof in it.
    pub(crate) fn finish(self, last: &[u8]) -> Result<Proven, Stop> {
        let (unproved, proof) =
            text(last)?.rsplit_once(",p=").ok_or(failed("a message without a proof"))?;
        let start = format!("c={},r={}", self.binding, self.nonce);
        let rest = unproved.strip_prefix(&start).ok_or(failed(WRONG))?;
        if !(rest.is_empty() || rest.starts_with(',')) {
            return Err(failed(WRONG)); // the nonce is longer than ours
        }
        let proof = BASE64.decode(proof.as_bytes()).ok().and_then(|proof| proof.try_into().ok());
        let messages = format!("{},{unproved}", self.messages);
        if !self.is_proved(&proof.ok_or(failed(WRONG))?, messages.as_bytes()) {
            return Err(failed(WRONG));
        }
        let signature = hmac(&self.candidate.verifier.server_key, messages.as_bytes());
        Ok(Proven { user: self.user, answer: format!("v={}", BASE64.encode(&signature)) })
    }

    fn is_proved(&self, proof: &Digest, messages: &[u8]) -> bool {
        let verifier = &self.candidate.verifier;
        let mut client_key = hmac(&verifier.stored_key, messages);
        client_key.iter_mut().zip(proof).for_each(|(byte, proof)| *byte ^= proof);
        verifier.has_client_key(&client_key) & self.candidate.known
    }
}

impl std::fmt::Debug for Scram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scram")
    }
}

/// Splits off the gs2-header, which is not signed (RFC 5802, section 7).
fn split_header(message: &str) -> Result<(&str, &str), Stop> {
    // `y` means that the client supports channel binding and knows that we do not.
    for header in ["n,,", "y,,"] {
        if let Some(bare) = message.strip_prefix(header) {
            return Ok((header, bare));
        }
    }
    Err(failed("channel binding and acting for another user are not supported"))
}

/// The user name and the client's nonce of a client-first-message-bare.
fn read_bare(bare: &str) -> Result<(String, &str), Stop> {
    let mut fields = bare.split(',');
    let mut field = |name| fields.next().and_then(|field| field.strip_prefix(name));
    let user = field("n=").and_then(unescaped);
    let nonce = field("r=").filter(|nonce| is_nonce(nonce));
    user.zip(nonce).ok_or(failed("not a first message of SCRAM"))
}

/// RFC 5802, section 5.1: `,` and `=` in a name are written as `=2C` and `=3D`.
fn unescaped(name: &str) -> Option<String> {
    let plain = name.replace("=2C", ",").replace("=3D", "=");
    let escapes = name.matches("=2C").count() + name.matches("=3D").count();
    (!name.is_empty() && name.matches('=').count() == escapes).then_some(plain)
}

fn is_nonce(nonce: &str) -> bool {
    let printable = nonce.bytes().all(|byte| byte.is_ascii_graphic());
    printable && (1..=CLIENT_NONCE_BYTES_MAX).contains(&nonce.len())
}

fn text(message: &[u8]) -> Result<&str, Stop> {
    std::str::from_utf8(message).map_err(|_| failed("a message that is not UTF-8"))
}

fn failed(what: &'static str) -> Stop {
    Stop::new(Reason::NotAuthorized, what)
}
