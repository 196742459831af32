//! Histories of crashes: the real engine on a simulated disk, clients that keep to MQTT, and a verdict on what the
//! broker promised. The same seed gives the same history.

mod absentee;
mod claimer;
mod ends;
mod history;
mod leaver;
mod line;
#[cfg(test)]
mod overtaking_tests;
mod publisher;
mod random;
mod received;
#[cfg(test)]
mod refused_ends_tests;
mod server;
mod subscriber;
#[cfg(test)]
mod time_tests;
mod verdict;
mod world;

pub use history::{Fault, History, play};
pub use verdict::Verdict;
