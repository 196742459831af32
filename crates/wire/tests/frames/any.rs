//! Any samples and any runs, for the laws.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use slipring_wire::frame::{
    FrameBounds, FrameBuf, FrameView, Header, Hops, Kind, OwnedValue, Qualities, Quality, RunView,
    Sample, ValueView,
};

pub const BOUNDS: FrameBounds = FrameBounds { samples_max: 1 << 20, raw_bytes_max: 1 << 24 };

/// A sample on its own.
#[derive(Clone, Debug)]
pub struct Loose {
    pub index: u32,
    pub time_ns: i64,
    pub quality: u8,
    pub value: OwnedValue,
}

/// A sample that can be compared, `nan` too: index, time, quality, kind, the value's bytes.
pub type Plain = (u32, i64, u8, Kind, Vec<u8>);

impl Loose {
    pub fn sample(&self) -> Sample<'_> {
        let (index, time_ns, value) = (self.index, self.time_ns, self.value.view());
        Sample { index, time_ns, quality: Quality(self.quality), value }
    }
}

pub fn plain(sample: &Sample<'_>) -> Plain {
    let bytes = match sample.value {
        ValueView::F32(value) => value.to_bits().to_le_bytes().to_vec(),
        ValueView::F64(value) => value.to_bits().to_le_bytes().to_vec(),
        ValueView::Bytes(value) => value.to_vec(),
        other => format!("{other:?}").into_bytes(),
    };
    (sample.index, sample.time_ns, sample.quality.0, sample.value.kind(), bytes)
}

pub fn visited(run: &RunView<'_>) -> Vec<Plain> {
    let mut found = Vec::new();
    run.visit(|sample| found.push(plain(&sample)));
    found
}

pub fn newest(run: &RunView<'_>) -> Vec<Plain> {
    let mut found = Vec::new();
    run.visit_newest(|sample| found.push(plain(&sample)));
    found
}

/// Decodes a frame that must be good, and shows its runs.
pub fn each_run(frame: &[u8], mut see: impl FnMut(&RunView<'_>)) {
    let mut scratch = Vec::new();
    let view = FrameView::decode(frame, &mut scratch, &BOUNDS).unwrap();
    assert_eq!(view.samples(), view.runs().map(|run| run.samples()).sum::<usize>());
    view.runs().for_each(|run| see(&run));
}

pub fn all_visited(frame: &[u8]) -> Vec<Plain> {
    let mut found = Vec::new();
    each_run(frame, |run| found.extend(visited(run)));
    found
}

pub fn any_kind() -> impl Strategy<Value = Kind> {
    proptest::sample::select(Kind::ALL.to_vec())
}

pub fn any_value(kind: Kind) -> BoxedStrategy<OwnedValue> {
    match kind {
        Kind::Bool => any::<bool>().prop_map(OwnedValue::Bool).boxed(),
        Kind::U8 => any::<u8>().prop_map(OwnedValue::U8).boxed(),
        Kind::U16 => any::<u16>().prop_map(OwnedValue::U16).boxed(),
        Kind::U32 => any::<u32>().prop_map(OwnedValue::U32).boxed(),
        Kind::U64 => any::<u64>().prop_map(OwnedValue::U64).boxed(),
        Kind::I8 => any::<i8>().prop_map(OwnedValue::I8).boxed(),
        Kind::I16 => any::<i16>().prop_map(OwnedValue::I16).boxed(),
        Kind::I32 => any::<i32>().prop_map(OwnedValue::I32).boxed(),
        Kind::I64 => any::<i64>().prop_map(OwnedValue::I64).boxed(),
        Kind::F32 => any::<u32>().prop_map(|bits| OwnedValue::F32(f32::from_bits(bits))).boxed(),
        Kind::F64 => any::<u64>().prop_map(|bits| OwnedValue::F64(f64::from_bits(bits))).boxed(),
        Kind::Text => ".{0,6}".prop_map(OwnedValue::Text).boxed(),
        Kind::Bytes => vec(any::<u8>(), 0..200).prop_map(OwnedValue::Bytes).boxed(),
    }
}

/// Few different ones, so that samples meet; and some that are far away.
fn any_index() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..40u32, 1 => any::<u32>().prop_map(|index| index.min(u32::MAX - 1))]
}

fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 1_000..1_004i64, 1 => any::<i64>()]
}

fn any_quality() -> impl Strategy<Value = u8> {
    prop_oneof![4 => Just(0u8), 1 => any::<u8>()]
}

pub fn any_samples() -> impl Strategy<Value = (Kind, Vec<Loose>)> {
    any_kind().prop_flat_map(|kind| {
        let parts = (any_index(), any_time(), any_quality(), any_value(kind));
        let sample = parts.prop_map(|(index, time_ns, quality, value)| Loose {
            index,
            time_ns,
            quality,
            value,
        });
        (Just(kind), vec(sample, 1..60))
    })
}

/// Ranges that may touch, with at most some forty parameters.
pub fn any_ranges() -> impl Strategy<Value = Vec<Range<u32>>> {
    vec((0..4u32, 1..12u32), 1..5).prop_map(|steps| {
        let mut end = 0;
        let next = steps.into_iter().map(|(gap, length)| {
            let start = end + gap;
            end = start + length;
            start..end
        });
        next.collect()
    })
}

