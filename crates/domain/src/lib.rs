//! What a broker knows of the domain it is in, and where a message goes. Pure: no I/O, no clock, no threads; the caller
//! passes bytes and the time, and the same calls give the same answers.

mod arrival_window;
mod arrivals;
pub mod bounds;
mod broker_id;
mod byte_cursor;
mod control;
mod domain;
mod event;
mod interest;
mod known_brokers;
#[cfg(test)]
mod known_brokers_tests;
mod neighbour;
mod recent_changes;
mod record;
mod record_version;
mod routing;
#[cfg(test)]
mod routing_tests;
mod settings;
#[cfg(test)]
mod strategies_tests;
#[cfg(test)]
mod tests;
mod topology;
#[cfg(test)]
mod topology_tests;
mod waiting_subscriptions;
mod wanted_rate;

pub use arrivals::{Arrivals, LostRange, MessageArrival, MessageOrigin};
pub use broker_id::BrokerId;
pub use domain::{Domain, Forwarding, LinkError, PublishedMessage, ReceiveError};
pub use event::DomainEvent;
pub use interest::{AnnouncedInterest, Interest, InterestBounds, WantedFilters};
pub use known_brokers::{KnownBrokers, Received, RecordDigest};
pub use record::{BrokerDescription, BrokerRecord, Load, RecordError};
pub use record_version::RecordVersion;
pub use routing::{NextHop, Routing};
pub use settings::DomainSettings;
pub use topology::{OriginTree, Topology};
pub use waiting_subscriptions::SubscriptionToken;
pub use wanted_rate::WantedRate;
