//! Frames in, bytes out: the rules of RFC 6455 as rows, and the laws of the decoder.

use proptest::collection::vec;
use proptest::prelude::*;

use crate::frame::{self, DataEnd, Decoder, Side, WebSocketViolation};

const MASK: [u8; 4] = [0x11, 0xfe, 0x00, 0x7c];
const MAX: u64 = 100_000;

/// A frame as a client sends it.
fn client_frame(start: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![start];
    match payload.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length @ 126..0x1_0000 => {
            frame.push(0xfe);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0xff);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// What comes out of a decoder that is fed these pieces.
fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<u8>, Decoder) {
    let mut decoder = Decoder::new(Side::Server, MAX);
    let mut data = Vec::new();
    for piece in pieces {
        let mut piece = piece.to_vec();
        let count = decoder.decode(&mut piece);
        data.extend_from_slice(&piece[..count]);
    }
    (data, decoder)
}

fn end_of(bytes: &[u8]) -> Option<DataEnd> {
    decode([bytes]).1.end()
}

#[test]
fn frames_of_every_length_form_give_their_payload() {
    for length in [0, 1, 7, 8, 125, 126, 127, 0xffff, 0x1_0000, 100_000] {
        let payload: Vec<u8> = (0..=255).cycle().take(length).collect();
        let (data, decoder) = decode([&client_frame(0x82, &payload)[..]]);
        assert_eq!((data == payload, decoder.end()), (true, None), "{length}");
    }
}

#[test]
fn fragments_with_a_ping_between_them_make_one_message() {
    let mut bytes = client_frame(0x02, b"one ");
    bytes.extend(client_frame(0x89, b"there?"));
    bytes.extend(client_frame(0x00, b"two "));
    bytes.extend(client_frame(0x8a, b"a pong nobody asked for"));
    bytes.extend(client_frame(0x80, b"three"));
    bytes.extend(client_frame(0x82, b", four"));
    let (data, mut decoder) = decode([&bytes[..]]);
    assert_eq!(data, b"one two three, four");
    assert_eq!(decoder.take_ping().as_deref(), Some(&b"there?"[..]));
    assert_eq!((decoder.take_ping(), decoder.end()), (None, None));
}

#[test]
fn of_many_pings_the_newest_is_answered() {
    let mut bytes = client_frame(0x89, b"1");
    bytes.extend(client_frame(0x89, b"2"));
    assert_eq!(decode([&bytes[..]]).1.take_ping().as_deref(), Some(&b"2"[..]));
}

#[test]
fn data_before_the_end_is_given_and_nothing_after_it() {
    for (last, end) in [
        (client_frame(0x88, &[3, 232]), DataEnd::Closed),
        (client_frame(0x81, b"text"), DataEnd::Violation(WebSocketViolation::Text)),
    ] {
        let mut bytes = client_frame(0x82, b"before");
        bytes.extend(last);
        bytes.extend(client_frame(0x82, b"after"));
        let (data, decoder) = decode([&bytes[..]]);
        assert_eq!((&data[..], decoder.end()), (&b"before"[..], Some(end)));
    }
}

#[test]
fn a_violation_ends_the_connection() {
    let unmasked = [0x82, 1, b'x'];
    let short_as_16 = [0x82, 0xfe, 0, 125, 0, 0, 0, 0];
    let short_as_64 = [0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0];
    let lie = [0x82, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    let long_ping = client_frame(0x89, &[0; 126]);
    let message_inside = [client_frame(0x02, b"a"), client_frame(0x82, b"b")].concat();
    let rows: [(&[u8], WebSocketViolation, u16); 16] = [
        (&[0xc2], WebSocketViolation::ReservedBits, 1002),
        (&[0xa2], WebSocketViolation::ReservedBits, 1002),
        (&[0x92], WebSocketViolation::ReservedBits, 1002),
        (&[0xc9], WebSocketViolation::ReservedBits, 1002),
        (&[0x81], WebSocketViolation::Text, 1003),
        (&[0x01], WebSocketViolation::Text, 1003),
        (&[0x83], WebSocketViolation::Opcode, 1002),
        (&[0x8b], WebSocketViolation::Opcode, 1002),
        (&unmasked, WebSocketViolation::Unmasked, 1002),
        (&short_as_16, WebSocketViolation::Length, 1002),
        (&short_as_64, WebSocketViolation::Length, 1002),
        (&lie, WebSocketViolation::TooLarge, 1009),
        (&long_ping, WebSocketViolation::Control, 1002),
        (&client_frame(0x09, b"half a ping"), WebSocketViolation::Control, 1002),
        (&client_frame(0x80, b"of nothing"), WebSocketViolation::Fragments, 1002),
        (&message_inside, WebSocketViolation::Fragments, 1002),
    ];
    for (bytes, violation, code) in rows {
        assert_eq!(end_of(bytes), Some(DataEnd::Violation(violation)), "{bytes:x?}");
        assert_eq!(violation.code(), code);
    }
}

#[test]
fn fragments_together_may_not_be_larger_than_a_message() {
    let half = vec![0; MAX as usize / 2];
    let rest = [client_frame(0x02, &half), client_frame(0x00, &half)].concat();
    assert_eq!(end_of(&rest), None);
    let more = [rest, client_frame(0x80, b"x")].concat();
    assert_eq!(end_of(&more), Some(DataEnd::Violation(WebSocketViolation::TooLarge)));
    let many = client_frame(0x82, &vec![0; MAX as usize]).repeat(3);
    assert_eq!(end_of(&many), None, "messages are counted one by one");
}

#[test]
fn our_frames_have_the_smallest_header_and_no_mask() {
    let rows = [(0, vec![0x82, 0]), (125, vec![0x82, 125]), (126, vec![0x82, 126, 0, 126])];
    for (length, expected) in rows {
        let (header, bytes) = frame::data_header(length);
        assert_eq!(header[..usize::from(bytes)], expected);
    }
    assert_eq!(frame::data_header(frame::SENT_MAX).0, [0x82, 126, 0xff, 0xff]);
    assert_eq!(frame::pong(b"hi", None), [0x8a, 2, b'h', b'i']);
    assert_eq!(frame::close(1000, None), [0x88, 2, 3, 232]);
}

proptest! {
    #[test]
    fn any_cut_of_the_input_gives_the_same_data(
        payloads in vec((vec(any::<u8>(), 0..300), any::<bool>()), 1..8),
        cuts in vec(1_usize..40, 1..200),
    ) {
        let mut bytes = Vec::new();
        let mut inside = false;
        for (payload, last) in &payloads {
            let opcode = if inside { 0x0 } else { 0x2 };
            bytes.extend(client_frame(if *last { 0x80 } else { 0 } | opcode, payload));
            bytes.extend(client_frame(0x89, b"ping"));
            inside = !last;
        }
        let mut rest = &bytes[..];
        let pieces = cuts.iter().cycle().map_while(|cut| {
            let piece;
            (piece, rest) = rest.split_at((*cut).min(rest.len()));
            (!piece.is_empty()).then_some(piece)
        });
        let (data, decoder) = decode(pieces);
        let expected: Vec<u8> = payloads.iter().flat_map(|(payload, _)| payload.clone()).collect();
        prop_assert_eq!((data, decoder.end()), (expected, None));
    }

    #[test]
    fn no_bytes_make_it_panic_or_give_more_than_there_was(
        pieces in vec(vec(any::<u8>(), 0..50), 0..20),
    ) {
        let whole: usize = pieces.iter().map(Vec::len).sum();
        let (data, _) = decode(pieces.iter().map(Vec::as_slice));
        prop_assert!(data.len() <= whole);
    }
}
