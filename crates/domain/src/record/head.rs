//! The first bytes of a record: enough to tell one that is known already without reading the rest.

use super::encoding::FORMAT;
use super::{BrokerRecord, RecordError};
use crate::byte_cursor::ByteCursor;
use crate::{BrokerId, RecordVersion};

/// Whose record it is, and which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub id: BrokerId,
    pub version: RecordVersion,
    /// Of all that the record says, as its sender claims.
    pub checksum: u64,
}

impl RecordHead {
    /// The head of a record's bytes.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        Self::read(&mut ByteCursor::new(bytes))
    }

    pub(super) fn read(cursor: &mut ByteCursor<'_>) -> Result<Self, RecordError> {
        let format = cursor.u8()?;
        if format != FORMAT {
            return Err(RecordError::UnknownFormat(format));
        }
        Ok(Self { id: cursor.broker_id()?, version: cursor.version()?, checksum: cursor.u64()? })
    }
}

impl BrokerRecord {
    pub(crate) fn head(&self) -> RecordHead {
        RecordHead { id: self.id, version: self.version, checksum: self.checksum() }
    }
}
