//! The state of one limit of one parameter. It knows neither names nor where events go.

use super::rules::{AlarmLimit, AlarmTerms};

/// What is kept between two samples.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LimitState {
    pub is_out: bool,
    pub is_event: bool,
    /// The first sample of the unbroken series; it has a meaning once the limit was out.
    pub since_ns: i64,
    /// The sample at which the event began, and its value.
    pub began_ns: i64,
    pub value: f64,
}

impl LimitState {
    /// Whether only a sample that is out can change it.
    pub fn is_quiet(&self) -> bool {
        !self.is_out && !self.is_event
    }

    /// Takes a sample. Returns whether an event begins or ends with it. Without a threshold the sample is in, and there is
    /// no delay: so an event ends whose limit was removed.
    pub fn take(
        &mut self,
        limit: AlarmLimit,
        (threshold, terms): (f64, &AlarmTerms),
        (time_ns, value): (i64, f64),
    ) -> bool {
        let has_limit = !threshold.is_nan();
        let beyond = limit.beyond(value, threshold);
        // Within the hysteresis a sample stands as the one before it did.
        let is_held = has_limit && beyond > -terms.hysteresis && self.is_out;
        let is_out = beyond > 0.0 || is_held;
        if is_out != self.is_out {
            (self.is_out, self.since_ns) = (is_out, time_ns);
        }
        let delay_ns = if is_out { terms.on_delay_ns } else { terms.off_delay_ns };
        let delay_ns = if has_limit { delay_ns } else { 0 };
        let turns = is_out != self.is_event && time_ns.saturating_sub(self.since_ns) >= delay_ns;
        if turns {
            self.is_event = is_out;
            if is_out {
                (self.began_ns, self.value) = (time_ns, value);
            }
        }
        turns
    }
}
