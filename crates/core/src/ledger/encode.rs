//! Records to bytes: one byte of kind and flags, or two, then the fields.

use slipring_wire::frame::RangeSet;
use slipring_wire::{PacketId, QoS};

use super::bytes::Fields;
use super::record::{Kind, Record, RetainedMessage, Will, flag};
use super::run::Manner;
use crate::{Options, Priority, WillMessage};

impl Record<'_> {
    /// Appends the record.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Known { session, newest_ns } => {
                begin(out, Kind::Known, 0, *session);
                out.put_signed(*newest_ns);
            }
            Self::Opened { session, client_id, user, expiry_s, will } => {
                let flags = set(flag::SOME, user.is_some()) | set(flag::WILL, will.is_some());
                begin(out, Kind::Opened, flags, *session);
                out.put_text(client_id);
                if let Some(user) = user {
                    out.put_text(user);
                }
                put_stay(out, *expiry_s, will);
            }
            Self::Resumed { session, expiry_s, will } => {
                begin(out, Kind::Resumed, set(flag::WILL, will.is_some()), *session);
                put_stay(out, *expiry_s, will);
            }
            Self::Left { session, at_ns, expiry_s, will } => {
                begin(out, Kind::Left, set(flag::WILL, will.is_some()), *session);
                out.put_signed(*at_ns);
                put_stay(out, *expiry_s, will);
            }
            Self::Willed { session } => begin(out, Kind::Willed, 0, *session),
            Self::Ended { session } => begin(out, Kind::Ended, 0, *session),
            _ => self.encode_subscription(out),
        }
    }

    fn encode_subscription(&self, out: &mut Vec<u8>) {
        match self {
            Self::Subscribed { session, filter, options, replay, list } => {
                begin(out, Kind::Subscribed, 0, *session);
                out.put_text(filter);
                put_options(out, *options, *replay, list.as_deref());
            }
            Self::Unsubscribed { session, filter } => {
                begin(out, Kind::Unsubscribed, 0, *session);
                out.put_text(filter);
            }
            Self::ReplayedTo { session, filter, topic } => {
                begin(out, Kind::ReplayedTo, 0, *session);
                out.put_text(filter);
                out.put_text(topic);
            }
            Self::Replayed { session, filter } => {
                begin(out, Kind::Replayed, 0, *session);
                out.put_text(filter);
            }
            Self::Publishes { session, parameters, streams } => {
                begin(out, Kind::Publishes, 0, *session);
                put_list(out, parameters);
                put_list(out, streams);
            }
            _ => self.encode_delivery(out),
        }
    }

    fn encode_delivery(&self, out: &mut Vec<u8>) {
        match self {
            Self::Delivered { session, first, count, bytes, manner } => {
                begin(out, Kind::Delivered, manner_flags(manner), *session);
                out.put_number(u64::from(*first));
                put_run(out, *count, *bytes, manner);
            }
            Self::DeliveredAt { session, offset, count, bytes, manner } => {
                begin(out, Kind::DeliveredAt, manner_flags(manner), *session);
                out.put_number(*offset);
                put_run(out, *count, *bytes, manner);
            }
            Self::Sent { session, packet_id, offset } => {
                let flags = set(flag::SOME, offset.is_some());
                put_packet(out, Kind::Sent, flags, *session, *packet_id);
                if let Some(offset) = offset {
                    out.put_number(*offset);
                }
            }
            Self::Received { session, packet_id } => {
                put_packet(out, Kind::Received, 0, *session, *packet_id);
            }
            Self::Completed { session, packet_id } => {
                put_packet(out, Kind::Completed, 0, *session, *packet_id);
            }
            Self::Settled { session, offset, count, qos } => {
                begin(out, Kind::Settled, set(flag::EXACTLY, *qos == QoS::ExactlyOnce), *session);
                out.put_number(*offset);
                out.put_number(u64::from(*count));
            }
            Self::Incoming { session, packet_id } => {
                put_packet(out, Kind::Incoming, 0, *session, *packet_id);
            }
            Self::Released { session, packet_id } => {
                put_packet(out, Kind::Released, 0, *session, *packet_id);
            }
            _ => self.encode_message(out),
        }
    }

    fn encode_message(&self, out: &mut Vec<u8>) {
        match self {
            Self::Unretained { index } => begin(out, Kind::Unretained, 0, u64::from(*index)),
            Self::RetainedAt { offset, receive_ns, message } => {
                begin(out, Kind::RetainedAt, 0, *offset);
                out.put_signed(*receive_ns);
                put_retained(out, message);
            }
            Self::Waiting { index, priority, expires_ns } => {
                put_waiting(out, Kind::Waiting, u64::from(*index), *priority, *expires_ns);
            }
            Self::WaitingAt { offset, priority, expires_ns } => {
                put_waiting(out, Kind::WaitingAt, *offset, *priority, *expires_ns);
            }
            Self::Taken { offset } => begin(out, Kind::Taken, 0, *offset),
            Self::Owner { owner } => {
                begin(out, Kind::Owner, 0, 0);
                out.put_text(owner);
            }
            _ => self.encode_table(out),
        }
    }

    fn encode_table(&self, out: &mut Vec<u8>) {
        match self {
            Self::TableIs { id, revision, end } => {
                begin(out, Kind::TableIs, 0, u64::from(*id));
                out.put_number(*revision);
                out.put_number(u64::from(*end));
            }
            Self::Declared { parameter, name, definition } => {
                begin(out, Kind::Declared, 0, u64::from(*parameter));
                out.put_text(name);
                out.put_text(definition);
            }
            Self::Removed { parameter } => begin(out, Kind::Removed, 0, u64::from(*parameter)),
            Self::Framed { index } => begin(out, Kind::Framed, 0, u64::from(*index)),
            Self::Sampled { index, parameter } => {
                begin(out, Kind::Sampled, 0, u64::from(*index));
                out.put_number(u64::from(*parameter));
            }
            Self::ValuesAt { receive_ns, frame } => {
                begin(out, Kind::ValuesAt, 0, 0);
                out.put_signed(*receive_ns);
                out.put_bytes(frame);
            }
            Self::StreamDeclared { stream, name, definition } => {
                begin(out, Kind::StreamDeclared, 0, u64::from(*stream));
                out.put_text(name);
                out.put_text(definition);
            }
            Self::StreamRemoved { stream } => {
                begin(out, Kind::StreamRemoved, 0, u64::from(*stream));
            }
            _ => unreachable!("encoded as one of the other groups"),
        }
    }
}

