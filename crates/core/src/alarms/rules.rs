//! Which limits count for a parameter: those of its definition, and those of configured rules, which count first.

use slipring_wire::matches;

use crate::PlanError;
use crate::table::AlarmLimits;

/// One of the four limits of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AlarmLimit {
    /// Critical below it.
    LowCritical,
    /// A warning below it.
    Low,
    /// A warning above it.
    High,
    /// Critical above it.
    HighCritical,
}

/// When a value beyond a limit becomes an event, and when the event ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AlarmTerms {
    /// How far a value must come back behind the limit to count as back.
    pub hysteresis: f64,
    /// How long values must be out before an event begins.
    pub on_delay_ns: i64,
    /// How long values must be back before it ends.
    pub off_delay_ns: i64,
}

/// Limits of the parameters that a filter matches. What is not given is taken from others.
#[derive(Clone, Debug, PartialEq)]
pub struct AlarmRule {
    /// Which parameters.
    pub filter: String,
    /// The limits that it gives.
    pub limits: AlarmLimits,
    /// As in the terms of all parameters.
    pub hysteresis: Option<f64>,
    /// As in the terms of all parameters.
    pub on_delay_ns: Option<i64>,
    /// As in the terms of all parameters.
    pub off_delay_ns: Option<i64>,
}

/// The rules of all parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct AlarmRules {
    definitions: bool,
    terms: AlarmTerms,
    rules: Vec<AlarmRule>,
}

// Its numbers are finite: `new` refuses others.
impl Eq for AlarmRules {}

impl Default for AlarmRules {
    fn default() -> Self {
        Self { definitions: true, terms: AlarmTerms::default(), rules: Vec::new() }
    }
}

impl AlarmLimit {
    /// All of them, the lowest first.
    pub const ALL: [Self; 4] = [Self::LowCritical, Self::Low, Self::High, Self::HighCritical];

    /// Its name in a definition.
    pub fn name(self) -> &'static str {
        match self {
            Self::LowCritical => "low_critical",
            Self::Low => "low",
            Self::High => "high",
            Self::HighCritical => "high_critical",
        }
    }

    /// The limit with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }

    /// How far a value is beyond a threshold; negative if it is not.
    pub(super) fn beyond(self, value: f64, threshold: f64) -> f64 {
        match self {
            Self::LowCritical | Self::Low => threshold - value,
            Self::High | Self::HighCritical => value - threshold,
        }
    }
}

impl AlarmRules {
    /// Rules; `definitions` says whether limits of definitions count. The last rule that matches a parameter counts.
    pub fn new(
        definitions: bool,
        terms: AlarmTerms,
        rules: Vec<AlarmRule>,
    ) -> Result<Self, PlanError> {
        rules.iter().try_for_each(|rule| PlanError::check(&rule.filter))?;
        let given = rules.iter().flat_map(|rule| {
            let limits = rule.limits.named().map(|(_, limit)| limit);
            limits.into_iter().chain([rule.hysteresis]).flatten()
        });
        if given.chain([terms.hysteresis]).any(|number| !number.is_finite()) {
            return Err(PlanError::AlarmNumber);
        }
        Ok(Self { definitions, terms, rules })
    }

    /// The thresholds of a parameter, not a number for those that it has not; and the terms of all of them.
    pub(super) fn of(&self, name: &str, declared: Option<&AlarmLimits>) -> ([f64; 4], AlarmTerms) {
        let declared = declared.filter(|_| self.definitions).copied().unwrap_or_default();
        let mut thresholds = declared.named().map(|(_, limit)| limit.unwrap_or(f64::NAN));
        let Some(rule) = self.rules.iter().rev().find(|rule| matches(&rule.filter, name)) else {
            return (thresholds, self.terms);
        };
        for (threshold, (_, given)) in thresholds.iter_mut().zip(rule.limits.named()) {
            *threshold = given.unwrap_or(*threshold);
        }
        let terms = AlarmTerms {
            hysteresis: rule.hysteresis.unwrap_or(self.terms.hysteresis),
            on_delay_ns: rule.on_delay_ns.unwrap_or(self.terms.on_delay_ns),
            off_delay_ns: rule.off_delay_ns.unwrap_or(self.terms.off_delay_ns),
        };
        (thresholds, terms)
    }
}
