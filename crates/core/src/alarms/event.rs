//! What the judge tells: events, and the events that stand. Plain values.

use std::sync::Arc;

use super::rules::AlarmLimit;
use crate::table::Definition;

/// The parameter that an event is about.
#[derive(Clone, Debug)]
pub struct AlarmSubject {
    /// Its name.
    pub name: Arc<str>,
    /// Its definition.
    pub definition: Arc<Definition>,
}

/// An event began or ended.
#[derive(Clone, Debug)]
pub struct AlarmEvent {
    /// The parameter.
    pub subject: AlarmSubject,
    /// The limit.
    pub limit: AlarmLimit,
    /// Whether it began; otherwise it ended.
    pub began: bool,
    /// The value of the sample; None if the parameter was removed.
    pub value: Option<f64>,
    /// The limit's value; None if the limit was removed.
    pub threshold: Option<f64>,
    /// The source time of the sample.
    pub time_ns: i64,
    /// The first sample of the unbroken series.
    pub since_ns: i64,
}

/// An event that began and has not ended.
#[derive(Clone, Debug)]
pub struct StandingAlarm {
    /// The parameter.
    pub subject: AlarmSubject,
    /// The limit.
    pub limit: AlarmLimit,
    /// The value of the sample at which it began.
    pub value: f64,
    /// The limit's value; None if the limit was removed.
    pub threshold: Option<f64>,
    /// The source time of the sample at which it began.
    pub began_ns: i64,
    /// The first sample of the unbroken series.
    pub since_ns: i64,
}

/// The events since the last fetch.
#[derive(Clone, Debug, Default)]
pub struct TakenAlarms {
    /// Those that were kept, oldest first.
    pub events: Vec<AlarmEvent>,
    /// How many had no room.
    pub lost: u64,
}
