//! How much one client may make the broker do before others run.
//!
//! Everything done for a client is counted in steps. A connection's turn ends when its steps are used up, not after a
//! number of packets, because one packet of 60 bytes may ask for a thousand definitions and another for nothing.

/// The work of one turn.
///
/// Example: a message of 64 bytes to one subscriber takes 12 steps, so a short turn is 80 of them and a long turn
/// 660. A `list` of 1,000 definitions takes about 30,000 steps: it is a turn by itself, and the client's next
/// request waits until the other connections had their turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    steps: usize,
    steps_max: usize,
    is_long: bool,
    is_extended: bool,
}

impl Default for Work {
    fn default() -> Self {
        Self { steps: 0, steps_max: Self::SHORT, is_long: false, is_extended: false }
    }
}

impl Work {
    /// Steps of a short turn, which a connection has when it wakes: 20 us of one core, at about 20 ns a step.
    const SHORT: usize = 1_000;
    /// The most bytes to write in a short turn.
    const SHORT_BYTES: usize = 16 << 10;
    /// Steps of a long turn, for which busy connections queue: a sixth of a millisecond.
    const LONG: usize = 8_000;
    /// Taking a packet, whatever it contains.
    pub const PACKET: usize = 8;
    /// One message to one subscriber.
    pub const DELIVERY: usize = 2;
    /// Keeping one retained message, and noting its place in the journal.
    pub const RETAINED: usize = 200;
    /// Encoding one message for one subscriber.
    pub const ENCODED: usize = 16;
    /// Looking at one name, definition or value.
    pub const ENTRY: usize = 4;
    /// Adding or removing one filter, without what it matches.
    pub const FILTER: usize = 200;
    /// Reading one run of a frame, without its samples.
    pub const RUN: usize = 8;
    /// A call of the operating system.
    pub const CALL: usize = 100;

    /// Begins a short turn: the connection had nothing to do, and woke up.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    /// Begins a long turn: the other connections had theirs.
    pub fn begin_long(&mut self) {
        *self = Self { steps_max: Self::LONG, is_long: true, ..Self::default() };
    }

    /// Ends the turn.
    pub fn end(&mut self) {
        self.steps = self.steps_max;
    }

    /// After a packet was read, gives the work that it asks for as many steps as the turn has used so far. This
    /// happens once in a turn, so that many packets do not lengthen it again and again.
    ///
    /// A packet that takes several turns is read again in each. Without this, reading a large one would use up
    /// every turn. Example: reading 512 KB takes the 8,000 steps of a turn, and then 8,000 more add 40 of its filters.
    pub fn go_on(&mut self) {
        if 2 * self.steps > self.steps_max && !self.is_extended {
            self.steps_max = 2 * self.steps;
            self.is_extended = true;
        }
    }

    /// Whether this turn is too short to write so many bytes, because one system call writes all of them.
    pub fn is_short_for(&self, bytes: usize) -> bool {
        !self.is_long && bytes > Self::SHORT_BYTES
    }

    /// Adds steps that were done.
    #[inline]
    pub fn add(&mut self, steps: usize) {
        self.steps += steps;
    }

    /// Adds bytes that were received or copied.
    #[inline]
    pub fn add_bytes(&mut self, bytes: usize) {
        self.steps += bytes / 64;
    }

    /// Adds bytes of text that were read, checked or written, such as JSON.
    #[inline]
    pub fn add_text(&mut self, bytes: usize) {
        self.steps += bytes / 8;
    }

    /// Whether the turn is over: other connections run before this one continues.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.steps >= self.steps_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_over_when_its_steps_are_used_up_whatever_they_were() {
        let mut work = Work::default();
        work.begin_long();
        work.add(Work::LONG - 1);
        assert!(!work.is_over());
        work.add_bytes(63);
        assert!(!work.is_over());
        work.add_text(8);
        assert!(work.is_over());
        work.begin();
        assert!(!work.is_over());
    }

    #[test]
    fn large_writes_wait_for_a_long_turn() {
        let mut work = Work::default();
        assert!(!work.is_short_for(Work::SHORT_BYTES));
        assert!(work.is_short_for(Work::SHORT_BYTES + 1));
        work.add(Work::SHORT);
        assert!(work.is_over());
        work.begin_long();
        assert!(!work.is_short_for(1 << 20));
        work.add(Work::SHORT);
        assert!(!work.is_over());
        work.end();
        assert!(work.is_over());
    }

    #[test]
    fn after_reading_a_large_packet_the_turn_is_twice_as_long() {
        let mut work = Work::default();
        work.begin_long();
        work.add(100_000);
        work.go_on();
        assert!(!work.is_over(), "else it would be read again for ever");
        work.add(99_999);
        assert!(!work.is_over());
        work.add(1);
        assert!(work.is_over());
    }

    #[test]
    fn many_small_packets_lengthen_a_turn_once() {
        let mut work = Work::default();
        work.begin_long();
        let mut packets = 0;
        while !work.is_over() {
            work.add(Work::PACKET);
            work.go_on();
            work.add(Work::FILTER);
            packets += 1;
        }
        assert!(packets * (Work::PACKET + Work::FILTER) <= 2 * Work::LONG, "{packets} packets");
    }

    #[test]
    fn seventy_small_messages_to_one_subscriber_are_a_short_turn() {
        let mut work = Work::default();
        for _ in 0..70 {
            work.add(Work::PACKET + Work::DELIVERY);
            work.add_bytes(80);
        }
        assert!(!work.is_over());
    }
}
