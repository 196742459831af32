//! The window of the closed loop: limits the messages in flight, so that no broker has to drop one. Pure.

use crate::Result;

/// Messages to publish, and how many of them are in flight.
pub struct LoadWindow {
    size: u64,
    burst: u64,
    total: u64,
    sent: u64,
    returned: u64,
}

impl LoadWindow {
    /// Of `total` messages at most `size` are in flight; they are sent in bursts.
    pub fn new(size: u64, burst: u64, total: u64) -> Self {
        Self { size, burst: burst.min(size), total, sent: 0, returned: 0 }
    }

    /// The size of the next burst, if there is room for it; the last one may be smaller.
    pub fn take_burst(&mut self) -> Option<u64> {
        let burst = self.burst.min(self.total - self.sent);
        let room = self.size - (self.sent - self.returned);
        if burst == 0 || room < burst {
            return None;
        }
        self.sent += burst;
        Some(burst)
    }

    /// Sets how many messages, counted from the first, have arrived everywhere.
    pub fn set_returned(&mut self, count: u64) -> Result<()> {
        if count > self.sent {
            return Err(format!("{count} messages came, {} were sent", self.sent).into());
        }
        self.returned = count;
        Ok(())
    }

    /// Whether every message was sent and has arrived everywhere.
    pub fn is_finished(&self) -> bool {
        self.returned == self.total
    }

    /// Messages sent, and those of them that have arrived everywhere.
    pub fn progress(&self) -> (u64, u64) {
        (self.sent, self.returned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(window: &mut LoadWindow) -> Vec<u64> {
        std::iter::from_fn(|| window.take_burst()).collect()
    }

    #[test]
    fn no_more_are_out_than_the_window_holds() {
        let mut window = LoadWindow::new(250, 100, 1_000);
        assert_eq!(bursts(&mut window), [100, 100]);
        window.set_returned(49).unwrap();
        assert_eq!(bursts(&mut window), [0; 0]);
        window.set_returned(50).unwrap();
        assert_eq!(bursts(&mut window), [100]);
    }

    #[test]
    fn the_last_burst_is_what_is_left() {
        let mut window = LoadWindow::new(250, 100, 130);
        assert_eq!(bursts(&mut window), [100, 30]);
        window.set_returned(129).unwrap();
        assert!(!window.is_finished());
        window.set_returned(130).unwrap();
        assert!(window.is_finished());
    }

    #[test]
    fn a_burst_as_large_as_the_window_waits_for_all_of_it() {
        let mut window = LoadWindow::new(3, 3, 9);
        assert_eq!(bursts(&mut window), [3]);
        window.set_returned(2).unwrap();
        assert_eq!(bursts(&mut window), [0; 0]);
        window.set_returned(3).unwrap();
        assert_eq!(bursts(&mut window), [3]);
    }

    #[test]
    fn a_burst_larger_than_the_window_is_cut_to_it() {
        assert_eq!(bursts(&mut LoadWindow::new(10, 100, 1_000)), [10]);
    }

    #[test]
    fn more_than_was_sent_is_an_error() {
        let mut window = LoadWindow::new(10, 10, 100);
        bursts(&mut window);
        assert!(window.set_returned(11).is_err());
    }

    #[test]
    fn nothing_to_send_is_finished_at_once() {
        let mut window = LoadWindow::new(10, 10, 0);
        assert_eq!(window.take_burst(), None);
        assert!(window.is_finished());
    }
}
