//! Simulated links: a delay, in order in each direction, and cuts that nobody, one end or both ends are told of.

use super::random::Random;

/// The longest way over a link, with the wait for the driver's turn at both ends.
pub const HOP_MS: u64 = 16;
const DELAY_MS: u64 = 8;
const JITTER_MS: u64 = 4;

#[derive(Debug)]
pub struct SimulatedLink {
    /// The two brokers.
    pub ends: [usize; 2],
    pub cost: u32,
    /// By lane: messages and what brokers tell each other overtake one another.
    delay_ms: [u64; 2],
    /// Whether bytes of each end arrive at the other.
    pub carries: [bool; 2],
    /// Whether each end believes that the connection is there.
    pub is_up: [bool; 2],
    /// Counts connections: what was sent over an earlier one does not arrive.
    pub connection: u64,
    /// Whether bytes were lost in this connection, so that nothing may come after them.
    pub is_dead: bool,
    /// By end and lane.
    arrival_ms: [[u64; 2]; 2],
}

impl SimulatedLink {
    pub fn new(ends: (usize, usize), random: &mut Random) -> Self {
        Self {
            ends: [ends.0, ends.1],
            cost: random.of(&[0, 1, 1, 1, 2, 5]),
            delay_ms: [random.within(1..DELAY_MS), random.within(1..DELAY_MS)],
            carries: [true; 2],
            is_up: [false; 2],
            connection: 0,
            is_dead: false,
            arrival_ms: [[0; 2]; 2],
        }
    }

    /// Which of the two ends a broker is.
    pub fn end_of(&self, broker: usize) -> usize {
        usize::from(self.ends[1] == broker)
    }

    pub fn is_whole(&self) -> bool {
        self.carries == [true; 2] && self.is_up == [true; 2] && !self.is_dead
    }

    pub fn connect(&mut self) {
        self.connection += 1;
        self.is_up = [true; 2];
        self.is_dead = false;
        self.arrival_ms = [[0; 2]; 2];
    }

    /// When what an end sends now arrives: never before what it sent earlier in the same lane.
    pub fn arrival_ms(
        &mut self,
        from_end: usize,
        lane: usize,
        now_ms: u64,
        random: &mut Random,
    ) -> u64 {
        let at = now_ms + self.delay_ms[lane] + random.within(0..JITTER_MS);
        let last = &mut self.arrival_ms[from_end][lane];
        *last = at.max(*last);
        *last
    }
}
