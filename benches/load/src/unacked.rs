//! One publisher's unacknowledged messages, and how long each waits for its acknowledgement. Pure.

use std::collections::VecDeque;

use crate::Result;
use crate::numbered::id_of;

/// The unacknowledged messages, in the order they were sent.
pub struct UnackedMessages {
    window: u64,
    sent: u64,
    acknowledged: u64,
    /// For each write: the number after its last message, and when it was sent.
    departures: VecDeque<(u64, u64)>,
}

impl UnackedMessages {
    pub fn new(window: u64) -> Self {
        Self { window, sent: 0, acknowledged: 0, departures: VecDeque::new() }
    }

    /// How many more may be in flight.
    pub fn room(&self) -> u64 {
        self.window - (self.sent - self.acknowledged)
    }

    pub fn sent(&self) -> u64 {
        self.sent
    }

    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Counts messages that are sent now. Returns the number of the first one.
    pub fn depart(&mut self, count: u64, now_ns: u64) -> u64 {
        let first = self.sent;
        self.sent += count;
        self.departures.push_back((self.sent, now_ns));
        first
    }

    /// Counts an acknowledgement. Returns how long it took. Acknowledgements arrive in order (MQTT-4.6.0-2).
    pub fn acknowledge(&mut self, id: u16, now_ns: u64) -> Result<u64> {
        let expected = id_of(self.acknowledged);
        if self.acknowledged == self.sent || id != expected {
            return Err(format!("{id} was acknowledged, {expected} was to be next").into());
        }
        self.acknowledged += 1;
        while self.departures.front().is_some_and(|(end, _)| *end < self.acknowledged) {
            self.departures.pop_front();
        }
        let (_, left_ns) = self.departures.front().expect("it has left");
        Ok(now_ns - left_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_from_its_own_departure() {
        let mut unacked = UnackedMessages::new(3);
        assert_eq!(unacked.depart(2, 100), 0);
        assert_eq!(unacked.depart(1, 150), 2);
        assert_eq!(unacked.room(), 0);
        let times: Vec<u64> =
            [1, 2, 3].map(|id| unacked.acknowledge(id, 200).unwrap()).into_iter().collect();
        assert_eq!(times, [100, 100, 50]);
        assert_eq!((unacked.room(), unacked.sent(), unacked.acknowledged()), (3, 3, 3));
    }

    #[test]
    fn an_acknowledgement_of_what_is_not_next_is_refused() {
        let mut unacked = UnackedMessages::new(3);
        assert!(unacked.acknowledge(1, 0).is_err());
        unacked.depart(2, 0);
        assert!(unacked.acknowledge(2, 0).is_err());
        assert!(unacked.acknowledge(1, 0).is_ok());
    }
}
