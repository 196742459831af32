//! The requests of remote readers and the broker's answers, as `docs/remote.md` specifies the bytes.
//! Pure: never reads a file, and knows nothing of how the bytes travel.

mod answer;
mod refusal;
mod request;

pub use answer::{
    DEFINITIONS_ANSWER_HEADER_BYTES, DefinitionsEdition, JournalAnswer, READ_ANSWER_HEADER_BYTES,
    SAMPLE_PAIR_BYTES,
};
pub use refusal::{JournalRefusal, RefusalReason};
pub use request::JournalRequest;

/// The version of the protocol: the first byte of every answer.
const VERSION: u8 = 2;
/// Bytes before the content of an answer.
const HEAD_BYTES: usize = 4;

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*taken)
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    take(rest).map(u64::from_le_bytes)
}

fn put_numbers(body: &mut Vec<u8>, numbers: &[u64]) {
    for number in numbers {
        body.extend_from_slice(&number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::request::MalformedRequest;
    use super::*;
    use crate::format::JournalIdentity;
    use proptest::prelude::*;

    const JOURNAL: JournalIdentity = JournalIdentity([7; 16]);

    fn definitions(next: Option<(u32, u64)>, rows: &str) -> JournalAnswer<'_> {
        let edition = DefinitionsEdition { table: 7, revision: 8, epoch: 9 };
        JournalAnswer::Definitions { journal: JOURNAL, edition, next, rows }
    }

    fn commit<'a>(consumer: &'a str, note: &'a str) -> JournalRequest<'a> {
        JournalRequest::Commit { journal: JOURNAL, offset: 42, epoch: 3, consumer, note }
    }

    #[test]
    fn a_name_or_a_note_that_is_too_long_is_malformed() {
        let (name, note) = ("x".repeat(65), "x".repeat(455));
        for request in [commit(&name, ""), commit("lake", &note)] {
            let body = request.encode();
            assert_eq!(JournalRequest::decode("commit", &body), Err(MalformedRequest::Body));
        }
        let longest = commit("lake", &note[1..]);
        assert_eq!(JournalRequest::decode("commit", &longest.encode()), Ok(longest));
    }

    #[test]
    fn encoded_requests_decode_to_the_same() {
        for request in [
            JournalRequest::About,
            JournalRequest::Read { from: 1, to: u64::MAX, bytes_max: 9 },
            JournalRequest::Samples { from: 3, to: 9 },
            JournalRequest::Definitions { index: 4, since: 9 },
            JournalRequest::At { ns: -5 },
            JournalRequest::Position { offset: 7, epoch: 3 },
            commit("lake", ""),
            commit("lake", "a note"),
        ] {
            assert_eq!(JournalRequest::decode(request.name(), &request.encode()), Ok(request));
            let long = [&request.encode()[..], &[0xff]].concat();
            assert_eq!(JournalRequest::decode(request.name(), &long), Err(MalformedRequest::Body));
        }
        assert_eq!(JournalRequest::decode("write", &[]), Err(MalformedRequest::Name));
    }

    #[test]
    fn encoded_answers_decode_to_the_same() {
        for (name, answer) in [
            (
                "about",
                JournalAnswer::About {
                    journal: JOURNAL,
                    first: 1,
                    end: 2,
                    newest_ns: -3,
                    epoch: 4,
                    written: 5,
                },
            ),
            ("read", JournalAnswer::Read { journal: JOURNAL, end: 5, batches: b"batches" }),
            (
                "samples",
                JournalAnswer::Samples { journal: JOURNAL, end: 5, pairs: b"twelve bytes" },
            ),
            ("definitions", definitions(Some((4, 9)), "{}")),
            ("definitions", definitions(None, "")),
            ("at", JournalAnswer::At { journal: JOURNAL, offset: 11 }),
            ("position", JournalAnswer::Position { journal: JOURNAL, epoch: 4 }),
            ("commit", JournalAnswer::Committed { journal: JOURNAL }),
        ] {
            assert_eq!(JournalAnswer::decode(name, &answer.encode()), Some(Ok(answer)));
        }
        let answer = JournalAnswer::Read { journal: JOURNAL, end: 5, batches: b"" };
        assert_eq!(answer.encode().len(), READ_ANSWER_HEADER_BYTES);
        let empty = definitions(None, "").encode();
        assert_eq!(empty.len(), DEFINITIONS_ANSWER_HEADER_BYTES);
        let torn = JournalAnswer::Samples { journal: JOURNAL, end: 5, pairs: b"no pair" };
        assert_eq!(JournalAnswer::decode("samples", &torn.encode()), None);
    }

    #[test]
    fn a_refusal_has_its_reason_its_numbers_and_its_words() {
        let refusal =
            JournalRefusal { why: RefusalReason::Gap, numbers: [3, 8], text: "gap".to_owned() };
        assert_eq!(JournalAnswer::decode("read", &refusal.encode()), Some(Err(refusal)));
        let mut unknown = JournalRefusal::new(RefusalReason::Busy, "later").encode();
        unknown[1] = 200;
        let known = JournalRefusal::new(RefusalReason::Failed, "later");
        assert_eq!(JournalAnswer::decode("about", &unknown), Some(Err(known)));
    }

    proptest! {
        #[test]
        fn garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            for name in ["about", "read", "samples", "definitions", "at", "position", "commit", ""] {
                let _ = JournalRequest::decode(name, &bytes);
                let _ = JournalAnswer::decode(name, &bytes);
            }
        }
    }
}
