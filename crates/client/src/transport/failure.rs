//! Turns an I/O error into a loss. TLS wraps its own errors in I/O errors.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};
use slipring_protocol::ConnectionLoss;

/// The loss for an error of the TLS handshake.
pub(super) fn handshake_loss(error: &io::Error) -> ConnectionLoss {
    match loss_of(error) {
        ConnectionLoss::Network { what } => ConnectionLoss::Tls { what },
        loss => loss,
    }
}

/// The loss for an error of a connection.
pub(crate) fn loss_of(error: &io::Error) -> ConnectionLoss {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidCertificate(fault)) => certificate_loss(fault),
        Some(Error::AlertReceived(alert)) if is_about_certificate(*alert) => {
            ConnectionLoss::CertificateRefused { what: format!("{alert:?}") }
        }
        Some(error) => ConnectionLoss::Tls { what: error.to_string() },
        None => ConnectionLoss::Network { what: error.to_string() },
    }
}

fn certificate_loss(fault: &CertificateError) -> ConnectionLoss {
    match fault {
        CertificateError::UnknownIssuer => ConnectionLoss::Untrusted {
            what: "an authority we do not know has signed it".to_owned(),
        },
        CertificateError::NotValidForNameContext { expected, presented } => {
            ConnectionLoss::OtherName {
                asked: expected.to_str().into_owned(),
                names: presented.join(", "),
            }
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ConnectionLoss::NotValidNow { what: "it has expired" }
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ConnectionLoss::NotValidNow { what: "its time has not begun" }
        }
        fault => ConnectionLoss::Untrusted { what: fault.to_string() },
    }
}

/// Alerts about the client's certificate. With TLS 1.3 they come after the handshake.
fn is_about_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
    )
}
