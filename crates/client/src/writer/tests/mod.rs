//! The writer without a network: what is gathered, and when it is sent.

mod laws;
mod sample_buffer;
mod sender;

use slipring_wire::frame::{FrameView, Kind, OwnedValue, Qualities, Quality, Sample, ValueView};

use super::*;

const MS: Duration = Duration::from_millis(1);
const READ: slipring_wire::frame::FrameBounds =
    slipring_wire::frame::FrameBounds { samples_max: 1 << 20, raw_bytes_max: 1 << 24 };

/// Index, time, quality and value of each sample of a frame, in the order it has them.
type Seen = Vec<(u32, i64, u8, OwnedValue)>;

fn seen(frame: &[u8]) -> Seen {
    let (mut scratch, mut seen) = (Vec::new(), Vec::new());
    let view = FrameView::decode(frame, &mut scratch, &READ).unwrap();
    for run in view.runs() {
        run.visit(|sample| {
            let Sample { index, time_ns, quality, value } = sample;
            seen.push((index, time_ns, quality.0, value.to_owned()));
        });
    }
    seen
}

fn sample(index: u32, time_ns: i64, value: ValueView<'_>) -> Sample<'_> {
    Sample { index, time_ns, quality: Quality::GOOD, value }
}

/// A row of bytes, beginning with this index.
fn row(first: u32, time_ns: &[i64], values: &[u8], take: &mut dyn FnMut(&Block<'_>)) {
    let range = first..first + (values.len() / time_ns.len()) as u32;
    let qualities = Qualities::All(Quality::GOOD);
    let ranges = std::slice::from_ref(&range);
    take(&Block { kind: Kind::U8, ranges, times: time_ns, qualities, values });
}
