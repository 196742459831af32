//! The options of a connection as Python gives them: a dictionary, one key for each keyword of `connect`.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipring_client::{ClientOptions, ClientTlsFiles};
use slipring_protocol::{ClientWill, ConnectOptions, Credentials, NonceSeed, ProofMethod};
use zeroize::Zeroizing;

use super::rows::{self, PropertiesRow, qos};

/// Topic, payload, QoS, retain, delay in seconds, and the properties of the message.
type WillRow = (String, Vec<u8>, u8, bool, u32, PropertiesRow);

/// The keys, and what they hold.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct OptionsDict {
    client_id: String,
    credentials: CredentialsDict,
    will: Option<WillRow>,
    replaying: bool,
    tls: Option<TlsDict>,
    session_expiry_s: u32,
    clean_start: bool,
    reconnect_s: f64,
    keep_alive_s: u16,
    timeout_s: f64,
    outbox_bytes_max: usize,
    inbox_bytes_max: usize,
}

/// What a client proves its name with: a user name, a password or token, `password`, `scram` or `token`, and
/// whether each connection begins with a new token.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct CredentialsDict {
    user: Option<String>,
    password: Option<Vec<u8>>,
    method: String,
    renewed: bool,
}

/// The keys of `Tls`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct TlsDict {
    ca: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    server_name: Option<String>,
}

impl TryFrom<OptionsDict> for ClientOptions {
    type Error = PyErr;

    fn try_from(given: OptionsDict) -> PyResult<Self> {
        Ok(Self {
            connect: ConnectOptions {
                client_id: given.client_id,
                credentials: given.credentials.try_into()?,
                nonce_seed: NonceSeed::default(),
                will: given.will.map(will).transpose()?,
                replaying: given.replaying,
                session_expiry_s: given.session_expiry_s,
                clean_start: given.clean_start,
                reconnect: seconds(given.reconnect_s)?,
                keep_alive_s: given.keep_alive_s,
                timeout: seconds(given.timeout_s)?,
            },
            tls: given.tls.map(ClientTlsFiles::try_from).transpose()?,
            outbox_bytes_max: given.outbox_bytes_max,
            inbox_bytes_max: given.inbox_bytes_max,
        })
    }
}

impl TryFrom<CredentialsDict> for Credentials {
    type Error = PyErr;

    fn try_from(given: CredentialsDict) -> PyResult<Self> {
        let method = match given.method.as_str() {
            "password" => ProofMethod::Password,
            "scram" => ProofMethod::Scram,
            "token" => ProofMethod::Token,
            other => return Err(PyValueError::new_err(format!("authentication: {other:?}"))),
        };
        let password = given.password.map(Zeroizing::new);
        Ok(Self { user: given.user, password, method, renewed: given.renewed })
    }
}

fn will((topic, payload, level, retain, delay_s, given): WillRow) -> PyResult<ClientWill> {
    let properties =
        rows::encode(&given).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(ClientWill { topic, payload, qos: qos(level)?, retain, delay_s, properties })
}

impl TryFrom<TlsDict> for ClientTlsFiles {
    type Error = PyErr;

    fn try_from(given: TlsDict) -> PyResult<Self> {
        let identity = match (given.certificate, given.key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err(PyValueError::new_err("a certificate needs its key, and the reverse")),
        };
        Ok(Self { ca: given.ca, identity, server_name: given.server_name })
    }
}

/// A time-out that Python gave.
pub(crate) fn seconds(value: f64) -> PyResult<Duration> {
    if value == f64::INFINITY {
        return Ok(Duration::MAX);
    }
    Duration::try_from_secs_f64(value)
        .map_err(|_| PyValueError::new_err(format!("{value} s is not a time")))
}
