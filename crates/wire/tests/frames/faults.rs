//! Each thing that can be wrong with a frame is told apart, with its place.

use slipring_wire::frame::{
    Fault, FrameBounds, FrameBuf, FrameError, FrameView, Header, Kind, Layout, Qualities, Quality,
};

use crate::any::BOUNDS;

const GOOD: Qualities<'_> = Qualities::All(Quality::GOOD);

fn finished(fill: impl FnOnce(&mut FrameBuf)) -> Vec<u8> {
    let (mut frame, mut out) = (FrameBuf::new(), Vec::new());
    fill(&mut frame);
    frame.finish(&Header::default(), false, &mut out);
    out
}

/// Parameters 5, 6, 7 and 9 as u8: the run at 24, its ranges at 48, its values at 56; 64 bytes.
fn row() -> Vec<u8> {
    finished(|frame| frame.push_row(Kind::U8, &[5..8, 9..10], 70, GOOD, &[1, 2, 3, 4]).unwrap())
}

/// Three parameters, two times: rows at 50, deltas at 51, values at 56.
fn grid() -> Vec<u8> {
    let fill = |frame: &mut FrameBuf| {
        frame.push_grid(Kind::Bool, std::slice::from_ref(&(0..3)), &[70, 80], GOOD, &[7, 5])
    };
    finished(|frame| fill(frame).unwrap())
}

/// Parameter 0 twice and parameter 1 once: counts at 50, deltas at 52, values at 56.
fn ragged() -> Vec<u8> {
    use slipring_wire::frame::{Sample, ValueView};
    let samples = [(0, 70), (0, 80), (1, 60)];
    let mut samples = samples.map(|(index, time_ns)| Sample {
        index,
        time_ns,
        quality: Quality::GOOD,
        value: ValueView::U8(1),
    });
    finished(|frame| frame.push_samples(Kind::U8, &mut samples).unwrap())
}

/// Texts `é` and `a`: lengths at 56, bytes at 58.
fn texts() -> Vec<u8> {
    let values = "\u{2}\u{1}éa".as_bytes();
    finished(|frame| {
        frame.push_row(Kind::Text, std::slice::from_ref(&(0..2)), 70, GOOD, values).unwrap();
    })
}

fn fault(bytes: &[u8], bounds: &FrameBounds) -> Option<(Fault, usize)> {
    let error = FrameView::decode(bytes, &mut Vec::new(), bounds).err()?;
    assert!(!error.inflated);
    Some((error.fault, error.at))
}

#[track_caller]
fn check(mut frame: Vec<u8>, changes: &[(usize, u8)], expected: Fault, at: usize) {
    assert_eq!(fault(&frame, &BOUNDS), None);
    for (position, byte) in changes {
        frame[*position] = *byte;
    }
    assert_eq!(fault(&frame, &BOUNDS), Some((expected, at)), "{changes:?}");
}

#[test]
fn the_header_must_be_a_known_one() {
    check(row(), &[(0, b'X')], Fault::Magic, 0);
    check(row(), &[(3, 2)], Fault::Version(2), 3);
    check(row(), &[(4, 4)], Fault::Flags(4), 4);
}

#[test]
fn the_runs_are_as_many_as_the_header_says() {
    check(row(), &[(5, 2)], Fault::Cut, 64);
    check(row(), &[(5, 0)], Fault::Excess, 24);
    check(row(), &[(7, 255)], Fault::Cut, 64);
    check(row(), &[(4, 2)], Fault::Cut, 64);
}

#[test]
fn the_head_of_a_run_must_be_a_known_one() {
    check(row(), &[(24, 0)], Fault::Kind(0), 24);
    check(row(), &[(24, 14)], Fault::Kind(14), 24);
    check(row(), &[(25, 3)], Fault::Layout(3), 25);
    check(row(), &[(26, 3)], Fault::Qualities(3), 26);
    check(row(), &[(27, 1)], Fault::NotZero, 27);
}

#[test]
fn a_run_is_as_long_as_it_says() {
    check(row(), &[(28, 36)], Fault::RunBytes(36), 28);
    check(row(), &[(28, 0)], Fault::RunBytes(0), 28);
    check(row(), &[(28, 48)], Fault::Cut, 64);
    check(row(), &[(31, 255)], Fault::Cut, 64);
    check(row(), &[(26, 2), (24, Kind::I64.code())], Fault::RunBytes(40), 64);
    check(row(), &[(24, Kind::F64.code())], Fault::RunBytes(40), 64);
    check(grid(), &[(50, 127), (56, 0), (57, 0)], Fault::RunBytes(40), 64);
}

