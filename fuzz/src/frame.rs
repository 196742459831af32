//! Frames: a decoded frame can be read, copied, divided and encoded again.

use slipring_wire::frame::{
    FrameBounds, FrameBuf, FrameView, Header, Kind, OwnedValue, RangeSet, RunView, Sample,
    ValueView, parse_text, write_text,
};

/// Small, so that a run is fast and inputs near the limits are short.
const BOUNDS: FrameBounds = FrameBounds { samples_max: 1 << 14, raw_bytes_max: 1 << 17 };

/// Index, time, quality, kind and the value's bits or bytes: `nan` is equal to itself.
type Plain = (u32, i64, u8, Kind, Vec<u8>);

/// The bytes are a frame.
pub fn frame(data: &[u8]) {
    let mut scratch = Vec::new();
    let Ok(view) = FrameView::decode(data, &mut scratch, &BOUNDS) else { return };
    let runs: Vec<RunView<'_>> = view.runs().collect();
    let samples: Vec<Plain> = runs.iter().flat_map(visited).collect();
    assert_eq!(samples.len(), view.samples(), "another number of samples");
    check_copies(&view.header, &runs, &samples);
    check_parts(&runs, &samples);
    for run in &runs {
        check_newest(run);
        check_made_again(run);
        run.visit(|sample| check_text(&sample.value));
    }
}

fn plain(sample: &Sample<'_>) -> Plain {
    let bytes = match sample.value {
        ValueView::F32(value) => value.to_bits().to_le_bytes().to_vec(),
        ValueView::F64(value) => value.to_bits().to_le_bytes().to_vec(),
        ValueView::Bytes(value) => value.to_vec(),
        other => format!("{other:?}").into_bytes(),
    };
    (sample.index, sample.time_ns, sample.quality.0, sample.value.kind(), bytes)
}

fn visited(run: &RunView<'_>) -> Vec<Plain> {
    let mut found = Vec::new();
    run.visit(|sample| found.push(plain(&sample)));
    assert_eq!(found.len(), run.samples(), "a run has another number of samples");
    found
}

/// The samples of what was pushed.
fn finished(frame: &mut FrameBuf, header: &Header, deflate: bool) -> Vec<Plain> {
    let (pushed, mut out, mut scratch) = (frame.samples(), Vec::new(), Vec::new());
    frame.finish(header, deflate, &mut out);
    // Choosing every other bool takes a range for each, so a part may be larger than its run.
    let bounds = FrameBounds { samples_max: BOUNDS.samples_max, raw_bytes_max: 1 << 24 };
    let view = FrameView::decode(&out, &mut scratch, &bounds).expect("our own frame decodes");
    assert_eq!(view.header, *header);
    assert_eq!(view.samples(), pushed);
    view.runs().flat_map(|run| visited(&run)).collect()
}

fn check_copies(header: &Header, runs: &[RunView<'_>], samples: &[Plain]) {
    for deflate in [false, true] {
        let mut copy = FrameBuf::new();
        for run in runs {
            copy.push_run(run);
        }
        assert_eq!(finished(&mut copy, header, deflate), samples, "copied");
    }
}

fn check_parts(runs: &[RunView<'_>], samples: &[Plain]) {
    let first = samples.first().map_or(0, |sample| sample.0);
    let every_other: RangeSet = (0..64).map(|step| first.saturating_add(2 * step)).collect();
    let stretch: RangeSet = std::iter::once(first / 2..first.saturating_add(9)).collect();
    for chosen in [every_other, stretch] {
        let mut part = FrameBuf::new();
        for run in runs {
            part.push_part(run, &chosen);
        }
        let expected: Vec<Plain> =
            samples.iter().filter(|sample| chosen.contains(sample.0)).cloned().collect();
        assert_eq!(finished(&mut part, &Header::default(), false), expected, "{chosen:?}");
    }
}

fn check_newest(run: &RunView<'_>) {
    let (mut newest, mut last) = (Vec::new(), std::collections::BTreeMap::new());
    run.visit_newest(|sample| newest.push(plain(&sample)));
    run.visit(|sample| {
        last.insert(sample.index, plain(&sample));
    });
    assert_eq!(newest, last.into_values().collect::<Vec<_>>(), "the newest");
    assert_eq!(newest.len(), run.parameters);
}

/// A run's samples one by one make a frame with the same; each parameter keeps its order.
fn check_made_again(run: &RunView<'_>) {
    let (mut samples, mut again) = (Vec::new(), FrameBuf::new());
    run.visit(|sample| samples.push(sample));
    let mut expected: Vec<Plain> = samples.iter().map(plain).collect();
    again.push_samples(run.kind, &mut samples).expect("they are of one kind");
    let mut found = finished(&mut again, &Header::default(), false);
    expected.sort_by_key(|sample| sample.0);
    found.sort_by_key(|sample| sample.0);
    assert_eq!(found, expected, "made again");
}

fn check_text(value: &ValueView<'_>) {
    let mut bytes = Vec::new();
    write_text(value, &mut bytes);
    match (parse_text(value.kind(), &bytes), value) {
        (Ok(OwnedValue::F32(again)), ValueView::F32(value)) if value.is_nan() => {
            assert!(again.is_nan());
        }
        (Ok(OwnedValue::F64(again)), ValueView::F64(value)) if value.is_nan() => {
            assert!(again.is_nan());
        }
        (again, value) => assert_eq!(again, Ok(value.to_owned()), "{value:?}"),
    }
}
