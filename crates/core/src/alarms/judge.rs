//! The judge of all parameters. What happens for each sample allocates nothing; the first sample of a parameter beyond a
//! limit makes its state.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;

use slipring_wire::frame::{Kind, Quality, QualityStatus, RangeSet, RunView, Sample, ValueView};

use super::bands::{Bands, number, row_values};
use super::event::{AlarmSubject, StandingAlarm, TakenAlarms};
use super::rules::{AlarmLimit, AlarmRules};
use super::watched::{EVERYTHING, WatchedParameter};
use crate::ParameterIndex;
use crate::table::{Entries, Entry};

/// Events that are kept until they are fetched. Beyond it the newest are counted only.
pub const EVENTS_MAX: usize = 4_096;

/// An event that began in an earlier run of the broker, and had not ended.
#[derive(Clone, Copy, Debug)]
pub struct RestoredAlarm {
    /// The limit.
    pub limit: AlarmLimit,
    /// The first sample of the unbroken series.
    pub since_ns: i64,
    /// The sample at which it began, and its value.
    pub began_ns: i64,
    /// The value of that sample.
    pub value: f64,
}

/// Judges the samples of all parameters.
#[derive(Debug, Default)]
pub struct AlarmJudge {
    rules: Arc<AlarmRules>,
    bands: Bands,
    /// By index.
    watched: Vec<Option<Box<WatchedParameter>>>,
    /// How many are watched.
    count: usize,
    /// Events of an earlier run whose parameters are not declared yet.
    restored: HashMap<Box<str>, Vec<RestoredAlarm>>,
    taken: TakenAlarms,
}

impl AlarmJudge {
    /// A judge without parameters.
    pub fn new(rules: Arc<AlarmRules>) -> Self {
        Self { rules, ..Self::default() }
    }

    /// Follows other rules; whether they differ. Then each parameter has to be defined again.
    pub fn follow(&mut self, rules: &Arc<AlarmRules>) -> bool {
        let is_other = !Arc::ptr_eq(&self.rules, rules) && self.rules != *rules;
        self.rules = Arc::clone(rules);
        is_other
    }

    /// Takes over the limits of these parameters. The events of those that were removed end.
    pub fn define(&mut self, parameters: &RangeSet, entries: &Entries, now_ns: i64) {
        for index in parameters.indices() {
            match entries.get(ParameterIndex::new(index)) {
                Some(entry) => self.define_one(index as usize, entry),
                None => self.remove(index as usize, now_ns),
            }
        }
    }

    fn define_one(&mut self, at: usize, entry: &Entry) {
        let is_number = !matches!(entry.kind, Kind::Text | Kind::Bytes);
        let (thresholds, terms) = self.rules.of(&entry.name, entry.definition.limits.as_ref());
        let thresholds = if is_number { thresholds } else { [f64::NAN; 4] };
        let known = self.watched.get_mut(at).and_then(Option::take);
        let was_watched = known.is_some();
        let subject = AlarmSubject {
            name: Arc::clone(&entry.name),
            definition: Arc::clone(&entry.definition),
        };
        let mut one = match known {
            Some(mut one) => {
                (one.subject, one.thresholds, one.terms) = (subject, thresholds, terms);
                one
            }
            None => Box::new(WatchedParameter::new(subject, thresholds, terms)),
        };
        let restored =
            if self.restored.is_empty() { None } else { self.restored.remove(&*entry.name) };
        for alarm in restored.into_iter().flatten() {
            one.restore(alarm.limit, alarm.since_ns, alarm.began_ns, alarm.value);
        }
        if one.is_idle() {
            self.forget(at, was_watched);
        } else {
            self.enter(at, one, was_watched);
        }
    }

    fn enter(&mut self, at: usize, one: Box<WatchedParameter>, was_watched: bool) {
        self.bands.set(at, one.band(), i8::from(!was_watched));
        self.count += usize::from(!was_watched);
        if at >= self.watched.len() {
            self.watched.resize_with(at + 1, || None);
        }
        self.watched[at] = Some(one);
    }

    fn forget(&mut self, at: usize, was_watched: bool) {
        if was_watched {
            self.bands.set(at, EVERYTHING, -1);
            self.count -= 1;
        }
    }

