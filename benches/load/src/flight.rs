//! One publisher's messages on their way to being acknowledged, and how long each takes. Pure.

use std::collections::VecDeque;

use crate::Result;
use crate::numbered::id_of;

/// What is out, in the order it left.
pub struct Flight {
    window: u64,
    sent: u64,
    acknowledged: u64,
    /// The number behind the last message of each write, and when it left.
    departures: VecDeque<(u64, u64)>,
}

impl Flight {
    pub fn new(window: u64) -> Self {
        Self { window, sent: 0, acknowledged: 0, departures: VecDeque::new() }
    }

    /// How many more may be out.
    pub fn room(&self) -> u64 {
        self.window - (self.sent - self.acknowledged)
    }

    pub fn sent(&self) -> u64 {
        self.sent
    }

    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// So many leave now; the numbers they get begin at the answer.
    pub fn depart(&mut self, count: u64, now_ns: u64) -> u64 {
        let first = self.sent;
        self.sent += count;
        self.departures.push_back((self.sent, now_ns));
        first
    }

    /// An acknowledgement came; how long that took. They come in order (MQTT-4.6.0-2).
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
        let mut flight = Flight::new(3);
        assert_eq!(flight.depart(2, 100), 0);
        assert_eq!(flight.depart(1, 150), 2);
        assert_eq!(flight.room(), 0);
        let times: Vec<u64> =
            [1, 2, 3].map(|id| flight.acknowledge(id, 200).unwrap()).into_iter().collect();
        assert_eq!(times, [100, 100, 50]);
        assert_eq!((flight.room(), flight.sent(), flight.acknowledged()), (3, 3, 3));
    }

    #[test]
    fn an_acknowledgement_of_what_is_not_next_is_refused() {
        let mut flight = Flight::new(3);
        assert!(flight.acknowledge(1, 0).is_err());
        flight.depart(2, 0);
        assert!(flight.acknowledge(2, 0).is_err());
        assert!(flight.acknowledge(1, 0).is_ok());
    }
}
