//! Where clients connect: every kind of socket that the broker listens on is bound and accepted from here.
//! `door` lets the connections in.

mod arrival;
mod certificate;
mod door;
pub(crate) mod lane;
mod settings;
mod socket;
mod tcp;
mod tls;
mod trust;
mod turn;
#[cfg(test)]
mod udp_tests;
mod unix;
mod websocket;

use std::fmt;
use std::io::{ErrorKind, Result};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, UnixListener};
use tokio::time::{Instant, sleep};

pub use settings::{ClientCertificates, ClientName, ListenerSettings, TlsFiles};
pub use tls::{TlsError, TlsFault};

use crate::StartError;
pub(crate) use door::Door;
use settings::UNIX;
use socket::Socket;
pub(crate) use trust::{PeerCertificates, TlsTrust};
use unix::SocketFile;
use websocket::Origins;

/// What `listen` may begin with instead of a host. The configuration takes these prefixes from here.
pub const LISTEN_PREFIXES: [&str; 1] = [UNIX];
/// Connections the system may queue for us in a burst.
const BACKLOG: i32 = 4096;
/// How long a listener accepts nothing when the system has no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);
/// A listener that cannot accept is reported at most this often.
const REPORT_EVERY: Duration = Duration::from_secs(10);
/// Connections accepted in a row before other tasks run.
const RUN_MAX: u32 = 32;

/// A listener that is bound, with everything it needs to let clients in.
pub(crate) struct Listener {
    /// Its place in the settings and in the plan.
    index: usize,
    pub address: BoundAddress,
    bound: Bound,
    pub tls: Option<Arc<TlsTrust>>,
    /// Which pages may connect; None if the listener does not speak WebSocket.
    websocket: Option<Arc<Origins>>,
}

/// A listening socket. The file of a Unix one stays as long as this does.
enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener, #[allow(dead_code, reason = "held for its drop")] SocketFile),
}

/// The address that a listener is bound to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundAddress {
    /// An address and a port.
    Tcp(SocketAddr),
    /// A socket file.
    Unix(PathBuf),
}

impl BoundAddress {
    /// The address and port, if it has one.
    pub(crate) fn port(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl fmt::Display for BoundAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

/// Binds every listener, or none: those bound before one that fails are closed again. Call it inside the
/// runtime that will serve them.
pub(crate) fn bind_all(
    settings: &[ListenerSettings],
) -> std::result::Result<Vec<Listener>, StartError> {
    if settings.is_empty() {
        return Err(StartError::NoListener);
    }
    for (index, one) in settings.iter().enumerate() {
        if settings[..index].iter().any(|earlier| earlier.name == one.name) {
            return Err(StartError::SameName { name: one.name.clone() });
        }
    }
    settings.iter().enumerate().map(|(index, one)| Listener::bind(index, one)).collect()
}

impl Listener {
    fn bind(index: usize, settings: &ListenerSettings) -> std::result::Result<Self, StartError> {
        let ListenerSettings { name, listen, .. } = settings.clone();
        let tls = match settings.tls.as_ref().map(TlsTrust::read).transpose() {
            Ok(tls) => tls,
            Err(source) => return Err(StartError::Tls { name, source }),
        };
        let (bound, address) = match bind(&listen) {
            Ok(bound) => bound,
            Err(source) => return Err(StartError::Listen { name, listen, source }),
        };
        let is_loopback = address.port().is_some_and(|address| address.ip().is_loopback());
        let origins = || Arc::new(Origins::new(&settings.origins, is_loopback));
        let websocket = settings.websocket.then(origins);
        Ok(Self { index, address, bound, tls, websocket })
    }

    /// The next connection, and the address of its client.
    async fn next(&self) -> Result<(Socket, String)> {
        match &self.bound {
            Bound::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                let _ = stream.set_nodelay(true);
                // The address of an IPv4 client of an IPv6 listener is shown as IPv4.
                let address = SocketAddr::new(address.ip().to_canonical(), address.port());
                Ok((Socket::Tcp(stream), address.to_string()))
            }
            Bound::Unix(listener, _) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), self.address.to_string()))
            }
        }
    }
}

fn bind(listen: &str) -> Result<(Bound, BoundAddress)> {
    if let Some(path) = listen.strip_prefix(UNIX).map(Path::new) {
        let (listener, file) = unix::bind(path)?;
        let bound = Bound::Unix(UnixListener::from_std(listener)?, file);
        return Ok((bound, BoundAddress::Unix(path.into())));
    }
    let listener = TcpListener::from_std(tcp::bind(listen)?)?;
    let address = listener.local_addr()?;
    Ok((Bound::Tcp(listener), BoundAddress::Tcp(address)))
}

/// Accepts until the broker stops. Runs on the lane of arrivals.
pub(crate) async fn accept(door: Arc<Door>) {
    let mut reported: Option<Instant> = None;
    let mut run = 0;
    loop {
        let accepted = tokio::select! {
            biased;
            () = door.broker.stopping.wait() => return,
            accepted = door.listener.next() => accepted,
        };
        match accepted {
            Ok((socket, address)) => {
                door.admit(socket, address);
                run += 1;
                if run % RUN_MAX == 0 {
                    tokio::task::yield_now().await;
                }
            }
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
            Err(error) => {
                if reported.is_none_or(|at| door.broker.clock.now() - at >= REPORT_EVERY) {
                    door.report(&door.listener.address.to_string(), error.to_string());
                    reported = Some(door.broker.clock.now());
                }
                sleep(PAUSE).await;
            }
        }
    }
}
