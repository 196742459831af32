//! A connected socket of either kind, so that the code above it is compiled once.

use std::io::{ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll};

use slipring_websocket::WebSocket;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::Handle;
use tokio_rustls::server::TlsStream;

/// A socket that a listener accepted.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    /// It could not be moved to another runtime.
    Closed,
}

impl Socket {
    /// Registers the socket with another runtime. No task may wait for it meanwhile.
    pub fn move_to(&mut self, runtime: &Handle) -> Result<()> {
        let _inside = runtime.enter();
        *self = match std::mem::replace(self, Self::Closed) {
            Self::Tcp(stream) => Self::Tcp(TcpStream::from_std(stream.into_std()?)?),
            Self::Unix(stream) => Self::Unix(UnixStream::from_std(stream.into_std()?)?),
            Self::Closed => Self::Closed,
        };
        Ok(())
    }
}

/// A stream with a socket at the bottom, whatever is spoken above it.
pub(super) trait OverSocket {
    fn socket(&mut self) -> &mut Socket;
}

impl OverSocket for Socket {
    fn socket(&mut self) -> &mut Socket {
        self
    }
}

impl OverSocket for Box<TlsStream<Socket>> {
    fn socket(&mut self) -> &mut Socket {
        self.get_mut().0
    }
}

impl<S: OverSocket> OverSocket for WebSocket<S> {
    fn socket(&mut self) -> &mut Socket {
        self.get_mut().socket()
    }
}

/// The same call on whichever socket it is.
macro_rules! forward {
    ($self:expr, $call:ident($($argument:expr),*)) => {
        match $self.get_mut() {
            Socket::Tcp(stream) => Pin::new(stream).$call($($argument),*),
            Socket::Unix(stream) => Pin::new(stream).$call($($argument),*),
            Socket::Closed => Poll::Ready(Err(ErrorKind::NotConnected.into())),
        }
    };
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        forward!(self, poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        forward!(self, poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        forward!(self, poll_write_vectored(cx, parts))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        forward!(self, poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        forward!(self, poll_shutdown(cx))
    }
}
