//! The frames that are kept in `tests/frames/data`, and the example of `docs/frames.md`: what they
//! hold, and how each is made. `cargo run -p slipring-wire --example keep_frames` writes the files.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use slipring_wire::frame::{
    FrameBounds, FrameBuf, FrameView, Header, Hops, Kind, Qualities, Quality, QualityStatus,
    RunView, Sample, ValueView, write_text,
};

const TIME_NS: i64 = 1_763_000_000_000_000_000;
const GOOD: Qualities<'_> = Qualities::All(Quality::GOOD);
const BAD: Quality = Quality::new(QualityStatus::Bad, Quality::SENSOR_FAILED);
const BOUNDS: FrameBounds = FrameBounds { samples_max: 1 << 16, raw_bytes_max: 1 << 20 };

/// The folder of the kept frames.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/frames/data")
}

/// Every kept frame by its name.
pub fn kept() -> [(&'static str, Vec<u8>); 5] {
    [
        ("empty", finished(&mut FrameBuf::new(), false)),
        ("one-of-each-kind", one_of_each_kind()),
        ("grids", grids()),
        ("ragged", ragged()),
        ("deflated", deflated()),
    ]
}

fn header() -> Header {
    Header { table: 7, sequence: 42, sent_ns: TIME_NS, hops: None }
}

fn finished(frame: &mut FrameBuf, deflate: bool) -> Vec<u8> {
    let mut out = Vec::new();
    frame.finish(&header(), deflate, &mut out);
    out
}

fn sample(index: u32, time_ns: i64, quality: Quality, value: ValueView<'_>) -> Sample<'_> {
    Sample { index, time_ns, quality, value }
}

/// The example of `docs/frames.md`.
pub fn example() -> Vec<u8> {
    let mut frame = FrameBuf::new();
    let values = [12034.5f64, 98.25].map(f64::to_le_bytes).concat();
    frame.push_row(Kind::F64, std::slice::from_ref(&(0..2)), TIME_NS, GOOD, &values).unwrap();
    let times = [TIME_NS - 20_000_000, TIME_NS];
    let qualities = Qualities::Each(&[0, 0, 0, 0, BAD.0, 0]);
    frame.push_grid(Kind::Bool, &[4..5, 6..8], &times, qualities, &[0b101, 0b111]).unwrap();
    finished(&mut frame, false)
}

/// Each kind with two values, its least and its greatest or the like, all of them bad.
fn one_of_each_kind() -> Vec<u8> {
    let values = [
        [ValueView::Bool(false), ValueView::Bool(true)],
        [ValueView::U8(0), ValueView::U8(u8::MAX)],
        [ValueView::U16(0), ValueView::U16(u16::MAX)],
        [ValueView::U32(0), ValueView::U32(u32::MAX)],
        [ValueView::U64(0), ValueView::U64(u64::MAX)],
        [ValueView::I8(i8::MIN), ValueView::I8(i8::MAX)],
        [ValueView::I16(i16::MIN), ValueView::I16(i16::MAX)],
        [ValueView::I32(i32::MIN), ValueView::I32(i32::MAX)],
        [ValueView::I64(i64::MIN), ValueView::I64(i64::MAX)],
        [ValueView::F32(0.1), ValueView::F32(f32::NEG_INFINITY)],
        [ValueView::F64(-1.5e-9), ValueView::F64(f64::NAN)],
        [ValueView::Text(""), ValueView::Text("höjd över havet")],
        [ValueView::Bytes(&[0, 255]), ValueView::Bytes(&[])],
    ];
    let mut frame = FrameBuf::new();
    for (pair, first) in values.into_iter().zip((100..).step_by(10)) {
        let mut samples = [(first, pair[0]), (first + 5, pair[1])]
            .map(|(index, value)| sample(index, TIME_NS, BAD, value));
        frame.push_samples(pair[0].kind(), &mut samples).unwrap();
    }
    let hops = Hops { published_ns: TIME_NS - 9, received_ns: TIME_NS - 5, skew_ns: -123_456 };
    let mut out = Vec::new();
    frame.finish(&Header { hops: Some(hops), ..header() }, false, &mut out);
    out
}

fn grids() -> Vec<u8> {
    let times = [TIME_NS, TIME_NS, TIME_NS + 10_000_000];
    let mut frame = FrameBuf::new();
    let numbers: Vec<u8> = (0..9u8).flat_map(|i| (f32::from(i) / 4.0).to_le_bytes()).collect();
    let qualities: Vec<u8> = (0..9).collect();
    let each = Qualities::Each(&qualities);
    frame.push_grid(Kind::F32, &[3..5, 300..301], &times, each, &numbers).unwrap();
    let bits = [0xff, 0b01, 0x00, 0b10, 0xa5, 0b11];
    frame.push_grid(Kind::Bool, std::slice::from_ref(&(20..30)), &times, GOOD, &bits).unwrap();
    let labels = b"\x03\x00\x05\x02\x02\x00offclimbonup";
    frame.push_grid(Kind::Text, &[40..41, 50..51], &times, GOOD, labels).unwrap();
    finished(&mut frame, false)
}

/// Every parameter at its own times; among them the greatest index, and times that wrap.
fn ragged() -> Vec<u8> {
    let last = u32::MAX - 1;
    let times = [(0, TIME_NS), (0, TIME_NS + 1), (1, TIME_NS - 7), (2, i64::MIN), (2, i64::MAX)];
    let mut numbers = [times.as_slice(), &[(last, -1), (last, -1), (last, 0)]].concat();
    numbers.sort_unstable();
    let number = |(value, (index, time_ns)): (i64, &(u32, i64))| {
        let quality = if value == 2 { BAD } else { Quality::GOOD };
        sample(*index, *time_ns, quality, ValueView::I64(value))
    };
    let mut numbers: Vec<_> = (0..).zip(&numbers).map(number).collect();
    let bits = times.map(|(i, at)| sample(i, at, Quality::GOOD, ValueView::Bool(at % 2 == 0)));
    let texts = times.map(|(i, at)| sample(i, at, Quality::GOOD, ValueView::Text("läge")));
    let mut frame = FrameBuf::new();
    frame.push_samples(Kind::I64, &mut numbers).unwrap();
    frame.push_samples(Kind::Bool, &mut bits.clone()).unwrap();
    frame.push_samples(Kind::Text, &mut texts.clone()).unwrap();
    finished(&mut frame, false)
}

fn deflated() -> Vec<u8> {
    let mut frame = FrameBuf::new();
    let values: Vec<u8> = (0..200u16).flat_map(|value| (value / 50).to_le_bytes()).collect();
    frame.push_row(Kind::U16, std::slice::from_ref(&(0..200)), TIME_NS, GOOD, &values).unwrap();
    finished(&mut frame, true)
}

/// Bytes as lines of pairs of digits.
pub fn hex(bytes: &[u8]) -> String {
    let line = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
    bytes.chunks(16).map(|bytes| line(bytes).join(" ") + "\n").collect()
}

/// The other way; `#` begins a remark.
pub fn unhex(text: &str) -> Vec<u8> {
    let pairs =
        text.lines().flat_map(|line| line.split('#').next().unwrap_or_default().split_whitespace());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

/// What a frame holds, as the files beside the kept ones say it.
pub fn json(frame: &[u8]) -> String {
    let mut scratch = Vec::new();
    let view = FrameView::decode(frame, &mut scratch, &BOUNDS).unwrap();
    let Header { table, sequence, sent_ns, hops } = view.header;
    let hops = hops.map_or("null".to_owned(), |hops| {
        format!("[{}, {}, {}]", hops.published_ns, hops.received_ns, hops.skew_ns)
    });
    let samples: Vec<String> = view.runs().flat_map(|run| lines(&run)).collect();
    format!(
        "{{\n\"table\": {table},\n\"sequence\": {sequence},\n\"sent_ns\": {sent_ns},\n\"hops\": \
         {hops},\n\"samples\": [\n{}\n]\n}}\n",
        samples.join(",\n")
    )
}

/// Kind, index, time, quality and the value's text; of bytes their digits.
fn lines(run: &RunView<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    run.visit(|Sample { index, time_ns, quality, value }| {
        let mut shown = Vec::new();
        match value {
            ValueView::Bytes(bytes) => shown.extend(hex(bytes).trim_end().bytes()),
            other => write_text(&other, &mut shown),
        }
        let (kind, shown) = (value.kind(), String::from_utf8(shown).unwrap());
        let mut line = String::new();
        write!(line, "[\"{kind}\", {index}, {time_ns}, {}, {shown:?}]", quality.0).unwrap();
        lines.push(line);
    });
    lines
}
