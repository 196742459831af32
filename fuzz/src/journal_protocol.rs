//! Requests of remote readers, a broker's answers, and the batches in them. Neither side trusts the other.
//!
//! This file encodes the batches itself, from `docs/journal.md`: a second reading of the specification.

use arbitrary::{Arbitrary, Unstructured};
use crc32c::crc32c;
use slipring_journal::{JournalAnswer, JournalRequest, MessageColumns};

const NAMES: [&str; 9] =
    ["about", "read", "samples", "definitions", "at", "position", "commit", "write", ""];

#[derive(Arbitrary, Debug)]
struct ProtocolInput<'a> {
    body: &'a [u8],
    first: u32,
    batches: Vec<Piece<'a>>,
    range: (u8, u8),
    bytes_max: u16,
}

#[derive(Arbitrary, Debug)]
enum Piece<'a> {
    /// A whole batch at the offset that comes next.
    Next(&'a str, Vec<(u8, &'a str, &'a [u8])>),
    /// A batch with right checksums and any content.
    Odd {
        ahead: u8,
        count: u32,
        state: u32,
        body: &'a [u8],
    },
    Raw(&'a [u8]),
}

/// The bytes choose a body of requests and answers, and an excerpt.
pub fn journal_protocol(data: &[u8]) {
    let Ok(input) = ProtocolInput::arbitrary_take_rest(Unstructured::new(data)) else { return };
    for name in NAMES {
        if let Ok(request) = JournalRequest::decode(name, input.body) {
            assert_eq!((request.name(), &request.encode()[..]), (name, input.body));
        }
        match JournalAnswer::decode(name, input.body) {
            Some(Ok(answer)) => assert_eq!(answer.encode(), input.body),
            Some(Err(refusal)) => assert!(refusal.encode().len() == input.body.len()),
            None => {}
        }
    }
    read(&input);
}

/// The messages have consecutive offsets within the range, whether they are taken in one call or in many.
fn read(input: &ProtocolInput<'_>) {
    let (first, excerpt) = excerpt(input);
    let start = first + u64::from(input.range.0);
    let range = start..start + u64::from(input.range.1);
    let mut whole = MessageColumns::starting_at(start);
    let Ok(true) = whole.take_excerpt(&excerpt, first, &range, usize::MAX) else { return };
    let taken: Vec<i64> = (start..whole.end).map(|offset| i64::try_from(offset).unwrap()).collect();
    assert_eq!(whole.offset, taken);
    assert!(whole.end <= range.end.max(start));
    let mut end = start;
    while end < whole.end {
        let mut part = MessageColumns::starting_at(end);
        let rest = end..range.end;
        part.take_excerpt(&excerpt, first, &rest, usize::from(input.bytes_max)).unwrap();
        assert!(part.end > end && part.offset[0] == i64::try_from(end).unwrap());
        end = part.end;
    }
    assert_eq!(end, whole.end);
}

fn excerpt(input: &ProtocolInput<'_>) -> (u64, Vec<u8>) {
    let first = u64::from(input.first);
    let (mut next, mut bytes) = (first, Vec::new());
    for piece in &input.batches {
        match piece {
            Piece::Next(publisher, messages) => {
                let mut body = short(publisher);
                for (flags, topic, payload) in messages {
                    body.push(flags % 3);
                    body.extend(short(topic));
                    body.extend([0; 4]);
                    body.extend((payload.len() as u32).to_le_bytes());
                    body.extend(*payload);
                }
                bytes.extend(batch(next, messages.len() as u32, 0, &body));
                next += messages.len() as u64;
            }
            Piece::Odd { ahead, count, state, body } => {
                bytes.extend(batch(next + u64::from(*ahead), *count, *state, body));
            }
            Piece::Raw(raw) => bytes.extend(*raw),
        }
    }
    (first, bytes)
}

fn short(text: &str) -> Vec<u8> {
    let text = &text.as_bytes()[..text.len().min(65_535)];
    [&(text.len() as u16).to_le_bytes(), text].concat()
}

fn batch(base: u64, count: u32, state: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = b"SLPB".to_vec();
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend(base.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(7_i64.to_le_bytes());
    bytes.extend(state.to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes.extend(crc32c(body).to_le_bytes());
    bytes.extend(crc32c(&bytes).to_le_bytes());
    bytes.extend(body);
    bytes
}
