//! Whom a client trusts, and how it proves itself: files read once, before it connects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::{ClientConfig, WantsClientCert};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ConfigBuilder, RootCertStore};
use tokio_rustls::TlsConnector;

/// What TLS is done with; the system's authorities and no certificate, if nothing is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The authorities that may have signed the broker's certificate, instead of the system's.
    pub ca: Option<PathBuf>,
    /// This client's certificate, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name that the broker's certificate must hold, if not the address's host.
    pub server_name: Option<String>,
}

/// Why TLS cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// Missing, not readable, or something else than it should be.
    #[error("{} {what}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The key is another certificate's.
    #[error("{} is not the key of the certificate in {}", key.display(), certificate.display())]
    OtherKey {
        /// The file of the key.
        key: PathBuf,
        /// The file of the certificate.
        certificate: PathBuf,
    },
    /// Nobody to trust.
    #[error("this system names no authorities to trust ({0}); give the file of one (ca)")]
    NoAuthorities(String),
    /// Not a name that a certificate can hold.
    #[error("{0:?} is not a name that a certificate can hold; give one as server name")]
    Name(String),
    /// TLS was asked for where there is none.
    #[error("TLS was asked for, but {0} is without; write mqtts://host:port or wss://host:port")]
    NotTls(String),
}

/// Files, read: ready to shake hands.
pub(crate) struct Trust {
    pub connector: TlsConnector,
    pub name: ServerName<'static>,
}

impl Trust {
    pub fn read(files: &TlsFiles, host: &str) -> Result<Self, TlsError> {
        let name = files.server_name.as_deref().unwrap_or(host);
        let name =
            ServerName::try_from(name.to_owned()).map_err(|_| TlsError::Name(name.to_owned()))?;
        let roots = match &files.ca {
            Some(file) => roots_of(file)?,
            None => roots_of_system()?,
        };
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring offers what TLS 1.2 and 1.3 need")
            .with_root_certificates(roots);
        let config = match &files.identity {
            Some((certificate, key)) => with_identity(builder, certificate, key)?,
            None => builder.with_no_client_auth(),
        };
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), name })
    }
}

fn with_identity(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    certificate: &Path,
    key: &Path,
) -> Result<ClientConfig, TlsError> {
    let chain = certificates(certificate)?;
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|_| broken(key, "has no private key in it (PEM, without a passphrase)"))?;
    builder.with_client_auth_cert(chain, secret).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            TlsError::OtherKey { key: key.into(), certificate: certificate.into() }
        }
        error => broken(certificate, &format!("cannot be used: {error}")),
    })
}

fn roots_of(file: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        let added = roots.add(certificate);
        added.map_err(|error| broken(file, &format!("cannot be used: {error}")))?;
    }
    Ok(roots)
}

/// A store often has a few that cannot be used; the others count.
fn roots_of_system() -> Result<RootCertStore, TlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(TlsError::NoAuthorities(why));
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(broken(file, "has no certificate in it (PEM, -----BEGIN CERTIFICATE-----)")),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(file).map_err(|error| broken(file, &format!("cannot be read: {error}")))
}

fn broken(file: &Path, what: &str) -> TlsError {
    TlsError::File { file: file.into(), what: what.to_owned() }
}
