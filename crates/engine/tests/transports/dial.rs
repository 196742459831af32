//! The client's side of each transport, written so that it can also do everything wrong.

use std::io::{ErrorKind, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, ClientConnection, StreamOwned};
use slipring_wire::Version;

use crate::talk::{Talk, connect};

pub type Tls = StreamOwned<ClientConnection, TcpStream>;

pub fn tcp(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

pub fn tls(address: SocketAddr, config: &Arc<ClientConfig>) -> Tls {
    let name = "localhost".try_into().unwrap();
    let connection = ClientConnection::new(Arc::clone(config), name).unwrap();
    StreamOwned::new(connection, tcp(address))
}

/// Connects as an MQTT client and waits for CONNACK.
pub fn greet<S: Read + Write>(stream: S, client_id: &str) -> Talk<S> {
    let mut talk = Talk::over(stream, Version::V5);
    talk.send_bytes(&connect(Version::V5, client_id, 60, None));
    assert!(talk.next().unwrap().starts_with("ConnAck"));
    talk
}

/// Everything that comes until the broker closes or resets the connection.
pub fn rest(stream: &mut impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(error) if is_an_end(error.kind()) => bytes,
        Err(error) => panic!("the broker did not close the connection: {error}"),
    }
}

fn is_an_end(kind: ErrorKind) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, InvalidData, UnexpectedEof};
    matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset | InvalidData | UnexpectedEof)
}

/// Sends a CONNECT and tells whether the answer is a CONNACK without a refusal.
pub fn is_let_in<S: Read + Write>(stream: S) -> bool {
    let mut stream = stream;
    let sent = stream.write_all(&connect(Version::V5, "client", 60, None));
    let mut answer = [0; 100];
    sent.is_ok() && matches!(stream.read(&mut answer), Ok(4..)) && answer[3] == 0
}

/// A WebSocket on any stream.
pub struct Web<S> {
    pub stream: S,
    unread: Vec<u8>,
}

pub const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

/// A request for a WebSocket, with further headers.
pub fn request(headers: &str) -> String {
    format!(
        "GET /mqtt HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n{headers}\r\n"
    )
}

/// Opens a WebSocket.
pub fn web<S: Read + Write>(stream: S) -> Web<S> {
    let mut web = Web { stream, unread: Vec::new() };
    let request = request("Sec-WebSocket-Protocol: mqtt\r\n");
    web.stream.write_all(request.as_bytes()).unwrap();
    let head = web.read_head();
    assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
    assert!(head.contains("Sec-WebSocket-Protocol: mqtt\r\n"), "{head}");
    web
}

impl<S: Read + Write> Web<S> {
    fn read_head(&mut self) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            self.stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        String::from_utf8(head).unwrap()
    }

    /// Sends a frame with a mask.
    pub fn send(&mut self, start: u8, payload: &[u8]) {
        let mask = [0x5a, 0x01, 0xff, 0x80];
        let mut frame = vec![start];
        match payload.len() {
            length @ 0..126 => frame.push(0x80 | length as u8),
            length => {
                frame.push(0xfe);
                frame.extend(u16::try_from(length).unwrap().to_be_bytes());
            }
        }
        frame.extend(mask);
        frame.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        self.stream.write_all(&frame).unwrap();
    }

    /// The next frame of the broker: its first byte and its payload.
    pub fn frame(&mut self) -> Result<(u8, Vec<u8>)> {
        let mut start = [0; 2];
        self.stream.read_exact(&mut start)?;
        let length = match start[1] {
            126 => {
                let mut length = [0; 2];
                self.stream.read_exact(&mut length)?;
                usize::from(u16::from_be_bytes(length))
            }
            length => usize::from(length),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload)?;
        Ok((start[0], payload))
    }
}

impl<S: Read + Write> Read for Web<S> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.unread.is_empty() {
            match self.frame() {
                Ok((0x82, payload)) => self.unread = payload,
                Ok((0x88, _)) => return Ok(0),
                Ok((start, _)) => panic!("a frame that begins with {start:#x}"),
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) => return Err(error),
            }
        }
        let count = buffer.len().min(self.unread.len());
        buffer[..count].copy_from_slice(&self.unread[..count]);
        self.unread.drain(..count);
        Ok(count)
    }
}

impl<S: Read + Write> Write for Web<S> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.send(0x82, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}
