//! Bytes that are not a frame: cut, flipped, or lying about themselves.

use proptest::prelude::*;
use slipring_wire::frame::{FrameBuf, FrameView, RangeSet};

use crate::any::{BOUNDS, any_frame, any_ranges, each_run, newest, visited};

/// Whatever decodes can be read and copied.
fn use_all(bytes: &[u8], chosen: &RangeSet) {
    let mut scratch = Vec::new();
    let Ok(view) = FrameView::decode(bytes, &mut scratch, &BOUNDS) else { return };
    let mut part = FrameBuf::new();
    for run in view.runs() {
        assert_eq!(visited(&run).len(), run.samples());
        assert_eq!(newest(&run).len(), run.parameters);
        part.push_part(&run, chosen);
    }
}

proptest! {
    #[test]
    fn a_cut_frame_is_always_refused(
        frame in any_frame(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 20),
    ) {
        let (mut ends, mut end) = (vec![0], 0);
        each_run(&frame, |run| {
            end += run.bytes().len();
            ends.push(end);
        });
        let between_runs = ends.iter().flat_map(|end| [24 + end, 48 + end]);
        let cuts = cuts.iter().map(|cut| cut.index(frame.len())).chain(between_runs);
        for length in cuts.filter(|length| *length < frame.len()) {
            let mut scratch = Vec::new();
            prop_assert!(FrameView::decode(&frame[..length], &mut scratch, &BOUNDS).is_err());
        }
    }

    #[test]
    fn flipped_bits_do_no_harm(
        frame in any_frame(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..4),
        chosen in any_ranges(),
    ) {
        let mut frame = frame;
        for (position, bits) in flips {
            let position = position.index(frame.len());
            frame[position] ^= bits;
        }
        use_all(&frame, &chosen.into_iter().collect());
    }
}
