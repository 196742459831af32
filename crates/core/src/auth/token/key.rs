//! A public key that checks tokens. Its kind decides the algorithm, never the token.

use data_encoding::BASE64URL_NOPAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents,
    UnparsedPublicKey,
};

use super::super::secret::{Digest, sha256};
use super::json::{Members, StrictJson};

/// Bits that an RSA key has at least; shorter ones can be factored, or soon.
const RSA_BITS_MIN: usize = 2_048;
const RSA_BITS_MAX: usize = 8_192;
/// Bytes of a key identifier.
pub(super) const KEY_ID_BYTES_MAX: usize = 256;

/// How tokens are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenAlgorithm {
    /// Ed25519 (RFC 8037).
    EdDsa,
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// RSA PKCS #1 1.5 with SHA-256.
    Rs256,
}

impl TokenAlgorithm {
    /// The name in headers and keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Es256 => "ES256",
            Self::Rs256 => "RS256",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::EdDsa, Self::Es256, Self::Rs256].into_iter().find(|known| known.name() == name)
    }
}

/// A public key with its identifier.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct TokenKey {
    /// An opaque text that is only compared.
    pub id: Option<Box<str>>,
    pub algorithm: TokenAlgorithm,
    material: Material,
}

#[derive(Clone, PartialEq, Eq)]
enum Material {
    /// Ed25519, or an uncompressed point of P-256.
    Point(Box<[u8]>),
    Rsa {
        modulus: Box<[u8]>,
        exponent: Box<[u8]>,
    },
}

impl TokenKey {
    /// Reads a JSON Web Key (RFC 7517); the text says why it cannot check tokens.
    pub fn of(jwk: &Members) -> Result<Self, String> {
        let text = |name: &str| jwk.get(name).and_then(StrictJson::text);
        let id = match jwk.get("kid") {
            None => None,
            Some(StrictJson::Text(id)) if id.len() <= KEY_ID_BYTES_MAX => Some(id.as_str()),
            Some(_) => return Err("its kid is no text, or too long a one".into()),
        };
        let named = || id.map_or("a key without kid".to_owned(), |id| format!("key {id:?}"));
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return Err(format!("{} is not for signatures", named()));
        }
        if jwk.get("key_ops").is_some_and(|uses| !may_verify(uses)) {
            return Err(format!("{} is not for checking signatures (key_ops)", named()));
        }
        if jwk.contains_key("d") {
            return Err(format!(
                "{} has its private part (d) in it; whoever read it could sign",
                named()
            ));
        }
        let (algorithm, material) = material(jwk).map_err(|why| format!("{}: {why}", named()))?;
        if let Some(other) = text("alg").filter(|name| *name != algorithm.name()) {
            return Err(format!("{} is for {other:?}, not {}", named(), algorithm.name()));
        }
        Ok(Self { id: id.map(Into::into), algorithm, material })
    }

    /// Whether the signature of a message is by this key.
    pub fn verifies(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match (self.algorithm, &self.material) {
            (TokenAlgorithm::EdDsa, Material::Point(point)) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            (TokenAlgorithm::Es256, Material::Point(point)) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (TokenAlgorithm::Rs256, Material::Rsa { modulus, exponent }) => {
                RsaPublicKeyComponents { n: modulus, e: exponent }.verify(
                    &RSA_PKCS1_2048_8192_SHA256,
                    message,
                    signature,
                )
            }
            _ => return false,
        };
        verified.is_ok()
    }

    /// What tells this key from every other one.
    pub fn fingerprint(&self) -> Digest {
        match &self.material {
            Material::Point(point) => sha256(point),
            Material::Rsa { modulus, .. } => sha256(modulus),
        }
    }
}

/// Whether this list of uses has the one for which the broker reads keys (RFC 7517, 4.3).
fn may_verify(uses: &StrictJson) -> bool {
    uses.texts().is_some_and(|uses| uses.contains(&"verify"))
}

fn material(jwk: &Members) -> Result<(TokenAlgorithm, Material), String> {
    let text = |name: &str| jwk.get(name).and_then(StrictJson::text).unwrap_or_default();
    let bytes = |name: &str| {
        BASE64URL_NOPAD
            .decode(text(name).as_bytes())
            .map_err(|_| format!("its '{name}' is not base64url"))
    };
    match (text("kty"), text("crv")) {
        ("OKP", "Ed25519") => {
            let point = sized(bytes("x")?, 32)?;
            Ok((TokenAlgorithm::EdDsa, Material::Point(point.into())))
        }
        ("EC", "P-256") => {
            let (x, y) = (sized(bytes("x")?, 32)?, sized(bytes("y")?, 32)?);
            let point = [&[4][..], &x, &y].concat();
            Ok((TokenAlgorithm::Es256, Material::Point(point.into())))
        }
        ("RSA", _) => {
            let (modulus, exponent) = (stripped(&bytes("n")?), stripped(&bytes("e")?));
            check_rsa(&modulus, &exponent)?;
            Ok((TokenAlgorithm::Rs256, Material::Rsa { modulus, exponent }))
        }
        ("oct", _) => Err("a shared secret (oct) never checks tokens here".into()),
        (kind, curve) => Err(format!(
            "kty {kind:?} {curve:?} is not supported; OKP Ed25519, EC P-256 and RSA are"
        )),
    }
}

fn check_rsa(modulus: &[u8], exponent: &[u8]) -> Result<(), String> {
    let unused = modulus.first().map_or(0, |byte| byte.leading_zeros() as usize);
    let bits = modulus.len() * 8 - unused;
    if !(RSA_BITS_MIN..=RSA_BITS_MAX).contains(&bits) {
        return Err(format!(
            "it is an RSA key of {bits} bits; {RSA_BITS_MIN} to {RSA_BITS_MAX} are accepted"
        ));
    }
    // Smaller exponents have made forged signatures possible; ring refuses them too.
    let value = exponent.iter().take(5).fold(0, |value: u64, byte| value << 8 | u64::from(*byte));
    if exponent.len() > 4 || value < 65_537 || value % 2 == 0 {
        return Err("its exponent 'e' is not an odd number from 65537 on".into());
    }
    Ok(())
}

fn sized(bytes: Vec<u8>, count: usize) -> Result<Vec<u8>, String> {
    if bytes.len() != count {
        return Err(format!("a coordinate has {} bytes, not {count}", bytes.len()));
    }
    Ok(bytes)
}

/// A number without zeros in front.
fn stripped(bytes: &[u8]) -> Box<[u8]> {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes[zeros..].into()
}
