//! What samples become, what they cost, and which arrays do not fit together.

use slipring_wire::frame::{
    FrameBuf, Header, Kind, Layout, PushError, Qualities, Quality, Sample, ValueView,
};

use crate::any::each_run;

const GOOD: Qualities<'_> = Qualities::All(Quality::GOOD);

fn sample(index: u32, time_ns: i64) -> Sample<'static> {
    Sample { index, time_ns, quality: Quality::GOOD, value: ValueView::U8(1) }
}

/// The layout and the samples of each run that these samples become.
fn runs(samples: impl IntoIterator<Item = Sample<'static>>) -> Vec<(Layout, usize)> {
    let (mut frame, mut out) = (FrameBuf::new(), Vec::new());
    frame.push_samples(Kind::U8, &mut samples.into_iter().collect::<Vec<_>>()).unwrap();
    frame.finish(&Header::default(), false, &mut out);
    let mut found = Vec::new();
    each_run(&out, |run| found.push((run.layout, run.samples())));
    found
}

#[test]
fn samples_of_one_time_are_a_row_in_any_order() {
    assert_eq!(runs([3, 1, 2].map(|index| sample(index, 70))), [(Layout::One, 3)]);
}

#[test]
fn parameters_with_the_same_times_are_a_grid() {
    let rows = [70, 80].into_iter().flat_map(|time_ns| (0..3).map(move |i| sample(i, time_ns)));
    assert_eq!(runs(rows), [(Layout::Grid, 6)]);
}

#[test]
fn samples_with_their_own_times_are_ragged() {
    assert_eq!(runs([sample(0, 70), sample(1, 71), sample(0, 72)]), [(Layout::Ragged, 3)]);
}

#[test]
fn as_many_samples_at_other_times_or_unevenly_spread_are_no_grid() {
    let other_times = [(0, 70), (0, 80), (1, 70), (1, 81)];
    let uneven = [(0, 70), (0, 80), (1, 70), (2, 80)];
    for times in [&other_times[..], &uneven] {
        let samples = times.iter().map(|(index, time_ns)| sample(*index, *time_ns));
        assert_eq!(runs(samples), [(Layout::Ragged, times.len())]);
    }
}

#[test]
fn many_of_one_time_get_a_run_and_the_few_others_share_one() {
    let many = (0..100).map(|index| sample(index, 70));
    let few = (100..103).map(|index| sample(index, i64::from(index)));
    assert_eq!(runs(few.chain(many)), [(Layout::One, 100), (Layout::Ragged, 3)]);
}

#[test]
fn samples_that_go_back_in_time_go_into_a_later_run() {
    let samples = [sample(0, 80), sample(0, 70), sample(0, 60), sample(1, 80)];
    assert_eq!(runs(samples), [(Layout::One, 2), (Layout::One, 1), (Layout::One, 1)]);
}

/// Bytes of a frame with a full table at one time.
fn table_bytes(kind: Kind, values_bytes: usize) -> usize {
    let (mut frame, mut out) = (FrameBuf::new(), Vec::new());
    let (all, values) = (0..20_000, vec![1; values_bytes]);
    frame.push_row(kind, std::slice::from_ref(&all), 1, GOOD, &values).unwrap();
    frame.finish(&Header::default(), false, &mut out);
    out.len()
}

#[test]
fn a_full_table_costs_little_more_than_its_values() {
    let rows = [(Kind::F64, 160_000, 8.1), (Kind::F32, 80_000, 4.1), (Kind::Bool, 2_500, 0.2)];
    for (kind, values_bytes, each_max) in rows {
        let bytes = u32::try_from(table_bytes(kind, values_bytes)).unwrap();
        assert!(f64::from(bytes) / 20_000.0 <= each_max, "{kind}: {bytes} bytes");
    }
}

fn pushed(kind: Kind, times: &[i64], qualities: Qualities<'_>, values: &[u8]) -> Option<PushError> {
    FrameBuf::new().push_grid(kind, &[0..2, 3..4], times, qualities, values).err()
}

#[test]
fn arrays_that_do_not_fit_together_are_refused() {
    let values = |bytes, samples, kind| Some(PushError::Values { bytes, samples, kind });
    assert_eq!(pushed(Kind::U8, &[1, 2], GOOD, &[0; 6]), None);
    assert_eq!(pushed(Kind::U8, &[1, 2], GOOD, &[0; 5]), values(5, 6, Kind::U8));
    assert_eq!(pushed(Kind::U8, &[1, 2], GOOD, &[0; 7]), values(7, 6, Kind::U8));
    assert_eq!(pushed(Kind::Bool, &[1, 2], GOOD, &[7, 7]), None);
    assert_eq!(pushed(Kind::Bool, &[1, 2], GOOD, &[7, 8]), values(2, 6, Kind::Bool));
    assert_eq!(pushed(Kind::Text, &[1], GOOD, &[0, 0, 1, b'a']), None);
    assert_eq!(pushed(Kind::Text, &[1], GOOD, &[0, 0, 1, 0xff]), values(4, 3, Kind::Text));
    assert_eq!(pushed(Kind::U8, &[2, 1], GOOD, &[0; 6]), Some(PushError::Times));
    assert_eq!(pushed(Kind::U8, &[], GOOD, &[]), Some(PushError::Empty));
    let qualities = Some(PushError::Qualities { found: 5, samples: 6 });
    assert_eq!(pushed(Kind::U8, &[1, 2], Qualities::Each(&[0; 5]), &[0; 6]), qualities);
}

#[test]
fn ranges_that_overlap_or_are_empty_are_refused() {
    let push = |ranges: &[std::ops::Range<u32>]| {
        FrameBuf::new().push_row(Kind::Bool, ranges, 1, GOOD, &[0]).err()
    };
    assert_eq!(push(&[0..2, 1..3]), Some(PushError::Ranges));
    assert_eq!(push(&[4..5, 1..3]), Some(PushError::Ranges));
    assert_eq!(push(&[1..2, 3..3]), Some(PushError::Ranges));
    assert_eq!(push(&[]), Some(PushError::Empty));
    assert_eq!(push(&[0..2, 2..3]), None);
}

#[test]
fn a_sample_of_another_kind_is_refused_and_nothing_is_pushed() {
    let mut frame = FrameBuf::new();
    let mut samples = [sample(0, 1), Sample { value: ValueView::U16(1), ..sample(1, 1) }];
    let refused = frame.push_samples(Kind::U8, &mut samples);
    assert_eq!(refused, Err(PushError::Kind { found: Kind::U16, kind: Kind::U8 }));
    let no_index = frame.push_samples(Kind::U8, &mut [sample(u32::MAX, 1)]);
    assert_eq!(no_index, Err(PushError::Ranges));
    assert!(frame.is_empty());
}
