//! Encodes and decodes WebSocket frames, for client and server. Pure.
//!
//! The decoder works in the caller's buffer and stores no data, so that an idle connection costs no memory.
//! The result does not depend on how the bytes were split into reads.

/// The most payload bytes of a frame that we send. Larger writes are split, so that the header stays small.
pub(crate) const SENT_MAX: usize = 0xffff;
/// The most payload bytes of a control frame (RFC 6455 5.5).
const CONTROL_MAX: u64 = 125;
/// The largest header: two bytes, eight of length, four of mask.
const HEADER_MAX: usize = 14;

const CONTINUATION: u8 = 0x0;
const TEXT: u8 = 0x1;
const BINARY: u8 = 0x2;
const CLOSE: u8 = 0x8;
const PING: u8 = 0x9;
const PONG: u8 = 0xa;
const FINAL: u8 = 0x80;
const RESERVED: u8 = 0x70;
const MASKED: u8 = 0x80;

/// Which side of the WebSocket we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// It opened the connection, and masks its frames.
    Client,
    /// It accepted the connection.
    Server,
}

/// How the peer broke the rules of WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WebSocketViolation {
    /// A reserved bit is set, although we never accept an extension (RFC 6455 5.2, CVE-2026-67232).
    #[error("WebSocket: a frame with reserved bits")]
    ReservedBits,
    /// RFC 6455 5.1.
    #[error("WebSocket: a frame that is not masked")]
    Unmasked,
    /// RFC 6455 5.1.
    #[error("WebSocket: a server's frame that is masked")]
    Masked,
    /// MQTT-6.0.0-1.
    #[error("WebSocket: a text frame; MQTT needs binary ones")]
    Text,
    #[error("WebSocket: a frame with an unknown opcode")]
    Opcode,
    /// RFC 6455 5.5.
    #[error("WebSocket: a control frame that is split or too long")]
    Control,
    /// A continuation without a message, or a new message inside another (RFC 6455 5.4).
    #[error("WebSocket: fragments out of order")]
    Fragments,
    /// RFC 6455 5.2.
    #[error("WebSocket: a length with more bytes than it needs")]
    Length,
    #[error("WebSocket: a frame larger than a packet may be")]
    TooLarge,
}

impl WebSocketViolation {
    /// The status code of the close frame (RFC 6455 7.4.1).
    pub fn code(self) -> u16 {
        match self {
            Self::Text => 1003,
            Self::TooLarge => 1009,
            _ => 1002,
        }
    }
}

/// Why the data ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataEnd {
    /// The peer sent a close frame.
    Closed,
    /// The peer broke the rules.
    Violation(WebSocketViolation),
}

/// Decodes frames.
#[derive(Debug)]
pub(crate) struct Decoder {
    side: Side,
    message_bytes_max: u64,
    header: [u8; HEADER_MAX],
    /// How many bytes of a header have arrived that came in pieces.
    header_bytes: u8,
    opcode: u8,
    mask: [u8; 4],
    /// Payload bytes of the current frame still to come; None between frames.
    left: Option<u64>,
    /// Bytes of the current message so far; None between messages.
    message_bytes: Option<u64>,
    /// The payload of the current control frame so far.
    control: Vec<u8>,
    /// The payload of the newest unanswered ping (RFC 6455 5.5.3).
    ping: Option<Vec<u8>>,
    end: Option<DataEnd>,
}

impl Decoder {
    pub fn new(side: Side, message_bytes_max: u64) -> Self {
        Self {
            side,
            message_bytes_max,
            header: [0; HEADER_MAX],
            header_bytes: 0,
            opcode: 0,
            mask: [0; 4],
            left: None,
            message_bytes: None,
            control: Vec::new(),
            ping: None,
            end: None,
        }
    }

    /// Why the data ended, once it has.
    pub fn end(&self) -> Option<DataEnd> {
        self.end
    }

    /// Takes the payload of the newest unanswered ping.
    pub fn take_ping(&mut self) -> Option<Vec<u8>> {
        self.ping.take()
    }

    /// Decodes received bytes in place: moves the data to the front, and returns its length.
    pub fn decode(&mut self, bytes: &mut [u8]) -> usize {
        let (mut from, mut to) = (0, 0);
        while from < bytes.len() && self.end.is_none() {
            let Some(left) = self.left else {
                from += self.take_header(&bytes[from..]);
                continue;
            };
            let count = left.min((bytes.len() - from) as u64) as usize;
            let payload = from..from + count;
            from += count;
            unmask(&mut bytes[payload.clone()], self.mask);
            if is_control(self.opcode) {
                self.control.extend_from_slice(&bytes[payload]);
            } else {
                bytes.copy_within(payload, to);
                to += count;
            }
            self.left = Some(left - count as u64);
            if count as u64 == left {
                self.end_frame();
            } else {
                self.mask.rotate_left(count % 4);
            }
        }
        to
    }

    /// Reads bytes of a header, and begins the frame when the header is complete.
    fn take_header(&mut self, bytes: &[u8]) -> usize {
        let need = header_bytes(bytes);
        if self.header_bytes == 0 && need <= bytes.len() {
            self.begin_frame(&bytes[..need]);
            return need;
        }
        let have = usize::from(self.header_bytes);
        let count = (header_bytes(&self.header[..have]) - have).min(bytes.len());
        self.header[have..have + count].copy_from_slice(&bytes[..count]);
        self.header_bytes += count as u8;
        let header = self.header;
        let header = &header[..have + count];
        if header.len() == header_bytes(header) {
            self.begin_frame(header);
        } else if let Err(violation) = check_start(header, self.side) {
            self.end = Some(DataEnd::Violation(violation));
        }
        count
    }

