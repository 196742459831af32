//! Deflated frames: smaller, and never a way to make a broker run out of memory.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use slipring_wire::frame::{
    Fault, FrameBounds, FrameBuf, FrameView, Header, Kind, Qualities, Quality,
};

use crate::any::{BOUNDS, all_visited};

fn push(frame: &mut FrameBuf, values: &[u8]) {
    let all = 0..values.len() as u32;
    let qualities = Qualities::All(Quality::GOOD);
    frame.push_row(Kind::U8, std::slice::from_ref(&all), 70, qualities, values).unwrap();
}

fn frame(values: &[u8], deflate: bool) -> Vec<u8> {
    let (mut frame, mut out) = (FrameBuf::new(), Vec::new());
    push(&mut frame, values);
    frame.finish(&Header::default(), deflate, &mut out);
    out
}

/// A frame whose body is this, whatever it claims.
fn with_body(raw_bytes: u32, body: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    let mut out = frame(&[1], false)[..24].to_vec();
    out[4] |= 1;
    out.extend_from_slice(&raw_bytes.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&encoder.finish().unwrap());
    out
}

fn fault(bytes: &[u8], bounds: &FrameBounds) -> Option<(Fault, usize, bool)> {
    let error = FrameView::decode(bytes, &mut Vec::new(), bounds).err()?;
    Some((error.fault, error.at, error.inflated))
}

#[test]
fn a_deflated_frame_is_smaller_and_has_the_same_samples() {
    let (plain, deflated) = (frame(&[7; 10_000], false), frame(&[7; 10_000], true));
    assert!(deflated.len() < plain.len() / 50, "{} of {}", deflated.len(), plain.len());
    assert_eq!(all_visited(&deflated), all_visited(&plain));
}

#[test]
fn a_body_that_does_not_become_smaller_goes_as_it_is() {
    assert_eq!(frame(&[1, 2, 3], true), frame(&[1, 2, 3], false));
}

#[test]
fn one_buffer_deflates_again_and_again() {
    let (mut frame, mut first) = (FrameBuf::new(), Vec::new());
    for turn in 0..3 {
        push(&mut frame, &[7; 1000]);
        let mut out = Vec::new();
        frame.finish(&Header::default(), true, &mut out);
        if turn == 0 {
            first = out;
        } else {
            assert_eq!(out, first);
        }
    }
}

#[test]
fn a_bomb_is_refused_by_what_it_says_or_stopped_where_it_lies() {
    let bomb = vec![0; 8 << 20];
    let bounds = FrameBounds { raw_bytes_max: 1 << 20, ..BOUNDS };
    assert_eq!(
        fault(&with_body(8 << 20, &bomb), &bounds),
        Some((Fault::RawBytes(8 << 20), 24, false))
    );
    let mut scratch = Vec::new();
    let error = FrameView::decode(&with_body(64, &bomb), &mut scratch, &bounds).unwrap_err();
    assert_eq!((error.fault, error.at), (Fault::RawLength, 32));
    assert!(scratch.capacity() < 1 << 20, "{}", scratch.capacity());
}

#[test]
fn a_claimed_length_gets_no_memory_before_its_bytes_are_there() {
    let bounds = FrameBounds { raw_bytes_max: usize::MAX, ..BOUNDS };
    let mut scratch = Vec::new();
    let frame = with_body(u32::MAX, &[0; 64]);
    let error = FrameView::decode(&frame, &mut scratch, &bounds).unwrap_err();
    assert_eq!(error.fault, Fault::RawLength);
    assert!(scratch.capacity() < 1 << 20, "{}", scratch.capacity());
}

#[test]
fn a_deflated_body_is_whole_and_nothing_else() {
    let good = frame(&[7; 1000], true);
    assert_eq!(fault(&good, &BOUNDS), None);
    let changed = |change: fn(&mut Vec<u8>)| {
        let mut bytes = good.clone();
        change(&mut bytes);
        fault(&bytes, &BOUNDS).map(|(fault, ..)| fault)
    };
    assert_eq!(changed(|bytes| bytes.push(0)), Some(Fault::Excess));
    assert_eq!(changed(|bytes| bytes.truncate(28)), Some(Fault::Cut));
    assert_eq!(changed(|bytes| bytes.truncate(bytes.len() - 1)), Some(Fault::Cut));
    assert_eq!(changed(|bytes| bytes[28] = 1), Some(Fault::NotZero));
    assert_eq!(changed(|bytes| bytes[24] += 8), Some(Fault::RawLength));
    assert_eq!(changed(|bytes| bytes[24] -= 8), Some(Fault::RawLength));
    assert_eq!(changed(|bytes| *bytes.last_mut().unwrap() ^= 1), Some(Fault::Deflate));
    assert_eq!(changed(|bytes| bytes[32] = 0), Some(Fault::Deflate));
}

#[test]
fn a_fault_in_an_inflated_body_says_so() {
    let mut body = frame(&[7; 1000], false)[24..].to_vec();
    body[0] = 99;
    let bytes = with_body(body.len() as u32, &body);
    assert_eq!(fault(&bytes, &BOUNDS), Some((Fault::Kind(99), 24, true)));
}
