//! The doors of the broker: where they are. Who comes in by them is in `accept`.

mod accept;
mod arrival;
mod certificate;
pub(crate) mod lane;
mod settings;
mod socket;
mod tcp;
mod tls;
mod turn;
mod unix;
mod websocket;

use std::sync::Arc;

use tokio::net::{TcpListener, UnixListener};
use tokio_rustls::TlsAcceptor;

pub use settings::{Bind, BoundAddress, ClientCertificates, ListenerSettings, TlsFiles};
pub use tls::{TlsError, TlsFault};

use crate::StartError;
pub(crate) use accept::{Door, accept};
use unix::SocketFile;
use websocket::Origins;

/// Connections the system may queue for us in a burst.
const BACKLOG: i32 = 4096;

/// A door that is bound, with everything it needs to let clients in.
pub(crate) struct Listener {
    /// Its place in the settings and in the plan.
    index: usize,
    pub address: BoundAddress,
    bound: Bound,
    tls: Option<TlsAcceptor>,
    /// Which pages may connect; None where no WebSocket is spoken.
    websocket: Option<Arc<Origins>>,
}

/// A listening socket. The file of a Unix one stays as long as this does.
enum Bound {
    Tcp(TcpListener),
    Unix(UnixListener, #[allow(dead_code, reason = "held for its drop")] SocketFile),
}

/// Binds every listener, or none: those bound before one that fails are closed again. Belongs
/// onto the runtime that will serve them.
pub(crate) fn bind_all(settings: &[ListenerSettings]) -> Result<Vec<Listener>, StartError> {
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
    fn bind(index: usize, settings: &ListenerSettings) -> Result<Self, StartError> {
        let name = settings.name.clone();
        let tls = match settings.tls.as_ref().map(tls::acceptor).transpose() {
            Ok(tls) => tls,
            Err(source) => return Err(StartError::Tls { name, source }),
        };
        let (bound, address) = match bind(&settings.bind) {
            Ok(bound) => bound,
            Err(source) => {
                let listen = settings.bind.to_string();
                return Err(StartError::Listen { name, listen, source });
            }
        };
        let origins = || Arc::new(Origins::new(&settings.origins, address.is_loopback()));
        let websocket = settings.websocket.then(origins);
        Ok(Self { index, address, bound, tls, websocket })
    }
}

fn bind(bind: &Bind) -> std::io::Result<(Bound, BoundAddress)> {
    match bind {
        Bind::Tcp(listen) => {
            let listener = TcpListener::from_std(tcp::bind(listen)?)?;
            let address = listener.local_addr()?;
            Ok((Bound::Tcp(listener), BoundAddress::Tcp(address)))
        }
        Bind::Unix(path) => {
            let (listener, file) = unix::bind(path)?;
            let bound = Bound::Unix(UnixListener::from_std(listener)?, file);
            Ok((bound, BoundAddress::Unix(path.clone())))
        }
    }
}
