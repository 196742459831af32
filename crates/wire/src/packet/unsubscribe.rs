//! UNSUBSCRIBE: the topic filters that a client no longer wants.

use super::{PacketId, PacketType};
use crate::cursor::PacketCursor;
use crate::sink::Sink;
use crate::{Properties, Version, Violation};

/// A list of filters to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsubscribe<'a> {
    /// The identifier that UNSUBACK repeats.
    pub packet_id: PacketId,
    /// MQTT 5 properties.
    pub properties: Properties<'a>,
    /// At least one (MQTT-3.10.3-2).
    pub filters: Vec<&'a str>,
}

impl<'a> Unsubscribe<'a> {
    pub(super) fn read(cursor: &mut PacketCursor<'a>, version: Version) -> Result<Self, Violation> {
        let packet_id = PacketId::read(cursor)?;
        let properties = Properties::read(cursor, version, PacketType::Unsubscribe)?;
        let mut filters = Vec::new();
        while !cursor.is_empty() {
            filters.push(cursor.text()?);
        }
        if filters.is_empty() {
            return Err(Violation::protocol("UNSUBSCRIBE without a filter"));
        }
        Ok(Self { packet_id, properties, filters })
    }

    pub(super) fn write(&self, version: Version, out: &mut Vec<u8>) {
        out.put_u16(self.packet_id.get());
        if version == Version::V5 {
            self.properties.write(out);
        }
        for filter in &self.filters {
            out.put_text(filter);
        }
    }
}
