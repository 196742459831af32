//! A listener for Python.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipring_engine::{ClientCertificates, ClientName, ListenerSettings, TlsFiles};

/// An address where clients connect, immutable.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct Listener(pub ListenerSettings);

#[pymethods]
impl Listener {
    #[new]
    #[pyo3(signature = (name, listen, *, websocket=false, origins=Vec::new(), certificate=None,
        key=None, client_ca=None, client_certificates="required",
        client_name="auto", client_crl=Vec::new()))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python, one for each setting")]
    fn new(
        name: String,
        listen: String,
        websocket: bool,
        origins: Vec<String>,
        certificate: Option<PathBuf>,
        key: Option<PathBuf>,
        client_ca: Option<PathBuf>,
        client_certificates: &str,
        client_name: &str,
        client_crl: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let client_certificates = match client_certificates {
            "required" => ClientCertificates::Required,
            "optional" => ClientCertificates::Optional,
            other => return Err(PyValueError::new_err(format!("client_certificates: '{other}'"))),
        };
        let client_name = match client_name {
            "auto" => ClientName::Auto,
            "cn" => ClientName::CommonName,
            "san-dns" => ClientName::Dns,
            "san-uri" => ClientName::Uri,
            "san-email" => ClientName::Email,
            other => return Err(PyValueError::new_err(format!("client_name: '{other}'"))),
        };
        let tls = match (certificate, key) {
            (Some(certificate), Some(key)) => Some(TlsFiles {
                certificate,
                key,
                client_ca,
                client_certificates,
                client_name,
                client_crl,
            }),
            (None, None) if client_ca.is_none() => None,
            _ => return Err(PyValueError::new_err("TLS needs a certificate and its key")),
        };
        Ok(Self(ListenerSettings { name, listen, websocket, origins, tls }))
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
