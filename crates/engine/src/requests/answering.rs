//! Answers of services, partial and final: each goes to the asker of its request.

use std::sync::atomic::Ordering;

use slipring_core::Principal;
use slipring_core::requests::{AnswerStatus, RequestEvent, RequestKey};
use slipring_wire::{Publish, Reason};

use super::telling::AskerMessage;
use crate::broker::Broker;
use crate::event::EventKind;
use crate::feed::Feed;

/// The topic of cancels.
const CANCEL: &str = "$slipring/cancel";

/// What a message to one of the broker's own topics does to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToRequest {
    /// It answers it; the topic may say how.
    Answer(RequestKey, Option<AnswerStatus>),
    /// It gives it up.
    Cancel,
}

impl ToRequest {
    /// None for other topics.
    pub fn of(topic: &str) -> Option<Self> {
        let answer = RequestKey::of_any_answer(topic);
        let answer = answer.map(|(key, status)| Self::Answer(key, status));
        answer.or((topic == CANCEL).then_some(Self::Cancel))
    }
}

const TOO_LARGE: &str = "the answer is larger than the Maximum Packet Size of the asker";
const NO_STATUS: &str = "`slipring-status` of an answer is answered, part or failed";

impl Feed {
    /// Takes a message to the answer topic of a request, or a cancel. Returns the reason code of its acknowledgement.
    pub fn take_for_request(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        to: ToRequest,
        message: &Publish<'_>,
    ) -> Reason {
        match to {
            ToRequest::Answer(key, status) => {
                let Some(status) = status.or_else(|| AnswerStatus::of(message.properties)) else {
                    self.refusal = Some(NO_STATUS.to_owned());
                    return Reason::ImplementationSpecificError;
                };
                self.answer(broker, from, (key, status), message)
            }
            ToRequest::Cancel => self.cancel(broker, from, message),
        }
    }

    fn answer(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        (key, status): (RequestKey, AnswerStatus),
        message: &Publish<'_>,
    ) -> Reason {
        let event = match status {
            AnswerStatus::Part => return self.answer_part(broker, from, key, message),
            AnswerStatus::Answered => RequestEvent::Answer,
            AnswerStatus::Failed => RequestEvent::Fail,
        };
        let by = Some(from.session);
        let Some(mut ending) = broker.requests.book().announce(key, event, by) else {
            return self.late(broker, from, key);
        };
        let topic = ending.message.topic();
        broker.tell_request(EventKind::AnswerReceived, key, from.client_id, topic, &"");
        let mut told = AskerMessage::answer(&ending, message);
        if !told.fits(&ending) {
            let mut book = broker.requests.book();
            book.undo(key);
            let Some(failed) = book.announce(key, RequestEvent::Fail, by) else {
                return self.late(broker, from, key);
            };
            drop(book);
            ending = failed;
            told = AskerMessage::end(ending.state, Some(TOO_LARGE));
        }
        self.tell(broker, from.client_id, &ending, &told);
        self.requests.ended.push((key, ending.is_recorded));
        Reason::Success
    }

    fn answer_part(
        &mut self,
        broker: &Broker,
        from: &Principal<'_>,
        key: RequestKey,
        message: &Publish<'_>,
    ) -> Reason {
        let Some(part) = broker.requests.book().part(key, from.session) else {
            return self.late(broker, from, key);
        };
        let topic = part.message.topic();
        broker.tell_request(EventKind::PartReceived, key, from.client_id, topic, &"");
        broker.requests.parts.fetch_add(1, Ordering::Relaxed);
        self.tell_part(broker, &part, &AskerMessage::part(message));
        Reason::Success
    }

    /// The same answer for a request that is over, that never was, and that another client has. It waits for the
    /// journal: a service that answers again, because its connection was lost, forgets its answer when it gets this,
    /// and the first one may not be safe yet.
    #[cold]
    fn late(&mut self, broker: &Broker, from: &Principal<'_>, key: RequestKey) -> Reason {
        self.wait_for(broker.plan.load().durability.highest());
        broker.tell_request(EventKind::AnswerDiscarded, key, from.client_id, "", &"");
        broker.requests.late.fetch_add(1, Ordering::Relaxed);
        Reason::NoMatchingSubscribers
    }
}
