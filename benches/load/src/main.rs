//! A load generator for any MQTT broker: `slipring-load COMMAND HOST:PORT` prints JSON, one line a run.
//!
//! It shares the machine with the broker it measures, so it must cost little: one epoll loop, large
//! writes of bytes made beforehand, nothing allocated per message, packets found by their length.

mod acked;
mod arguments;
mod belt;
mod client;
mod connect;
mod descriptors;
mod dial;
mod dialogue;
mod exchange;
mod flight;
mod forward;
mod group;
mod inlet;
mod kept;
mod latency;
mod numbered;
mod outlet;
mod percentiles;
mod report;
mod sender;
mod standard_input;
mod supply;
mod topics;
mod traffic;
mod window;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// What ends a run early: a broker that refuses, a network that fails, nothing arriving.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("slipring-load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    descriptors::raise_limit()?;
    match command {
        Command::Throughput(arguments) => traffic::throughput(&arguments),
        Command::Pairs(arguments) => traffic::pairs(&arguments),
        Command::Latency(arguments) => latency::run(&arguments),
        Command::Acked(arguments) => acked::run(&arguments),
        Command::Keep(arguments) => kept::keep(&arguments),
        Command::Kept(arguments) => kept::kept(&arguments),
        Command::Connect(arguments) => connect::burst(&arguments),
        Command::Idle(arguments) => connect::idle(&arguments),
        Command::SubscribeMany(arguments) => connect::subscribe_many(&arguments),
        Command::Forward(arguments) => forward::run(&arguments),
    }
}
