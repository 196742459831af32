//! The writer without a network.
