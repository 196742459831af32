//! The command line.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use slipring_wire::{QoS, Version};

use crate::flood::FloodArguments;
use crate::guess::GuessArguments;
use crate::requests::arguments::{CollectArguments, RequestsArguments};

/// A load generator for any MQTT broker. Each run prints one line of JSON.
#[derive(Parser)]
#[command(name = "slipring-load")]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Publish as fast as a window of messages in flight allows; every subscriber gets everything
    Throughput(ThroughputArguments),
    /// Pairs with a topic each: a publisher sends a few messages, waits for them, sends the next few
    Pairs(PairsArguments),
    /// Publish at a fixed rate, however slow the broker is, and time each message to its subscribers
    Latency(LatencyArguments),
    /// Publish at QoS 1, and time each message to its acknowledgement
    Acked(AckedArguments),
    /// Create a persistent session that subscribes to everything, and disconnect
    Keep(KeepArguments),
    /// Resume that session, and count acknowledged messages that it does not deliver
    Kept(KeptArguments),
    /// Ask, answer, and time each request to its answer
    Requests(RequestsArguments),
    /// Resume the sessions of `acked --stored-requests`, answer everything, and count the ends
    Collect(CollectArguments),
    /// Publish as much as the broker takes, until standard input closes
    Flood(FloodArguments),
    /// Guess passwords, from new connections at a fixed rate, until standard input closes
    Guess(GuessArguments),
    /// Connect all clients at once
    Connect(ConnectArguments),
    /// Connect clients a few at a time, and keep them until standard input closes
    Idle(IdleArguments),
    /// Subscribe to many filters, and keep them until standard input closes
    SubscribeMany(SubscribeManyArguments),
    /// Be the floor: a broker that only parses, copies and forwards, until standard input closes
    Forward(ForwardArguments),
}

#[derive(Args)]
pub struct TargetArguments {
    /// Address of the broker, as 127.0.0.1:1883
    pub address: SocketAddr,
    /// Speak MQTT 5 instead of 3.1.1
    #[arg(long = "v5")]
    is_v5: bool,
}

impl TargetArguments {
    pub fn version(&self) -> Version {
        if self.is_v5 { Version::V5 } else { Version::V311 }
    }
}

#[derive(Args)]
pub struct MessageArguments {
    /// Bytes of each payload
    #[arg(long, default_value_t = 64)]
    pub bytes: usize,
    /// Quality of service: 0, 1 or 2
    #[arg(long, default_value = "0", value_parser = parse_qos)]
    pub qos: QoS,
}

#[derive(Args)]
pub struct ThroughputArguments {
    #[command(flatten)]
    pub target: TargetArguments,
    #[command(flatten)]
    pub message: MessageArguments,
    /// Clients that publish, in turn
    #[arg(long, default_value_t = 1)]
    pub publishers: usize,
    /// Clients that subscribe, each to every message
    #[arg(long, default_value_t = 1)]
    pub subscribers: usize,
    /// Messages published in all
    #[arg(long, default_value_t = 100_000)]
    pub messages: u64,
    /// Most messages in flight: published, and not yet received by every subscriber and acknowledged
    #[arg(long, default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub window: u64,
    /// Messages a publisher sends with one write, at least
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    pub burst: u64,
    /// Topics, published to in turn; for more than one, subscribers use a wildcard
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub topics: u64,
}

#[derive(Args)]
pub struct PairsArguments {
    #[command(flatten)]
    pub target: TargetArguments,
    #[command(flatten)]
    pub message: MessageArguments,
    /// Pairs of one publisher and one subscriber
    #[arg(long = "pairs", default_value_t = 200)]
    pub count: usize,
    /// Messages of each pair
    #[arg(long, default_value_t = 1_000)]
    pub messages: u64,
    /// Messages a publisher sends before it waits for all of them
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    pub window: u64,
}

