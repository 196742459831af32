//! TLS: reads the files of a listener, and does handshakes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{RootCertStore, ServerConfig};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::certificate;
use super::settings::{ClientCertificates, TlsFiles};
use super::socket::Socket;
use super::trust::{PeerCertificates, TlsContents, TlsTrust};
use super::turn::in_turn;

/// A file that TLS cannot use.
#[derive(Debug, thiserror::Error)]
#[error("{} {fault}", file.display())]
pub struct TlsError {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub fault: TlsFault,
}

/// What is wrong with a file of certificates or keys.
#[derive(Debug, thiserror::Error)]
pub enum TlsFault {
    /// It is missing, or the broker may not read it.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// It is damaged.
    #[error("is not PEM: {0}")]
    NotPem(String),
    /// It holds something else.
    #[error("has no certificate in it (-----BEGIN CERTIFICATE-----)")]
    NoCertificate,
    /// It holds something else.
    #[error("has no private key in it (-----BEGIN PRIVATE KEY-----, without a passphrase)")]
    NoKey,
    /// It holds something else.
    #[error("has no revocation list in it (-----BEGIN X509 CRL-----)")]
    NoList,
    /// The key is another certificate's.
    #[error("is not the key of the certificate in {}", .0.display())]
    OtherKey(PathBuf),
    /// The certificate or the key is of a kind that cannot be used.
    #[error("cannot be used: {0}")]
    Unusable(rustls::Error),
}

impl TlsFault {
    fn of(self, file: &Path) -> TlsError {
        TlsError { file: file.into(), fault: self }
    }
}

/// Reads a listener's files.
pub(super) fn read_contents(files: &TlsFiles) -> Result<TlsContents, TlsError> {
    let certificates = certificates(&files.certificate)?;
    let key = key(&files.key)?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| TlsFault::Unusable(error).of(&files.certificate))?;
    let verifier = files.client_ca.as_deref().map(|file| verifier(file, files)).transpose()?;
    let builder = match &verifier {
        Some(verifier) => builder.with_client_cert_verifier(Arc::clone(verifier)),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(certificates, key).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            TlsFault::OtherKey(files.certificate.clone()).of(&files.key)
        }
        rustls::Error::InvalidCertificate(_) => TlsFault::Unusable(error).of(&files.certificate),
        error => TlsFault::Unusable(error).of(&files.key),
    })?;
    if files.client_ca.is_some() {
        // Every connection proves its certificate; TLS sessions are not resumed.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
    } else {
        // Clients that all come back at once resume their TLS sessions by tickets, which take none of our memory.
        config.ticketer = ring::Ticketer::new()
            .map_err(|error| TlsFault::Unusable(error).of(&files.certificate))?;
    }
    Ok(TlsContents { acceptor: TlsAcceptor::from(Arc::new(config)), verifier })
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(TlsFault::NoCertificate.of(file)),
        Ok(found) => Ok(found),
        Err(error) => Err(not_pem(&error).of(file)),
    }
}

fn key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&read(file)?).map_err(|error| match error {
        pem::Error::NoItemsFound => TlsFault::NoKey.of(file),
        error => not_pem(&error).of(file),
    })
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(file).map_err(|error| TlsFault::Unreadable(error).of(file))
}

/// Describes an error; the library would show lines as lists of bytes.
fn not_pem(error: &pem::Error) -> TlsFault {
    TlsFault::NotPem(match error {
        pem::Error::MissingSectionEnd { end_marker } => {
            format!("'{}' has no end", String::from_utf8_lossy(end_marker).trim_end())
        }
        pem::Error::IllegalSectionStart { line } => {
            format!("the line '{}'", String::from_utf8_lossy(line).trim_end())
        }
        error => error.to_string(),
    })
}

