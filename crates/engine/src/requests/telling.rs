//! What an asker is told of its request: parts, the answer, the end. And what a service is told: that it may stop.

use std::borrow::Cow;
use std::sync::Arc;

use slipring_core::ledger::{DeliveryManner, RequestRecord};
use slipring_core::requests::{Ending, Participant, RequestState, STATUS_PROPERTY};
use slipring_core::{Delivery, Durability, Message, Priority, shortened};
use slipring_journal::MessageFlags;
use slipring_wire::{Properties, PropertiesBuf, PropertyId, Publish, QoS, Value, Version};

use super::reporting::end_kind;
use crate::broker::Broker;
use crate::client::Client;
use crate::feed::Feed;
use crate::post::Post;
use crate::routes::Target;

/// The user property with the words of an end.
const REASON_PROPERTY: &str = "slipring-reason";
/// The topic on which services learn that a request is over.
const CANCELLED: &str = "$slipring/cancelled";

/// Bytes that a packet has beside its topic, the given properties and its payload, at most: lengths, the status.
const HEAD_BYTES_MAX: usize = 64;
/// Bytes of a failure's words that people are shown.
const WORDS_BYTES_MAX: usize = 200;
const ASKER_GONE: &str = "the session of the asker has ended";

/// What an asker is told.
pub(crate) struct AskerMessage<'a> {
    status: &'a str,
    reason: Option<&'a str>,
    properties: Properties<'a>,
    payload: &'a [u8],
}

impl<'a> AskerMessage<'a> {
    /// The answer of a service.
    pub fn answer(ending: &Ending<Client>, message: &Publish<'a>) -> Self {
        let status = ending.state.status().unwrap_or_default();
        Self { status, reason: None, properties: message.properties, payload: message.payload }
    }

    /// A partial answer of a service.
    pub fn part(message: &Publish<'a>) -> Self {
        let (properties, payload) = (message.properties, message.payload);
        Self { status: "part", reason: None, properties, payload }
    }

    /// An end that the broker tells.
    pub fn end(state: RequestState, reason: Option<&'a str>) -> Self {
        let (status, properties) = (state.status().unwrap_or_default(), Properties::NONE);
        Self { status, reason, properties, payload: &[] }
    }

    /// A message that is refused as a request.
    pub fn refused(why: &'a str) -> Self {
        Self { status: "refused", reason: Some(why), properties: Properties::NONE, payload: &[] }
    }

    /// Why a request ended so: in the broker's words, or in those of the service that failed. What a service says may
    /// be long, and may be no text.
    fn why(&self, state: RequestState) -> Cow<'a, str> {
        match self.reason {
            Some(reason) => Cow::Borrowed(reason),
            None if state == RequestState::Failed => {
                let start = self.payload.len().min(WORDS_BYTES_MAX + 4);
                let words = String::from_utf8_lossy(&self.payload[..start]);
                Cow::Owned(shortened(&words, WORDS_BYTES_MAX))
            }
            None => Cow::Borrowed(""),
        }
    }

    /// Whether the asker takes a packet of that size, if it is connected.
    pub fn fits(&self, ending: &Ending<Client>) -> bool {
        let named =
            ending.answer_topic.len() + ending.correlation.as_ref().map_or(0, |data| data.len());
        let bytes = self.payload.len() + self.properties.encoded().len() + named + HEAD_BYTES_MAX;
        ending.asker.outgoing().takes_packet(bytes)
    }

    /// All properties of what the asker gets.
    pub fn properties(
        &self,
        correlation: Option<&[u8]>,
        mut properties: PropertiesBuf,
    ) -> PropertiesBuf {
        properties.clear();
        for (id, piece) in self.properties.pieces() {
            let is_own = match id {
                PropertyId::ResponseTopic | PropertyId::CorrelationData => true,
                PropertyId::UserProperty => is_own_pair(piece),
                _ => false,
            };
            if !is_own {
                properties.push_piece(piece);
            }
        }
        if let Some(data) = correlation {
            properties.push(PropertyId::CorrelationData, Value::Binary(data));
        }
        properties.push(PropertyId::UserProperty, Value::Pair(STATUS_PROPERTY, self.status));
        if let Some(reason) = self.reason {
            properties.push(PropertyId::UserProperty, Value::Pair(REASON_PROPERTY, reason));
        }
        properties
    }
}

/// Whether an encoded user property is one that only the broker sets.
fn is_own_pair(piece: &[u8]) -> bool {
    [STATUS_PROPERTY, REASON_PROPERTY].iter().any(|name| {
        let length = (name.len() as u16).to_be_bytes();
        piece.get(1..3) == Some(&length) && piece.get(3..3 + name.len()) == Some(name.as_bytes())
    })
}

/// The QoS that the asker gets an end with: that of its request, and one that waits for it if it is away.
fn qos_for(ending: &Ending<Client>) -> QoS {
    let asked = ending.message.qos;
    if ending.asker.is_here() { asked } else { asked.max(QoS::AtLeastOnce) }
}

fn target(client: &Arc<Client>, qos: QoS, priority: Option<Priority>) -> Target {
    Target {
        client: Arc::clone(client),
        qos,
        retain_as_published: false,
        identifiers: None,
        serve: 0,
        priority,
        is_watcher: false,
        no_local: false,
    }
}

