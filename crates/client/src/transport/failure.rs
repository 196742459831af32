//! What went wrong on a stream, as a loss: TLS hides its reasons inside errors of input and output.

use std::io;

use rustls::{AlertDescription, CertificateError, Error};

use crate::Loss;

/// The loss that an error of the handshake stands for.
pub(super) fn handshake_loss(error: &io::Error) -> Loss {
    match loss_of(error) {
        Loss::Network { what } => Loss::Tls { what },
        loss => loss,
    }
}

/// The loss that an error of a stream stands for.
pub(crate) fn loss_of(error: &io::Error) -> Loss {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidCertificate(fault)) => certificate_loss(fault),
        Some(Error::AlertReceived(alert)) if is_about_certificate(*alert) => {
            Loss::CertificateRefused { what: format!("{alert:?}") }
        }
        Some(error) => Loss::Tls { what: error.to_string() },
        None => Loss::Network { what: error.to_string() },
    }
}

fn certificate_loss(fault: &CertificateError) -> Loss {
    match fault {
        CertificateError::UnknownIssuer => {
            Loss::Untrusted { what: "an authority we do not know has signed it".to_owned() }
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            Loss::OtherName { asked: expected.to_str().into_owned(), names: presented.join(", ") }
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            Loss::NotValidNow { what: "it has expired" }
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Loss::NotValidNow { what: "its time has not begun" }
        }
        fault => Loss::Untrusted { what: fault.to_string() },
    }
}

/// TLS 1.3 tells a client only after the handshake that its certificate will not do.
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