/// Parameters at several times: a value and a quality for each, row by row.
#[derive(Clone, Debug)]
pub struct AnyGrid {
    pub kind: Kind,
    pub ranges: Vec<Range<u32>>,
    pub times: Vec<i64>,
    pub qualities: Option<Vec<u8>>,
    pub values: Vec<OwnedValue>,
}

pub fn any_grid() -> impl Strategy<Value = AnyGrid> {
    (any_kind(), any_ranges(), vec(any_time(), 1..4)).prop_flat_map(|(kind, ranges, mut times)| {
        times.sort_unstable();
        let samples = times.len() * ranges.iter().map(ExactSizeIterator::len).sum::<usize>();
        let qualities = proptest::option::of(vec(any_quality(), samples));
        (qualities, vec(any_value(kind), samples)).prop_map(move |(qualities, values)| {
            let (ranges, times) = (ranges.clone(), times.clone());
            AnyGrid { kind, ranges, times, qualities, values }
        })
    })
}

impl AnyGrid {
    pub fn plain(&self) -> Vec<Plain> {
        let indices: Vec<u32> = self.ranges.iter().cloned().flatten().collect();
        let rows = self.values.chunks(indices.len()).zip(&self.times).enumerate();
        let samples = rows.flat_map(|(row, (values, time_ns))| {
            let first = row * indices.len();
            values.iter().zip(&indices).enumerate().map(move |(position, (value, index))| {
                let quality = self
                    .qualities
                    .as_ref()
                    .map_or(Quality::GOOD, |each| Quality(each[first + position]));
                plain(&Sample { index: *index, time_ns: *time_ns, quality, value: value.view() })
            })
        });
        samples.collect()
    }

    /// The values as a run has them, written plainly.
    pub fn bytes(&self) -> Vec<u8> {
        let row = self.values.len() / self.times.len();
        match self.kind {
            Kind::Bool => self.values.chunks(row).flat_map(bits).collect(),
            Kind::Text | Kind::Bytes => items(&self.values),
            _ => self.values.iter().flat_map(number).collect(),
        }
    }

    pub fn push(&self, frame: &mut FrameBuf) {
        let qualities = self.qualities.as_deref();
        let qualities = qualities.map_or(Qualities::All(Quality::GOOD), Qualities::Each);
        frame.push_grid(self.kind, &self.ranges, &self.times, qualities, &self.bytes()).unwrap();
    }
}

fn bits(values: &[OwnedValue]) -> Vec<u8> {
    let mut bytes = vec![0; values.len().div_ceil(8)];
    for (position, value) in values.iter().enumerate() {
        bytes[position / 8] |= u8::from(*value == OwnedValue::Bool(true)) << (position % 8);
    }
    bytes
}

fn items(values: &[OwnedValue]) -> Vec<u8> {
    let bytes = |value: &OwnedValue| match value {
        OwnedValue::Text(text) => text.clone().into_bytes(),
        OwnedValue::Bytes(bytes) => bytes.clone(),
        _ => unreachable!(),
    };
    let length = |value| match bytes(value).len() {
        short @ 0..0x80 => vec![short as u8],
        long => vec![(long & 0x7f | 0x80) as u8, (long >> 7) as u8],
    };
    values.iter().flat_map(length).chain(values.iter().flat_map(bytes)).collect()
}

fn number(value: &OwnedValue) -> Vec<u8> {
    match value {
        OwnedValue::U8(value) => value.to_le_bytes().to_vec(),
        OwnedValue::U16(value) => value.to_le_bytes().to_vec(),
        OwnedValue::U32(value) => value.to_le_bytes().to_vec(),
        OwnedValue::U64(value) => value.to_le_bytes().to_vec(),
        OwnedValue::I8(value) => value.to_le_bytes().to_vec(),
        OwnedValue::I16(value) => value.to_le_bytes().to_vec(),
        OwnedValue::I32(value) => value.to_le_bytes().to_vec(),
        OwnedValue::I64(value) => value.to_le_bytes().to_vec(),
        OwnedValue::F32(value) => value.to_le_bytes().to_vec(),
        OwnedValue::F64(value) => value.to_le_bytes().to_vec(),
        _ => unreachable!(),
    }
}

pub fn any_header() -> impl Strategy<Value = Header> {
    let hops = (any::<i64>(), any::<i64>(), any::<i64>());
    (any::<u32>(), any::<u32>(), any::<i64>(), proptest::option::of(hops)).prop_map(
        |(table, sequence, sent_ns, hops)| Header {
            table,
            sequence,
            sent_ns,
            hops: hops.map(|(published_ns, received_ns, skew_ns)| Hops {
                published_ns,
                received_ns,
                skew_ns,
            }),
        },
    )
}

pub fn push_loose(frame: &mut FrameBuf, kind: Kind, loose: &[Loose]) {
    let mut samples: Vec<Sample<'_>> = loose.iter().map(Loose::sample).collect();
    frame.push_samples(kind, &mut samples).unwrap();
}

/// A frame with grids and loose samples of any kinds, deflated or not.
pub fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let parts = (any_header(), vec(any_grid(), 0..3), vec(any_samples(), 0..3), any::<bool>());
    parts.prop_map(|(header, grids, loose, deflate)| {
        let mut frame = FrameBuf::new();
        for grid in &grids {
            grid.push(&mut frame);
        }
        for (kind, samples) in &loose {
            push_loose(&mut frame, *kind, samples);
        }
        let mut out = Vec::new();
        frame.finish(&header, deflate, &mut out);
        out
    })
}
