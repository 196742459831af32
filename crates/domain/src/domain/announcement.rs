//! What this broker has not announced yet, and when it will.

use crate::Load;

/// How long a change of load alone waits for others.
const LOAD_PAUSE_MS: u64 = 1_000;
/// After much work for an announcement, the next change of interest waits: so many bytes of filters that were looked at
/// are worth a millisecond. A subscription costs what it covers; one that has 20,000 filters merged anew, 16 ms.
const BYTES_PER_MS: usize = 65_536;

/// How long after the last change of links acknowledgements are awaited before the record is announced again: those that
/// were on their way over a lost link are lost with it. Once for each change, so that a broker which never answers has
/// nobody's record sent again and again.
const REPEAT_MS: u64 = 250;

/// What is to be announced.
#[derive(Debug, Default)]
pub(super) struct Announcement {
    is_interest_changed: bool,
    load: Option<Load>,
    due_ms: Option<u64>,
    not_before_ms: u64,
    repeat_ms: Option<u64>,
    /// The version that announced the interest last.
    interest_counter: u64,
}

impl Announcement {
    pub fn due_ms(&self) -> Option<u64> {
        self.due_ms.into_iter().chain(self.repeat_ms).min()
    }

    pub fn links_changed(&mut self, now_ms: u64) {
        self.repeat_ms = Some(now_ms + REPEAT_MS);
    }

    /// Whether it is time to look at what was not acknowledged since the links changed.
    pub fn begin_repeat(&mut self, now_ms: u64) -> bool {
        self.repeat_ms.take_if(|at_ms| *at_ms <= now_ms).is_some()
    }

    /// The version whose interest is the present one; None if that is to be announced.
    pub fn interest_counter(&self) -> Option<u64> {
        (!self.is_interest_changed).then_some(self.interest_counter)
    }

    pub fn interest_changed(&mut self, now_ms: u64) {
        self.is_interest_changed = true;
        self.is_due(now_ms.max(self.not_before_ms));
    }

    pub fn load_changed(&mut self, load: Load, now_ms: u64) {
        self.load = Some(load);
        self.is_due(now_ms + LOAD_PAUSE_MS);
    }

    /// What is to be announced now: whether the interest, and which load.
    pub fn begin(&mut self, now_ms: u64) -> (bool, Option<Load>) {
        if self.due_ms.take_if(|at_ms| *at_ms <= now_ms).is_none() {
            return (false, None);
        }
        (std::mem::take(&mut self.is_interest_changed), self.load.take())
    }

    /// The interest was announced with this version.
    pub fn interest_announced(&mut self, counter: u64) {
        self.interest_counter = counter;
    }

    /// So many bytes of filters were looked at to find what changed.
    pub fn pause_interest(&mut self, bytes: usize, now_ms: u64) {
        self.not_before_ms = now_ms + (bytes / BYTES_PER_MS) as u64;
    }

    fn is_due(&mut self, at_ms: u64) {
        self.due_ms = Some(self.due_ms.map_or(at_ms, |due| due.min(at_ms)));
    }
}
