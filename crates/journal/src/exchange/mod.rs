//! What a reader elsewhere asks of a journal, and what it is answered, as `docs/remote.md` specifies
//! the bytes. Pure: never reads a file, and knows nothing of how the bytes travel.

mod answer;
mod refusal;
mod request;

pub use answer::{Answer, PAIR_BYTES, READ_ANSWER_BYTES};
pub use refusal::{Refusal, Why};
pub use request::{Malformed, Request};

/// The version of everything in this module; the first byte of every answer.
const VERSION: u8 = 2;
/// What stands before the content of an answer.
const HEAD_BYTES: usize = 4;

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*taken)
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Identity;
    use proptest::prelude::*;

    const JOURNAL: Identity = Identity([7; 16]);

    #[test]
    fn requests_come_back_as_they_went() {
        for request in [
            Request::About,
            Request::Read { from: 1, to: u64::MAX, bytes_max: 9 },
            Request::Samples { from: 3, to: 9 },
            Request::At { ns: -5 },
            Request::Position { offset: 7, epoch: 3 },
            Request::Commit { journal: JOURNAL, offset: 42, epoch: 3, consumer: "lake" },
        ] {
            assert_eq!(Request::decode(request.name(), &request.encode()), Ok(request));
            let long = [&request.encode()[..], &[0xff]].concat();
            assert_eq!(Request::decode(request.name(), &long), Err(Malformed::Body));
        }
        assert_eq!(Request::decode("write", &[]), Err(Malformed::Name));
    }

    #[test]
    fn answers_come_back_as_they_went() {
        for (name, answer) in [
            (
                "about",
                Answer::About {
                    journal: JOURNAL,
                    first: 1,
                    end: 2,
                    newest_ns: -3,
                    epoch: 4,
                    written: 5,
                },
            ),
            ("read", Answer::Read { journal: JOURNAL, end: 5, batches: b"batches" }),
            ("samples", Answer::Samples { journal: JOURNAL, end: 5, pairs: b"twelve bytes" }),
            ("at", Answer::At { journal: JOURNAL, offset: 11 }),
            ("position", Answer::Position { journal: JOURNAL, epoch: 4 }),
            ("commit", Answer::Committed { journal: JOURNAL }),
        ] {
            assert_eq!(Answer::decode(name, &answer.encode()), Some(Ok(answer)));
        }
        let answer = Answer::Read { journal: JOURNAL, end: 5, batches: b"" };
        assert_eq!(answer.encode().len(), READ_ANSWER_BYTES);
        let torn = Answer::Samples { journal: JOURNAL, end: 5, pairs: b"no pair" };
        assert_eq!(Answer::decode("samples", &torn.encode()), None);
    }

    #[test]
    fn a_refusal_has_its_reason_its_numbers_and_its_words() {
        let refusal = Refusal { why: Why::Gap, numbers: [3, 8], text: "gap".to_owned() };
        assert_eq!(Answer::decode("read", &refusal.encode()), Some(Err(refusal)));
        let mut unknown = Refusal::new(Why::Busy, "later").encode();
        unknown[1] = 200;
        let known = Refusal::new(Why::Failed, "later");
        assert_eq!(Answer::decode("about", &unknown), Some(Err(known)));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for name in ["about", "read", "samples", "at", "position", "commit", ""] {
                let _ = Request::decode(name, &bytes);
                let _ = Answer::decode(name, &bytes);
            }
        }
    }
}