fn begin(out: &mut Vec<u8>, kind: Kind, flags: u8, number: u64) {
    let kind = kind as u8;
    if kind > Kind::BITS {
        out.extend([flags, kind]);
    } else {
        out.push(kind | flags);
    }
    out.put_number(number);
}

fn set(flag: u8, on: bool) -> u8 {
    if on { flag } else { 0 }
}

fn put_packet(out: &mut Vec<u8>, kind: Kind, flags: u8, session: u64, id: PacketId) {
    begin(out, kind, flags, session);
    out.put_number(u64::from(id.get()));
}

fn put_stay(out: &mut Vec<u8>, expiry_s: u32, will: &Will<'_>) {
    out.put_number(u64::from(expiry_s));
    if let Some(will) = will {
        put_will(out, will);
    }
}

fn put_will(out: &mut Vec<u8>, will: &WillMessage) {
    let publish = will.publish();
    out.put_number(u64::from(will.delay_s));
    out.push(publish.qos as u8 | u8::from(publish.retain) << 2);
    out.put_text(publish.topic);
    out.put_bytes(publish.properties.encoded());
    out.put_bytes(publish.payload);
}

fn put_options(out: &mut Vec<u8>, options: Options, replay: bool, list: Option<&RangeSet>) {
    let flags = u8::from(options.no_local) << 2
        | u8::from(options.retain_as_published) << 3
        | u8::from(replay) << 4
        | u8::from(options.needs.is_some()) << 5
        | u8::from(list.is_some()) << 6;
    out.push(options.qos as u8 | flags);
    out.put_number(u64::from(options.identifier));
    if let Some(needs) = options.needs {
        let properties = needs.properties();
        out.put_number(properties.len() as u64);
        for (name, text) in properties {
            out.put_text(name);
            out.put_text(&text);
        }
    }
    if let Some(list) = list {
        put_list(out, list);
    }
}

/// How many ranges, then for each how far it is from the end of the one before, and its length less 1.
fn put_list(out: &mut Vec<u8>, list: &RangeSet) {
    out.put_number(list.ranges() as u64);
    let mut end = 0;
    for range in list {
        out.put_number(u64::from(range.start - end));
        out.put_number(u64::from(range.end - range.start - 1));
        end = range.end;
    }
}

fn manner_flags(manner: &Manner) -> u8 {
    set(flag::EXACTLY, manner.qos == QoS::ExactlyOnce)
        | set(flag::RETAIN, manner.retain)
        | set(flag::IDENTIFIED, manner.identifiers.is_some())
}

fn put_run(out: &mut Vec<u8>, count: u32, bytes: u32, manner: &Manner) {
    out.put_number(u64::from(count));
    out.put_number(u64::from(bytes));
    if let Some(identifiers) = &manner.identifiers {
        out.put_number(identifiers.len() as u64);
        identifiers.iter().for_each(|identifier| out.put_number(u64::from(*identifier)));
    }
}

fn put_retained(out: &mut Vec<u8>, message: &RetainedMessage<'_>) {
    out.push(message.qos as u8);
    out.put_text(message.topic);
    out.put_bytes(message.properties);
    out.put_bytes(message.payload);
}

fn put_waiting(
    out: &mut Vec<u8>,
    kind: Kind,
    number: u64,
    priority: Priority,
    expires_ns: Option<i64>,
) {
    begin(out, kind, set(flag::SOME, expires_ns.is_some()), number);
    out.push(priority as u8);
    if let Some(expires_ns) = expires_ns {
        out.put_signed(expires_ns);
    }
}
