//! Encodes and decodes MQTT packets of all versions, and frames of samples.
//!
//! Pure: no I/O, no clock. Decoded packets borrow from the bytes they were read from. An incomplete packet
//! is a value; a peer that breaks the rules is a [`Violation`] with its reason code.

mod cursor;
mod filter;
pub mod frame;
mod header;
mod packet;
mod properties_buf;
mod property;
mod property_kinds;
mod property_piece;
mod reason;
mod sink;

pub use filter::{FilterError, TopicError, check_filter, check_topic, matches, served, shared};
pub use header::{PacketSplit, RawPacket, split_packet};
pub use packet::{
    Ack, Auth, ConnAck, Connect, Disconnect, Packet, PacketId, Publish, QoS, RetainHandling,
    SubAck, Subscribe, Subscription, UnsubAck, Unsubscribe, Will,
};
pub use properties_buf::PropertiesBuf;
pub use property::{Properties, PropertyId, Value};
pub use property_piece::{bytes_piece, pair_piece};
pub use reason::{Reason, Violation};

/// The protocol version of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// MQTT 3.1, protocol level 3, with the protocol name `MQIsdp`.
    V31,
    /// MQTT 3.1.1, protocol level 4.
    V311,
    /// MQTT 5, protocol level 5.
    V5,
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::V31 => "MQTT 3.1",
            Self::V311 => "MQTT 3.1.1",
            Self::V5 => "MQTT 5",
        })
    }
}

/// The largest value a variable byte integer holds (MQTT-1.5.5), and so the largest packet body.
pub const VARINT_MAX: u32 = 268_435_455;
