//! Compressed bodies: a length, and a zlib stream (RFC 1950).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::Fault;
use super::check::FaultAt;

/// Bytes before the stream: the inflated length, and four reserved bytes.
const HEAD: usize = 8;
/// How much memory is reserved at a time: the claimed length is not trusted.
const STEP: usize = 64 * 1024;
/// The fastest level, because a broker makes hundreds of frames a second.
const LEVEL: u32 = 1;

/// Inflates `bytes` into `out`. Fails unless the result has exactly the length that they claim.
pub(super) fn inflate(bytes: &[u8], out: &mut Vec<u8>, max: usize) -> Result<(), FaultAt> {
    let head = bytes.get(..HEAD).ok_or((Fault::Cut, bytes.len()))?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    if head[4..].iter().any(|byte| *byte != 0) {
        return Err((Fault::NotZero, 4));
    }
    if length as usize > max {
        return Err((Fault::RawBytes(length), 0));
    }
    out.clear();
    inflate_stream(&bytes[HEAD..], out, length as usize)
        .map_err(|(fault, at)| (fault, HEAD + at))?;
    if out.len() == length as usize { Ok(()) } else { Err((Fault::RawLength, 0)) }
}

/// Inflates a stream, and fails when more than `length` bytes come out.
fn inflate_stream(stream: &[u8], out: &mut Vec<u8>, length: usize) -> Result<(), FaultAt> {
    let mut machine = Decompress::new(true);
    let mut at = 0;
    while out.len() <= length {
        // Room for one byte more, so that a stream that is too long is noticed.
        out.reserve((length - out.len()).min(STEP) + 1);
        let before = (at, out.len());
        let status = machine
            .decompress_vec(&stream[at..], out, FlushDecompress::None)
            .map_err(|_| (Fault::Deflate, at))?;
        at = machine.total_in() as usize;
        if status == Status::StreamEnd {
            return if at == stream.len() { Ok(()) } else { Err((Fault::Excess, at)) };
        }
        if (at, out.len()) == before {
            return Err((if at == stream.len() { Fault::Cut } else { Fault::Deflate }, at));
        }
    }
    Err((Fault::RawLength, 0))
}

/// Compresses bodies; reuses its memory.
#[derive(Debug)]
pub(super) struct Deflater(Compress);

impl Default for Deflater {
    fn default() -> Self {
        Self(Compress::new(Compression::new(LEVEL), true))
    }
}

impl Deflater {
    /// Appends the compressed body if it is smaller; otherwise appends nothing and returns false.
    pub fn deflate(&mut self, body: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(length) = u32::try_from(body.len()) else { return false };
        let start = out.len();
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&[0; 4]);
        let is_smaller = self.stream(body, out) && out.len() - start < body.len();
        if !is_smaller {
            out.truncate(start);
        }
        is_smaller
    }

    fn stream(&mut self, body: &[u8], out: &mut Vec<u8>) -> bool {
        self.0.reset();
        loop {
            let rest = &body[self.0.total_in() as usize..];
            out.reserve(rest.len() / 2 + HEAD);
            match self.0.compress_vec(rest, out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}
