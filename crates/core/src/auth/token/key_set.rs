//! The public keys of one issuer.

use super::error::TokenKeyError;
use super::json::{Members, StrictJson};
use super::key::{TokenAlgorithm, TokenKey};

/// Keys of one issuer.
const KEYS_MAX: usize = 256;
/// Refused keys that an error names.
const NAMED_MAX: usize = 4;

/// The keys that an issuer signs with. A key is found by its identifier, which is only compared.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TokenKeys {
    keys: Vec<TokenKey>,
}

impl TokenKeys {
    /// Reads one key (JWK) or a set (JWKS). Keys of a set that cannot check tokens are left out; the texts say why. An
    /// issuer may publish keys for encryption and newer algorithms beside those that it signs with.
    pub fn read(text: &str) -> Result<(Self, Vec<String>), TokenKeyError> {
        let malformed = |what: &str| TokenKeyError::Malformed(what.into());
        let members = StrictJson::object(text.as_bytes())
            .ok_or_else(|| malformed("not a JSON object whose names differ"))?;
        let jwks = match members.get("keys") {
            None => vec![&members],
            Some(StrictJson::List(items)) => {
                let objects = items.iter().map(|item| match item {
                    StrictJson::Object(members) => Ok(members),
                    _ => Err(malformed("'keys' has something that is not a key")),
                });
                objects.collect::<Result<_, _>>()?
            }
            Some(_) => return Err(malformed("'keys' is not a list")),
        };
        if jwks.len() > KEYS_MAX {
            return Err(TokenKeyError::TooMany(KEYS_MAX));
        }
        let (keys, refused) = Self::usable(&jwks);
        if keys.keys.is_empty() && !refused.is_empty() {
            let named = &refused[..refused.len().min(NAMED_MAX)];
            return Err(TokenKeyError::NoneUsable(named.join("; ")));
        }
        Ok((keys, refused))
    }

    fn usable(jwks: &[&Members]) -> (Self, Vec<String>) {
        let (mut keys, mut refused) = (Self::default(), Vec::new());
        for jwk in jwks {
            match TokenKey::of(jwk) {
                Ok(key) => refused.extend(keys.add(key)),
                Err(why) => refused.push(why),
            }
        }
        (keys, refused)
    }

    /// Adds the keys of another set; the same key twice is one.
    pub fn merge(&mut self, other: Self) {
        for key in other.keys {
            let _ = self.add(key);
        }
    }

    /// Adds a key; refuses a second one with the same identifier.
    fn add(&mut self, key: TokenKey) -> Option<String> {
        let twin =
            self.keys.iter().find(|known| known.id == key.id && known.algorithm == key.algorithm);
        if let Some(twin) = twin {
            let is_other = *twin != key;
            return is_other.then(|| format!("two keys have the kid {:?}", key.id));
        }
        self.keys.push(key);
        None
    }

    /// The key for a token. A token without an identifier is checked with the only key of its algorithm.
    pub(super) fn find(&self, id: Option<&str>, algorithm: TokenAlgorithm) -> Option<&TokenKey> {
        let same = |key: &&TokenKey| key.algorithm == algorithm;
        if let Some(id) = id {
            let mut named = self.keys.iter().filter(|key| key.id.as_deref() == Some(id));
            return named.clone().find(same).or_else(|| named.next());
        }
        let mut fitting = self.keys.iter().filter(same);
        let only = fitting.next()?;
        fitting.next().is_none().then_some(only)
    }

    pub(super) fn has(&self, fingerprint: &[u8; 32]) -> bool {
        self.keys.iter().any(|key| key.fingerprint() == *fingerprint)
    }

    /// The identifiers and algorithms of the keys.
    pub fn listed(&self) -> impl Iterator<Item = (Option<&str>, TokenAlgorithm)> {
        self.keys.iter().map(|key| (key.id.as_deref(), key.algorithm))
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

impl std::fmt::Debug for TokenKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TokenKeys({})", self.len())
    }
}