    fn begin_frame(&mut self, header: &[u8]) {
        match self.check_frame(header) {
            Ok(()) => self.end_frame(),
            Err(violation) => self.end = Some(DataEnd::Violation(violation)),
        }
    }

    fn check_frame(&mut self, header: &[u8]) -> Result<(), WebSocketViolation> {
        check_start(header, self.side)?;
        let length = payload_bytes(header)?;
        let last = header[0] & FINAL != 0;
        let opcode = header[0] & 0x0f;
        self.mask = match self.side {
            Side::Server => [0, 1, 2, 3].map(|at| header[header.len() - 4 + at]),
            Side::Client => [0; 4],
        };
        if is_control(opcode) {
            if !last || length > CONTROL_MAX {
                return Err(WebSocketViolation::Control);
            }
        } else {
            let before = match (opcode, self.message_bytes) {
                (BINARY, None) => 0,
                (CONTINUATION, Some(bytes)) => bytes,
                _ => return Err(WebSocketViolation::Fragments),
            };
            let message_bytes = before.saturating_add(length);
            if message_bytes > self.message_bytes_max {
                return Err(WebSocketViolation::TooLarge);
            }
            self.message_bytes = (!last).then_some(message_bytes);
        }
        self.opcode = opcode;
        self.left = Some(length);
        Ok(())
    }

    /// Ends the frame if all of it has arrived.
    fn end_frame(&mut self) {
        if self.left != Some(0) {
            return;
        }
        self.left = None;
        self.header_bytes = 0;
        let control = std::mem::take(&mut self.control);
        match self.opcode {
            PING => self.ping = Some(control),
            CLOSE => self.end = Some(DataEnd::Closed),
            _ => {}
        }
    }
}

fn is_control(opcode: u8) -> bool {
    opcode & 0x8 != 0
}

/// The length of a header that begins with these bytes.
fn header_bytes(header: &[u8]) -> usize {
    match header.get(1) {
        None => 2,
        Some(length) => {
            let extended = match length & !MASKED {
                126 => 2,
                127 => 8,
                _ => 0,
            };
            2 + extended + if length & MASKED == 0 { 0 } else { 4 }
        }
    }
}

/// Checks the first two bytes, so that a wrong frame is refused before the rest of it arrives.
fn check_start(header: &[u8], side: Side) -> Result<(), WebSocketViolation> {
    if header[0] & RESERVED != 0 {
        return Err(WebSocketViolation::ReservedBits);
    }
    match header[0] & 0x0f {
        TEXT => return Err(WebSocketViolation::Text),
        CONTINUATION | BINARY | CLOSE | PING | PONG => {}
        _ => return Err(WebSocketViolation::Opcode),
    }
    let is_masked = header.get(1).map(|length| length & MASKED != 0);
    match (side, is_masked) {
        (Side::Server, Some(false)) => Err(WebSocketViolation::Unmasked),
        (Side::Client, Some(true)) => Err(WebSocketViolation::Masked),
        _ => Ok(()),
    }
}

fn payload_bytes(header: &[u8]) -> Result<u64, WebSocketViolation> {
    let (length, least) = match header[1] & !MASKED {
        126 => (u64::from(u16::from_be_bytes([header[2], header[3]])), 126),
        127 => (u64::from_be_bytes([2, 3, 4, 5, 6, 7, 8, 9].map(|at| header[at])), 0x1_0000),
        length => (u64::from(length), 0),
    };
    if length < least { Err(WebSocketViolation::Length) } else { Ok(length) }
}

/// Applies or removes a mask (RFC 6455 5.3), 16 bytes at a time.
fn unmask(bytes: &mut [u8], mask: [u8; 4]) {
    if mask == [0; 4] {
        return;
    }
    let [a, b, c, d] = mask;
    let wide = [a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d];
    let mut words = bytes.chunks_exact_mut(wide.len());
    for word in &mut words {
        word.iter_mut().zip(wide).for_each(|(byte, mask)| *byte ^= mask);
    }
    words.into_remainder().iter_mut().zip(wide).for_each(|(byte, mask)| *byte ^= mask);
}

/// The header of a server's binary frame, and its length.
pub(crate) fn data_header(length: usize) -> ([u8; 4], u8) {
    debug_assert!(length <= SENT_MAX);
    let start = FINAL | BINARY;
    if length < 126 {
        ([start, length as u8, 0, 0], 2)
    } else {
        let [high, low] = (length as u16).to_be_bytes();
        ([start, 126, high, low], 4)
    }
}

/// A client's binary frame.
pub(crate) fn masked_data(payload: &[u8], mask: [u8; 4]) -> Vec<u8> {
    let (header, bytes) = data_header(payload.len());
    let mut frame = Vec::with_capacity(header.len() + 4 + payload.len());
    frame.extend_from_slice(&header[..usize::from(bytes)]);
    with_payload(frame, payload, Some(mask))
}

/// A pong frame; a client's has a mask.
pub(crate) fn pong(payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    debug_assert!(payload.len() as u64 <= CONTROL_MAX);
    with_payload(vec![FINAL | PONG, payload.len() as u8], payload, mask)
}

/// A close frame; a client's has a mask.
pub(crate) fn close(code: u16, mask: Option<[u8; 4]>) -> Vec<u8> {
    with_payload(vec![FINAL | CLOSE, 2], &code.to_be_bytes(), mask)
}

/// Appends mask and payload to a header that ends with the length.
fn with_payload(mut frame: Vec<u8>, payload: &[u8], mask: Option<[u8; 4]>) -> Vec<u8> {
    if let Some(mask) = mask {
        frame[1] |= MASKED;
        frame.extend_from_slice(&mask);
    }
    let start = frame.len();
    frame.extend_from_slice(payload);
    unmask(&mut frame[start..], mask.unwrap_or_default());
    frame
}
