//! What a TLS listener trusts at this moment: replaced as a whole when its files have changed, for handshakes and
//! for the certificates that open connections have shown.

use std::sync::Arc;

use arc_swap::ArcSwap;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use tokio_rustls::TlsAcceptor;

use super::settings::TlsFiles;
use super::tls::{self, TlsError};

/// The contents of a listener's files, ready to use.
pub(super) struct TlsContents {
    pub acceptor: TlsAcceptor,
    /// None if no client is asked for a certificate.
    pub verifier: Option<Arc<dyn ClientCertVerifier>>,
}

/// A TLS listener's files, and what they held when they were read last.
pub(crate) struct TlsTrust {
    files: TlsFiles,
    contents: ArcSwap<TlsContents>,
}

/// The certificates that a client has shown, its own first.
#[derive(Clone)]
pub(crate) struct PeerCertificates {
    chain: Arc<[CertificateDer<'static>]>,
    trust: Arc<TlsTrust>,
    /// What the listener trusted when it verified them.
    verified: Arc<TlsContents>,
}

impl TlsTrust {
    pub fn read(files: &TlsFiles) -> Result<Arc<Self>, TlsError> {
        let contents = ArcSwap::from_pointee(tls::read_contents(files)?);
        Ok(Arc::new(Self { files: files.clone(), contents }))
    }

    /// Reads the files again. After an error nothing has changed.
    pub fn read_again(&self) -> Result<(), TlsError> {
        self.contents.store(Arc::new(tls::read_contents(&self.files)?));
        Ok(())
    }

    pub(super) fn now(&self) -> Arc<TlsContents> {
        self.contents.load_full()
    }

    /// What a client of this listener has shown; None if it showed nothing.
    pub(super) fn shown(
        self: &Arc<Self>,
        verified: Arc<TlsContents>,
        chain: Option<&[CertificateDer<'_>]>,
    ) -> Option<PeerCertificates> {
        let owned = |one: &CertificateDer<'_>| one.clone().into_owned();
        let chain = chain?.iter().map(owned).collect();
        Some(PeerCertificates { chain, trust: Arc::clone(self), verified })
    }

    pub(super) fn files(&self) -> &TlsFiles {
        &self.files
    }
}

impl PeerCertificates {
    /// Whether the listener would let them in now. Costs nothing while its files have not changed.
    pub fn are_trusted(&self) -> bool {
        let now = self.trust.contents.load();
        if Arc::ptr_eq(&now, &self.verified) {
            return true;
        }
        let Some((own, others)) = self.chain.split_first() else { return false };
        let verifier = now.verifier.as_ref();
        verifier.is_some_and(|verifier| {
            verifier.verify_client_cert(own, others, UnixTime::now()).is_ok()
        })
    }
}

impl std::fmt::Debug for PeerCertificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PeerCertificates({})", self.chain.len())
    }
}
