//! Certificates for tests: an authority, and what it signs.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use slipring_engine::{ClientCertificates, ClientName, ListenerSettings, TlsFiles};

use crate::Folder;

/// An authority.
pub struct Authority {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub struct Paper {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate for these names, of a subject with this common name.
    pub fn sign(&self, names: &[&str], common_name: &str) -> Paper {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, common_name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Paper { certificate, key: key.serialize_pem() }
    }

    /// What a client needs that trusts this authority.
    pub fn client(&self, paper: Option<&Paper>) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        Arc::new(match paper {
            None => builder.with_no_client_auth(),
            Some(paper) => {
                let chain = CertificateDer::from_pem_slice(paper.certificate.as_bytes()).unwrap();
                let key = PrivateKeyDer::from_pem_slice(paper.key.as_bytes()).unwrap();
                builder.with_client_auth_cert(vec![chain], key).unwrap()
            }
        })
    }
}

/// The files of a TLS listener.
pub struct Files {
    pub authority: Authority,
    pub certificate: PathBuf,
    pub key: PathBuf,
    pub client_ca: PathBuf,
    pub folder: Folder,
}

impl Files {
    pub fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let authority = Authority::new();
        let paper = authority.sign(&["localhost", "127.0.0.1"], "broker");
        Self {
            certificate: folder.write("server.pem", &paper.certificate),
            key: folder.write("server.key", &paper.key),
            client_ca: folder.write("ca.pem", &authority.pem),
            authority,
            folder,
        }
    }

    /// TLS that asks for no client certificate.
    pub fn tls(&self) -> TlsFiles {
        TlsFiles {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            client_ca: None,
            client_certificates: ClientCertificates::default(),
            client_name: ClientName::default(),
            client_crl: Vec::new(),
        }
    }

    pub fn tls_with_clients(&self, client_certificates: ClientCertificates) -> TlsFiles {
        TlsFiles { client_ca: Some(self.client_ca.clone()), client_certificates, ..self.tls() }
    }
}

/// A listener on a free port with TLS.
pub fn listener(tls: TlsFiles) -> ListenerSettings {
    ListenerSettings { tls: Some(tls), ..ListenerSettings::tcp("secure", "127.0.0.1:0") }
}
