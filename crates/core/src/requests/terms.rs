//! What a message says about itself as a request, and what a service says about its answer.

use std::time::Duration;

use slipring_wire::{Properties, PropertyId, bytes_piece, pair_piece};

use super::{Balance, RequestRule};
use crate::{Millis, Priority, UnknownPriority};

/// The user property of an answer, and of what the asker gets.
pub const STATUS_PROPERTY: &str = "slipring-status";
/// What the names of all terms begin with: `slipring-timeout`, which makes a message a request, and others.
const OWN_PREFIX: &[u8] = b"slipring-";
/// How often a request may go to another service, at most.
const RETRIES_MAX: u8 = 16;

/// Why a message is no request, although it asks to be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TermsError {
    /// No Response Topic.
    #[error("a request needs a Response Topic: there the asker learns how it ended")]
    NoAnswerTopic,
    /// A Response Topic that the broker answers on itself.
    #[error("the Response Topic of a request does not begin with `$`, except `$slipring/answer`")]
    OwnAnswerTopic,
    /// Not a number, 0, or too long.
    #[error(
        "`slipring-timeout` is a number of seconds, more than 0 and at most {0} (limits.request_timeout_s)"
    )]
    TimeOut(u32),
    /// Not a number, or too many.
    #[error("`slipring-retry` is a number from 0 to 16")]
    Retry,
    /// No such strategy.
    #[error("`slipring-balance` is first-free, round-robin, random, fastest or least-loaded")]
    Balance,
    /// No such priority.
    #[error(transparent)]
    Priority(#[from] UnknownPriority),
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestTerms<'a> {
    /// Where the asker gets parts, the answer and the end.
    pub answer_topic: &'a str,
    /// The Correlation Data, by which the asker recognises its request.
    pub correlation: Option<&'a [u8]>,
    /// Milliseconds until it times out.
    pub timeout_ms: Millis,
    /// Whether it waits if there is no service.
    pub waits: bool,
    /// Its priority, if it names one.
    pub priority: Option<Priority>,
    /// How often it may go to another service when one has gone.
    pub retries: u8,
    /// How its service is chosen, if it says.
    pub balance: Option<Balance>,
}

impl<'a> RequestTerms<'a> {
    /// Reads the properties of a message; None if it is no request. `rule` is the config's for the topic.
    pub fn of(
        properties: Properties<'a>,
        rule: Option<&RequestRule>,
        timeout_max_s: u32,
    ) -> Result<Option<Self>, TermsError> {
        let (mut answer_topic, mut correlation, mut timeout) = (None, None, None);
        let (mut waits, mut priority, mut retry, mut balance) = (None, None, None, None);
        for (id, piece) in properties.pieces() {
            match id {
                PropertyId::ResponseTopic => answer_topic = bytes_piece(piece),
                PropertyId::CorrelationData => correlation = bytes_piece(piece),
                _ => {}
            }
            let Some((name, text)) = pair_piece(id, piece) else { continue };
            let Some(name) = name.strip_prefix(OWN_PREFIX) else { continue };
            let text = std::str::from_utf8(text).unwrap_or_default();
            match name {
                b"timeout" => timeout = timeout.or(Some(text)),
                b"wait" => waits = Some(text == "1"),
                b"priority" => priority = priority.or(Some(text)),
                b"retry" => retry = Some(text),
                b"balance" => balance = Some(text),
                _ => {}
            }
        }
        if timeout.is_none() && (rule.is_none() || answer_topic.is_none()) {
            return Ok(None);
        }
        let answer_topic = answer_topic.and_then(|topic| std::str::from_utf8(topic).ok());
        let answer_topic = answer_topic.ok_or(TermsError::NoAnswerTopic)?;
        if answer_topic.starts_with('$') && answer_topic != "$slipring/answer" {
            return Err(TermsError::OwnAnswerTopic);
        }
        let timeout_ms = match timeout {
            Some(text) => {
                timeout_ms(text, timeout_max_s).ok_or(TermsError::TimeOut(timeout_max_s))?
            }
            None => rule.map_or(0, |rule| rule.timeout_ms),
        };
        let retries = match retry {
            Some(text) => {
                let retries = text.parse().ok().filter(|retries| *retries <= RETRIES_MAX);
                retries.ok_or(TermsError::Retry)?
            }
            None => 0,
        };
        let balance = balance.map(str::parse).transpose().map_err(|_| TermsError::Balance)?;
        let named = |name| Priority::named(name).ok_or(UnknownPriority);
        let (priority, waits) = (priority.map(named).transpose()?, waits.unwrap_or(false));
        Ok(Some(Self { answer_topic, correlation, timeout_ms, waits, priority, retries, balance }))
    }
}

