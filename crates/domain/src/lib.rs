//! What a broker knows of the domain it is in, and where a message goes. Pure: no I/O, no clock, no threads; the caller
//! passes bytes and the time, and the same calls give the same answers.

pub mod bounds;
mod broker_id;
mod byte_cursor;
mod interest;
mod record;
mod record_version;
#[cfg(test)]
mod strategies_tests;
mod wanted_rate;

pub use broker_id::BrokerId;
pub use interest::{AnnouncedInterest, Interest, InterestBounds, WantedFilter};
pub use record::{BrokerDescription, BrokerRecord, Load, RecordError};
pub use record_version::RecordVersion;
pub use wanted_rate::WantedRate;
