//! Bytes to records. They are hostile until parsed: what makes no sense is an error with its place.

use std::borrow::Cow;

use slipring_wire::frame::RangeSet;
use slipring_wire::{PacketId, QoS, check_filter, shared};

use super::bytes::{Cursor, What};
use super::record::{Kind, Record, RetainedMessage, Will, flag};
use super::run::Manner;
use crate::table::Needs;
use crate::{Options, Priority, WillMessage};

/// Needs of one subscription, at most: each once.
const NEEDS_MAX: u64 = 5;

/// A record that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record at byte {at} cannot be read: {what}")]
pub struct RecordError {
    /// Where it begins among the records of its batch.
    pub at: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// The records of one batch, one after the other. The first that cannot be read is the last.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    cursor: Cursor<'a>,
    length: usize,
}

impl<'a> Records<'a> {
    /// Reads these bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { cursor: Cursor::new(bytes), length: bytes.len() }
    }

    /// Where the next record begins.
    pub fn place(&self) -> usize {
        self.length - self.cursor.left()
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.cursor.left() == 0 {
            return None;
        }
        let at = self.place();
        let record = Record::read(&mut self.cursor);
        if record.is_err() {
            self.cursor = Cursor::new(&[]);
        }
        Some(record.map_err(|what| RecordError { at, what }))
    }
}

impl<'a> Record<'a> {
    fn read(cursor: &mut Cursor<'a>) -> Result<Self, What> {
        let byte = cursor.byte()?;
        let kind = read_kind(cursor, byte)?;
        let number = cursor.number()?;
        match kind {
            Kind::Known => Ok(Self::Known { session: number, newest_ns: cursor.signed()? }),
            Kind::Opened => {
                let client_id = cursor.text()?;
                let user = (byte & flag::SOME != 0).then(|| cursor.text()).transpose()?;
                let (expiry_s, will) = read_stay(cursor, byte)?;
                Ok(Self::Opened { session: number, client_id, user, expiry_s, will })
            }
            Kind::Resumed => {
                let (expiry_s, will) = read_stay(cursor, byte)?;
                Ok(Self::Resumed { session: number, expiry_s, will })
            }
            Kind::Left => {
                let at_ns = cursor.signed()?;
                let (expiry_s, will) = read_stay(cursor, byte)?;
                Ok(Self::Left { session: number, at_ns, expiry_s, will })
            }
            Kind::Willed => Ok(Self::Willed { session: number }),
            Kind::Ended => Ok(Self::Ended { session: number }),
            _ => Self::read_subscription(cursor, kind, byte, number),
        }
    }

    fn read_subscription(
        cursor: &mut Cursor<'a>,
        kind: Kind,
        flags: u8,
        session: u64,
    ) -> Result<Self, What> {
        match kind {
            Kind::Subscribed => {
                let filter = read_filter(cursor)?;
                let (options, replay, list) = read_options(cursor)?;
                Ok(Self::Subscribed { session, filter, options, replay, list })
            }
            Kind::Unsubscribed => Ok(Self::Unsubscribed { session, filter: cursor.text()? }),
            Kind::ReplayedTo => {
                let (filter, topic) = (cursor.text()?, cursor.text()?);
                Ok(Self::ReplayedTo { session, filter, topic })
            }
            Kind::Replayed => Ok(Self::Replayed { session, filter: cursor.text()? }),
            Kind::Publishes => {
                let parameters = Cow::Owned(read_list(cursor)?);
                let streams = Cow::Owned(read_list(cursor)?);
                Ok(Self::Publishes { session, parameters, streams })
            }
            _ => Self::read_delivery(cursor, kind, flags, session),
        }
    }

    fn read_delivery(
        cursor: &mut Cursor<'a>,
        kind: Kind,
        flags: u8,
        session: u64,
    ) -> Result<Self, What> {
        match kind {
            Kind::Delivered => {
                let first = cursor.small()?;
                let (count, bytes, manner) = read_run(cursor, flags)?;
                Ok(Self::Delivered { session, first, count, bytes, manner })
            }
            Kind::DeliveredAt => {
                let offset = cursor.number()?;
                let (count, bytes, manner) = read_run(cursor, flags)?;
                check_end(offset, count)?;
                Ok(Self::DeliveredAt { session, offset, count, bytes, manner })
            }
            Kind::Sent => {
                let packet_id = read_packet(cursor)?;
                let offset = (flags & flag::SOME != 0).then(|| cursor.number()).transpose()?;
                Ok(Self::Sent { session, packet_id, offset })
            }
            Kind::Received => Ok(Self::Received { session, packet_id: read_packet(cursor)? }),
            Kind::Completed => Ok(Self::Completed { session, packet_id: read_packet(cursor)? }),
            Kind::Settled => {
                let (offset, count) = (cursor.number()?, read_count(cursor)?);
                check_end(offset, count)?;
                Ok(Self::Settled { session, offset, count, qos: quality(flags) })
            }
            Kind::Incoming => Ok(Self::Incoming { session, packet_id: read_packet(cursor)? }),
            Kind::Released => Ok(Self::Released { session, packet_id: read_packet(cursor)? }),
            _ => Self::read_message(cursor, kind, flags, session),
        }
    }