/// The revocation lists of these files.
fn revocation_lists(
    files: &[PathBuf],
) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let mut lists = Vec::new();
    for file in files {
        let pem = read(file)?;
        let found: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(&pem).collect();
        let found = found.map_err(|error| not_pem(&error).of(file))?;
        if found.is_empty() {
            return Err(TlsFault::NoList.of(file));
        }
        lists.extend(found);
    }
    Ok(lists)
}

/// With revocation lists, every certificate of a client's chain must be on none of them, and the list of its
/// authority must be there: what is not known is refused.
fn verifier(file: &Path, files: &TlsFiles) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| TlsFault::Unusable(error).of(file))?;
    }
    let provider = Arc::new(ring::default_provider());
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = builder.with_crls(revocation_lists(&files.client_crl)?);
    let builder = match files.client_certificates {
        ClientCertificates::Required => builder,
        ClientCertificates::Optional => builder.allow_unauthenticated(),
    };
    let wrong = files.client_crl.first().map_or(file, PathBuf::as_path);
    builder
        .build()
        .map_err(|error| TlsFault::Unusable(rustls::Error::General(error.to_string())).of(wrong))
}

/// What a client has shown in its handshakes.
#[derive(Debug, Default)]
pub(super) struct ShownCertificate {
    /// The name that it proves.
    pub user: Option<String>,
    pub certificates: Option<PeerCertificates>,
}

/// Does the handshake.
///
/// The stream is boxed because it is large, and would be moved often.
pub(super) async fn handshake(
    trust: Arc<TlsTrust>,
    socket: Socket,
    turns: Arc<Semaphore>,
) -> std::io::Result<(Box<TlsStream<Socket>>, ShownCertificate)> {
    let contents = trust.now();
    let stream = Box::new(in_turn(&turns, contents.acceptor.accept(socket)).await?);
    let chain = stream.get_ref().1.peer_certificates();
    let own = chain.and_then(<[_]>::first);
    let user = own.and_then(|own| certificate::name(own, trust.files().client_name));
    let certificates = trust.shown(contents, chain);
    Ok((stream, ShownCertificate { user, certificates }))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};
    use rustls::pki_types::ServerName;
    use tokio::net::UnixStream;
    use tokio_rustls::TlsConnector;

    use super::super::settings::ClientName;
    use super::*;

    #[test]
    fn the_name_of_a_client_certificate_is_handed_on() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = std::env::temp_dir().join(format!("slipring-names-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut params = CertificateParams::new(["localhost".into()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "aircraft-7");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let files = TlsFiles {
            certificate: folder.join("server.pem"),
            key: folder.join("server.key"),
            client_ca: Some(folder.join("server.pem")),
            client_certificates: ClientCertificates::Optional,
            client_name: ClientName::Auto,
            client_crl: Vec::new(),
        };
        std::fs::write(&files.certificate, certificate.pem()).unwrap();
        std::fs::write(&files.key, key.serialize_pem()).unwrap();
        let trust = TlsTrust::read(&files).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();

        let mut roots = RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let client = |shown: bool| {
            let provider = Arc::new(ring::default_provider());
            let builder = rustls::ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots.clone());
            if shown {
                let key = PrivateKeyDer::from_pem_slice(key.serialize_pem().as_bytes()).unwrap();
                builder.with_client_auth_cert(vec![certificate.der().clone()], key).unwrap()
            } else {
                builder.with_no_client_auth()
            }
        };
        for (shown, expected) in [(true, Some("aircraft-7".to_string())), (false, None)] {
            runtime.block_on(async {
                let (ours, theirs) = UnixStream::pair().unwrap();
                let connector = TlsConnector::from(Arc::new(client(shown)));
                let name = ServerName::try_from("localhost").unwrap();
                let (served, dialled) = tokio::join!(
                    handshake(Arc::clone(&trust), Socket::Unix(ours), Arc::new(Semaphore::new(1))),
                    connector.connect(name, theirs)
                );
                assert!(dialled.is_ok());
                let (_, found) = served.unwrap();
                assert_eq!(found.certificates.is_some(), expected.is_some());
                assert_eq!(found.user, expected);
            });
        }
    }
}
