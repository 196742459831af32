//! A load generator for any MQTT broker: `slipring-load COMMAND HOST:PORT` prints a line of JSON for each run.
//!
//! It shares the machine with the broker that it measures, so it must be cheap: one epoll loop, large writes of
//! bytes prepared in advance, no allocation per message, received packets counted without being decoded.

mod acked;
mod arguments;
mod client;
mod connect;
mod delivery;
mod descriptors;
mod dial;
mod flood;
mod forward;
mod guess;
mod handshake;
mod kept;
mod latency;
mod numbered;
mod packet_ring;
mod percentiles;
mod receive_buffer;
mod requests;
mod ring_position;
mod run_report;
mod send_buffer;
mod sender;
mod standard_input;
mod topic_clients;
mod topics;
mod traffic;
mod unacked;
mod window;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// The error that ends a run early: the broker refuses, the network fails, or nothing arrives.
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
        Command::Requests(arguments) => requests::run(&arguments),
        Command::Collect(arguments) => requests::collect(&arguments),
        Command::Flood(arguments) => flood::run(&arguments),
        Command::Guess(arguments) => {
            guess::run(&arguments);
            Ok(())
        }
        Command::Connect(arguments) => connect::burst(&arguments),
        Command::Idle(arguments) => connect::idle(&arguments),
        Command::SubscribeMany(arguments) => connect::subscribe_many(&arguments),
        Command::Forward(arguments) => forward::run(&arguments),
    }
}
