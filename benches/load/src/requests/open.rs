//! One asker's open requests: each is answered once, and how long that takes. Pure.

use std::collections::VecDeque;

use crate::Result;

/// Of a request that has ended.
const ENDED: u64 = u64::MAX;

/// The requests that wait for their end, by number.
#[derive(Default)]
pub struct OpenRequests {
    /// When each was asked, from the oldest that is open.
    asked_ns: VecDeque<u64>,
    /// Requests before the first in `asked_ns`.
    passed: u64,
    open: u64,
}

impl OpenRequests {
    pub fn asked(&self) -> u64 {
        self.passed + self.asked_ns.len() as u64
    }

    pub fn open(&self) -> u64 {
        self.open
    }

    pub fn ended(&self) -> u64 {
        self.asked() - self.open
    }

    /// Counts a request that is asked now. Returns its number.
    pub fn ask(&mut self, now_ns: u64) -> u64 {
        let number = self.asked();
        self.asked_ns.push_back(now_ns);
        self.open += 1;
        number
    }

    /// Counts an end. Returns when it was asked. A second end is an error.
    pub fn end(&mut self, number: u64) -> Result<u64> {
        let place = number.checked_sub(self.passed).map(|place| place as usize);
        let asked = place.and_then(|place| self.asked_ns.get_mut(place));
        let asked_ns = match asked {
            Some(asked) if *asked != ENDED => std::mem::replace(asked, ENDED),
            _ => return Err(format!("request {number} is not open, and has an end").into()),
        };
        self.open -= 1;
        while self.asked_ns.front() == Some(&ENDED) {
            self.asked_ns.pop_front();
            self.passed += 1;
        }
        Ok(asked_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_end_in_any_order_and_each_has_its_own_time() {
        let mut open = OpenRequests::default();
        for now_ns in [10, 20, 30] {
            open.ask(now_ns);
        }
        assert_eq!([open.end(2).unwrap(), open.end(0).unwrap()], [30, 10]);
        assert_eq!((open.asked(), open.open(), open.ended()), (3, 1, 2));
        assert_eq!(open.end(1).unwrap(), 20);
        assert_eq!(open.ask(40), 3);
        assert_eq!(open.end(3).unwrap(), 40);
        assert_eq!((open.open(), open.ended()), (0, 4));
    }

    #[test]
    fn a_second_end_and_one_to_nothing_are_errors() {
        let mut open = OpenRequests::default();
        assert!(open.end(0).is_err());
        open.ask(1);
        open.ask(2);
        open.end(1).unwrap();
        assert!(open.end(1).is_err());
        open.end(0).unwrap();
        assert!(open.end(0).is_err());
    }
}
