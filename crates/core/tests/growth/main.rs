//! Work that must not grow with the size of the table: the same work is done on a small and on a large one, and only
//! the ratio of the CPU times is checked.

mod places;
mod readers;
mod requests;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

const ROUNDS: u32 = 5;

/// How many times longer the work takes on the large value than on the small one; the quickest of several rounds
/// counts.
fn growth<T>(small: T, large: T, work: impl Fn(&mut T, u32)) -> f64 {
    let [small, large] = [small, large].map(|mut place| {
        let times = (0..ROUNDS).map(|round| spent(|| work(&mut place, round)));
        times.min().expect("there are rounds")
    });
    large.as_secs_f64() / small.as_secs_f64()
}

/// The CPU time of this thread, which other processes do not affect.
fn spent(work: impl FnOnce()) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::try_from(time).expect("it does not begin below 0")
    };
    let start = now();
    work();
    now().saturating_sub(start)
}
