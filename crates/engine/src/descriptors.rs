//! File descriptors: as many as the system allows. Some are reserved, so that MQTT clients cannot take those that the
//! journal and the console need.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Reserved for the journal with its readers, and for libraries, listeners and timers.
const KEPT_FOR_ITSELF: usize = 128;

/// Reserved for the console: one for each connection that it may have.
static KEPT_FOR_CONSOLE: AtomicUsize = AtomicUsize::new(0);

/// How many descriptors the process may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptors {
    /// All together (`ulimit -n`).
    pub most: usize,
    /// Of these, connections of MQTT clients.
    pub for_clients: usize,
}

impl Descriptors {
    /// Raises the soft limit to the hard one, if the system allows it, and reserves some for the console.
    pub(crate) fn raise(for_console: usize) {
        KEPT_FOR_CONSOLE.store(for_console, Relaxed);
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
        let _ = setrlimit(Resource::Nofile, raised);
    }

    /// The limits now: somebody may change them while the process runs.
    pub fn now() -> Self {
        let most = getrlimit(Resource::Nofile).current;
        let most = most.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX));
        Self::of(most, KEPT_FOR_CONSOLE.load(Relaxed))
    }

    /// If there are few, half of them are reserved.
    fn of(most: usize, for_console: usize) -> Self {
        let kept = (KEPT_FOR_ITSELF + for_console).min(most / 2);
        Self { most, for_clients: most - kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_are_kept_from_clients_and_half_where_there_are_few() {
        assert_eq!(Descriptors::of(1 << 20, 256).for_clients, (1 << 20) - 384);
        assert_eq!(Descriptors::of(1 << 20, 1_000).for_clients, (1 << 20) - 1_128);
        assert_eq!(Descriptors::of(1_024, 256).for_clients, 640);
        assert_eq!(Descriptors::of(100, 256).for_clients, 50);
    }

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        Descriptors::raise(256);
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }
}
