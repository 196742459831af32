//! The newest values themselves: kinds, removal, snapshots.

use slipring_core::ParameterIndex;
use slipring_core::table::Current;
use slipring_wire::frame::{
    FrameBuf, FrameView, Header, Kind, Qualities, Quality, QualityStatus, RangeSet, Sample,
    ValueView,
};

use crate::world::{BOUNDS, World, f64_at, good};

fn all(world: &World) -> RangeSet {
    std::iter::once(0..world.table.names.len() as u32).collect()
}

/// A value of every kind, different for each index.
fn of_every_kind() -> (World, Vec<Sample<'static>>) {
    let world = World::new(&Kind::ALL);
    let values = [
        ValueView::Bool(true),
        ValueView::U8(250),
        ValueView::U16(65_000),
        ValueView::U32(4_000_000_000),
        ValueView::U64(u64::MAX),
        ValueView::I8(-128),
        ValueView::I16(-32_768),
        ValueView::I32(i32::MIN),
        ValueView::I64(i64::MIN),
        ValueView::F32(-1.5),
        ValueView::F64(1e300),
        ValueView::Text("på"),
        ValueView::Bytes(&[0, 255]),
    ];
    let samples = values.into_iter().zip(0..).map(|(value, index)| good(index, 7, value));
    (world, samples.collect())
}

#[test]
fn a_value_of_every_kind_is_kept_as_it_came() {
    let (mut world, samples) = of_every_kind();
    world.publish(&samples);
    for sample in samples {
        let view = world.current.get(ParameterIndex::new(sample.index)).unwrap();
        assert_eq!((view.value, view.time_ns), (sample.value, 7));
        assert_eq!(view.receive_ns, world.arrival().now_ns);
    }
    assert_eq!(world.current.text_bytes(), 5);
}

#[test]
fn of_a_grid_the_last_row_is_kept() {
    let mut world = World::new(&[Kind::Bool; 11]);
    let mut buf = FrameBuf::new();
    let ranges = [1..4, 6..10];
    let qualities: Vec<u8> = (0..14).collect();
    let rows = [0b0111_1111, 0b0101_0101];
    buf.push_grid(Kind::Bool, &ranges, &[5, 9], Qualities::Each(&qualities), &rows).unwrap();
    world.publish_frame(buf, None);
    let shown: Vec<_> = (0..11)
        .filter_map(|index| world.current.get(ParameterIndex::new(index)).map(|view| (index, view)))
        .map(|(index, view)| (index, view.value == ValueView::Bool(true), view.quality.0))
        .collect();
    let due = [
        (1, true, 7),
        (2, false, 8),
        (3, true, 9),
        (6, false, 10),
        (7, true, 11),
        (8, false, 12),
        (9, true, 13),
    ];
    assert_eq!(shown, due);
    assert_eq!(world.current.get(ParameterIndex::new(1)).unwrap().time_ns, 9);
}

#[test]
fn the_sample_that_arrived_last_is_the_newest_whatever_its_source_time() {
    let mut world = World::new(&[Kind::F64]);
    world.publish(&[f64_at(0, 100, 1.0)]);
    world.publish(&[f64_at(0, 50, 2.0)]);
    assert_eq!(world.current.get(ParameterIndex::new(0)).unwrap().time_ns, 50);
}

#[test]
fn a_run_of_another_kind_or_of_an_unknown_parameter_is_rejected() {
    let mut world = World::new(&[Kind::F64, Kind::F64, Kind::Bool]);
    let mut buf = FrameBuf::new();
    let good = Qualities::All(Quality::GOOD);
    for range in [0..2, 1..3, 2..3, 1..4, 3..5] {
        let values = vec![0; range.len() * 8];
        buf.push_row(Kind::F64, &[range], 0, good, &values).unwrap();
    }
    let (mut frame, mut inflated) = (Vec::new(), Vec::new());
    buf.finish(&Header::default(), false, &mut frame);
    let view = FrameView::decode(&frame, &mut inflated, &BOUNDS).unwrap();
    let found: Vec<_> = view.runs().map(|run| world.current.check(&run)).collect();
    assert_eq!(
        found,
        [Ok(()), Err(2), Err(2), Err(3), Err(3)].map(|one| one.map_err(ParameterIndex::new))
    );
    let arrival = world.arrival();
    assert!(!world.current.set(&f64_at(2, 0, 1.0), arrival));
    assert!(!world.current.set(&f64_at(u32::MAX - 1, 0, 1.0), arrival));
    assert_eq!(world.current.change(), 0);
}

#[test]
fn a_removed_parameter_has_no_value() {
    let (mut world, samples) = of_every_kind();
    world.publish(&samples);
    world.table.names.truncate(3);
    let gone: RangeSet = std::iter::once(2..13).collect();
    world.current.define(&gone, &world.table);
    let known = world.current.known(&gone);
    assert_eq!((known.len(), world.current.text_bytes()), (1, 0));
    assert!(world.current.get(ParameterIndex::new(12)).is_none());
}

#[test]
fn a_snapshot_in_frames_restores_every_value_as_stale() {
    let (mut world, samples) = of_every_kind();
    world.publish(&samples);
    let mut frames: Vec<Vec<u8>> = Vec::new();
    world.current.snapshot(&Header::default(), 100, |frame| frames.push(frame.to_vec()));
    assert!(frames.len() > 1, "cut into frames");
    let mut restored = Current::default();
    restored.define(&all(&world), &world.table);
    for frame in &frames {
        let mut inflated = Vec::new();
        let view = FrameView::decode(frame, &mut inflated, &BOUNDS).unwrap();
        view.runs().for_each(|run| restored.restore(&run, world.arrival(), usize::MAX));
    }
    for sample in samples {
        let view = restored.get(ParameterIndex::new(sample.index)).unwrap();
        assert_eq!((view.value, view.time_ns), (sample.value, sample.time_ns));
        assert_eq!(view.quality, Quality::new(QualityStatus::Stale, Quality::RESTORED));
    }
    assert_eq!(restored.stale(), 13);
}

#[test]
fn a_restored_value_of_another_kind_is_skipped() {
    let mut world = World::new(&[Kind::F64]);
    world.publish(&[f64_at(0, 1, 1.0)]);
    let mut frame = Vec::new();
    world.current.snapshot(&Header::default(), 1000, |bytes| frame.extend_from_slice(bytes));
    let mut other = World::new(&[Kind::Bool]);
    let mut inflated = Vec::new();
    let view = FrameView::decode(&frame, &mut inflated, &BOUNDS).unwrap();
    let arrival = other.arrival();
    view.runs().for_each(|run| other.current.restore(&run, arrival, usize::MAX));
    assert!(other.current.get(ParameterIndex::new(0)).is_none());
}
