//! The open loop's schedule, and a timer for its next request that is finer than the milliseconds of epoll.

use std::os::fd::{AsRawFd, OwnedFd};

use mio::unix::SourceFd;
use mio::{Interest, Poll, Token};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::arguments::RequestsArguments;
use crate::Result;

const SECOND_NS: u64 = 1_000_000_000;

/// A request whose time has come.
#[derive(Debug, PartialEq, Eq)]
pub struct DueRequest {
    /// Its place among the requests of all askers, who take turns.
    pub number: u64,
    pub at_ns: u64,
    pub is_timed: bool,
}

/// When each request is asked: evenly spread over time. Pure.
pub struct RequestSchedule {
    began_ns: u64,
    /// Requests per second of all askers.
    rate: u64,
    warm_up: u64,
    /// None while the run goes on until it is told to end.
    total: Option<u64>,
    asked: u64,
}

impl RequestSchedule {
    pub fn new(arguments: &RequestsArguments, now_ns: u64) -> Self {
        let pairs = u64::from(arguments.pairs);
        let total = (arguments.warm_up + arguments.requests) * pairs;
        Self {
            began_ns: now_ns + 1,
            rate: arguments.rate * pairs,
            warm_up: arguments.warm_up * pairs,
            total: (!arguments.hold).then_some(total),
            asked: 0,
        }
    }

    pub fn asked(&self) -> u64 {
        self.asked
    }

    pub fn is_warm(&self) -> bool {
        self.asked >= self.warm_up
    }

    /// No more requests.
    pub fn finish(&mut self) {
        self.total = Some(self.asked);
    }

    pub fn is_finished(&self) -> bool {
        self.total.is_some_and(|total| self.asked >= total)
    }

    /// When the next request is due, if there is one.
    pub fn next_due_ns(&self) -> Option<u64> {
        let after = u128::from(self.asked) * u128::from(SECOND_NS) / u128::from(self.rate);
        (!self.is_finished()).then_some(self.began_ns + after as u64)
    }

    /// The next request, if it is due.
    pub fn take_due(&mut self, now_ns: u64) -> Option<DueRequest> {
        let at_ns = self.next_due_ns().filter(|due| *due <= now_ns)?;
        let number = self.asked;
        self.asked += 1;
        Some(DueRequest { number, at_ns, is_timed: number >= self.warm_up })
    }
}

/// Wakes the loop.
pub struct WakeTimer {
    descriptor: OwnedFd,
}

impl WakeTimer {
    pub const TOKEN: Token = Token(usize::MAX);

    pub fn new(poll: &Poll) -> Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let mut source = SourceFd(&descriptor.as_raw_fd());
        mio::event::Source::register(
            &mut source,
            poll.registry(),
            Self::TOKEN,
            Interest::READABLE,
        )?;
        Ok(Self { descriptor })
    }

    /// Wakes the loop after so many nanoseconds; never without a number.
    pub fn arm(&self, after_ns: Option<u64>) -> Result<()> {
        // Zero would switch the timer off.
        let after_ns = i64::try_from(after_ns.map_or(0, |after| after.max(1)))?;
        let it_value =
            Timespec { tv_sec: after_ns / 1_000_000_000, tv_nsec: after_ns % 1_000_000_000 };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value };
        timerfd_settime(&self.descriptor, TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    pub fn clear(&self) {
        let _ = rustix::io::read(&self.descriptor, &mut [0_u8; 8]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(total: Option<u64>) -> RequestSchedule {
        RequestSchedule { began_ns: 100, rate: 1_000_000, warm_up: 2, total, asked: 0 }
    }

    #[test]
    fn each_request_is_due_at_its_time_and_the_first_are_not_timed() {
        let mut schedule = schedule(Some(4));
        let due: Vec<DueRequest> = std::iter::from_fn(|| schedule.take_due(2_100)).collect();
        let times: Vec<(u64, bool)> = due.iter().map(|one| (one.at_ns, one.is_timed)).collect();
        assert_eq!(times, [(100, false), (1_100, false), (2_100, true)]);
        assert_eq!((schedule.next_due_ns(), schedule.is_warm()), (Some(3_100), true));
        assert!(schedule.take_due(4_000).is_some());
        assert_eq!((schedule.next_due_ns(), schedule.is_finished()), (None, true));
    }

    #[test]
    fn a_run_without_an_end_goes_on_until_it_is_told() {
        let mut schedule = schedule(None);
        assert!((0..50).all(|_| schedule.take_due(1 << 40).is_some()));
        schedule.finish();
        assert!(schedule.is_finished() && schedule.take_due(1 << 40).is_none());
    }
}
