//! Random records for the laws: with any contents, or with few different values, so that they concern each other.

use std::borrow::Cow;

use proptest::prelude::*;
use slipring_core::ledger::{
    ContextRecord, DeliveryManner, DeliveryRecord, Record, RecordedSubscription, RetainedMessage,
    SessionRecord, StockRecord, StreamRecord, TableRecord,
};
use slipring_core::table::{Band, Deadband, Deliver, Needs};
use slipring_core::{
    Offset, Options, ParameterIndex, Priority, SessionKey, StreamIndex, WillMessage,
};
use slipring_wire::frame::RangeSet;
use slipring_wire::{PacketId, Properties, QoS, Will};

/// The kind of newest values.
const VALUES: u8 = 28;
/// The last kind.
const LAST: u8 = 31;
/// The kind that names an owner.
const OWNER: u8 = LAST + 1;
/// The kinds that place a definition, and an earlier one, in the journal.
const PLACE: u8 = OWNER + 1;
const EARLIER: u8 = PLACE + 1;

/// The contents of a record.
#[derive(Clone, Debug)]
pub struct Parts {
    kind: u8,
    session: SessionKey,
    offset: Offset,
    count: u32,
    index: u32,
    time_ns: i64,
    id: u16,
    qos: QoS,
    flags: [bool; 3],
    text: String,
    filter: &'static str,
    bytes: Vec<u8>,
    identifiers: Vec<u32>,
    will: Option<WillMessage>,
    needs: Option<Needs>,
}

fn qos() -> impl Strategy<Value = QoS> {
    prop_oneof![Just(QoS::AtMostOnce), Just(QoS::AtLeastOnce), Just(QoS::ExactlyOnce)]
}

fn will() -> impl Strategy<Value = Option<WillMessage>> {
    let payload = prop::collection::vec(any::<u8>(), 0..5);
    let will = (qos(), any::<bool>(), "[a-z/]{1,6}", payload, any::<u32>());
    prop::option::of(will.prop_map(|(qos, retain, topic, payload, delay_s)| {
        let properties = Properties::NONE;
        let topic = topic.as_str();
        let will = Will { qos, retain, topic, payload: &payload, properties };
        let mut will = WillMessage::from(will);
        will.delay_s = delay_s;
        will
    }))
}

fn needs() -> impl Strategy<Value = Option<Needs>> {
    let deliver = prop::sample::select(vec![Deliver::Frame, Deliver::Text, Deliver::Json]);
    let rate_mhz = prop::option::of(1u32..=1_000_000);
    let deadband = prop::option::of((0.0..1e300, any::<bool>()));
    let beat_ms = prop::option::of(0u16..=10_000);
    let needs = (deliver, rate_mhz, deadband, any::<bool>(), beat_ms);
    let stream = any::<bool>()
        .prop_map(|newest| Needs { deliver: Deliver::Stream { newest }, ..Needs::default() });
    let needs = needs.prop_map(|(deliver, rate_mhz, deadband, change, beat_ms)| {
        let deadband = deadband.map(|(width, is_percent)| {
            let band = Band::new(width).unwrap();
            if is_percent { Deadband::Percent(band) } else { Deadband::Absolute(band) }
        });
        Needs { deliver, rate_mhz, deadband, change, beat_ms }
    });
    prop::option::of(prop_oneof![4 => needs, 1 => stream])
}

/// A record of any kind with any contents.
pub fn anything() -> impl Strategy<Value = Parts> {
    parts(any::<u64>(), 0u64..u64::MAX / 2, 1u32.., any::<u32>(), 1u16.., ".{0,8}", any::<u32>())
}

/// A record of any kind with few different values, so that records concern the same sessions and messages.
pub fn small() -> impl Strategy<Value = Parts> {
    parts(0u64..4, 0u64..40, 1u32..4, 0u32..2, 1u16..4, "[abc]", 1u32..3)
        .prop_filter("only a snapshot has these", |parts| {
            ![VALUES, PLACE, EARLIER].contains(&parts.kind)
        })
}

