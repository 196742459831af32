//! Access: who may do what on which topics. A policy is immutable and a part of the plan; it is asked when a route is
//! made, a subscription is taken or a request comes, never for each message.
//!
//! Pure: it knows no connection, no clock and no file.

mod change;
mod client_rights;
mod grant;
mod identity;
mod overlap;
mod pattern;
mod policy;
#[cfg(test)]
mod policy_tests;
mod right;
mod rule;
mod tree;

pub use change::{PolicyChange, RightSet};
pub use client_rights::ClientRights;
pub use grant::Grant;
pub use identity::{Identity, Subject};
pub use policy::{AccessPolicy, Decision, FilterAccess};
pub use right::Right;
pub use rule::{AccessRule, RuleError, Who};
