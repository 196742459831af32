//! Clients around a window: its publishers send what its subscribers and the broker have let through.

use crate::Result;
use crate::belt::Belt;
use crate::client::Client;
use crate::window::Window;

/// A place in a group.
#[derive(Clone, Copy)]
pub enum Role {
    Publisher(usize),
    Subscriber(usize),
}

/// Publishers and subscribers of the same topics.
pub struct Group {
    belt: Belt,
    window: Window,
    publishers: Vec<Client>,
    subscribers: Vec<Client>,
    /// Messages each subscriber has got.
    received: Vec<u64>,
    /// Messages the broker has acknowledged; counted only where it does that.
    acknowledged: Option<u64>,
    /// The publisher that sends next.
    turn: usize,
}

impl Group {
    pub fn new(belt: Belt, window: Window, is_acknowledged: bool) -> Self {
        Self {
            belt,
            window,
            publishers: Vec::new(),
            subscribers: Vec::new(),
            received: Vec::new(),
            acknowledged: is_acknowledged.then_some(0),
            turn: 0,
        }
    }

    pub fn add_publisher(&mut self, client: Client) -> Role {
        self.publishers.push(client);
        Role::Publisher(self.publishers.len() - 1)
    }

    pub fn add_subscriber(&mut self, client: Client) -> Role {
        self.subscribers.push(client);
        self.received.push(0);
        Role::Subscriber(self.subscribers.len() - 1)
    }

    /// Publishes all there is room for.
    pub fn publish(&mut self) -> Result<()> {
        let first = self.turn;
        while let Some(burst) = self.window.take_burst() {
            let count = self.publishers.len();
            self.publishers[self.turn % count].supply.add(burst, &self.belt);
            self.turn += 1;
        }
        for turn in first..self.turn.min(first + self.publishers.len()) {
            let count = self.publishers.len();
            self.publishers[turn % count].write(&self.belt)?;
        }
        Ok(())
    }

    /// Does what a member's socket is ready for, then publishes again if there is room.
    pub fn attend(&mut self, role: Role, is_readable: bool, scratch: &mut [u8]) -> Result<()> {
        let client = match role {
            Role::Publisher(number) => &mut self.publishers[number],
            Role::Subscriber(number) => &mut self.subscribers[number],
        };
        if !is_readable {
            return client.write(&self.belt);
        }
        let taken = client.read(scratch)?;
        client.write(&self.belt)?;
        if let Role::Subscriber(number) = role {
            self.received[number] += taken.messages;
        }
        self.acknowledged = self.acknowledged.map(|count| count + taken.acknowledged);
        self.window.set_returned(self.returned())?;
        self.publish()
    }

    /// Messages that every subscriber has, and the broker has acknowledged.
    fn returned(&self) -> u64 {
        let (sent, _) = self.window.progress();
        let received = self.received.iter().copied().min().unwrap_or(sent);
        received.min(self.acknowledged.unwrap_or(received))
    }

    /// Messages delivered to all subscribers together.
    pub fn delivered(&self) -> u64 {
        self.received.iter().sum()
    }

    pub fn is_finished(&self) -> bool {
        self.window.is_finished()
    }

    /// How far it has come, for the message of a run that stands still.
    pub fn progress(&self) -> String {
        let (sent, returned) = self.window.progress();
        format!(
            "{sent} messages sent, {returned} of them through, {:?} acknowledged",
            self.acknowledged
        )
    }
}
