//! A record, or what differs in it, as bytes. It never fails: whoever makes a record keeps to the bounds.

use std::collections::BTreeMap;

use super::{BrokerDescription, BrokerRecord, Load, RecordDifference};
use crate::interest::{FilterTotals, InterestDifference};
use crate::{BrokerId, RecordVersion, WantedRate};

/// The format of records that this broker writes and reads.
pub(super) const FORMAT: u8 = 1;
/// The flags of an interest.
pub(super) const IS_WIDENED: u8 = 1;
pub(super) const HAS_DOLLAR_TOPICS: u8 = 2;
/// Which parts a difference has.
pub(super) const HAS_DESCRIPTION: u8 = 1;
pub(super) const HAS_LINKS: u8 = 2;
pub(super) const HAS_LOAD: u8 = 4;
pub(super) const HAS_INTEREST: u8 = 8;

impl BrokerRecord {
    /// Its bytes, after those that are there.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let rest = self.encoded_rest();
        out.push(FORMAT);
        out.extend(self.id.to_bytes());
        put_version(out, self.version);
        out.extend(checksum(&rest, self.interest.totals()).to_be_bytes());
        out.extend(rest);
        out.extend((self.interest.filters().len() as u32).to_be_bytes());
        for (filter, rate) in self.interest.filters() {
            put_filter(out, filter, Some(*rate));
        }
    }

    /// Of all that it says: two records of one version differ if their checksums do.
    pub(crate) fn checksum(&self) -> u64 {
        checksum(&self.encoded_rest(), self.interest.totals())
    }

    fn encoded_rest(&self) -> Vec<u8> {
        let interest = InterestDifference {
            dollar_topics: self.interest.dollar_topics(),
            is_widened: self.interest.is_widened(),
            ..InterestDifference::default()
        };
        encoded_rest(&self.description, &self.links, self.load, &interest)
    }
}

/// All that a record says, but for its filters.
pub(super) fn encoded_rest(
    description: &BrokerDescription,
    links: &BTreeMap<BrokerId, u32>,
    load: Load,
    interest: &InterestDifference,
) -> Vec<u8> {
    let mut out = Vec::new();
    put_description(&mut out, description);
    put_links(&mut out, links);
    put_load(&mut out, load);
    put_flags(&mut out, interest);
    out
}

pub(super) fn checksum(rest: &[u8], filters: FilterTotals) -> u64 {
    filters.checksum.wrapping_add(u64::from(crc32c::crc32c(rest)) << 32)
}

impl RecordDifference {
    /// Its bytes, after those that are there.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.of.to_bytes());
        put_version(out, self.before);
        out.extend(self.after.counter().to_be_bytes());
        out.extend(self.checksum.to_be_bytes());
        let parts = &self.parts;
        let flag = |is_there, flag| if is_there { flag } else { 0 };
        out.push(
            flag(parts.description.is_some(), HAS_DESCRIPTION)
                | flag(parts.links.is_some(), HAS_LINKS)
                | flag(parts.load.is_some(), HAS_LOAD)
                | flag(parts.interest.is_some(), HAS_INTEREST),
        );
        parts.description.iter().for_each(|description| put_description(out, description));
        parts.links.iter().for_each(|links| put_links(out, links));
        parts.load.iter().for_each(|load| put_load(out, *load));
        if let Some(interest) = &parts.interest {
            put_flags(out, interest);
            out.extend((interest.filters.len() as u32).to_be_bytes());
            interest.filters.iter().for_each(|(filter, rate)| put_filter(out, filter, *rate));
        }
    }
}

pub(crate) fn put_version(out: &mut Vec<u8>, version: RecordVersion) {
    out.extend(version.start().to_be_bytes());
    out.extend(version.counter().to_be_bytes());
}

fn put_description(out: &mut Vec<u8>, description: &BrokerDescription) {
    put_short_text(out, description.name());
    out.push(description.addresses().len() as u8);
    description.addresses().iter().for_each(|address| put_short_text(out, address));
}

fn put_short_text(out: &mut Vec<u8>, text: &str) {
    out.push(text.len() as u8);
    out.extend_from_slice(text.as_bytes());
}

fn put_links(out: &mut Vec<u8>, links: &BTreeMap<BrokerId, u32>) {
    out.extend((links.len() as u16).to_be_bytes());
    for (neighbour, cost) in links {
        out.extend(neighbour.to_bytes());
        out.extend(cost.to_be_bytes());
    }
}

fn put_load(out: &mut Vec<u8>, load: Load) {
    out.extend(load.clients.to_be_bytes());
    out.extend(load.clients_max.to_be_bytes());
}

fn put_flags(out: &mut Vec<u8>, interest: &InterestDifference) {
    let widened = if interest.is_widened { IS_WIDENED } else { 0 };
    let dollar = if interest.dollar_topics.is_some() { HAS_DOLLAR_TOPICS } else { 0 };
    out.push(widened | dollar);
    if let Some(rate) = interest.dollar_topics {
        out.extend(rate.to_wire().to_be_bytes());
    }
}

/// A rate of 0 stands for a filter that is wanted no more.
fn put_filter(out: &mut Vec<u8>, filter: &str, rate: Option<WantedRate>) {
    out.extend((filter.len() as u16).to_be_bytes());
    out.extend_from_slice(filter.as_bytes());
    out.extend(rate.map_or(0, WantedRate::to_wire).to_be_bytes());
}
