//! A record as bytes. It never fails: whoever makes a record keeps to the bounds.

use super::BrokerRecord;
use crate::interest::AnnouncedInterest;

/// The format of records that this broker writes and reads.
pub(super) const FORMAT: u8 = 1;
/// The flags of an interest.
pub(super) const IS_WIDENED: u8 = 1;
pub(super) const HAS_DOLLAR_TOPICS: u8 = 2;

impl BrokerRecord {
    /// Its bytes, after those that are there.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(FORMAT);
        out.extend(self.id.to_bytes());
        out.extend(self.version.start().to_be_bytes());
        out.extend(self.version.counter().to_be_bytes());
        put_short_text(out, self.description.name());
        out.push(self.description.addresses().len() as u8);
        for address in self.description.addresses() {
            put_short_text(out, address);
        }
        out.extend((self.links.len() as u16).to_be_bytes());
        for (neighbour, cost) in &self.links {
            out.extend(neighbour.to_bytes());
            out.extend(cost.to_be_bytes());
        }
        out.extend(self.load.clients.to_be_bytes());
        out.extend(self.load.clients_max.to_be_bytes());
        put_interest(out, &self.interest);
    }
}

fn put_short_text(out: &mut Vec<u8>, text: &str) {
    out.push(text.len() as u8);
    out.extend_from_slice(text.as_bytes());
}

fn put_interest(out: &mut Vec<u8>, interest: &AnnouncedInterest) {
    let widened = if interest.is_widened() { IS_WIDENED } else { 0 };
    let dollar = if interest.dollar_topics().is_some() { HAS_DOLLAR_TOPICS } else { 0 };
    out.push(widened | dollar);
    if let Some(rate) = interest.dollar_topics() {
        out.extend(rate.to_wire().to_be_bytes());
    }
    out.extend((interest.filters().len() as u32).to_be_bytes());
    for (filter, rate) in interest.filters() {
        out.extend((filter.len() as u16).to_be_bytes());
        out.extend_from_slice(filter.as_bytes());
        out.extend(rate.to_wire().to_be_bytes());
    }
}
