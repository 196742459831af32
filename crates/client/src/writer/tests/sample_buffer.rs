//! The sample buffer: order, sizes, bounds and times.

use super::*;

const BOUNDS: SampleBufferLimits =
    SampleBufferLimits { bytes_max: 1 << 20, frame_bytes_max: 1 << 20, deflate: false };

fn buffer(beat: Duration, bounds: SampleBufferLimits, now: Instant) -> SampleBuffer {
    SampleBuffer::new(7, Beat::new(beat, now), bounds)
}

fn add_row(buffer: &mut SampleBuffer, first: u32, values: &[u8], now: Instant) {
    row(first, &[5], values, &mut |block| buffer.block(block, now).unwrap());
}

/// The next frame, encoded; nothing if none is due.
fn next(buffer: &mut SampleBuffer, now: Instant) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some((mut frame, header)) = buffer.take(now) {
        frame.finish(&header, false, &mut bytes);
        buffer.give_back(frame);
    }
    bytes
}

fn value(number: u8) -> OwnedValue {
    OwnedValue::U8(number)
}

#[test]
fn samples_of_one_beat_are_one_frame() {
    let now = Instant::now();
    let mut buffer = buffer(20 * MS, BOUNDS, now);
    assert_eq!(buffer.due(), None);
    add_row(&mut buffer, 0, &[1, 2], now + MS);
    add_row(&mut buffer, 9, &[3], now + 19 * MS);
    assert_eq!(buffer.due(), Some(now + 20 * MS));
    assert!(next(&mut buffer, now + 19 * MS).is_empty());
    let frame = next(&mut buffer, now + 20 * MS);
    assert_eq!(seen(&frame), [(0, 5, 0, value(1)), (1, 5, 0, value(2)), (9, 5, 0, value(3))]);
    assert_eq!((buffer.due(), buffer.bytes()), (None, 0));
    add_row(&mut buffer, 0, &[1], now + 61 * MS);
    assert_eq!(buffer.due(), Some(now + 80 * MS), "as if it had never rested");
}

#[test]
fn without_a_beat_everything_is_due_at_once() {
    let now = Instant::now();
    let mut buffer = buffer(Duration::ZERO, BOUNDS, now);
    add_row(&mut buffer, 0, &[1], now + MS);
    assert_eq!(buffer.due(), Some(now + MS));
}

#[test]
fn single_samples_become_runs_and_stay_in_order_with_rows() {
    let now = Instant::now();
    let mut buffer = buffer(20 * MS, BOUNDS, now);
    let first = [
        sample(4, 10, ValueView::U8(1)),
        sample(2, 10, ValueView::Text("on")),
        sample(4, 11, ValueView::U8(2)),
    ];
    buffer.samples(&first, now).unwrap();
    add_row(&mut buffer, 4, &[3], now);
    buffer.samples(&[sample(4, 13, ValueView::U8(4))], now).unwrap();
    buffer.samples(&[sample(4, 12, ValueView::U8(5))], now).unwrap();
    let frame = next(&mut buffer, now + 20 * MS);
    let all = seen(&frame);
    let of_four: Vec<_> = all.iter().filter(|(index, ..)| *index == 4).map(|s| &s.3).collect();
    assert_eq!(of_four, [1, 2, 3, 4, 5].map(value).iter().collect::<Vec<_>>());
    assert!(all.contains(&(2, 10, 0, OwnedValue::Text("on".to_owned()))));
}

#[test]
fn frames_are_numbered_and_know_their_table_and_the_skew() {
    let now = Instant::now();
    let mut buffer = buffer(Duration::ZERO, BOUNDS, now);
    let mut headers = Vec::new();
    for round in 0..3 {
        add_row(&mut buffer, 0, &[1], now);
        headers.push(buffer.take(now).unwrap().1);
        buffer.set_skew((round == 0).then_some(-3));
    }
    let numbers: Vec<_> = headers.iter().map(|header| (header.table, header.sequence)).collect();
    assert_eq!(numbers, [(7, 0), (7, 1), (7, 2)]);
    let skews: Vec<_> = headers.iter().map(|header| header.hops.map(|hops| hops.skew_ns)).collect();
    assert_eq!(skews, [None, Some(-3), None]);
}

