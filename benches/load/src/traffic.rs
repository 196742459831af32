//! Throughput in a closed loop: one group of all clients, or many pairs. Everything sent must arrive.

use std::time::{Duration, Instant};

use mio::Events;
use slipring_wire::QoS;

use crate::Result;
use crate::arguments::{Message, Pairs, Target, Throughput};
use crate::belt::{Belt, Shape};
use crate::client::Client;
use crate::dial::{AT_ONCE, Dialled, PATIENCE, dial};
use crate::dialogue::Dialogue;
use crate::group::{Group, Role};
use crate::inlet::scratch;
use crate::report::Report;
use crate::topics::{filter, topic};
use crate::window::Window;

/// Clients of one group, as they are dialled: the subscribers before the publishers.
struct Plan {
    group: Group,
    filter: String,
    subscribers: usize,
    publishers: usize,
}

impl Plan {
    fn clients(&self) -> usize {
        self.subscribers + self.publishers
    }
}

/// One group: every subscriber gets what all publishers send.
pub fn throughput(arguments: &Throughput) -> Result<()> {
    if arguments.publishers == 0 {
        return Err("somebody has to publish".into());
    }
    let window = Window::new(arguments.window, arguments.burst, arguments.messages);
    let shape = shape(&arguments.target, &arguments.message);
    let belt = Belt::new(shape, 0, arguments.topics, arguments.window)?;
    let plan = Plan {
        group: Group::new(belt, window, shape.qos != QoS::AtMostOnce),
        filter: filter(arguments.topics),
        subscribers: arguments.subscribers,
        publishers: arguments.publishers,
    };
    run(&arguments.target, shape, vec![plan], arguments.messages)
}

/// Many groups of two, each with a topic of its own.
pub fn pairs(arguments: &Pairs) -> Result<()> {
    let shape = shape(&arguments.target, &arguments.message);
    let plans: Result<Vec<Plan>> = (0..arguments.count as u64)
        .map(|number| {
            let window = Window::new(arguments.window, arguments.window, arguments.messages);
            let belt = Belt::new(shape, number, 1, arguments.window)?;
            let group = Group::new(belt, window, shape.qos != QoS::AtMostOnce);
            Ok(Plan { group, filter: topic(number), subscribers: 1, publishers: 1 })
        })
        .collect();
    run(&arguments.target, shape, plans?, arguments.messages * arguments.count as u64)
}

fn shape(target: &Target, message: &Message) -> Shape {
    Shape { version: target.version(), qos: message.qos, payload_bytes: message.bytes }
}

fn run(target: &Target, shape: Shape, plans: Vec<Plan>, messages: u64) -> Result<()> {
    let dialled = dial(target.address, dialogues(&plans, shape), AT_ONCE)?;
    let mut traffic = Traffic::seat(dialled, plans);
    let started = Instant::now();
    traffic.run()?;
    let elapsed = started.elapsed();
    let delivered = traffic.groups.iter().map(Group::delivered).sum();
    Report::default()
        .number("messages", messages)
        .number("delivered", delivered)
        .seconds("seconds", elapsed)
        .rate("per_second", delivered, elapsed)
        .print();
    Ok(())
}

fn dialogues(plans: &[Plan], shape: Shape) -> impl ExactSizeIterator<Item = Dialogue> {
    let mut dialogues = Vec::new();
    for plan in plans {
        for member in 0..plan.clients() {
            let hello = Dialogue::new(shape.version, &format!("load-{}", dialogues.len()));
            dialogues.push(if member < plan.subscribers {
                hello.subscribe(std::slice::from_ref(&plan.filter), shape.qos)
            } else {
                hello
            });
        }
    }
    dialogues.into_iter()
}

/// All groups, and which of their members has which token.
struct Traffic {
    poll: mio::Poll,
    groups: Vec<Group>,
    seats: Vec<(usize, Role)>,
}

impl Traffic {
    fn seat(dialled: Dialled, plans: Vec<Plan>) -> Self {
        let mut streams = dialled.streams.into_iter().map(Client::new);
        let (mut groups, mut seats) = (Vec::new(), Vec::new());
        for (number, plan) in plans.into_iter().enumerate() {
            let (subscribers, clients) = (plan.subscribers, plan.clients());
            let mut group = plan.group;
            for (member, client) in streams.by_ref().take(clients).enumerate() {
                let role = if member < subscribers {
                    group.add_subscriber(client)
                } else {
                    group.add_publisher(client)
                };
                seats.push((number, role));
            }
            groups.push(group);
        }
        Self { poll: dialled.poll, groups, seats }
    }

    /// Until all groups have everything.
    fn run(&mut self) -> Result<()> {
        let (mut events, mut scratch) = (Events::with_capacity(1_024), scratch());
        for group in &mut self.groups {
            group.publish()?;
        }
        let mut unfinished = self.groups.iter().filter(|group| !group.is_finished()).count();
        while unfinished > 0 {
            self.wait(&mut events, PATIENCE)?;
            for event in &events {
                let (number, role) = self.seats[event.token().0];
                let group = &mut self.groups[number];
                let was_finished = group.is_finished();
                group.attend(role, event.is_readable(), &mut scratch)?;
                unfinished -= usize::from(group.is_finished() && !was_finished);
            }
        }
        Ok(())
    }

    fn wait(&mut self, events: &mut Events, patience: Duration) -> Result<()> {
        loop {
            match self.poll.poll(events, Some(patience)) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        }
        let stuck = self.groups.iter().find(|group| !group.is_finished());
        match stuck {
            Some(group) if events.is_empty() => {
                Err(format!("nothing for {patience:?}: {}", group.progress()).into())
            }
            _ => Ok(()),
        }
    }
}
