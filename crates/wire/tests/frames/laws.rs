//! What goes into a frame comes out of it, and parts of it are what a naive reading says.

use std::collections::BTreeMap;

use proptest::prelude::*;
use slipring_wire::frame::{FrameBuf, FrameView, Header, RangeSet};

use crate::any::{
    BOUNDS, Plain, all_visited, any_frame, any_grid, any_header, any_ranges, any_samples, each_run,
    newest, plain, push_loose, visited,
};

fn finished(frame: &mut FrameBuf) -> Vec<u8> {
    let mut out = Vec::new();
    frame.finish(&Header::default(), false, &mut out);
    out
}

/// Each parameter's samples in their order.
fn by_parameter(samples: Vec<Plain>) -> BTreeMap<u32, Vec<Plain>> {
    let mut found: BTreeMap<u32, Vec<Plain>> = BTreeMap::new();
    for sample in samples {
        found.entry(sample.0).or_default().push(sample);
    }
    found
}

proptest! {
    #[test]
    fn any_samples_come_back_and_each_parameter_keeps_its_order((kind, loose) in any_samples()) {
        let mut frame = FrameBuf::new();
        push_loose(&mut frame, kind, &loose);
        prop_assert_eq!(frame.samples(), loose.len());
        let expected = loose.iter().map(|sample| plain(&sample.sample())).collect();
        prop_assert_eq!(by_parameter(all_visited(&finished(&mut frame))), by_parameter(expected));
    }

    #[test]
    fn any_grid_comes_back(grid in any_grid()) {
        let mut frame = FrameBuf::new();
        grid.push(&mut frame);
        prop_assert_eq!(frame.samples(), grid.values.len());
        prop_assert_eq!(all_visited(&finished(&mut frame)), grid.plain());
    }

    #[test]
    fn any_header_comes_back(header in any_header(), deflate: bool, grid in any_grid()) {
        let mut frame = FrameBuf::new();
        grid.push(&mut frame);
        let mut out = Vec::new();
        frame.finish(&header, deflate, &mut out);
        let mut scratch = Vec::new();
        let view = FrameView::decode(&out, &mut scratch, &BOUNDS).unwrap();
        prop_assert_eq!(view.header, header);
        prop_assert!(frame.is_empty() && frame.samples() == 0);
    }

    #[test]
    fn the_newest_of_a_run_are_the_last_of_each_parameter(frame in any_frame()) {
        each_run(&frame, |run| {
            let last: BTreeMap<u32, Plain> =
                visited(run).into_iter().map(|sample| (sample.0, sample)).collect();
            assert_eq!(newest(run), last.into_values().collect::<Vec<_>>());
        });
    }

    #[test]
    fn a_run_knows_its_parameters_times_and_samples(frame in any_frame()) {
        each_run(&frame, |run| {
            let samples = visited(run);
            assert_eq!(run.samples(), samples.len());
            assert_eq!(run.oldest_ns(), samples.iter().map(|sample| sample.1).min().unwrap());
            assert_eq!(run.newest_ns(), samples.iter().map(|sample| sample.1).max().unwrap());
            let known: RangeSet = samples.iter().map(|sample| sample.0).collect();
            assert_eq!(run.ranges().collect::<Vec<_>>(), known.as_slice());
            assert_eq!(run.parameters, known.len());
        });
    }

    #[test]
    fn a_part_is_what_a_naive_filter_leaves(frame in any_frame(), chosen in any_ranges()) {
        let chosen: RangeSet = chosen.into_iter().collect();
        let (mut part, mut expected) = (FrameBuf::new(), Vec::new());
        each_run(&frame, |run| {
            part.push_part(run, &chosen);
            expected.extend(visited(run).into_iter().filter(|sample| chosen.contains(sample.0)));
        });
        prop_assert_eq!(part.samples(), expected.len());
        prop_assert_eq!(all_visited(&finished(&mut part)), expected);
    }

    #[test]
    fn runs_are_copied_as_they_are(frame in any_frame()) {
        let (mut copy, mut part, mut bytes) = (FrameBuf::new(), FrameBuf::new(), Vec::new());
        let everything: RangeSet = std::iter::once(0..u32::MAX).collect();
        each_run(&frame, |run| {
            copy.push_run(run);
            part.push_part(run, &everything);
            bytes.extend_from_slice(run.bytes());
        });
        prop_assert_eq!(&finished(&mut copy)[24..], &bytes);
        prop_assert_eq!(&finished(&mut part)[24..], &bytes);
    }
}
