//! A received frame, decoded and checked.

use super::check::{self, FaultAt, RUN_BYTES_MIN, i64_at};
use super::{Fault, FrameBounds, FrameError, Header, Hops, RunView, deflate};

/// The first bytes of a frame; the last of them is the version.
pub(super) const MAGIC: [u8; 4] = *b"SRF\x01";
/// Bytes before the body, and before the hops if they follow.
pub(super) const HEADER: usize = 24;
/// Bytes of the hops.
pub(super) const HOPS: usize = 24;
/// Flag: the body is deflated.
pub(super) const DEFLATED: u8 = 1;
/// Flag: hops follow the header.
pub(super) const WITH_HOPS: u8 = 2;

/// A decoded frame. Everything in it was checked.
#[derive(Clone, Debug)]
pub struct FrameView<'a> {
    /// The header.
    pub header: Header,
    runs: Vec<RunView<'a>>,
    samples: usize,
}

impl<'a> FrameView<'a> {
    /// Checks all of a frame. A deflated body is inflated into `scratch`.
    pub fn decode(
        bytes: &'a [u8],
        scratch: &'a mut Vec<u8>,
        bounds: &FrameBounds,
    ) -> Result<Self, FrameError> {
        let fault = |(fault, at): FaultAt| FrameError { fault, at, inflated: false };
        let (header, head) = read_header(bytes).map_err(fault)?;
        let rest = &bytes[head.length..];
        let body = if head.deflated {
            let inflated = deflate::inflate(rest, scratch, bounds.raw_bytes_max);
            inflated.map_err(|(what, at)| fault((what, head.length + at)))?;
            scratch
        } else {
            rest
        };
        let (runs, samples) =
            read_runs(body, head.runs, bounds.samples_max).map_err(|(fault, at)| FrameError {
                fault,
                at: head.length + at,
                inflated: head.deflated,
            })?;
        Ok(Self { header, runs, samples })
    }

    /// Its runs, in their order.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = RunView<'a>> + '_ {
        self.runs.iter().copied()
    }

    /// How many samples it has.
    pub fn samples(&self) -> usize {
        self.samples
    }
}

/// The fields of a header that say how to decode the body.
struct Head {
    deflated: bool,
    runs: u32,
    length: usize,
}

fn read_header(bytes: &[u8]) -> Result<(Header, Head), FaultAt> {
    let cut = (Fault::Cut, bytes.len());
    let begin = bytes.get(..4).ok_or(cut)?;
    if begin[..3] != MAGIC[..3] {
        return Err((Fault::Magic, 0));
    }
    if begin[3] != MAGIC[3] {
        return Err((Fault::Version(begin[3]), 3));
    }
    let fixed = bytes.get(..HEADER).ok_or(cut)?;
    let word = |at: usize| u32::from_le_bytes(fixed[at..at + 4].try_into().unwrap_or_default());
    let flags = fixed[4];
    if flags & !(DEFLATED | WITH_HOPS) != 0 {
        return Err((Fault::Flags(flags), 4));
    }
    let hops = if flags & WITH_HOPS == 0 {
        None
    } else {
        Some(read_hops(bytes.get(HEADER..HEADER + HOPS).ok_or(cut)?))
    };
    let length = if hops.is_some() { HEADER + HOPS } else { HEADER };
    let header = Header { table: word(8), sequence: word(12), sent_ns: i64_at(fixed, 16), hops };
    Ok((header, Head { deflated: flags & DEFLATED != 0, runs: word(4) >> 8, length }))
}

fn read_hops(bytes: &[u8]) -> Hops {
    Hops {
        published_ns: i64_at(bytes, 0),
        received_ns: i64_at(bytes, 8),
        skew_ns: i64_at(bytes, 16),
    }
}

fn read_runs(
    body: &[u8],
    count: u32,
    samples_max: usize,
) -> Result<(Vec<RunView<'_>>, usize), FaultAt> {
    let mut runs = Vec::with_capacity((body.len() / RUN_BYTES_MIN).min(count as usize));
    let (mut at, mut samples) = (0, 0);
    for _ in 0..count {
        let run = check::read_run(&body[at..], samples_max - samples)
            .map_err(|(fault, position)| (fault, at + position))?;
        samples += run.samples;
        at += run.bytes.len();
        runs.push(run);
    }
    if at < body.len() {
        return Err((Fault::Excess, at));
    }
    Ok((runs, samples))
}
