//! Throughput in a closed loop: one set of all clients, or many pairs. Everything that is sent must arrive.

use std::time::{Duration, Instant};

use mio::Events;
use slipring_wire::QoS;

use crate::Result;
use crate::arguments::{MessageArguments, PairsArguments, TargetArguments, ThroughputArguments};
use crate::client::LoadClient;
use crate::dial::{AT_ONCE, DialledClients, PATIENCE, dial, wait};
use crate::handshake::Handshake;
use crate::packet_ring::{PacketRing, PacketShape};
use crate::receive_buffer::scratch;
use crate::run_report::RunReport;
use crate::topic_clients::{Role, TopicClients};
use crate::topics::{filter, topic};
use crate::window::LoadWindow;

/// A set before its clients are connected. The subscribers connect before the publishers.
struct ClientPlan {
    set: TopicClients,
    filter: String,
    subscribers: usize,
    publishers: usize,
}

impl ClientPlan {
    fn clients(&self) -> usize {
        self.subscribers + self.publishers
    }
}

/// One set: every subscriber gets what all publishers send.
pub fn throughput(arguments: &ThroughputArguments) -> Result<()> {
    if arguments.publishers == 0 {
        return Err("somebody has to publish".into());
    }
    let window = LoadWindow::new(arguments.window, arguments.burst, arguments.messages);
    let shape = shape(&arguments.target, &arguments.message);
    let ring = PacketRing::new(shape, 0, arguments.topics, arguments.window)?;
    let plan = ClientPlan {
        set: TopicClients::new(ring, window, shape.qos != QoS::AtMostOnce),
        filter: filter(arguments.topics),
        subscribers: arguments.subscribers,
        publishers: arguments.publishers,
    };
    run(&arguments.target, shape, vec![plan], arguments.messages)
}

/// Many sets of two clients, each with its own topic.
pub fn pairs(arguments: &PairsArguments) -> Result<()> {
    let shape = shape(&arguments.target, &arguments.message);
    let plans: Result<Vec<ClientPlan>> = (0..arguments.count as u64)
        .map(|number| {
            let window = LoadWindow::new(arguments.window, arguments.window, arguments.messages);
            let ring = PacketRing::new(shape, number, 1, arguments.window)?;
            let set = TopicClients::new(ring, window, shape.qos != QoS::AtMostOnce);
            Ok(ClientPlan { set, filter: topic(number), subscribers: 1, publishers: 1 })
        })
        .collect();
    run(&arguments.target, shape, plans?, arguments.messages * arguments.count as u64)
}

fn shape(target: &TargetArguments, message: &MessageArguments) -> PacketShape {
    PacketShape { version: target.version(), qos: message.qos, payload_bytes: message.bytes }
}

fn run(
    target: &TargetArguments,
    shape: PacketShape,
    plans: Vec<ClientPlan>,
    messages: u64,
) -> Result<()> {
    let dialled = dial(target.address, handshakes(&plans, shape), AT_ONCE)?;
    let mut traffic = Traffic::new(dialled, plans);
    let started = Instant::now();
    traffic.run()?;
    let elapsed = started.elapsed();
    let delivered = traffic.sets.iter().map(TopicClients::delivered).sum();
    RunReport::default()
        .number("messages", messages)
        .number("delivered", delivered)
        .seconds("seconds", elapsed)
        .rate("per_second", delivered, elapsed)
        .print();
    Ok(())
}

fn handshakes(
    plans: &[ClientPlan],
    shape: PacketShape,
) -> impl ExactSizeIterator<Item = Handshake> {
    let mut handshakes = Vec::new();
    for plan in plans {
        for member in 0..plan.clients() {
            let handshake = Handshake::new(shape.version, &format!("load-{}", handshakes.len()));
            handshakes.push(if member < plan.subscribers {
                handshake.subscribe(std::slice::from_ref(&plan.filter), shape.qos)
            } else {
                handshake
            });
        }
    }
    handshakes.into_iter()
}

/// All sets, and the client that belongs to each token.
struct Traffic {
    poll: mio::Poll,
    sets: Vec<TopicClients>,
    clients: Vec<(usize, Role)>,
}

impl Traffic {
    fn new(dialled: DialledClients, plans: Vec<ClientPlan>) -> Self {
        let mut streams = dialled.streams.into_iter().map(LoadClient::new);
        let (mut sets, mut clients) = (Vec::new(), Vec::new());
        for (number, plan) in plans.into_iter().enumerate() {
            let (subscribers, count) = (plan.subscribers, plan.clients());
            let mut set = plan.set;
            for (member, client) in streams.by_ref().take(count).enumerate() {
                let role = if member < subscribers {
                    set.add_subscriber(client)
                } else {
                    set.add_publisher(client)
                };
                clients.push((number, role));
            }
            sets.push(set);
        }
        Self { poll: dialled.poll, sets, clients }
    }

    /// Runs until all messages have arrived.
    fn run(&mut self) -> Result<()> {
        let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
        for set in &mut self.sets {
            set.publish()?;
        }
        let mut unfinished = self.sets.iter().filter(|set| !set.is_finished()).count();
        while unfinished > 0 {
            self.wait(&mut events, PATIENCE)?;
            for event in &events {
                let (number, role) = self.clients[event.token().0];
                let set = &mut self.sets[number];
                let was_finished = set.is_finished();
                set.attend(role, event.is_readable(), &mut scratch)?;
                unfinished -= usize::from(set.is_finished() && !was_finished);
            }
        }
        Ok(())
    }

    fn wait(&mut self, events: &mut Events, patience: Duration) -> Result<()> {
        wait(&mut self.poll, events, Some(patience))?;
        let stuck = self.sets.iter().find(|set| !set.is_finished());
        match stuck {
            Some(set) if events.is_empty() => {
                Err(format!("nothing for {patience:?}: {}", set.progress()).into())
            }
            _ => Ok(()),
        }
    }
}
