//! The limits on a frame from a client, so that few bytes cannot cause much work.

use slipring_wire::frame::{Fault, FrameBounds, FrameError, FrameView};

use super::SampleRefused;
use crate::Work;

/// The most samples in one frame.
pub const FRAME_SAMPLES_MAX: usize = 1 << 15;
/// The most runs in one frame.
pub const FRAME_RUNS_MAX: usize = 4_096;
/// Bytes that any deflated frame may inflate to.
pub const INFLATED_BYTES_FREE: usize = 256 << 10;
/// Beyond that, the most bytes that each deflated byte may inflate to.
const INFLATED_FACTOR: usize = 16;
/// The most bytes that any frame may inflate to.
pub const INFLATED_BYTES_MAX: usize = 1 << 20;

/// The most bytes that a frame of this length may inflate to: 256 KiB for 300 bytes, 640 KiB for 40 KiB.
pub fn inflated_bytes_max(frame_bytes: usize) -> usize {
    let by_length = frame_bytes.saturating_mul(INFLATED_FACTOR);
    by_length.clamp(INFLATED_BYTES_FREE, INFLATED_BYTES_MAX)
}

/// Reads a frame from a client; a deflated one is inflated into `scratch`, within its limit.
pub fn read_frame<'a>(
    payload: &'a [u8],
    scratch: &'a mut Vec<u8>,
) -> Result<FrameView<'a>, SampleRefused> {
    let raw_bytes_max = inflated_bytes_max(payload.len());
    let bounds = FrameBounds { samples_max: FRAME_SAMPLES_MAX, raw_bytes_max };
    let view = FrameView::decode(payload, scratch, &bounds).map_err(|error| match error {
        FrameError { fault: Fault::Samples, .. } => {
            SampleRefused::Samples { most: FRAME_SAMPLES_MAX }
        }
        FrameError { fault: Fault::RawBytes(bytes), .. } => {
            SampleRefused::Inflated { bytes, most: raw_bytes_max }
        }
        _ => SampleRefused::Malformed(error),
    })?;
    let runs = view.runs().len();
    if runs > FRAME_RUNS_MAX {
        return Err(SampleRefused::Runs { runs, most: FRAME_RUNS_MAX });
    }
    Ok(view)
}

/// The steps of work of taking a frame.
pub fn frame_steps(view: &FrameView<'_>) -> usize {
    let runs = view.runs();
    let (count, bytes) = (runs.len(), runs.map(|run| run.bytes().len()).sum::<usize>());
    view.samples() / 2 + count * Work::RUN + bytes / 64
}
