//! A WebSocket as a stream of the bytes inside its frames. One read decodes as many frames as have arrived, one
//! write makes one frame. A server has no buffer of its own; a client buffers the frame that it masked.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::frame::{self, DataEnd, Decoder, SENT_MAX, Side};
use crate::mask::Masks;

/// The most slices of one write, including the frame's header.
const PARTS_MAX: usize = 16;

/// The status code of a normal close (RFC 6455 7.4.1).
const NORMAL: u16 = 1000;

/// One side of an open WebSocket.
#[derive(Debug)]
pub struct WebSocket<S> {
    inner: S,
    decoder: Decoder,
    /// The masks of a client's frames; `None` for a server.
    masks: Option<Masks>,
    /// Bytes that were read together with the opening handshake.
    early: Vec<u8>,
    /// The header of the frame being written, and which bytes of it are not written yet.
    header: [u8; 4],
    header_from: u8,
    header_to: u8,
    /// Payload bytes that the written header announced and that are not written yet.
    owed: usize,
    /// A control frame, or a client's frame, and how much of it is written.
    reply: Vec<u8>,
    replied: usize,
    /// The status code to close with.
    closing: Option<u16>,
    close_sent: bool,
}

impl<S> WebSocket<S> {
    /// The stream underneath. Reading from it or writing to it directly breaks the frames.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> WebSocket<S> {
    /// The server's side. `early` are the bytes behind the opening request; a message may have up to
    /// `message_bytes_max`.
    pub fn server(inner: S, early: Vec<u8>, message_bytes_max: u64) -> Self {
        Self::new(inner, Decoder::new(Side::Server, message_bytes_max), early)
    }

    /// The client's side. `early` are the bytes behind the opening response.
    pub fn client(inner: S, early: Vec<u8>, message_bytes_max: u64) -> Self {
        let decoder = Decoder::new(Side::Client, message_bytes_max);
        Self { masks: Some(Masks::new()), ..Self::new(inner, decoder, early) }
    }

    fn new(inner: S, decoder: Decoder, early: Vec<u8>) -> Self {
        Self {
            inner,
            decoder,
            masks: None,
            early,
            header: [0; 4],
            header_from: 0,
            header_to: 0,
            owed: 0,
            reply: Vec::new(),
            replied: 0,
            closing: None,
            close_sent: false,
        }
    }

    /// Writes pongs and the close frame between two frames of data.
    fn poll_replies(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        while self.owed == 0 {
            if self.replied < self.reply.len() {
                let rest = &self.reply[self.replied..];
                self.replied += ready!(Pin::new(&mut self.inner).poll_write(cx, rest))?;
            } else if let Some(reply) = self.next_reply() {
                self.reply = reply;
                self.replied = 0;
            } else if self.reply.is_empty() {
                break;
            } else {
                ready!(Pin::new(&mut self.inner).poll_flush(cx))?;
                self.reply = Vec::new();
                self.replied = 0;
            }
        }
        Poll::Ready(Ok(()))
    }

    fn next_reply(&mut self) -> Option<Vec<u8>> {
        if self.close_sent {
            return None;
        }
        if let Some(ping) = self.decoder.take_ping() {
            return Some(frame::pong(&ping, self.masks.as_mut().map(Masks::next)));
        }
        let code = self.closing?;
        self.close_sent = true;
        Some(frame::close(code, self.masks.as_mut().map(Masks::next)))
    }

    /// Sends a close frame, as far as the socket accepts it now.
    fn close(&mut self, code: u16, cx: &mut Context<'_>) {
        self.closing.get_or_insert(code);
        let _ = self.poll_replies(cx);
    }

    /// Writes bytes as a server's frame: a new one, or the rest of the last one.
    fn poll_write_frame(
        &mut self,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        if self.owed == 0 {
            let length: usize = slices.iter().map(|slice| slice.len()).sum();
            self.owed = length.min(SENT_MAX);
            (self.header, self.header_to) = frame::data_header(self.owed);
            self.header_from = 0;
        }
        loop {
            let header = &self.header[usize::from(self.header_from)..usize::from(self.header_to)];
            let unsent = header.len();
            let mut parts = [IoSlice::new(header); PARTS_MAX];
            // The header announced these bytes: whatever is written next belongs to this frame.
            let count = 1 + within(slices, self.owed, &mut parts[1..]);
            let inner = Pin::new(&mut self.inner);
            let written = ready!(inner.poll_write_vectored(cx, &parts[..count]))?;
            if written == 0 {
                return Poll::Ready(Err(ErrorKind::WriteZero.into()));
            }
            self.header_from += written.min(unsent) as u8;
            if written > unsent {
                self.owed -= written - unsent;
                return Poll::Ready(Ok(written - unsent));
            }
        }
    }

    fn poll_arrived(&mut self, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if self.early.is_empty() {
            return Pin::new(&mut self.inner).poll_read(cx, buffer);
        }
        let count = self.early.len().min(buffer.remaining());
        buffer.put_slice(&self.early[..count]);
        self.early.drain(..count);
        if self.early.is_empty() {
            self.early = Vec::new();
        }
        Poll::Ready(Ok(()))
    }
}

/// Copies slices to `parts`, up to `bytes` in all and as far as `parts` has room. Returns how many.
fn within<'a>(slices: &'a [IoSlice<'a>], mut bytes: usize, parts: &mut [IoSlice<'a>]) -> usize {
    let mut count = 0;
    for (part, slice) in parts.iter_mut().zip(slices) {
        if bytes == 0 {
            break;
        }
        *part = IoSlice::new(&slice[..slice.len().min(bytes)]);
        bytes -= part.len();
        count += 1;
    }
    count
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for WebSocket<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        loop {
            let _ = this.poll_replies(cx)?;
            match this.decoder.end() {
                None => {}
                Some(DataEnd::Closed) => {
                    this.close(NORMAL, cx);
                    return Poll::Ready(Ok(()));
                }
                Some(DataEnd::Violation(violation)) => {
                    this.close(violation.code(), cx);
                    let why = violation.to_string();
                    return Poll::Ready(Err(Error::new(ErrorKind::InvalidData, why)));
                }
            }
            ready!(this.poll_arrived(cx, buffer))?;
            let arrived = &mut buffer.filled_mut()[before..];
            if arrived.is_empty() {
                return Poll::Ready(Ok(()));
            }
            let count = this.decoder.decode(arrived);
            buffer.set_filled(before + count);
            if count > 0 {
                let _ = this.poll_replies(cx)?;
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WebSocket<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        ready!(this.poll_replies(cx))?;
        if this.close_sent {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        if let Some(masks) = &mut this.masks {
            let count = bytes.len().min(SENT_MAX);
            this.reply = frame::masked_data(&bytes[..count], masks.next());
            this.replied = 0;
            let _ = this.poll_replies(cx)?; // the rest is written before the next frame
            return Poll::Ready(Ok(count));
        }
        this.poll_write_frame(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let this = self.get_mut();
        let first = slices.iter().find(|slice| !slice.is_empty());
        if this.masks.is_some() || first.is_none() {
            let bytes = first.map_or(&[][..], |slice| slice);
            return Pin::new(this).poll_write(cx, bytes);
        }
        ready!(this.poll_replies(cx))?;
        if this.close_sent {
            return Poll::Ready(Err(ErrorKind::BrokenPipe.into()));
        }
        this.poll_write_frame(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.masks.is_none()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_replies(cx))?;
        Pin::new(&mut this.inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        this.closing.get_or_insert(NORMAL);
        ready!(this.poll_replies(cx))?;
        Pin::new(&mut this.inner).poll_shutdown(cx)
    }
}
