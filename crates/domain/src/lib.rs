//! What a broker knows of the domain it is in, and where a message goes. Pure: no I/O, no clock, no threads; the caller
//! passes bytes and the time, and the same calls give the same answers.

mod arrival_window;
mod arrivals;
pub mod bounds;
mod broker_id;
mod byte_cursor;
mod interest;
mod record;
mod record_version;
mod routing;
#[cfg(test)]
mod routing_tests;
#[cfg(test)]
mod strategies_tests;
mod topology;
#[cfg(test)]
mod topology_tests;
mod wanted_rate;

pub use arrivals::{Arrivals, LostRange, MessageArrival, MessageOrigin};
pub use broker_id::BrokerId;
pub use interest::{AnnouncedInterest, Interest, InterestBounds, WantedFilter};
pub use record::{BrokerDescription, BrokerRecord, Load, RecordError};
pub use record_version::RecordVersion;
pub use routing::{NextHop, Routing};
pub use topology::{OriginTree, Topology};
pub use wanted_rate::WantedRate;
