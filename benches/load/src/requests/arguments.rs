//! The command lines of the runs with requests.

use std::net::SocketAddr;

use clap::{Args, ValueEnum};
use slipring_wire::QoS;

use crate::arguments::parse_qos;

/// How a broker takes requests and answers.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RequestProtocol {
    /// Slipring looks after the request: one message asks, one answers
    Slipring,
    /// Any MQTT 5 broker: two messages, with Response Topic and Correlation Data
    Mqtt,
    /// NATS: two messages, and an inbox for each answer
    Nats,
}

#[derive(Args)]
pub struct RequestsArguments {
    /// Address of the broker, as 127.0.0.1:1883
    pub address: SocketAddr,
    /// How the broker takes requests
    #[arg(long, value_enum, default_value = "slipring")]
    pub by: RequestProtocol,
    /// Bytes of each request and of each answer; the first eight are its number
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(8..))]
    pub bytes: u64,
    /// Quality of service of both
    #[arg(long, default_value = "0", value_parser = parse_qos)]
    pub qos: QoS,
    /// Pairs of one asker and one service, each with its own topic
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub pairs: u32,
    /// Requests of each asker
    #[arg(long, default_value_t = 10_000)]
    pub requests: u64,
    /// Most open requests of each asker; a Slipring service computes as many at once
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    pub window: u16,
    /// Requests an asker sends with one write, at least
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub burst: u64,
    /// Requests per second of each asker, however many are open; 0 is as many as the windows allow
    #[arg(long, default_value_t = 0)]
    pub rate: u64,
    /// Requests of each asker before the first that is timed; only with a rate
    #[arg(long, default_value_t = 0)]
    pub warm_up: u64,
    /// Let the sessions of askers and services outlive their connections
    #[arg(long)]
    pub kept: bool,
    /// Print a line when the warm-up is over, and go on until standard input closes; only with a rate
    #[arg(long, requires = "rate")]
    pub hold: bool,
    /// Allow requests without an answer: the run ends when nothing has arrived for two seconds
    #[arg(long)]
    pub may_miss: bool,
}

#[derive(Args)]
pub struct CollectArguments {
    /// Address of the broker, as 127.0.0.1:1883
    pub address: SocketAddr,
    /// How many requests each asker stored, as 12,30,7
    #[arg(long, value_delimiter = ',', required = true)]
    pub stored: Vec<u64>,
    /// Requests that the service computes at once
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..))]
    pub window: u16,
}
