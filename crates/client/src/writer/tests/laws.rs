//! Laws: what is taken comes out once and in order, however it is divided; nothing panics.

use proptest::prelude::*;
use slipring_wire::frame::FrameBuf;

use super::*;

/// The parts of a block, which may or may not belong together.
#[derive(Clone, Debug)]
struct Parts {
    kind: Kind,
    ranges: Vec<std::ops::Range<u32>>,
    times: Vec<i64>,
    qualities: Vec<u8>,
    values: Vec<u8>,
}

impl Parts {
    fn block(&self) -> Block<'_> {
        let Self { kind, ranges, times, qualities, values } = self;
        let qualities = Qualities::Each(qualities);
        Block { kind: *kind, ranges, times, qualities, values }
    }

    fn row(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    /// With as many values and qualities as it needs.
    fn filled(mut self, seed: u8) -> Self {
        let (row, rows) = (self.row(), self.times.len());
        let row_bytes = self.kind.width().map_or(row.div_ceil(8), |width| width * row);
        let byte = |at: usize| seed.wrapping_add(at as u8);
        self.values = (0..row_bytes * rows).map(byte).collect();
        self.qualities = (0..row * rows).map(byte).collect();
        let spare = 8 * row_bytes - row;
        if self.kind == Kind::Bool {
            self.values.chunks_mut(row_bytes).for_each(|row| row[row_bytes - 1] &= 0xff >> spare);
        }
        self
    }
}

fn any_parts() -> impl Strategy<Value = Parts> {
    let range = (0u32..20, 0u32..4).prop_map(|(start, length)| start..start + length);
    let bytes = |most: usize| prop::collection::vec(0u8..3, 0..most);
    let (ranges, times) =
        (prop::collection::vec(range, 0..3), prop::collection::vec(0i64..3, 0..3));
    let parts = (prop::sample::select(&Kind::ALL[..]), ranges, times, bytes(9), bytes(9));
    parts.prop_map(|(kind, ranges, times, qualities, values)| Parts {
        kind,
        ranges,
        times,
        qualities,
        values,
    })
}

/// Those that belong together.
fn good_parts() -> impl Strategy<Value = Parts> {
    let kinds = prop::sample::select(&Kind::ALL[..11]);
    let gaps = prop::collection::vec((1u32..9, 1u32..60), 1..5);
    let steps = prop::collection::vec(0i64..3, 1..6);
    (kinds, gaps, steps, any::<u8>()).prop_map(|(kind, gaps, steps, seed)| {
        let ranges = gaps.into_iter().scan(0, |end, (gap, length)| {
            let start = *end + gap;
            *end = start + length;
            Some(start..*end)
        });
        let times = steps.into_iter().scan(0, |time_ns, step| {
            *time_ns += step;
            Some(*time_ns)
        });
        let (ranges, times) = (ranges.collect(), times.collect());
        Parts { kind, ranges, times, qualities: vec![], values: vec![] }.filled(seed)
    })
}

fn encoded(mut frame: FrameBuf) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame.finish(&slipring_wire::frame::Header::default(), false, &mut bytes);
    bytes
}

/// As text, where a value that is not a number equals itself.
fn shown(seen: &Seen) -> Vec<String> {
    seen.iter().map(|sample| format!("{sample:?}")).collect()
}

proptest! {
    #[test]
    fn a_block_is_taken_if_and_only_if_a_frame_takes_it(parts in any_parts()) {
        let (block, mut frame) = (parts.block(), FrameBuf::new());
        let pushed =
            frame.push_grid(block.kind, block.ranges, block.times, block.qualities, block.values);
        let fixed = block.kind < Kind::Text;
        prop_assert_eq!(block.check().is_ok(), fixed && pushed.is_ok());
    }

    #[test]
    fn blocks_come_out_once_and_in_order_even_if_frames_are_small(
        blocks in prop::collection::vec(good_parts(), 1..4),
        frame_bytes_max in 1usize..2000,
    ) {
        let now = Instant::now();
        let bounds = SampleBufferLimits { bytes_max: 1 << 20, frame_bytes_max, deflate: false };
        let mut buffer = SampleBuffer::new(7, Beat::new(Duration::ZERO, now), bounds);
        let mut expected = Vec::new();
        for parts in &blocks {
            let block = parts.block();
            buffer.block(&block, now).unwrap();
            let mut whole = FrameBuf::new();
            block.push_to(&mut whole).unwrap();
            expected.extend(shown(&seen(&encoded(whole))));
        }
        let mut found = Vec::new();
        while let Some((frame, _)) = buffer.take(now) {
            found.extend(shown(&seen(&encoded(frame))));
        }
        prop_assert_eq!(buffer.bytes(), 0);
        prop_assert_eq!(found, expected);
    }
}
