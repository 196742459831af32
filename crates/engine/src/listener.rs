//! Accepting connections.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpStream;

use crate::broker::Broker;
use crate::connection;
use crate::event::EventKind;
use crate::origin::Origin;

/// Connections the system may queue for us in a burst.
const BACKLOG: i32 = 4096;
/// How long to leave the door shut when the system has no descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// Listens on the first address of HOST:PORT that can be had.
pub(crate) fn bind(listen: &str) -> std::io::Result<TcpListener> {
    let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "the host has no address");
    for address in listen.to_socket_addrs()? {
        match bind_one(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn bind_one(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Accepts until the broker stops.
pub(crate) async fn accept(listener: TcpListener, broker: Arc<Broker>) {
    let listener = match tokio::net::TcpListener::from_std(listener) {
        Ok(listener) => listener,
        Err(error) => {
            return broker.events.report(EventKind::Refused, "listener", error.to_string());
        }
    };
    loop {
        let stopping = broker.stopping_told.notified();
        if broker.is_stopping() {
            return;
        }
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => admit(stream, address, &broker),
                Err(error) => {
                    broker.events.report(EventKind::Refused, "listener", error.to_string());
                    tokio::time::sleep(PAUSE).await;
                }
            },
            () = stopping => {}
        }
    }
}

fn admit(stream: TcpStream, address: SocketAddr, broker: &Arc<Broker>) {
    let _ = stream.set_nodelay(true);
    let origin = Origin { address: address.to_string(), listener: 0, user: None };
    tokio::spawn(connection::serve(stream, origin, Arc::clone(broker)));
}