    fn remove(&mut self, at: usize, now_ns: i64) {
        let Some(mut one) = self.watched.get_mut(at).and_then(Option::take) else { return };
        one.end(now_ns, |event| self.taken.add(event));
        self.forget(at, true);
    }

    /// Takes the samples of a run that the table accepted.
    pub fn take_run(&mut self, run: &RunView<'_>) {
        if self.count == 0 || matches!(run.kind, Kind::Text | Kind::Bytes) {
            return;
        }
        if run.rows().is_none() {
            return run.visit(|sample| self.take_sample(&sample));
        }
        for (row, time_ns) in run.times().enumerate() {
            self.take_row(run, row, time_ns);
        }
    }

    fn take_row(&mut self, run: &RunView<'_>, row: usize, time_ns: i64) {
        let (kind, values, qualities) = (run.kind, row_values(run, row), run.qualities());
        let mut first = 0;
        for range in run.ranges() {
            let (start, end) = (range.start as usize, range.end as usize);
            let mut next = start;
            while next < end {
                let Some(part) = self.bands.parts(next..end).next() else { break };
                next = part.end;
                let skipped = first + part.start - start;
                if !self.bands.has_beyond(kind, values, skipped, &part) {
                    continue;
                }
                for (position, at) in (skipped..).zip(part) {
                    let value = number(kind, values, position);
                    if self.bands.is_beyond(at, value) {
                        let quality = qualities.get(row * run.parameters + position);
                        self.judge(at, time_ns, quality, value);
                    }
                }
            }
            first += end - start;
        }
    }

    /// Takes one sample that the table accepted.
    pub fn take_sample(&mut self, sample: &Sample<'_>) {
        let at = sample.index as usize;
        if let Some(value) =
            number_of(&sample.value).filter(|value| self.bands.is_beyond(at, *value))
        {
            self.judge(at, sample.time_ns, sample.quality, value);
        }
    }

    fn judge(&mut self, at: usize, time_ns: i64, quality: Quality, value: f64) {
        let counts = matches!(quality.status(), QualityStatus::Good | QualityStatus::Uncertain);
        let Some(one) = self.watched.get_mut(at).and_then(Option::as_mut) else { return };
        if !counts || value.is_nan() {
            return;
        }
        one.take(time_ns, value, |event| self.taken.add(event));
        self.bands.set(at, one.band(), 0);
        if one.is_idle() {
            self.watched[at] = None;
            self.forget(at, true);
        }
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> TakenAlarms {
        mem::take(&mut self.taken)
    }

    /// All events that have not ended.
    pub fn standing(&self) -> Vec<StandingAlarm> {
        self.watched.iter().flatten().flat_map(|one| one.standing()).collect()
    }

    /// Continues an event of an earlier run of the broker: with the next sample of its parameter, once that is declared.
    pub fn restore(&mut self, name: &str, alarm: RestoredAlarm, entries: &Entries) {
        self.restored.entry(name.into()).or_default().push(alarm);
        let Some(index) = entries.index_of(name) else { return };
        if let Some(entry) = entries.get(index) {
            self.define_one(index.get() as usize, entry);
        }
    }

    /// Forgets events of an earlier run whose parameters nobody has declared since. Returns their names.
    pub fn forget_restored(&mut self) -> Vec<Box<str>> {
        mem::take(&mut self.restored).into_keys().collect()
    }
}

impl TakenAlarms {
    fn add(&mut self, event: super::AlarmEvent) {
        if self.events.len() < EVENTS_MAX {
            self.events.push(event);
        } else {
            self.lost += 1;
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "limits are such numbers, too")]
fn number_of(value: &ValueView<'_>) -> Option<f64> {
    Some(match *value {
        ValueView::Bool(value) => f64::from(u8::from(value)),
        ValueView::U8(value) => value.into(),
        ValueView::U16(value) => value.into(),
        ValueView::U32(value) => value.into(),
        ValueView::U64(value) => value as f64,
        ValueView::I8(value) => value.into(),
        ValueView::I16(value) => value.into(),
        ValueView::I32(value) => value.into(),
        ValueView::I64(value) => value as f64,
        ValueView::F32(value) => value.into(),
        ValueView::F64(value) => value,
        ValueView::Text(_) | ValueView::Bytes(_) => return None,
    })
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
