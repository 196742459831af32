//! Fuzz targets: each takes any bytes, and panics if its decoder breaks a law.
//!
//! libFuzzer drives them (`make fuzz`); the tests of this crate run the kept inputs. Never part of
//! the broker.

mod beside;
mod choice;
mod client;
mod client_packet;
mod domain;
mod frame;
mod journal;
mod journal_protocol;
mod ledger;
mod left_out;
mod length_chooser;
mod properties;
mod sample;
mod session;
mod streams;
mod table;
mod topics;
mod wire;

/// One decoder with its laws.
pub type Target = fn(&[u8]);

/// Every target by the name of its folder in `corpus/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("beside", beside::beside),
    ("choice", choice::choice),
    ("client", client::client),
    ("domain", domain::domain),
    ("frame", frame::frame),
    ("journal", journal::journal),
    ("journal_protocol", journal_protocol::journal_protocol),
    ("ledger", ledger::ledger),
    ("left_out", left_out::left_out),
    ("properties", properties::properties),
    ("sample", sample::sample),
    ("session", session::session),
    ("streams", streams::streams),
    ("table", table::table),
    ("topics", topics::topics),
    ("wire", wire::wire),
];

/// The target with this name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}
