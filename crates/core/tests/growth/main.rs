//! Work that must not grow with what is there: the same is done in a small and in a large place, and the
//! processor's time for it is compared. Never a time by itself.

mod places;
mod readers;
mod requests;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

const ROUNDS: u32 = 5;

/// How many times longer the same takes, each round once, in the second place; the quickest round
/// counts.
fn growth<T>(small: T, large: T, work: impl Fn(&mut T, u32)) -> f64 {
    let [small, large] = [small, large].map(|mut place| {
        let times = (0..ROUNDS).map(|round| spent(|| work(&mut place, round)));
        times.min().expect("there are rounds")
    });
    large.as_secs_f64() / small.as_secs_f64()
}

/// The time of the processor, which does not count who else is at work.
fn spent(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::try_from(time).expect("it does not begin below 0")
    };
    let start = now();
    work();
    now().saturating_sub(start)
}
