//! A record from bytes that a neighbour sent: they may be anything. There is one way to write a record, so that equal
//! records have equal bytes.

use std::collections::BTreeMap;

use super::encoding::{FORMAT, HAS_DOLLAR_TOPICS, IS_WIDENED};
use super::{BrokerDescription, BrokerRecord, Load, RecordError};
use crate::BrokerId;
use crate::bounds::{ADDRESSES_MAX, FILTER_BYTES_MAX, FILTERS_MAX, LINKS_MAX};
use crate::byte_cursor::ByteCursor;
use crate::interest::{AnnouncedInterest, WantedFilter};

impl BrokerRecord {
    /// The record that these bytes are.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut cursor = ByteCursor::new(bytes);
        let format = cursor.u8()?;
        if format != FORMAT {
            return Err(RecordError::UnknownFormat(format));
        }
        let record = Self {
            id: cursor.broker_id()?,
            version: cursor.version()?,
            description: description(&mut cursor)?,
            links: links(&mut cursor)?,
            load: Load { clients: cursor.u32()?, clients_max: cursor.u32()? },
            interest: interest(&mut cursor)?,
        };
        cursor.end()?;
        record.check_links()?;
        Ok(record)
    }
}

fn description(cursor: &mut ByteCursor<'_>) -> Result<BrokerDescription, RecordError> {
    let name = short_text(cursor)?;
    let count = usize::from(cursor.u8()?);
    if count > ADDRESSES_MAX {
        return Err(RecordError::TooManyAddresses);
    }
    let addresses: Result<_, _> = (0..count).map(|_| short_text(cursor)).collect();
    BrokerDescription::new(name, addresses?)
}

fn short_text(cursor: &mut ByteCursor<'_>) -> Result<String, RecordError> {
    let length = usize::from(cursor.u8()?);
    cursor.text(length).map(str::to_owned)
}

fn links(cursor: &mut ByteCursor<'_>) -> Result<BTreeMap<BrokerId, u32>, RecordError> {
    let count = usize::from(cursor.u16()?);
    if count > LINKS_MAX {
        return Err(RecordError::TooManyLinks);
    }
    let mut links = BTreeMap::new();
    for _ in 0..count {
        let neighbour = cursor.broker_id()?;
        if links.last_key_value().is_some_and(|(last, _)| *last >= neighbour) {
            return Err(RecordError::Unordered);
        }
        links.insert(neighbour, cursor.u32()?);
    }
    Ok(links)
}

fn interest(cursor: &mut ByteCursor<'_>) -> Result<AnnouncedInterest, RecordError> {
    let flags = cursor.u8()?;
    if flags & !(IS_WIDENED | HAS_DOLLAR_TOPICS) != 0 {
        return Err(RecordError::WrongNumber);
    }
    let has_dollar_topics = flags & HAS_DOLLAR_TOPICS != 0;
    let dollar_topics = has_dollar_topics.then(|| cursor.rate()).transpose()?;
    let count = cursor.u32()? as usize;
    if count > FILTERS_MAX {
        return Err(RecordError::TooManyFilters);
    }
    let mut filters: Vec<WantedFilter> = Vec::new();
    let mut bytes = 0;
    for _ in 0..count {
        let length = usize::from(cursor.u16()?);
        bytes += length;
        if bytes > FILTER_BYTES_MAX {
            return Err(RecordError::TooManyFilters);
        }
        let filter = cursor.text(length)?;
        if filters.last().is_some_and(|(last, _)| **last >= *filter) {
            return Err(RecordError::Unordered);
        }
        AnnouncedInterest::check_filter(filter)?;
        filters.push((filter.into(), cursor.rate()?));
    }
    Ok(AnnouncedInterest::new(filters, dollar_topics, flags & IS_WIDENED != 0))
}
