//! Tokens for Python: keys, signing, and the rules that say which are accepted.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use slipring_core::access::Identity;
use slipring_core::{TokenGrant, TokenIssuer, TokenKeys, TokenSigner};
use slipring_engine::{Answer, Login, Question, QuestionKind};

use crate::plan::refused;

pyo3::import_exception!(slipring.errors, TokenError);

/// An issuer with its keys, from a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct IssuerDict {
    issuer: String,
    /// JSON Web Keys, or sets of them.
    keys: Vec<String>,
    audience: Vec<String>,
    user_claim: String,
    roles_claim: String,
    leeway_s: u32,
}

impl IssuerDict {
    fn issuer(self) -> PyResult<TokenIssuer> {
        let mut keys = TokenKeys::default();
        for text in &self.keys {
            keys.merge(TokenKeys::read(text).map_err(refused)?.0);
        }
        Ok(TokenIssuer {
            issuer: self.issuer.into(),
            keys,
            audience: self.audience.into_iter().map(Into::into).collect(),
            user_claim: self.user_claim.into(),
            roles_claim: self.roles_claim.into(),
            leeway_s: i64::from(self.leeway_s),
        })
    }
}

/// Which tokens are accepted, immutable.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct TokenRules(pub(crate) Arc<slipring_core::TokenRules>);

#[pymethods]
impl TokenRules {
    #[new]
    fn new(
        issuers: Vec<IssuerDict>,
        revoked: BTreeMap<String, i64>,
        revoked_users: BTreeMap<String, i64>,
    ) -> PyResult<Self> {
        let issuers = issuers.into_iter().map(IssuerDict::issuer).collect::<PyResult<_>>()?;
        let rules = slipring_core::TokenRules::new(issuers, boxed(revoked), boxed(revoked_users));
        Ok(Self(Arc::new(rules)))
    }

    /// Who a token names and until when; raises `TokenError` with the reason if it is not accepted.
    fn verify<'py>(
        &self,
        py: Python<'py>,
        token: &[u8],
        now_s: i64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let verified = py.detach(|| self.0.verify(token, now_s));
        shown(py, &verified.map_err(|error| TokenError::new_err(error.what()))?)
    }
}

fn boxed(times: BTreeMap<String, i64>) -> HashMap<Box<str>, i64> {
    times.into_iter().map(|(name, at_s)| (name.into(), at_s)).collect()
}

fn shown<'py>(py: Python<'py>, grant: &TokenGrant) -> PyResult<Bound<'py, PyDict>> {
    let identity = &grant.identity;
    let texts = |list: &[Box<str>]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let claims: Vec<(&str, &str)> = identity.claims.iter().map(|(k, v)| (&**k, &**v)).collect();
    let found = PyDict::new(py);
    found.set_item("user", grant.user())?;
    found.set_item("roles", texts(&identity.roles))?;
    found.set_item("claims", claims)?;
    found.set_item("issuer", &*grant.issuer)?;
    found.set_item("audience", texts(&grant.audience))?;
    found.set_item("id", grant.id.as_deref())?;
    found.set_item("issued_s", grant.issued_s)?;
    found.set_item("expires_s", grant.expires_s)?;
    Ok(found)
}

/// A private key of 32 random bytes, as a JSON Web Key.
#[pyfunction]
fn make_token_key(seed: [u8; 32]) -> String {
    TokenSigner::from_seed(seed).private_jwk()
}

/// The identifier of a private key, and its public key as a JSON Web Key.
#[pyfunction]
fn public_token_key(private_key: &str) -> PyResult<(String, String)> {
    let signer = TokenSigner::from_jwk(private_key).map_err(refused)?;
    Ok((signer.id().to_owned(), signer.public_jwk()))
}

/// A token with these claims, a JSON object.
#[pyfunction]
fn sign_token(private_key: &str, claims: &str) -> PyResult<String> {
    Ok(TokenSigner::from_jwk(private_key).map_err(refused)?.sign(claims))
}

/// The identifier and algorithm of each key of a set, and why others of it cannot be used.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "two lists")]
fn read_token_keys(text: &str) -> PyResult<(Vec<(Option<String>, &'static str)>, Vec<String>)> {
    let (keys, refused_keys) = TokenKeys::read(text).map_err(refused)?;
    let listed = keys.listed().map(|(id, algorithm)| (id.map(Into::into), algorithm.name()));
    Ok((listed.collect(), refused_keys))
}

/// A question of the engine as a dictionary, with `kind` `keys` or `login`.
pub(crate) fn question(py: Python<'_>, asked: Question) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("number", asked.number)?;
    match asked.asked {
        QuestionKind::Keys(issuer) => {
            found.set_item("kind", "keys")?;
            found.set_item("issuer", issuer)?;
        }
        QuestionKind::Login(login) => {
            let Login { client_id, user_name, password, address, listener } = login;
            found.set_item("kind", "login")?;
            found.set_item("client_id", client_id)?;
            found.set_item("user_name", user_name)?;
            found.set_item("password", PyBytes::new(py, password.as_ref()))?;
            found.set_item("address", address)?;
            found.set_item("listener", listener)?;
        }
    }
    Ok(found)
}

/// Who a service elsewhere has allowed, and for how many seconds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AllowedDict {
    user: Option<String>,
    roles: Vec<String>,
    claims: Vec<(String, String)>,
    expires_s: Option<f64>,
}

impl From<AllowedDict> for Answer {
    fn from(allowed: AllowedDict) -> Self {
        let claims = allowed.claims.into_iter().map(|(name, value)| (name.into(), value.into()));
        let identity = Identity {
            user: allowed.user.map(Into::into),
            roles: allowed.roles.into_iter().map(Into::into).collect(),
            claims: claims.collect(),
        };
        let lasts = allowed.expires_s.map(|s| Duration::try_from_secs_f64(s).unwrap_or_default());
        Self::Allowed(Arc::new(identity), lasts)
    }
}

/// Adds tokens to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<TokenRules>()?;
    module.add_function(wrap_pyfunction!(make_token_key, module)?)?;
    module.add_function(wrap_pyfunction!(public_token_key, module)?)?;
    module.add_function(wrap_pyfunction!(sign_token, module)?)?;
    module.add_function(wrap_pyfunction!(read_token_keys, module)?)
}
