//! Drops answers that wait in memory for askers that are away, because memory is short. Each asker learns of it when it
//! is back.

use slipring_core::requests::{AnswerName, AnswerStatus, RequestState};
use slipring_core::{Limit, Message, Priority};
use slipring_wire::{PropertiesBuf, PropertyId, Publish};

use super::telling::AskerMessage;
use crate::broker::Broker;
use crate::client::Client;
use crate::event::EventKind;

/// Why a request or an answer was dropped.
pub(crate) const DROPPED: &str = "memory was short (limits.memory_bytes)";

impl Broker {
    /// Drops answers of a priority that only the memory has, of an asker that is away, until enough memory is free.
    pub fn drop_answers(&self, asker: &Client, priority: Priority, is_enough: fn() -> bool) {
        // Both locks together: an asker that comes back has either an answer or the end `dropped`, and so has the book.
        let mut book = self.requests.book();
        let mut dropped = Vec::new();
        asker.outgoing().exchange_ends(priority, &mut |end| {
            let (shorter, answer) = if is_enough() { None } else { shortened(end) }?;
            dropped.extend(answer);
            Some(shorter)
        });
        let ended = book.answers_dropped(asker.key, &dropped, DROPPED);
        drop(book);
        for _ in dropped {
            self.shortage.count_request();
            self.monitor.reached.count(Limit::MemoryBytes);
        }
        for (key, topic) in ended {
            self.tell_request(EventKind::RequestDropped, key, &asker.name, &topic, &DROPPED);
        }
    }
}

/// What an asker gets in the place of an end: `dropped` in that of an answer, which is named then, or `failed` without
/// the words of its service. None if that frees no memory.
fn shortened(end: &Message) -> Option<(Message, Option<AnswerName>)> {
    let publish = end.publish();
    let (state, is_answer) = match AnswerStatus::of(publish.properties)? {
        AnswerStatus::Answered => (RequestState::Dropped, true),
        AnswerStatus::Failed => (RequestState::Failed, false),
        AnswerStatus::Part => return None,
    };
    let correlation = publish.properties.binary(PropertyId::CorrelationData);
    let told = AskerMessage::end(state, Some(DROPPED));
    let properties = told.properties(correlation, PropertiesBuf::new());
    let shorter = Publish {
        qos: publish.qos,
        properties: properties.borrow(),
        ..Publish::new(publish.topic, &[])
    };
    let shorter = Message::new(&shorter, end.topic().clone(), 0);
    let answer = AnswerName { correlation: correlation.map(Box::from), topic: end.topic().clone() };
    (shorter.bytes() < end.bytes()).then(|| (shorter, is_answer.then_some(answer)))
}