fn parts(
    session: impl Strategy<Value = u64>,
    offset: impl Strategy<Value = u64>,
    count: impl Strategy<Value = u32>,
    index: impl Strategy<Value = u32>,
    id: impl Strategy<Value = u16>,
    text: &'static str,
    identifier: impl Strategy<Value = u32>,
) -> impl Strategy<Value = Parts> {
    let filter = prop::sample::select(vec!["a", "b/#", "+/c", "$share/g/a", "#", "$selection/0"]);
    let bytes = prop::collection::vec(any::<u8>(), 0..5);
    let identifiers = prop::collection::vec(identifier, 0..3);
    // Most records are about messages of known sessions.
    let kind = prop_oneof![3 => 0u8..=EARLIER, 1 => Just(1u8), 3 => 10u8..16, 1 => 24u8..26, 1 => Just(LAST)];
    let (session, offset) = (session.prop_map(SessionKey::new), offset.prop_map(Offset::new));
    let numbers = (kind, session, offset, count, index, -9i64.., id);
    let rest = (qos(), any::<[bool; 3]>(), text, filter, bytes, identifiers, will(), needs());
    (numbers, rest).prop_map(|(numbers, rest)| {
        let (kind, session, offset, count, index, time_ns, id) = numbers;
        let (qos, flags, text, filter, bytes, identifiers, will, needs) = rest;
        Parts {
            kind,
            session,
            offset,
            count,
            index,
            time_ns,
            id,
            qos,
            flags,
            text,
            filter,
            bytes,
            identifiers,
            will,
            needs,
        }
    })
}

