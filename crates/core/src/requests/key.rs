//! The key of a request, and the topic that its service answers to.

use std::fmt;

use slipring_wire::{Properties, PropertyId};

use super::AnswerStatus;

/// What the topics of answers begin with; the key of the request follows.
pub const ANSWERS: &str = "$slipring/answer/";
/// Hexadecimal digits of a key.
const DIGITS: usize = 16;
/// What the topics of requests begin with that are delivered by topic; the key and the topic follow.
pub(crate) const REQUESTS: &str = "$slipring/request/";

/// A request. The broker gives each key once; a restarted broker begins with other ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey(u64);

impl RequestKey {
    /// The key with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The key in the topic of an answer; None for other topics.
    pub fn of_answer(topic: &str) -> Option<Self> {
        topic.strip_prefix(ANSWERS)?.parse().ok()
    }

    /// The key in the topic of an answer, and what the topic says about the answer: nothing, `/part` or `/failed`.
    pub fn of_any_answer(topic: &str) -> Option<(Self, Option<AnswerStatus>)> {
        let rest = topic.strip_prefix(ANSWERS)?;
        let (key, status) = match rest.split_once('/') {
            None => (rest, None),
            Some((key, "part")) => (key, Some(AnswerStatus::Part)),
            Some((key, "failed")) => (key, Some(AnswerStatus::Failed)),
            Some(_) => return None,
        };
        key.parse().ok().map(|key| (key, status))
    }

    /// The key of the request that a message with these properties is.
    pub fn of_request(properties: Properties<'_>) -> Option<Self> {
        properties.text(PropertyId::ResponseTopic).and_then(Self::of_answer)
    }

    /// The topic that its service answers to.
    pub fn answer_topic(self) -> AnswerTopic {
        let mut topic = [0; ANSWERS.len() + DIGITS];
        let (prefix, digits) = topic.split_at_mut(ANSWERS.len());
        prefix.copy_from_slice(ANSWERS.as_bytes());
        digits.copy_from_slice(&self.digits());
        AnswerTopic(topic)
    }

    /// The topic that a service gets the request on if it knows no Response Topic. `topic` is that of the request.
    pub fn request_topic(self, topic: &str) -> String {
        format!("{REQUESTS}{self}/{topic}")
    }

    fn digits(self) -> [u8; DIGITS] {
        let mut digits = [0; DIGITS];
        for (digit, shift) in digits.iter_mut().zip((0..64).step_by(4).rev()) {
            *digit = b"0123456789abcdef"[(self.0 >> shift) as usize & 0xf];
        }
        digits
    }
}

/// The topic that the service of a request answers to. It needs no memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerTopic([u8; ANSWERS.len() + DIGITS]);

impl std::ops::Deref for AnswerTopic {
    type Target = str;

    fn deref(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl From<RequestKey> for u64 {
    fn from(key: RequestKey) -> Self {
        key.0
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for RequestKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

/// A text that is not the key of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key of a request has 16 hexadecimal digits")]
pub struct NoRequestKey;

impl std::str::FromStr for RequestKey {
    type Err = NoRequestKey;

    fn from_str(text: &str) -> Result<Self, NoRequestKey> {
        if text.len() != DIGITS {
            return Err(NoRequestKey);
        }
        let digits = text.bytes().try_fold(0u64, |number, byte| {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ => return None,
            };
            Some(number << 4 | u64::from(digit))
        });
        digits.map(Self).ok_or(NoRequestKey)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_from_the_topic_of_its_answer() {
        for number in [0, 1, 0xfedc_ba98_7654_3210, u64::MAX] {
            let key = RequestKey::new(number);
            assert_eq!(RequestKey::of_answer(&key.answer_topic()), Some(key));
        }
    }

    #[test]
    fn a_topic_says_what_an_answer_is() {
        let key = RequestKey::new(0x2a);
        let topic = key.answer_topic().to_string();
        let read = |end: &str| RequestKey::of_any_answer(&format!("{topic}{end}"));
        assert_eq!(read(""), Some((key, None)));
        assert_eq!(read("/part"), Some((key, Some(AnswerStatus::Part))));
        assert_eq!(read("/failed"), Some((key, Some(AnswerStatus::Failed))));
        for end in ["/", "/answered", "/part/", "/failed/part", "0", "0/part"] {
            assert_eq!(read(end), None, "{end}");
        }
    }

    #[test]
    fn a_request_topic_has_the_key_and_the_topic() {
        let topic = RequestKey::new(0x2a).request_topic("a//b");
        assert_eq!(topic, "$slipring/request/000000000000002a/a//b");
    }

    #[test]
    fn other_topics_have_no_key() {
        for topic in ["$slipring/answer", "$slipring/answer/", "$slipring/answer/1", "answer"] {
            assert_eq!(RequestKey::of_answer(topic), None, "{topic}");
        }
        for digits in ["+123456789abcdef", "0123456789abcdeG", "0123456789ABCDEF"] {
            assert_eq!(RequestKey::of_answer(&format!("{ANSWERS}{digits}")), None, "{digits}");
        }
    }
}
