//! How much one client may make the broker do before others run.
//!
//! Whatever a client drives reports what it did, in steps. A turn of one connection ends when its steps
//! are used up: by work, never by a number of packets, because one packet of 60 bytes may ask for a
//! thousand definitions and another one for nothing.

/// The work of one turn.
///
/// An example: a message of 64 bytes to one subscriber is 12 steps, so that 80 of them are a short turn and
/// 660 a long one. A `list` of 1,000 definitions is about 30,000 steps: it is a turn of its own, and the
/// next request waits until others had theirs.
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
    /// Steps of a short turn, which everyone who wakes has: 20 us of one core, at about 20 ns each.
    pub const SHORT: usize = 1_000;
    /// What is sent at once in a short turn.
    pub const SHORT_BYTES: usize = 16 << 10;
    /// Steps of a long turn, for which the busy stand in line: a sixth of a millisecond.
    pub const LONG: usize = 8_000;
    /// Taking a packet, whatever it says.
    pub const PACKET: usize = 8;
    /// One message to one subscriber.
    pub const DELIVERY: usize = 2;
    /// Keeping one retained message, and giving it its place in the journal.
    pub const RETAINED: usize = 200;
    /// One message that is encoded for one subscriber.
    pub const ENCODED: usize = 16;
    /// One name, definition or value looked at.
    pub const ENTRY: usize = 4;
    /// One filter that is entered or removed, without what it matches.
    pub const FILTER: usize = 200;
    /// One run of a frame, without its samples.
    pub const RUN: usize = 8;
    /// A call of the operating system.
    pub const CALL: usize = 100;

    /// Nothing was to do: a short turn begins with the next wake-up.
    pub fn begin(&mut self) {
        *self = Self::default();
    }

    /// Others have run: a long turn.
    pub fn begin_long(&mut self) {
        *self = Self { steps_max: Self::LONG, is_long: true, ..Self::default() };
    }

    /// Ends the turn.
    pub fn end(&mut self) {
        self.steps = self.steps_max;
    }

    /// What a packet asks for gets as many steps as there were so far, its reading among them; once in a turn,
    /// so that many packets do not make it longer and longer.
    ///
    /// A packet that takes several turns is read again in each: without this a large one would never get
    /// further, or reading it would be most of the work. An example: reading 512 KB is a turn of 8,000 steps,
    /// and then 8,000 more find 40 of its filters.
    pub fn go_on(&mut self) {
        if 2 * self.steps > self.steps_max && !self.is_extended {
            self.steps_max = 2 * self.steps;
            self.is_extended = true;
        }
    }

    /// Whether so many bytes are to be sent in a long turn: one call of the system sends all of them.
    pub fn is_short_for(&self, bytes: usize) -> bool {
        !self.is_long && bytes > Self::SHORT_BYTES
    }

    /// Adds what was done.
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

    /// Whether others run before this client goes on.
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
    fn large_writes_and_what_is_left_wait_for_a_long_turn() {
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
    fn what_a_packet_asks_for_gets_as_many_steps_as_its_reading_took() {
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
    fn many_small_packets_do_not_make_a_turn_longer_and_longer() {
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
