//! A record, or what differs in it, from bytes that a neighbour sent: they may be anything. There is one way to write
//! each, so that equal records have equal bytes.

use std::collections::BTreeMap;

use super::encoding::{
    HAS_DESCRIPTION, HAS_DOLLAR_TOPICS, HAS_INTEREST, HAS_LINKS, HAS_LOAD, IS_WIDENED,
};
use super::{
    BrokerDescription, BrokerRecord, ChangedParts, Load, RecordDifference, RecordError, RecordHead,
};
use crate::bounds::{ADDRESSES_MAX, FILTER_BYTES_MAX, FILTERS_MAX, LINKS_MAX};
use crate::byte_cursor::ByteCursor;
use crate::interest::{AnnouncedInterest, InterestDifference};
use crate::{BrokerId, RecordVersion, WantedRate};

impl BrokerRecord {
    /// The record that these bytes are.
    pub fn decode(bytes: &[u8]) -> Result<Self, RecordError> {
        let mut cursor = ByteCursor::new(bytes);
        let RecordHead { id, version, checksum } = RecordHead::read(&mut cursor)?;
        let record = Self {
            id,
            version,
            description: description(&mut cursor)?,
            links: links(&mut cursor)?,
            load: load(&mut cursor)?,
            interest: interest(&mut cursor)?,
        };
        cursor.end()?;
        Self::check_links(id, &record.links)?;
        if record.checksum() == checksum { Ok(record) } else { Err(RecordError::WrongChecksum) }
    }
}

impl RecordDifference {
    /// What these bytes say.
    pub fn decode(cursor: &mut ByteCursor<'_>) -> Result<Self, RecordError> {
        let (of, before) = (cursor.broker_id()?, cursor.version()?);
        let after = RecordVersion::new(before.start(), cursor.u64()?);
        let checksum = cursor.u64()?;
        let flags = cursor.u8()?;
        let all = HAS_DESCRIPTION | HAS_LINKS | HAS_LOAD | HAS_INTEREST;
        if flags & !all != 0 || before >= after {
            return Err(RecordError::WrongNumber);
        }
        let has = |flag: u8| flags & flag != 0;
        let parts = ChangedParts {
            description: has(HAS_DESCRIPTION).then(|| description(cursor)).transpose()?,
            links: has(HAS_LINKS).then(|| links(cursor)).transpose()?,
            load: has(HAS_LOAD).then(|| load(cursor)).transpose()?,
            interest: has(HAS_INTEREST).then(|| interest_difference(cursor)).transpose()?,
        };
        Ok(Self { of, before, after, checksum, parts })
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

fn load(cursor: &mut ByteCursor<'_>) -> Result<Load, RecordError> {
    Ok(Load { clients: cursor.u32()?, clients_max: cursor.u32()? })
}

fn interest(cursor: &mut ByteCursor<'_>) -> Result<AnnouncedInterest, RecordError> {
    let (dollar_topics, is_widened) = interest_flags(cursor)?;
    let filters = filters(cursor, ByteCursor::rate)?;
    Ok(AnnouncedInterest::new(filters, dollar_topics, is_widened))
}

fn interest_difference(cursor: &mut ByteCursor<'_>) -> Result<InterestDifference, RecordError> {
    let (dollar_topics, is_widened) = interest_flags(cursor)?;
    let filters = filters(cursor, |cursor| cursor.u32().map(WantedRate::from_wire))?;
    Ok(InterestDifference { filters, dollar_topics, is_widened })
}

fn interest_flags(cursor: &mut ByteCursor<'_>) -> Result<(Option<WantedRate>, bool), RecordError> {
    let flags = cursor.u8()?;
    if flags & !(IS_WIDENED | HAS_DOLLAR_TOPICS) != 0 {
        return Err(RecordError::WrongNumber);
    }
    let has_dollar_topics = flags & HAS_DOLLAR_TOPICS != 0;
    let dollar_topics = has_dollar_topics.then(|| cursor.rate()).transpose()?;
    Ok((dollar_topics, flags & IS_WIDENED != 0))
}

/// Filters in ascending order, each followed by what is said of it.
fn filters<'a, T>(
    cursor: &mut ByteCursor<'a>,
    said: impl Fn(&mut ByteCursor<'a>) -> Result<T, RecordError>,
) -> Result<BTreeMap<Box<str>, T>, RecordError> {
    let count = cursor.u32()? as usize;
    if count > FILTERS_MAX {
        return Err(RecordError::TooManyFilters);
    }
    let mut filters: Vec<(Box<str>, T)> = Vec::new();
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
        filters.push((filter.into(), said(cursor)?));
    }
    Ok(filters.into_iter().collect())
}