impl Parts {
    pub fn record(&self) -> Record<'_> {
        let session = self.session;
        let will = self.will.as_ref().map(Cow::Borrowed);
        let (at_ns, expiry_s) = (self.time_ns, self.index);
        match self.kind {
            0 => Record::Context(ContextRecord::Known { session, newest_ns: self.time_ns }),
            1 => {
                let user = self.flags[0].then_some(&*self.text);
                Record::Session(SessionRecord::Opened {
                    session,
                    client_id: &self.text,
                    user,
                    expiry_s,
                    will,
                })
            }
            2 => Record::Session(SessionRecord::Resumed { session, expiry_s, will }),
            3 => Record::Session(SessionRecord::Left { session, at_ns, expiry_s, will }),
            4 => Record::Session(SessionRecord::Willed { session }),
            5 => Record::Session(SessionRecord::Ended { session }),
            6..=9 => Record::Session(self.subscription()),
            10..=17 => Record::Delivery(self.delivery()),
            18..=22 => Record::Stock(self.message()),
            29..=30 => Record::Stream(self.stream()),
            LAST => Record::Session(self.publishes()),
            OWNER => Record::Context(ContextRecord::Owner { owner: &self.text }),
            _ => Record::Table(self.table()),
        }
    }

    fn subscription(&self) -> SessionRecord<'_> {
        let (session, filter) = (self.session, self.filter);
        let [no_local, retain_as_published, replay] = self.flags;
        let (qos, identifier) = (self.qos, self.index);
        match self.kind {
            6 => {
                let (needs, serve) = (self.needs, self.index as u16);
                let priority = no_local.then_some(Priority::High);
                let options = Options {
                    qos,
                    no_local,
                    retain_as_published,
                    identifier,
                    needs,
                    serve,
                    priority,
                };
                let list: RangeSet =
                    self.identifiers.iter().map(|index| (*index).min(u32::MAX - 1)).collect();
                let list = (!list.is_empty()).then_some(Cow::Owned(list));
                let subscription = RecordedSubscription { filter, options, replay, list };
                SessionRecord::Subscribed { session, subscription }
            }
            7 => SessionRecord::Unsubscribed { session, filter },
            8 => SessionRecord::ReplayedTo { session, filter, topic: &self.text },
            _ => SessionRecord::Replayed { session, filter },
        }
    }

    fn priority(&self) -> Priority {
        [Priority::Low, Priority::Normal, Priority::High][usize::from(self.id % 3)]
    }

    fn delivery(&self) -> DeliveryRecord {
        let (session, offset, count) = (self.session, self.offset, self.count);
        let packet_id = PacketId::new(self.id).unwrap();
        let qos = self.qos.max(QoS::AtLeastOnce);
        let bytes = self.index;
        let identifiers = (!self.identifiers.is_empty()).then(|| self.identifiers.clone().into());
        let (retain, priority) = (self.flags[1], self.priority());
        let (of_request, by_topic) = (self.flags[0], self.flags[0] && self.id % 2 == 0);
        let manner = DeliveryManner { qos, retain, identifiers, priority, of_request, by_topic };
        match self.kind {
            10 => DeliveryRecord::Delivered { session, first: self.index, count, bytes, manner },
            11 => DeliveryRecord::DeliveredAt { session, offset, count, bytes, manner },
            12 => {
                DeliveryRecord::Sent { session, packet_id, offset: self.flags[0].then_some(offset) }
            }
            13 => DeliveryRecord::Received { session, packet_id },
            14 => DeliveryRecord::Completed { session, packet_id },
            15 => DeliveryRecord::Settled { session, offset, count, qos },
            16 => DeliveryRecord::Incoming { session, packet_id },
            _ => DeliveryRecord::Released { session, packet_id },
        }
    }

    fn message(&self) -> StockRecord<'_> {
        let (offset, index) = (self.offset, self.index);
        let expires_ns = self.flags[0].then_some(self.time_ns);
        let priority = self.priority();
        match self.kind {
            18 => StockRecord::Unretained { index },
            19 => {
                let (properties, payload) = (&self.bytes[..], self.text.as_bytes());
                let message =
                    RetainedMessage { topic: &self.text, qos: self.qos, properties, payload };
                StockRecord::RetainedAt { offset, receive_ns: self.time_ns, message }
            }
            20 => StockRecord::Waiting { index, priority, expires_ns },
            21 => StockRecord::WaitingAt { offset, priority, expires_ns },
            22 if self.flags[1] => StockRecord::RetainedDropped { offset, topic: &self.text },
            _ => StockRecord::Taken { offset },
        }
    }

    /// The index of a parameter: each name and type has its own.
    fn parameter(&self) -> u32 {
        let letter = u32::from(self.text.bytes().next().unwrap_or_default());
        letter * 2 + u32::from(self.flags[0])
    }

    fn publishes(&self) -> SessionRecord<'_> {
        let index = |index: u32| index.min(u32::MAX - 1);
        let parameters = self.flags[1].then(|| self.parameter());
        let parameters = parameters.into_iter().chain(self.identifiers.iter().copied().map(index));
        let (parameters, stream) = (parameters.collect(), index(self.index));
        let streams = self.flags[2].then_some(stream).into_iter().collect();
        let (parameters, streams) = (Cow::Owned(parameters), Cow::Owned(streams));
        SessionRecord::Publishes { session: self.session, parameters, streams }
    }

    fn table(&self) -> TableRecord<'_> {
        let parameter = ParameterIndex::new(self.parameter());
        let definition = match self.flags {
            [false, false, _] => "{\"type\":\"f64\"}",
            [false, true, _] => "{\"type\":\"f64\",\"rate_hz\":5.0}",
            [true, false, _] => "{\"type\":\"text\"}",
            [true, true, _] => "{\"type\":\"text\",\"source\":\"bus\"}",
        };
        match self.kind {
            23 => TableRecord::TableIs {
                id: self.index.saturating_add(1),
                revision: self.offset.get(),
                end: ParameterIndex::new(self.count),
            },
            24 => TableRecord::Declared { parameter, name: &self.text, definition },
            25 => TableRecord::Removed { parameter },
            26 => TableRecord::Framed { index: self.index },
            27 => TableRecord::Sampled { index: self.index, parameter },
            PLACE => {
                let (since, until) = (self.offset, self.flags[2].then_some(self.offset));
                TableRecord::DefinedAt { parameter, since, since_ns: self.time_ns, until }
            }
            EARLIER => {
                let (since, since_ns, until) = (self.offset, self.time_ns, self.offset);
                TableRecord::WasDefined { parameter, since, since_ns, until, definition }
            }
            _ => TableRecord::ValuesAt { receive_ns: self.time_ns, frame: &self.bytes },
        }
    }

    fn stream(&self) -> StreamRecord<'_> {
        let (stream, name) = (self.index, &*self.text);
        let definition = if self.flags[0] {
            "{\"media\":\"video/h264\",\"source\":\"eye\",\"description\":\"left\"}"
        } else {
            "{\"media\":\"audio/pcm\",\"buffer_bytes\":4096}"
        };
        match self.kind {
            29 => StreamRecord::Declared { stream: StreamIndex::new(stream), name, definition },
            _ => StreamRecord::Removed { stream: StreamIndex::new(stream) },
        }
    }
}
