//! What a broker says of itself. Only the broker that a record is about writes it; the others pass it on as it is.

mod decoding;
mod difference;
mod encoding;
mod error;
mod head;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::bounds::{ADDRESS_BYTES_MAX, ADDRESSES_MAX, LINKS_MAX, NAME_BYTES_MAX};
use crate::interest::AnnouncedInterest;
use crate::{BrokerId, RecordVersion};

pub(crate) use difference::{ChangedParts, RecordDifference};
pub(crate) use encoding::put_version;
pub use error::RecordError;
pub(crate) use head::RecordHead;

/// Everything that others know of a broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokerRecord {
    id: BrokerId,
    /// Which record of this broker it is.
    pub(crate) version: RecordVersion,
    pub(crate) description: BrokerDescription,
    pub(crate) links: BTreeMap<BrokerId, u32>,
    pub(crate) interest: AnnouncedInterest,
    pub(crate) load: Load,
}

/// What people call a broker, and where it listens for links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrokerDescription {
    name: String,
    addresses: Vec<String>,
}

/// How many clients a broker has, and how many it can have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Clients that are connected.
    pub clients: u32,
    /// The limit of clients.
    pub clients_max: u32,
}

impl BrokerRecord {
    /// The first record of a broker in this start: without links and interest.
    pub fn first(id: BrokerId, start: u64, description: BrokerDescription) -> Self {
        Self {
            id,
            version: RecordVersion::new(start, 0),
            description,
            links: BTreeMap::new(),
            interest: AnnouncedInterest::default(),
            load: Load::default(),
        }
    }

    /// Which broker it is about.
    pub fn id(&self) -> BrokerId {
        self.id
    }

    /// Which record of this broker it is.
    pub fn version(&self) -> RecordVersion {
        self.version
    }

    /// Its name and addresses.
    pub fn description(&self) -> &BrokerDescription {
        &self.description
    }

    /// Its neighbours, and what each link costs.
    pub fn links(&self) -> &BTreeMap<BrokerId, u32> {
        &self.links
    }

    /// Which topics its subscribers want.
    pub fn interest(&self) -> &AnnouncedInterest {
        &self.interest
    }

    /// How many clients it has and can have.
    pub fn load(&self) -> Load {
        self.load
    }

    fn check_links(id: BrokerId, links: &BTreeMap<BrokerId, u32>) -> Result<(), RecordError> {
        if links.len() > LINKS_MAX {
            return Err(RecordError::TooManyLinks);
        }
        if links.contains_key(&id) { Err(RecordError::LinkToItself) } else { Ok(()) }
    }
}

impl BrokerDescription {
    /// A name and addresses, if they are within their bounds.
    pub fn new(name: String, addresses: Vec<String>) -> Result<Self, RecordError> {
        if name.len() > NAME_BYTES_MAX {
            return Err(RecordError::LongName);
        }
        if addresses.len() > ADDRESSES_MAX {
            return Err(RecordError::TooManyAddresses);
        }
        if addresses.iter().any(|address| address.len() > ADDRESS_BYTES_MAX) {
            return Err(RecordError::LongAddress);
        }
        Ok(Self { name, addresses })
    }

    /// What people call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it listens for links, the best address first.
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }
}