    fn read_message(
        cursor: &mut Cursor<'a>,
        kind: Kind,
        flags: u8,
        number: u64,
    ) -> Result<Self, What> {
        match kind {
            Kind::Unretained => Ok(Self::Unretained { index: index(number)? }),
            Kind::RetainedAt => {
                let receive_ns = cursor.signed()?;
                let message = read_retained(cursor)?;
                Ok(Self::RetainedAt { offset: number, receive_ns, message })
            }
            Kind::Waiting => {
                let (priority, expires_ns) = read_waiting(cursor, flags)?;
                Ok(Self::Waiting { index: index(number)?, priority, expires_ns })
            }
            Kind::WaitingAt => {
                let (priority, expires_ns) = read_waiting(cursor, flags)?;
                Ok(Self::WaitingAt { offset: number, priority, expires_ns })
            }
            Kind::Taken => Ok(Self::Taken { offset: number }),
            Kind::Owner => Ok(Self::Owner { owner: cursor.text()? }),
            _ => Self::read_table(cursor, kind, number),
        }
    }

    fn read_table(cursor: &mut Cursor<'a>, kind: Kind, number: u64) -> Result<Self, What> {
        match kind {
            Kind::TableIs => {
                let (revision, end) = (cursor.number()?, cursor.small()?);
                Ok(Self::TableIs { id: index(number)?, revision, end })
            }
            Kind::Declared => {
                let (name, definition) = (cursor.text()?, cursor.text()?);
                Ok(Self::Declared { parameter: index(number)?, name, definition })
            }
            Kind::Removed => Ok(Self::Removed { parameter: index(number)? }),
            Kind::Framed => Ok(Self::Framed { index: index(number)? }),
            Kind::Sampled => {
                Ok(Self::Sampled { index: index(number)?, parameter: cursor.small()? })
            }
            Kind::StreamDeclared => {
                let (name, definition) = (cursor.text()?, cursor.text()?);
                Ok(Self::StreamDeclared { stream: index(number)?, name, definition })
            }
            Kind::StreamRemoved => Ok(Self::StreamRemoved { stream: index(number)? }),
            _ => {
                let (receive_ns, frame) = (cursor.signed()?, cursor.bytes()?);
                Ok(Self::ValuesAt { receive_ns, frame })
            }
        }
    }
}

fn read_kind(cursor: &mut Cursor<'_>, byte: u8) -> Result<Kind, What> {
    let kind = match byte & Kind::BITS {
        0 => Kind::from_second(cursor.byte()?),
        _ => Kind::from_bits(byte),
    };
    kind.ok_or("there is no such kind of record")
}

fn index(number: u64) -> Result<u32, What> {
    u32::try_from(number).map_err(|_| "an index does not fit into 32 bits")
}

fn read_packet(cursor: &mut Cursor<'_>) -> Result<PacketId, What> {
    let number = u16::try_from(cursor.number()?).ok().and_then(PacketId::new);
    number.ok_or("there is no such packet identifier")
}

fn read_stay<'a>(cursor: &mut Cursor<'a>, flags: u8) -> Result<(u32, Will<'a>), What> {
    let expiry_s = cursor.small()?;
    let will = (flags & flag::WILL != 0).then(|| read_will(cursor)).transpose()?;
    Ok((expiry_s, will.map(Cow::Owned)))
}

fn read_will(cursor: &mut Cursor<'_>) -> Result<WillMessage, What> {
    let delay_s = cursor.small()?;
    let flags = cursor.byte()?;
    let qos = QoS::from_bits(flags & 3).map_err(|violation| violation.what)?;
    let (topic, properties, payload) = (cursor.text()?, cursor.bytes()?, cursor.bytes()?);
    let will = WillMessage::restored(topic, properties, payload, delay_s);
    Ok(will.map_err(|violation| violation.what)?.with(qos, flags & 4 != 0))
}

