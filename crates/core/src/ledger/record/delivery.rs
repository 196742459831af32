//! Records about the messages of one session: queued, in flight, settled, and received at QoS 2.

use slipring_wire::{PacketId, QoS};

use super::fields::{RecordCursor, RecordField, What, put_number};
use super::head::record_family;
use crate::ledger::DeliveryManner;
use crate::{Offset, Priority, SessionKey};

/// Flag: QoS 2, not 1.
const EXACTLY: u8 = 0x20;
/// Flag: deliver with the retain flag.
const RETAIN: u8 = 0x40;
/// Flag: there are subscription identifiers, or a priority that is not normal.
const LISTED: u8 = 0x80;
/// The bits of the number of identifiers that are the priority. An earlier version of Slipring, which knows no
/// priorities, takes the whole for a number of identifiers that the record cannot have, and stops.
const PRIORITY_SHIFT: u32 = 32;
/// Beside the priority: the messages are requests, or their ends.
const OF_REQUEST: u64 = 4;
/// Beside that: their service gets them on topics with their keys.
const BY_TOPIC: u64 = 8;

record_family! {
    /// What happened to messages of one session. Ignored if the session is not known, or is over.
    ///
    /// `count` is at least one; `bytes` are those of each message.
    #[allow(missing_docs, reason = "the fields mean the same everywhere")]
    DeliveryRecord<> {
        /// Messages of this batch are queued for a session, from the one with the index `first` on.
        Delivered = 11 { session: SessionKey; first: u32, count: u32, bytes: u32, manner: DeliveryManner, }
        /// Messages from elsewhere in the journal are queued for a session.
        DeliveredAt = 12 { session: SessionKey; offset: Offset, count: u32, bytes: u32, manner: DeliveryManner, }
        /// A QoS 2 message was sent with this identifier; without an offset it is only in memory.
        Sent = 13 { session: SessionKey; packet_id: PacketId, offset: Option<Offset>, }
        /// The client has the QoS 2 message (PUBREC).
        Received = 14 { session: SessionKey; packet_id: PacketId, }
        /// The identifier of a QoS 2 message is free again (PUBCOMP).
        Completed = 15 { session: SessionKey; packet_id: PacketId, }
        /// Queued messages were delivered, or will never be.
        Settled = 16 { session: SessionKey; offset: Offset, count: u32, qos: QoS, }
        /// A QoS 2 message came from the client.
        Incoming = 17 { session: SessionKey; packet_id: PacketId, }
        /// The client released the identifier (PUBREL), or the broker refused its message.
        Released = 18 { session: SessionKey; packet_id: PacketId, }
    }
}

impl DeliveryRecord {
    /// Checks what depends on two fields: there is a message, and all offsets fit.
    pub(in crate::ledger) fn check(&self) -> Result<(), What> {
        let (first, count) = match *self {
            Self::Delivered { first, count, .. } => (u64::from(first), count),
            Self::DeliveredAt { offset, count, .. } | Self::Settled { offset, count, .. } => {
                (offset.get(), count)
            }
            Self::Sent { .. }
            | Self::Received { .. }
            | Self::Completed { .. }
            | Self::Incoming { .. }
            | Self::Released { .. } => return Ok(()),
        };
        if count == 0 {
            return Err("a record is about no message");
        }
        first.checked_add(count.into()).map(drop).ok_or("an offset does not fit into 64 bits")
    }
}

impl RecordField<'_> for PacketId {
    fn put(&self, out: &mut Vec<u8>) {
        put_number(out, self.get());
    }

    fn read(_: u8, cursor: &mut RecordCursor<'_>) -> Result<Self, What> {
        let number = u16::try_from(cursor.number()?).ok().and_then(Self::new);
        number.ok_or("a packet identifier is not from 1 to 65535")
    }
}

/// QoS 1 or 2, as a flag.
impl RecordField<'_> for QoS {
    fn flags(&self) -> u8 {
        if *self == Self::ExactlyOnce { EXACTLY } else { 0 }
    }

    fn put(&self, _: &mut Vec<u8>) {}

    fn read(flags: u8, _: &mut RecordCursor<'_>) -> Result<Self, What> {
        Ok(if flags & EXACTLY != 0 { Self::ExactlyOnce } else { Self::AtLeastOnce })
    }
}

impl DeliveryManner {
    /// Whether the record says more than identifiers.
    fn is_special(&self) -> bool {
        self.of_request || self.by_topic || self.priority != Priority::Normal
    }
}

impl RecordField<'_> for DeliveryManner {
    fn flags(&self) -> u8 {
        let retain = if self.retain { RETAIN } else { 0 };
        let has_list = self.identifiers.is_some() || self.is_special();
        self.qos.flags() | retain | if has_list { LISTED } else { 0 }
    }

    fn put(&self, out: &mut Vec<u8>) {
        let identifiers = self.identifiers.as_deref();
        if identifiers.is_none() && !self.is_special() {
            return;
        }
        let level = match self.priority {
            Priority::Normal => 0,
            named => u64::from(named as u8) + 1,
        };
        let level = level | if self.of_request { OF_REQUEST } else { 0 };
        let level = level | if self.by_topic { BY_TOPIC } else { 0 };
        let identifiers = identifiers.unwrap_or_default();
        put_number(out, level << PRIORITY_SHIFT | identifiers.len() as u64);
        for identifier in identifiers {
            put_number(out, *identifier);
        }
    }

    fn read(flags: u8, cursor: &mut RecordCursor<'_>) -> Result<Self, What> {
        let (mut identifiers, mut priority) = (None, Priority::Normal);
        let (mut of_request, mut by_topic) = (false, false);
        if flags & LISTED != 0 {
            let number = cursor.number()?;
            let count = number & ((1 << PRIORITY_SHIFT) - 1);
            if count > cursor.left() as u64 {
                return Err("there are fewer subscription identifiers than the record says");
            }
            let read = (0..count).map(|_| cursor.small()).collect::<Result<Vec<_>, What>>()?;
            let level = number >> PRIORITY_SHIFT;
            priority = read_priority(level & !(OF_REQUEST | BY_TOPIC))?;
            (of_request, by_topic) = (level & OF_REQUEST != 0, level & BY_TOPIC != 0);
            let is_absent = read.is_empty() && level != 0;
            identifiers = (!is_absent).then(|| read.into());
        }
        let qos = QoS::read(flags, cursor)?;
        let retain = flags & RETAIN != 0;
        Ok(Self { qos, retain, identifiers, priority, of_request, by_topic })
    }
}

/// The priority of a delivery: 0 is normal, which has no other form.
fn read_priority(level: u64) -> Result<Priority, What> {
    let Some(byte) = level.checked_sub(1) else { return Ok(Priority::Normal) };
    let named = u8::try_from(byte).ok().and_then(Priority::from_byte);
    named.filter(|named| *named != Priority::Normal).ok_or("there is no such priority")
}