/// Milliseconds of a decimal number of seconds.
fn timeout_ms(text: &str, most_s: u32) -> Option<Millis> {
    let seconds: f64 = text.parse().ok()?;
    let is_within = seconds > 0.0 && seconds <= f64::from(most_s);
    let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|_| is_within)?;
    Millis::try_from(timeout.as_nanos().div_ceil(1_000_000)).ok().map(|ms| ms.max(1))
}

/// What a service says about an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerStatus {
    /// The final answer.
    Answered,
    /// A partial answer; more follow.
    Part,
    /// The service could not; the payload says why.
    Failed,
}

impl AnswerStatus {
    /// Reads the properties of an answer; None if there is no such status.
    pub fn of(properties: Properties<'_>) -> Option<Self> {
        match properties.pair(STATUS_PROPERTY) {
            None | Some("answered") => Some(Self::Answered),
            Some("part") => Some(Self::Part),
            Some("failed") => Some(Self::Failed),
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_wire::{PropertiesBuf, Value};

    fn properties(answer_topic: Option<&str>, pairs: &[(&str, &str)]) -> PropertiesBuf {
        let mut properties = PropertiesBuf::new();
        if let Some(topic) = answer_topic {
            properties.push(PropertyId::ResponseTopic, Value::Text(topic));
        }
        for (name, text) in pairs {
            properties.push(PropertyId::UserProperty, Value::Pair(name, text));
        }
        properties
    }

    #[test]
    fn a_time_out_makes_a_message_a_request() {
        let read = |pairs| {
            let properties = properties(Some("answers"), pairs);
            RequestTerms::of(properties.borrow(), None, 60).map(|terms| {
                terms.map(|terms| (terms.timeout_ms, terms.waits, terms.priority, terms.retries))
            })
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[("slipring-wait", "1")]), Ok(None));
        assert_eq!(read(&[("slipring-timeout", "2.5")]), Ok(Some((2_500, false, None, 0))));
        assert_eq!(read(&[("slipring-timeout", "1e-9")]), Ok(Some((1, false, None, 0))));
        let all = [("slipring-timeout", "60"), ("slipring-wait", "1"), ("slipring-retry", "2")];
        assert_eq!(read(&all), Ok(Some((60_000, true, None, 2))));
        let high = [("slipring-timeout", "1"), ("slipring-priority", "high")];
        assert_eq!(read(&high), Ok(Some((1_000, false, Some(Priority::High), 0))));
    }

    #[test]
    fn a_rule_makes_a_message_with_an_answer_topic_a_request() {
        let rule = RequestRule { timeout_ms: 7 };
        let read = |topic| {
            let properties = properties(topic, &[]);
            let terms = RequestTerms::of(properties.borrow(), Some(&rule), 60);
            terms.map(|terms| terms.map(|terms| terms.timeout_ms))
        };
        assert_eq!((read(Some("answers")), read(None)), (Ok(Some(7)), Ok(None)));
    }

    #[test]
    fn wrong_terms_are_named() {
        fn read(topic: Option<&str>, pairs: &[(&str, &str)]) -> Result<(), TermsError> {
            let properties = properties(topic, pairs);
            RequestTerms::of(properties.borrow(), None, 60).map(drop)
        }
        let some = Some("answers");
        assert_eq!(read(None, &[("slipring-timeout", "1")]), Err(TermsError::NoAnswerTopic));
        assert_eq!(
            read(Some("$SYS/x"), &[("slipring-timeout", "1")]),
            Err(TermsError::OwnAnswerTopic)
        );
        for text in ["0", "-1", "60.001", "3155760000", "nan", "inf", "soon", ""] {
            assert_eq!(
                read(some, &[("slipring-timeout", text)]),
                Err(TermsError::TimeOut(60)),
                "{text}"
            );
        }
        for (name, text, error) in [
            ("slipring-retry", "17", TermsError::Retry),
            ("slipring-retry", "-1", TermsError::Retry),
            ("slipring-balance", "best", TermsError::Balance),
            ("slipring-priority", "urgent", UnknownPriority.into()),
            ("slipring-priority", "", UnknownPriority.into()),
        ] {
            assert_eq!(read(some, &[("slipring-timeout", "1"), (name, text)]), Err(error));
        }
    }
}
