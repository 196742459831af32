//! Alarms: judges every sample against the limits of its parameter. It does no I/O and reads no clock: samples and rules
//! come in, events are fetched.
//!
//! A limit is a Schmitt trigger with two delays. A value beyond the limit is *out*; it is *in* again when it has come
//! back by the hysteresis. An event begins at the first sample that is out at least the on delay after the first of an
//! unbroken series of samples that are out, and ends likewise after the off delay. All times are source times. Samples
//! that are bad, stale or not a number are left out.
//!
//! An example: high = 900, hysteresis 10, on delay 2 s. Values of 905, 895 and 901 at 0, 1 and 2 s begin an event at 2 s:
//! 895 is not below 890, so the series is unbroken. The pipeline's job `limits` judges likewise, and a test compares them.

mod bands;
mod event;
mod judge;
mod limit_state;
mod rules;
mod watched;

pub use event::{AlarmEvent, AlarmSubject, StandingAlarm, TakenAlarms};
pub use judge::{AlarmJudge, EVENTS_MAX, RestoredAlarm};
pub use rules::{AlarmLimit, AlarmRule, AlarmRules, AlarmTerms};
