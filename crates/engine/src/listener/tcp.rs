//! Binding a TCP port.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use std::time::Duration;

use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};

use super::BACKLOG;

/// TCP sends the first probe to a silent peer after this time, then `PROBES` in all, `PROBE_EVERY` apart: a peer that
/// vanished is found after two minutes, even if its MQTT keep-alive is 0.
const PROBE_AFTER: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_secs(15);
const PROBES: u32 = 4;
/// Bytes that the kernel keeps for a client beyond what it could send. The rest waits in the outbox, where messages of
/// higher priority overtake it.
const UNSENT_BYTES: u32 = 128 << 10;

/// Listens on the first address of HOST:PORT that can be had.
pub(super) fn bind(listen: &str) -> std::io::Result<TcpListener> {
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
    let probes =
        TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY).with_retries(PROBES);
    // Each connection has these from its listener.
    socket.set_tcp_keepalive(&probes)?;
    socket.set_tcp_notsent_lowat(UNSENT_BYTES)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::SockRef;
    use std::net::TcpStream;

    #[test]
    fn a_connection_finds_out_that_its_peer_is_gone() {
        let listener = bind("127.0.0.1:0").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        listener.set_nonblocking(false).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let socket = SockRef::from(&accepted);
        assert!(socket.keepalive().unwrap());
        assert_eq!(socket.tcp_keepalive_time().unwrap(), PROBE_AFTER);
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), PROBE_EVERY);
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), PROBES);
        assert_eq!(socket.tcp_notsent_lowat().unwrap(), UNSENT_BYTES);
    }
}