#[derive(Args)]
pub struct LatencyArguments {
    #[command(flatten)]
    pub target: TargetArguments,
    /// Bytes of each payload; the first eight are the time of sending
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(8..))]
    pub bytes: u64,
    /// Quality of service: 0 or 1
    #[arg(long, default_value = "0", value_parser = parse_qos)]
    pub qos: QoS,
    /// The messages' `slipring-priority` (MQTT 5): high, normal or low
    #[arg(long, requires = "is_v5")]
    pub priority: Option<String>,
    /// Another filter of the subscribers; its messages are read and not counted
    #[arg(long)]
    pub beside: Option<String>,
    /// Clients that publish, evenly spread over time
    #[arg(long, default_value_t = 1)]
    pub publishers: usize,
    /// Clients that subscribe, each to every message
    #[arg(long, default_value_t = 1)]
    pub subscribers: usize,
    /// Messages per second of each publisher
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub rate: u64,
    /// Messages of each publisher
    #[arg(long, default_value_t = 3_000)]
    pub messages: u64,
    /// Messages of each publisher before the first that is timed
    #[arg(long, default_value_t = 100)]
    pub warm_up: u64,
    /// Print a line when the warm-up is over, and go on until standard input closes
    #[arg(long)]
    pub hold: bool,
    /// Allow missing messages: the run ends when everything was sent and nothing has arrived for two seconds
    #[arg(long)]
    pub may_miss: bool,
}

#[derive(Args)]
pub struct AckedArguments {
    #[command(flatten)]
    pub target: TargetArguments,
    /// Bytes of each payload; the first twelve hold the publisher and the number of the message
    #[arg(long, default_value_t = 64)]
    pub bytes: usize,
    /// Clients that publish
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub publishers: u32,
    /// Messages of each publisher that are not acknowledged yet, at most
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..65_535))]
    pub window: u64,
    /// Messages in all
    #[arg(long, default_value_t = 100_000)]
    pub messages: u64,
    /// Messages per second in all; 0 is as many as the windows allow
    #[arg(long, default_value_t = 0)]
    pub rate: u64,
    /// Print a line when this many are acknowledged, and go on
    #[arg(long, default_value_t = 0)]
    pub tell_after: u64,
    /// Each message is a request to Slipring that waits for a service; the sessions are kept (MQTT 5)
    #[arg(long, requires = "is_v5")]
    pub stored_requests: bool,
    /// If the broker closes the connection, end the run and report what was measured so far
    #[arg(long)]
    pub until_closed: bool,
}

#[derive(Args)]
pub struct KeepArguments {
    /// Address of the broker, as 127.0.0.1:1883
    pub address: SocketAddr,
}

#[derive(Args)]
pub struct KeptArguments {
    /// Address of the broker, as 127.0.0.1:1883
    pub address: SocketAddr,
    /// How many messages of each publisher were acknowledged, as 12,30,7
    #[arg(long, value_delimiter = ',', required = true)]
    pub acknowledged: Vec<u64>,
    /// Silence after which missing messages count as lost
    #[arg(long, default_value_t = 5_000)]
    patience_ms: u64,
}

impl KeptArguments {
    pub fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms)
    }
}

#[derive(Args)]
pub struct ConnectArguments {
    #[command(flatten)]
    pub target: TargetArguments,
    /// Clients to connect
    #[arg(long, default_value_t = 5_000)]
    pub clients: usize,
    /// Keep the connections until standard input closes
    #[arg(long)]
    pub hold: bool,
}

#[derive(Args)]
pub struct IdleArguments {
    #[command(flatten)]
    pub target: TargetArguments,
    /// Clients to connect
    #[arg(long, default_value_t = 10_000)]
    pub clients: usize,
}

#[derive(Args)]
pub struct SubscribeManyArguments {
    #[command(flatten)]
    pub target: TargetArguments,
    /// Filters in all: exact ones, and with either wildcard
    #[arg(long, default_value_t = 10_000)]
    pub filters: usize,
    /// Filters of one client
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub per_client: u64,
}

#[derive(Args)]
pub struct ForwardArguments {
    /// Where to listen; port 0 picks a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
}

pub fn parse_qos(text: &str) -> Result<QoS, String> {
    match text {
        "0" => Ok(QoS::AtMostOnce),
        "1" => Ok(QoS::AtLeastOnce),
        "2" => Ok(QoS::ExactlyOnce),
        _ => Err("0, 1 or 2".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_contradicts_itself_nowhere() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_quality_is_zero_one_or_two() {
        assert_eq!(parse_qos("2"), Ok(QoS::ExactlyOnce));
        assert!(parse_qos("3").is_err());
    }
}