#[test]
fn a_frame_that_is_full_does_not_wait_for_the_beat() {
    let now = Instant::now();
    let bounds = SampleBufferLimits { frame_bytes_max: 400, ..BOUNDS };
    let mut buffer = buffer(20 * MS, bounds, now);
    add_row(&mut buffer, 0, &[1; 200], now);
    assert_eq!(buffer.due(), Some(now + 20 * MS));
    add_row(&mut buffer, 0, &[2; 200], now);
    assert_eq!(buffer.due(), Some(now));
    assert_eq!(seen(&next(&mut buffer, now))[199], (199, 5, 0, value(1)));
    assert_eq!(buffer.due(), Some(now + 20 * MS));
    assert_eq!(seen(&next(&mut buffer, now + 20 * MS))[0], (0, 5, 0, value(2)));
}

#[test]
fn a_row_larger_than_a_frame_is_divided() {
    let now = Instant::now();
    let bounds = SampleBufferLimits { frame_bytes_max: 300, ..BOUNDS };
    let mut buffer = buffer(Duration::ZERO, bounds, now);
    let values: Vec<u8> = (0..=255).cycle().take(2000).collect();
    row(0, &[1, 2], &values, &mut |block| buffer.block(block, now).unwrap());
    let mut all = Vec::new();
    while buffer.due().is_some() {
        let frame = next(&mut buffer, now);
        assert!(frame.len() <= 300, "{} bytes", frame.len());
        all.extend(seen(&frame));
    }
    let expected: Seen = values
        .iter()
        .enumerate()
        .map(|(at, number)| (at as u32 % 1000, i64::from(at >= 1000) + 1, 0, value(*number)))
        .collect();
    assert_eq!(all, expected);
}

#[test]
fn texts_are_divided_between_frames_too() {
    let now = Instant::now();
    let bounds = SampleBufferLimits { frame_bytes_max: 4000, ..BOUNDS };
    let mut buffer = buffer(Duration::ZERO, bounds, now);
    let text = "x".repeat(1000);
    let samples: Vec<_> = (0..20).map(|at| sample(at, 1, ValueView::Text(&text))).collect();
    buffer.samples(&samples, now).unwrap();
    let mut count = 0;
    while buffer.due().is_some() {
        let frame = next(&mut buffer, now);
        assert!(frame.len() <= 4000, "{} bytes", frame.len());
        count += seen(&frame).len();
    }
    assert_eq!(count, 20);
}

#[test]
fn at_the_bound_it_is_full_until_half_of_it_is_free() {
    let now = Instant::now();
    let bounds = SampleBufferLimits { bytes_max: 1000, frame_bytes_max: 300, ..BOUNDS };
    let mut buffer = buffer(Duration::ZERO, bounds, now);
    let mut full = Ok(());
    for _ in 0..100 {
        row(0, &[1], &[1; 100], &mut |block| full = buffer.block(block, now));
    }
    assert_eq!(full, Err(WriteError::Full));
    assert!((1000..1300).contains(&buffer.bytes()));
    assert!(!buffer.has_room_again());
    while buffer.bytes() > 500 {
        assert!(!buffer.has_room_again());
        assert_eq!(buffer.samples(&[sample(0, 1, ValueView::U8(1))], now), full);
        next(&mut buffer, now);
    }
    assert!(buffer.has_room_again());
    assert!(!buffer.has_room_again(), "told once");
    add_row(&mut buffer, 0, &[1], now);
}

#[test]
fn samples_that_do_not_belong_together_change_nothing() {
    let now = Instant::now();
    let mut buffer = buffer(Duration::ZERO, BOUNDS, now);
    let qualities = Qualities::All(Quality::GOOD);
    let ranges = [0..2, 1..3];
    let block =
        Block { kind: Kind::U8, ranges: &ranges, times: &[1], qualities, values: &[1, 2, 3, 4] };
    assert_eq!(buffer.block(&block, now), Err(WriteError::Samples(PushError::Ranges)));
    assert_eq!((buffer.due(), buffer.bytes()), (None, 0));
}

#[test]
fn another_table_drops_the_samples_for_the_one_before() {
    let now = Instant::now();
    let mut buffer = buffer(20 * MS, SampleBufferLimits { frame_bytes_max: 200, ..BOUNDS }, now);
    add_row(&mut buffer, 0, &[1; 100], now);
    add_row(&mut buffer, 0, &[1; 100], now);
    buffer.samples(&[sample(0, 9, ValueView::U8(1))], now).unwrap();
    assert_eq!(buffer.set_table(7), 0, "the same one");
    assert_eq!(buffer.set_table(8), 201);
    assert_eq!((buffer.due(), buffer.bytes()), (None, 0));
}
