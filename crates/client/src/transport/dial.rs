//! Opens a connection to a broker's address. Tries every IP address of the host, in order.

use std::io;
use std::path::Path;

use slipring_protocol::ConnectionLoss;
use tokio::net::{TcpStream, UnixStream, lookup_host};

use super::failure::{handshake_loss, loss_of};
use super::{Duplex, Trust};

use crate::{Address, HostPort};

/// A connection that is ready for MQTT: the handshakes of TLS and WebSocket are done.
pub(crate) async fn dial(
    address: &Address,
    trust: Option<&Trust>,
) -> Result<Box<dyn Duplex>, ConnectionLoss> {
    match address {
        Address::Unix(path) => Ok(Box::new(open_socket(path).await?)),
        Address::Tcp(host_port) | Address::Tls(host_port) => dial_host_port(host_port, trust).await,
        Address::WebSocket { host_port, path, .. } => {
            let stream = dial_host_port(host_port, trust).await?;
            let opened = slipring_websocket::open(stream, &host_port.to_string(), path).await;
            Ok(Box::new(opened.map_err(|error| opening_loss(&error))?))
        }
    }
}

async fn dial_host_port(
    host_port: &HostPort,
    trust: Option<&Trust>,
) -> Result<Box<dyn Duplex>, ConnectionLoss> {
    let stream = dial_tcp(host_port).await?;
    let Some(trust) = trust else { return Ok(Box::new(stream)) };
    let secured = trust.connector.connect(trust.name.clone(), stream).await;
    Ok(Box::new(secured.map_err(|error| handshake_loss(&error))?))
}

/// A proxy whose broker is not up yet may answer without WebSocket, so this loss is temporary. With
/// TLS 1.3, a refusal of the client's certificate arrives only now.
fn opening_loss(error: &io::Error) -> ConnectionLoss {
    match loss_of(error) {
        ConnectionLoss::Network { what } => ConnectionLoss::Unreachable { what },
        loss => loss,
    }
}

async fn open_socket(path: &Path) -> Result<UnixStream, ConnectionLoss> {
    UnixStream::connect(path)
        .await
        .map_err(|error| ConnectionLoss::Unreachable { what: reason(&error) })
}

async fn dial_tcp(host_port: &HostPort) -> Result<TcpStream, ConnectionLoss> {
    let host = host_port.host.as_str();
    let unknown = |what: String| ConnectionLoss::UnknownHost { host: host.to_owned(), what };
    let found = lookup_host((host, host_port.port));
    let found = found.await.map_err(|error| unknown(error.to_string()))?;
    let mut last = unknown("it has no address".to_owned());
    for one in found {
        match open(one).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = ConnectionLoss::Unreachable { what: reason(&error) },
        }
    }
    Err(last)
}

async fn open(address: std::net::SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
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