fn read_filter<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str, What> {
    let filter = cursor.text()?;
    let topics = match shared(filter) {
        Some(Ok((_, topics))) => topics,
        Some(Err(_)) => return Err("a shared subscription is none"),
        None => filter,
    };
    check_filter(topics).map(|()| filter).map_err(|_| "a filter is none")
}

/// The options, whether retained messages are to be sent, and a list.
type Asked<'a> = (Options, bool, Option<Cow<'a, RangeSet>>);

fn read_options<'a>(cursor: &mut Cursor<'a>) -> Result<Asked<'a>, What> {
    let flags = cursor.byte()?;
    let options = Options {
        qos: QoS::from_bits(flags & 3).map_err(|violation| violation.what)?,
        no_local: flags & 4 != 0,
        retain_as_published: flags & 8 != 0,
        identifier: cursor.small()?,
        needs: if flags & 32 == 0 { None } else { Some(read_needs(cursor)?) },
    };
    let list = (flags & 64 != 0).then(|| read_list(cursor)).transpose()?;
    Ok((options, flags & 16 != 0, list.map(Cow::Owned)))
}

fn read_list(cursor: &mut Cursor<'_>) -> Result<RangeSet, What> {
    let (count, mut end) = (cursor.number()?, 0u32);
    let mut list = RangeSet::new();
    for number in 0..count {
        let (gap, more) = (cursor.small()?, cursor.small()?);
        if gap == 0 && number > 0 {
            return Err("two ranges of a list touch");
        }
        let start = end.checked_add(gap);
        let after = start.and_then(|start| start.checked_add(more)?.checked_add(1));
        let (Some(start), Some(after)) = (start, after) else {
            return Err("a list has parameters that cannot be");
        };
        list.insert(start..after);
        end = after;
    }
    Ok(list)
}

fn read_needs(cursor: &mut Cursor<'_>) -> Result<Needs, What> {
    let count = cursor.number()?;
    if count > NEEDS_MAX {
        return Err("a subscription has too many needs");
    }
    let properties = (0..count).map(|_| Ok((cursor.text()?, cursor.text()?)));
    let properties = properties.collect::<Result<Vec<_>, What>>()?;
    Needs::parse(properties).ok().flatten().ok_or("the needs of a subscription are none")
}

fn quality(flags: u8) -> QoS {
    if flags & flag::EXACTLY != 0 { QoS::ExactlyOnce } else { QoS::AtLeastOnce }
}

fn read_count(cursor: &mut Cursor<'_>) -> Result<u32, What> {
    let count = cursor.small()?;
    if count == 0 { Err("a record is about no message") } else { Ok(count) }
}

fn check_end(offset: u64, count: u32) -> Result<(), What> {
    offset.checked_add(u64::from(count)).map(drop).ok_or("there are no such offsets")
}

fn read_run(cursor: &mut Cursor<'_>, flags: u8) -> Result<(u32, u32, Manner), What> {
    let (count, bytes) = (read_count(cursor)?, cursor.small()?);
    let identified = flags & flag::IDENTIFIED != 0;
    let identifiers = identified.then(|| read_identifiers(cursor)).transpose()?;
    let manner = Manner {
        qos: quality(flags),
        retain: flags & flag::RETAIN != 0,
        identifiers: identifiers.map(Into::into),
    };
    Ok((count, bytes, manner))
}

fn read_identifiers(cursor: &mut Cursor<'_>) -> Result<Vec<u32>, What> {
    let count = cursor.number()?;
    if count > cursor.left() as u64 {
        return Err("there are fewer identifiers than it says");
    }
    (0..count).map(|_| cursor.small()).collect()
}

fn read_retained<'a>(cursor: &mut Cursor<'a>) -> Result<RetainedMessage<'a>, What> {
    let qos = QoS::from_bits(cursor.byte()?).map_err(|violation| violation.what)?;
    let (topic, properties, payload) = (cursor.text()?, cursor.bytes()?, cursor.bytes()?);
    Ok(RetainedMessage { topic, qos, properties, payload })
}

fn read_waiting(cursor: &mut Cursor<'_>, flags: u8) -> Result<(Priority, Option<i64>), What> {
    let priority = Priority::from_byte(cursor.byte()?).ok_or("there is no such priority")?;
    let expires_ns = (flags & flag::SOME != 0).then(|| cursor.signed()).transpose()?;
    Ok((priority, expires_ns))
}
