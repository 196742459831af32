//! Alarms for Python: the rules of a plan, and what the engine's judge tells. Decides nothing.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use slipring_core::alarms::{
    AlarmEvent, AlarmLimit, AlarmRule, AlarmRules, AlarmSubject, AlarmTerms, RestoredAlarm,
    StandingAlarm,
};
use slipring_core::table::AlarmLimits;

use crate::engine::Engine;
use crate::plan::refused;

/// The rules of alarms, with the keys of the configuration; lengths of time are nanoseconds.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct AlarmsDict {
    definitions: bool,
    hysteresis: f64,
    on_delay: i64,
    off_delay: i64,
    rule: Vec<AlarmRuleDict>,
}

#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct AlarmRuleDict {
    filter: String,
    low_critical: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
    high_critical: Option<f64>,
    hysteresis: Option<f64>,
    on_delay: Option<i64>,
    off_delay: Option<i64>,
}

impl AlarmsDict {
    pub fn rules(self) -> PyResult<AlarmRules> {
        let Self { definitions, hysteresis, on_delay, off_delay, rule } = self;
        let terms = AlarmTerms { hysteresis, on_delay_ns: on_delay, off_delay_ns: off_delay };
        let rules = rule.into_iter().map(AlarmRuleDict::rule).collect();
        AlarmRules::new(definitions, terms, rules).map_err(refused)
    }
}

impl AlarmRuleDict {
    fn rule(self) -> AlarmRule {
        let Self { low_critical, low, high, high_critical, .. } = self;
        AlarmRule {
            filter: self.filter,
            limits: AlarmLimits { low_critical, low, high, high_critical },
            hysteresis: self.hysteresis,
            on_delay_ns: self.on_delay,
            off_delay_ns: self.off_delay,
        }
    }
}

/// Parameter, limit, whether it began, value, threshold, unit, source time, and since when.
type AlarmTuple = (String, &'static str, bool, Option<f64>, Option<f64>, Option<String>, i64, i64);
/// Parameter, limit, since when, when it began, and the value with which it began.
type RestoredTuple = (String, String, i64, i64, f64);

/// The events of limits that an engine notices.
#[pyclass(frozen, module = "slipring._native")]
pub(crate) struct AlarmFeed(Py<Engine>);

#[pymethods]
impl AlarmFeed {
    #[new]
    fn new(engine: Py<Engine>) -> Self {
        Self(engine)
    }

    /// The events since the last call, and how many had no room: then `standing` says what is true now.
    fn take(&self, py: Python<'_>) -> (Vec<AlarmTuple>, u64) {
        let engine = self.0.get();
        let taken = py.detach(|| engine.0.take_alarms());
        (taken.events.iter().map(event).collect(), taken.lost)
    }

    /// The events that have not ended.
    fn standing(&self, py: Python<'_>) -> Vec<AlarmTuple> {
        let engine = self.0.get();
        py.detach(|| engine.0.standing_alarms()).iter().map(standing).collect()
    }

    /// Continues events of an earlier run of the broker.
    fn restore(&self, py: Python<'_>, alarms: Vec<RestoredTuple>) -> PyResult<()> {
        let engine = self.0.get();
        for (name, limit, since_ns, began_ns, value) in alarms {
            let unknown = || PyValueError::new_err(format!("there is no limit '{limit}'"));
            let limit = AlarmLimit::named(&limit).ok_or_else(unknown)?;
            let restored = RestoredAlarm { limit, since_ns, began_ns, value };
            py.detach(|| engine.0.restore_alarm(&name, restored));
        }
        Ok(())
    }

    /// Forgets events of an earlier run whose parameters nobody has declared since; returns the names.
    fn forget_restored(&self, py: Python<'_>) -> Vec<String> {
        let engine = self.0.get();
        py.detach(|| engine.0.forget_restored_alarms()).into_iter().map(Into::into).collect()
    }
}

fn event(one: &AlarmEvent) -> AlarmTuple {
    let (name, unit) = subject(&one.subject);
    let limit = one.limit.name();
    (name, limit, one.began, one.value, one.threshold, unit, one.time_ns, one.since_ns)
}

fn standing(one: &StandingAlarm) -> AlarmTuple {
    let (name, unit) = subject(&one.subject);
    let limit = one.limit.name();
    (name, limit, true, Some(one.value), one.threshold, unit, one.began_ns, one.since_ns)
}

fn subject(subject: &AlarmSubject) -> (String, Option<String>) {
    (subject.name.to_string(), subject.definition.unit.clone())
}
