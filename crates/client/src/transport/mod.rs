//! The connection that carries bytes to a broker: TCP, TLS over it, a WebSocket over either, or a Unix
//! socket. Knows nothing of MQTT.

mod dial;
mod failure;
mod tls;

use tokio::io::{AsyncRead, AsyncWrite};

pub(crate) use dial::dial;
pub(crate) use failure::loss_of;
pub(crate) use tls::Trust;
pub use tls::{ClientTlsError, ClientTlsFiles};

/// Carries bytes both ways.
pub(crate) trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}