#[test]
fn the_ranges_ascend_apart_and_make_up_the_parameters() {
    check(row(), &[(32, 0)], Fault::Empty, 32);
    check(row(), &[(36, 0)], Fault::Empty, 32);
    check(row(), &[(32, 5)], Fault::Ranges, 32);
    check(row(), &[(32, 3)], Fault::Ranges, 51);
    check(row(), &[(36, 1)], Fault::Ranges, 32);
    check(row(), &[(50, 0)], Fault::Ranges, 50);
    check(row(), &[(35, 255), (36, 255)], Fault::Ranges, 52);
}

#[test]
fn indices_end_before_the_last_number_there_is() {
    let most = u32::MAX - 1;
    let mut frame = finished(|frame| {
        frame.push_row(Kind::U8, std::slice::from_ref(&(most..u32::MAX)), 70, GOOD, &[1]).unwrap();
    });
    assert_eq!(fault(&frame, &BOUNDS), None);
    frame[48] += 1;
    assert_eq!(fault(&frame, &BOUNDS), Some((Fault::Ranges, 53)));
}

#[test]
fn numbers_have_their_shortest_form_and_fit() {
    check(row(), &[(48, 0x85), (49, 0)], Fault::Varint, 48);
    let long = [(48, 0xff), (49, 0xff), (50, 0xff), (51, 0xff), (52, 0xff)];
    check(row(), &[&long[..], &[(53, 1)]].concat(), Fault::Varint, 48);
    check(texts(), &[(56, 0x82), (57, 0)], Fault::Varint, 56);
}

#[test]
fn times_and_counts_are_there_and_times_do_not_go_back() {
    check(grid(), &[(50, 0)], Fault::Empty, 50);
    check(grid(), &[(52, 1)], Fault::Times, 52);
    check(ragged(), &[(51, 0)], Fault::Empty, 51);
    check(ragged(), &[(53, 1)], Fault::Times, 53);
}

#[test]
fn padding_and_spare_bits_are_zero() {
    check(row(), &[(55, 1)], Fault::NotZero, 52);
    check(row(), &[(63, 1)], Fault::NotZero, 60);
    check(grid(), &[(56, 8)], Fault::NotZero, 56);
    check(grid(), &[(57, 8)], Fault::NotZero, 56);
}

#[test]
fn text_is_utf8_and_no_item_ends_inside_a_character() {
    check(texts(), &[(58, 0xff)], Fault::Utf8, 58);
    check(texts(), &[(56, 1), (57, 2)], Fault::Utf8, 58);
    check(texts(), &[(56, 100)], Fault::RunBytes(40), 64);
}

#[test]
fn more_samples_than_are_accepted_are_refused() {
    let twice = finished(|frame| {
        for _ in 0..2 {
            frame.push_row(Kind::U8, &[5..8, 9..10], 70, GOOD, &[1, 2, 3, 4]).unwrap();
        }
    });
    let bounds = |samples_max| FrameBounds { samples_max, ..BOUNDS };
    assert_eq!(fault(&twice, &bounds(8)), None);
    assert_eq!(fault(&twice, &bounds(7)), Some((Fault::Samples, 92)));
    assert_eq!(fault(&grid(), &bounds(5)), Some((Fault::Samples, 50)));
    assert_eq!(fault(&ragged(), &bounds(2)), Some((Fault::Samples, 50)));
}

#[test]
fn an_error_says_what_and_where() {
    let error = FrameError { fault: Fault::Kind(99), at: 24, inflated: false };
    assert_eq!(error.to_string(), "kind 99 is not known, at byte 24");
    let error = FrameError { inflated: true, ..error };
    assert_eq!(error.to_string(), "kind 99 is not known, at byte 24 of the inflated frame");
}

#[test]
fn the_frames_of_this_file_have_the_layouts_they_are_named_for() {
    for (frame, layout) in
        [(row(), Layout::One), (grid(), Layout::Grid), (ragged(), Layout::Ragged)]
    {
        crate::any::each_run(&frame, |run| assert_eq!(run.layout, layout));
        assert_eq!(frame.len(), 64);
    }
}
