//! Opens the stream to a broker's address. Tries every address the name has, in order.

use std::io;
use std::path::Path;

use tokio::net::{TcpStream, UnixStream, lookup_host};

use super::failure::{handshake_loss, loss_of};
use super::{Duplex, Trust};
use crate::address::Place;
use crate::{Address, Loss};

/// A stream that is ready for MQTT: over TLS only once the broker has proved its name.
pub(crate) async fn dial(
    address: &Address,
    trust: Option<&Trust>,
) -> Result<Box<dyn Duplex>, Loss> {
    match address {
        Address::Unix(path) => Ok(Box::new(open_socket(path).await?)),
        Address::Tcp(place) | Address::Tls(place) => dial_place(place, trust).await,
        Address::WebSocket { place, path, .. } => {
            let stream = dial_place(place, trust).await?;
            let opened = slipring_websocket::open(stream, &place.to_string(), path).await;
            Ok(Box::new(opened.map_err(|error| opening_loss(&error))?))
        }
    }
}

async fn dial_place(place: &Place, trust: Option<&Trust>) -> Result<Box<dyn Duplex>, Loss> {
    let stream = dial_tcp(place).await?;
    let Some(trust) = trust else { return Ok(Box::new(stream)) };
    let secured = trust.connector.connect(trust.name.clone(), stream).await;
    Ok(Box::new(secured.map_err(|error| handshake_loss(&error))?))
}

/// What is not a WebSocket may be one later; TLS tells of a client's certificate only now.
fn opening_loss(error: &io::Error) -> Loss {
    match loss_of(error) {
        Loss::Network { what } => Loss::Unreachable { what },
        loss => loss,
    }
}

async fn open_socket(path: &Path) -> Result<UnixStream, Loss> {
    UnixStream::connect(path).await.map_err(|error| Loss::Unreachable { what: reason(&error) })
}

async fn dial_tcp(place: &Place) -> Result<TcpStream, Loss> {
    let host = place.host.as_str();
    let unknown = |what: String| Loss::UnknownHost { host: host.to_owned(), what };
    let found = lookup_host((host, place.port));
    let found = found.await.map_err(|error| unknown(error.to_string()))?;
    let mut last = unknown("it has no address".to_owned());
    for one in found {
        match open(one).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Loss::Unreachable { what: reason(&error) },
        }
    }
    Err(last)
}

async fn open(place: std::net::SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(place).await?;
    // Packets are batched before they are written; the kernel must not wait for more.
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there (connection refused)".to_owned(),
        io::ErrorKind::NotFound => "there is no such socket".to_owned(),
        _ => error.to_string(),
    }
}
