//! A TCP connection to a broker's address. Tries every address the name has, in order.

use std::io;

use tokio::net::{TcpStream, lookup_host};

use crate::{Address, Loss};

pub(crate) async fn dial(address: &Address) -> Result<TcpStream, Loss> {
    let host = address.host();
    let unknown = |what: String| Loss::UnknownHost { host: host.to_owned(), what };
    let found = lookup_host((host, address.port()));
    let found = found.await.map_err(|error| unknown(error.to_string()))?;
    let mut last = unknown("it has no address".to_owned());
    for place in found {
        match open(place).await {
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
        _ => error.to_string(),
    }
}
