//! Publishers and subscribers of the same topics, who share a window: publishers send more when subscribers have
//! received, and the broker has acknowledged, what was sent before.

use crate::Result;
use crate::client::LoadClient;
use crate::packet_ring::PacketRing;
use crate::window::LoadWindow;

/// The role and the number of a client.
#[derive(Clone, Copy)]
pub enum Role {
    Publisher(usize),
    Subscriber(usize),
}

/// Publishers and subscribers of the same topics.
pub struct TopicClients {
    ring: PacketRing,
    window: LoadWindow,
    publishers: Vec<LoadClient>,
    subscribers: Vec<LoadClient>,
    /// Messages that each subscriber has received.
    received: Vec<u64>,
    /// Messages that the broker has acknowledged; none at QoS 0.
    acknowledged: Option<u64>,
    /// The number of the next burst, which says whose turn it is.
    turn: usize,
}

impl TopicClients {
    pub fn new(ring: PacketRing, window: LoadWindow, is_acknowledged: bool) -> Self {
        Self {
            ring,
            window,
            publishers: Vec::new(),
            subscribers: Vec::new(),
            received: Vec::new(),
            acknowledged: is_acknowledged.then_some(0),
            turn: 0,
        }
    }

    pub fn add_publisher(&mut self, client: LoadClient) -> Role {
        self.publishers.push(client);
        Role::Publisher(self.publishers.len() - 1)
    }

    pub fn add_subscriber(&mut self, client: LoadClient) -> Role {
        self.subscribers.push(client);
        self.received.push(0);
        Role::Subscriber(self.subscribers.len() - 1)
    }

    /// Publishes as much as the window allows.
    pub fn publish(&mut self) -> Result<()> {
        let first = self.turn;
        while let Some(burst) = self.window.take_burst() {
            let count = self.publishers.len();
            self.publishers[self.turn % count].position.add(burst, &self.ring);
            self.turn += 1;
        }
        for turn in first..self.turn.min(first + self.publishers.len()) {
            let count = self.publishers.len();
            self.publishers[turn % count].write(&self.ring)?;
        }
        Ok(())
    }

    /// Reads or writes a client's socket, then publishes as much as the window allows.
    pub fn attend(&mut self, role: Role, is_readable: bool, scratch: &mut [u8]) -> Result<()> {
        let client = match role {
            Role::Publisher(number) => &mut self.publishers[number],
            Role::Subscriber(number) => &mut self.subscribers[number],
        };
        if !is_readable {
            return client.write(&self.ring);
        }
        let taken = client.read(scratch)?;
        client.write(&self.ring)?;
        if let Role::Subscriber(number) = role {
            self.received[number] += taken.messages;
        }
        self.acknowledged = self.acknowledged.map(|count| count + taken.acknowledged);
        self.window.set_returned(self.returned())?;
        self.publish()
    }

    /// Messages that every subscriber has received and the broker has acknowledged.
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

    /// The progress, for the error of a run that is stuck.
    pub fn progress(&self) -> String {
        let (sent, returned) = self.window.progress();
        format!(
            "{sent} messages sent, {returned} of them through, {:?} acknowledged",
            self.acknowledged
        )
    }
}