impl Feed {
    /// Adds the end of a request to the batch, for its asker. It goes when it is safe: no crash tells it twice.
    pub fn tell(
        &mut self,
        broker: &Broker,
        by: &str,
        ending: &Ending<Client>,
        told: &AskerMessage<'_>,
    ) {
        let scratch = std::mem::take(&mut self.requests.properties);
        let mut scratch = told.properties(ending.correlation.as_deref(), scratch);
        let (properties, qos) = (scratch.borrow(), qos_for(ending));
        let answer =
            Publish { qos, properties, ..Publish::new(&ending.answer_topic, told.payload) };
        let level = ending.message.place.map_or(Durability::Memory, |place| place.durability);
        let mut index = None;
        if ending.is_recorded {
            if !self.batch.has_messages() {
                self.batch.begin(by, self.receive_ns);
            }
            index = Some(self.batch.len() as u32);
            let flags = MessageFlags::new(qos as u8, false);
            self.batch.push(flags, answer.topic, properties.encoded(), answer.payload);
            RequestRecord::Closed { key: ending.key }.encode(self.records(level));
        }
        let state = match ending.state {
            RequestState::Answered if !ending.asker.is_here() => RequestState::AnswerStored,
            state => state,
        };
        let (topic, asker) = (ending.message.topic(), &ending.asker.name);
        let reason = told.why(ending.state);
        broker.tell_request(end_kind(state), ending.key, asker, topic, &reason);
        if !reason.is_empty() {
            broker.requests.book().explain(ending.key, &reason);
        }
        self.post.begin(broker, &answer, index, level, 1);
        // An answer that names no priority has that of its request.
        let target = target(&ending.asker, qos, Some(ending.priority));
        self.post.deliver_end(broker, &target, &answer, &ending.answer_topic);
        scratch.rest();
        self.requests.properties = scratch;
    }

    /// Records the end of a request whose asker is gone.
    pub fn close_untold(&mut self, broker: &Broker, ending: &Ending<Client>) {
        let (topic, asker) = (ending.message.topic(), &ending.asker.name);
        broker.tell_request(end_kind(ending.state), ending.key, asker, topic, &ASKER_GONE);
        if ending.is_recorded {
            RequestRecord::Closed { key: ending.key }.encode(self.batch.records());
        }
    }

    /// Sends a partial answer, which is only in memory, before what follows it.
    pub fn tell_part(&mut self, broker: &Broker, part: &Ending<Client>, told: &AskerMessage<'_>) {
        let properties = told.properties(part.correlation.as_deref(), PropertiesBuf::new());
        let qos = part.message.qos;
        let properties = properties.borrow();
        let answer = Publish { qos, properties, ..Publish::new(&part.answer_topic, told.payload) };
        let topic = Arc::clone(&part.answer_topic);
        let message = Arc::new(Message::new(&answer, topic, broker.clock.now_ms()));
        let priority = Priority::of(properties).unwrap_or(part.priority);
        let manner = DeliveryManner { priority, ..DeliveryManner::plain(qos) };
        self.post.hand_over(broker, &part.asker, Delivery::new(message, manner));
    }
}

/// Tells a client at QoS 0 that its message is no request.
pub(crate) fn tell_refusal(
    broker: &Broker,
    client: &Arc<Client>,
    asked: &Publish<'_>,
    told: &AskerMessage<'_>,
    post: &mut Post,
) {
    let Some(topic) = asked.properties.text(PropertyId::ResponseTopic) else { return };
    let correlation = asked.properties.binary(PropertyId::CorrelationData);
    let properties = told.properties(correlation, PropertiesBuf::new());
    let refusal = Publish { properties: properties.borrow(), ..Publish::new(topic, told.payload) };
    post.begin(broker, &refusal, None, Durability::Memory, 1);
    post.deliver(broker, &target(client, QoS::AtMostOnce, None), &refusal, &topic.into());
}

/// Tells the service of a request that it is over, if it has subscribed to that.
pub(crate) fn tell_service(broker: &Broker, ending: &Ending<Client>, post: &mut Post) {
    ending.message.withdraw();
    let (Some(service), Some(status)) = (&ending.service, ending.state.status()) else { return };
    let version = service.outgoing().version();
    if version.is_none() || !service.state().session.has(CANCELLED) {
        return;
    }
    let mut properties = PropertiesBuf::new();
    let answer_topic = ending.key.answer_topic();
    properties.push(PropertyId::ResponseTopic, Value::Text(&answer_topic));
    if let Some(data) = &ending.correlation {
        properties.push(PropertyId::CorrelationData, Value::Binary(data));
    }
    properties.push(PropertyId::UserProperty, Value::Pair(STATUS_PROPERTY, status));
    // MQTT 3 has no properties.
    let key = format!("{} {status}", ending.key);
    let payload = if version == Some(Version::V5) { &[] } else { key.as_bytes() };
    let notice = Publish { properties: properties.borrow(), ..Publish::new(CANCELLED, payload) };
    post.begin(broker, &notice, None, Durability::Memory, 1);
    post.deliver(broker, &target(service, QoS::AtMostOnce, None), &notice, &CANCELLED.into());
}
