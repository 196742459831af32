//! Signs tokens of our own with Ed25519.

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{Ed25519KeyPair, KeyPair};

use super::super::secret::sha256;
use super::error::TokenKeyError;
use super::json::StrictJson;

/// A private key that signs tokens.
pub struct TokenSigner {
    seed: [u8; 32],
    pair: Ed25519KeyPair,
    id: String,
}

impl TokenSigner {
    /// The key of 32 random bytes.
    pub fn from_seed(seed: [u8; 32]) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).expect("32 bytes are a seed");
        let x = BASE64URL_NOPAD.encode(pair.public_key().as_ref());
        // RFC 7638: the digest of the members that make the key, in the order of their names.
        let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
        Self { seed, pair, id: BASE64URL_NOPAD.encode(&sha256(members.as_bytes())) }
    }

    /// Reads a private key as [`Self::private_jwk`] writes it.
    pub fn from_jwk(text: &str) -> Result<Self, TokenKeyError> {
        let malformed = |what: &str| TokenKeyError::Malformed(what.into());
        let jwk = StrictJson::object(text.as_bytes()).ok_or_else(|| malformed("not JSON"))?;
        let member = |name: &str| jwk.get(name).and_then(StrictJson::text).unwrap_or_default();
        if (member("kty"), member("crv")) != ("OKP", "Ed25519") {
            return Err(malformed("a signing key is OKP Ed25519"));
        }
        let seed = BASE64URL_NOPAD.decode(member("d").as_bytes()).unwrap_or_default();
        let seed = seed.try_into().map_err(|_| malformed("'d' is not 32 bytes in base64url"))?;
        let signer = Self::from_seed(seed);
        if member("x") != BASE64URL_NOPAD.encode(signer.pair.public_key().as_ref()) {
            return Err(malformed("'x' does not belong to 'd'"));
        }
        Ok(signer)
    }

    /// The key identifier: its thumbprint (RFC 7638).
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The private key as a JSON Web Key.
    pub fn private_jwk(&self) -> String {
        let d = BASE64URL_NOPAD.encode(&self.seed);
        format!(r#"{{{},"d":"{d}"}}"#, self.members())
    }

    /// The public key as a JSON Web Key.
    pub fn public_jwk(&self) -> String {
        format!("{{{}}}", self.members())
    }

    fn members(&self) -> String {
        let x = BASE64URL_NOPAD.encode(self.pair.public_key().as_ref());
        let id = &self.id;
        format!(r#""kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":"{id}","x":"{x}""#)
    }

    /// A token with these claims, which are a JSON object.
    pub fn sign(&self, claims: &str) -> String {
        let header = format!(r#"{{"alg":"EdDSA","typ":"JWT","kid":"{}"}}"#, self.id);
        let encoded = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
        let signed = format!("{}.{}", encoded(&header), encoded(claims));
        let signature = BASE64URL_NOPAD.encode(self.pair.sign(signed.as_bytes()).as_ref());
        format!("{signed}.{signature}")
    }
}

impl std::fmt::Debug for TokenSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenSigner({})", self.id)
    }
}
