//! The authorities a client trusts and its own certificate: files that are read once, before it
//! connects.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::{ClientConfig, WantsClientCert};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ConfigBuilder, RootCertStore};
use tokio_rustls::TlsConnector;
use zeroize::Zeroizing;

/// The files for TLS; by default the system's authorities, and no certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientTlsFiles {
    /// The authorities that may have signed the broker's certificate, instead of the system's.
    pub ca: Option<PathBuf>,
    /// This client's certificate, and its key.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// The name that the broker's certificate must hold, if not the address's host.
    pub server_name: Option<String>,
}

/// Why the files for TLS cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ClientTlsError {
    /// A file is missing, not readable, or not what it should be.
    #[error("{} {what}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Others can read the key.
    #[error("{0}")]
    Secret(String),
    /// The key is another certificate's.
    #[error("{} is not the key of the certificate in {}", key.display(), certificate.display())]
    OtherKey {
        /// The file of the key.
        key: PathBuf,
        /// The file of the certificate.
        certificate: PathBuf,
    },
    /// The system has no authorities.
    #[error("this system names no authorities to trust ({0}); give the file of one (ca)")]
    NoAuthorities(String),
    /// The host or server name cannot be in a certificate.
    #[error("{0:?} is not a name that a certificate can hold; give one as server name")]
    Name(String),
    /// Files for TLS were given with an address without TLS.
    #[error("TLS was asked for, but {0} is without; write mqtts://host:port or wss://host:port")]
    NotTls(String),
}

/// What the handshake needs, made from the files.
pub(crate) struct Trust {
    pub connector: TlsConnector,
    pub name: ServerName<'static>,
}

impl Trust {
    pub fn read(files: &ClientTlsFiles, host: &str) -> Result<Self, ClientTlsError> {
        let name = files.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(name.to_owned())
            .map_err(|_| ClientTlsError::Name(name.to_owned()))?;
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
) -> Result<ClientConfig, ClientTlsError> {
    let chain = certificates(certificate)?;
    let secret = PrivateKeyDer::from_pem_slice(&Zeroizing::new(read(key)?))
        .map_err(|_| broken(key, "has no private key in it (PEM, without a passphrase)"))?;
    crate::check_secret_file(key).map_err(ClientTlsError::Secret)?;
    builder.with_client_auth_cert(chain, secret).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            ClientTlsError::OtherKey { key: key.into(), certificate: certificate.into() }
        }
        error => broken(certificate, &format!("cannot be used: {error}")),
    })
}

fn roots_of(file: &Path) -> Result<RootCertStore, ClientTlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        let added = roots.add(certificate);
        added.map_err(|error| broken(file, &format!("cannot be used: {error}")))?;
    }
    Ok(roots)
}

/// A system's store often has a few certificates that cannot be used; they are skipped.
fn roots_of_system() -> Result<RootCertStore, ClientTlsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let why = found.errors.first().map_or_else(|| "none found".to_owned(), ToString::to_string);
        return Err(ClientTlsError::NoAuthorities(why));
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, ClientTlsError> {
    let pem = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(broken(file, "has no certificate in it (PEM, -----BEGIN CERTIFICATE-----)")),
    }
}

fn read(file: &Path) -> Result<Vec<u8>, ClientTlsError> {
    std::fs::read(file).map_err(|error| broken(file, &format!("cannot be read: {error}")))
}

fn broken(file: &Path, what: &str) -> ClientTlsError {
    ClientTlsError::File { file: file.into(), what: what.to_owned() }
}
