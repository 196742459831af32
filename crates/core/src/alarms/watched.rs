//! A parameter with limits, and the state of each of them.

use super::event::{AlarmEvent, AlarmSubject, StandingAlarm};
use super::limit_state::LimitState;
use super::rules::{AlarmLimit, AlarmTerms};

/// Below or above these values a sample of a quiet parameter has to be looked at.
pub(super) type QuietBand = (f64, f64);

/// Every value is within it.
pub(super) const EVERYTHING: QuietBand = (f64::NEG_INFINITY, f64::INFINITY);
/// No value is within it.
const NOTHING: QuietBand = (f64::INFINITY, f64::NEG_INFINITY);

/// A parameter with limits.
#[derive(Debug)]
pub(super) struct WatchedParameter {
    pub subject: AlarmSubject,
    /// Not a number for limits that it has not.
    pub thresholds: [f64; 4],
    pub terms: AlarmTerms,
    /// Made when a value is beyond a limit for the first time, and kept.
    states: Option<Box<[LimitState; 4]>>,
}

impl WatchedParameter {
    pub fn new(subject: AlarmSubject, thresholds: [f64; 4], terms: AlarmTerms) -> Self {
        Self { subject, thresholds, terms, states: None }
    }

    /// Whether it needs no samples: it has no limits, and no event that is to end.
    pub fn is_idle(&self) -> bool {
        self.thresholds.iter().all(|one| one.is_nan()) && self.is_quiet()
    }

    fn is_quiet(&self) -> bool {
        self.states.as_ref().is_none_or(|states| states.iter().all(LimitState::is_quiet))
    }

    /// The values that change nothing.
    pub fn band(&self) -> QuietBand {
        if !self.is_quiet() {
            return NOTHING;
        }
        let [low_critical, low, high, high_critical] = self.thresholds;
        // `max` and `min` leave out what is not a number.
        let (lowest, highest) = EVERYTHING;
        (lowest.max(low_critical).max(low), highest.min(high).min(high_critical))
    }

    /// Sets the event of a limit that began in an earlier run of the broker.
    pub fn restore(&mut self, limit: AlarmLimit, since_ns: i64, began_ns: i64, value: f64) {
        let states = self.states.get_or_insert_default();
        states[limit as usize] =
            LimitState { is_out: true, is_event: true, since_ns, began_ns, value };
    }

    /// Takes a sample that counts; `tell` gets the events.
    pub fn take(&mut self, time_ns: i64, value: f64, mut tell: impl FnMut(AlarmEvent)) {
        let Self { subject, thresholds, terms, states } = self;
        let states = states.get_or_insert_default();
        for limit in AlarmLimit::ALL {
            let (threshold, state) = (thresholds[limit as usize], &mut states[limit as usize]);
            if state.take(limit, (threshold, terms), (time_ns, value)) {
                tell(AlarmEvent {
                    subject: subject.clone(),
                    limit,
                    began: state.is_event,
                    value: Some(value),
                    threshold: known(threshold),
                    time_ns,
                    since_ns: state.since_ns,
                });
            }
        }
    }

    /// Ends all events, because there will be no more samples.
    pub fn end(&mut self, now_ns: i64, mut tell: impl FnMut(AlarmEvent)) {
        for alarm in self.standing() {
            tell(AlarmEvent {
                subject: alarm.subject,
                limit: alarm.limit,
                began: false,
                value: None,
                threshold: alarm.threshold,
                time_ns: now_ns,
                since_ns: now_ns,
            });
        }
        self.states = None;
    }

    /// The events that have not ended.
    pub fn standing(&self) -> Vec<StandingAlarm> {
        let Some(states) = &self.states else { return Vec::new() };
        let limits = AlarmLimit::ALL.into_iter().zip(states.iter());
        let standing =
            limits.filter(|(_, state)| state.is_event).map(|(limit, state)| StandingAlarm {
                subject: self.subject.clone(),
                limit,
                value: state.value,
                threshold: known(self.thresholds[limit as usize]),
                began_ns: state.began_ns,
                since_ns: state.since_ns,
            });
        standing.collect()
    }
}

fn known(threshold: f64) -> Option<f64> {
    (!threshold.is_nan()).then_some(threshold)
}
