//! The definition of a parameter: type, unit, range, limits, rate.
//!
//! Type, unit and labels are the parameter's identity and never change. The rest is a description, which can change.

use serde::{Deserialize, Serialize};
use slipring_wire::frame::Kind;

use super::labels::Labels;
use crate::desk::{DESCRIPTION_BYTES_MAX, ProblemCode, Report, SOURCE_BYTES_MAX, check_text};

/// The most bytes of a unit.
const UNIT_BYTES_MAX: usize = 64;
/// The most samples per second.
const RATE_HZ_MAX: f64 = 1e6;
/// How many labels are shown to people when two definitions are compared.
const LABELS_SHOWN: usize = 4;

/// A parameter's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The type of its values.
    pub kind: ParameterKind,
    /// The unit of its values; never empty.
    pub unit: Option<String>,
    /// What it is, for people; never empty.
    pub description: Option<String>,
    /// The lowest and the highest possible value.
    pub range: Option<(f64, f64)>,
    /// Values that are worth a warning.
    pub limits: Option<AlarmLimits>,
    /// The expected samples per second; the value becomes stale if they stay away.
    pub rate_hz: Option<f64>,
    /// Where it comes from: a device, a bus, a message; never empty.
    pub source: Option<String>,
}

/// The type of a parameter's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A kind of the wire format.
    Plain(Kind),
    /// Numbers with labels.
    Enum(Labels),
}

/// Values beyond which a person should look, or act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlarmLimits {
    /// Act below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low_critical: Option<f64>,
    /// Look below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Look above this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// Act above this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_critical: Option<f64>,
}

impl ParameterKind {
    /// The kind of its values on the wire.
    pub fn wire(&self) -> Kind {
        match self {
            Self::Plain(kind) => *kind,
            Self::Enum(labels) => labels.kind(),
        }
    }

    /// Its name in a definition.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Plain(kind) => kind.name(),
            Self::Enum(_) => "enum",
        }
    }

    /// The labels of an enumeration.
    pub fn labels(&self) -> Option<&Labels> {
        match self {
            Self::Plain(_) => None,
            Self::Enum(labels) => Some(labels),
        }
    }

    fn is_ordered(&self) -> bool {
        !matches!(self, Self::Plain(Kind::Text | Kind::Bytes))
    }
}

impl Definition {
    /// A definition with a type and nothing else.
    pub fn new(kind: ParameterKind) -> Self {
        Self {
            kind,
            unit: None,
            description: None,
            range: None,
            limits: None,
            rate_hz: None,
            source: None,
        }
    }

    /// Whether both have the same identity: type, unit and labels.
    pub fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.unit == other.unit
    }

    /// Reports every problem of the definition.
    pub fn check(&self, report: &mut Report<'_>) {
        for (code, text, bytes_max) in [
            (ProblemCode::Unit, &self.unit, UNIT_BYTES_MAX),
            (ProblemCode::Description, &self.description, DESCRIPTION_BYTES_MAX),
            (ProblemCode::Source, &self.source, SOURCE_BYTES_MAX),
        ] {
            check_text(code, text.as_ref(), bytes_max, report);
        }
        self.check_range(report);
        self.check_limits(report);
        if let Some(hz) = self.rate_hz.filter(|hz| !(*hz > 0.0 && *hz <= RATE_HZ_MAX)) {
            let text =
                format!("a rate of {hz} Hz; it must be more than 0 and at most {RATE_HZ_MAX}");
            report(ProblemCode::Rate, text);
        }
    }

    fn check_range(&self, report: &mut Report<'_>) {
        let Some((low, high)) = self.range else { return };
        let text = if !self.kind.is_ordered() {
            format!("{} has no range", self.kind.name())
        } else if !low.is_finite() || !high.is_finite() {
            format!("the range {low} to {high} has numbers that are not finite")
        } else if low > high {
            format!("the range ends at {high}, below its start {low}")
        } else {
            return;
        };
        report(ProblemCode::Range, text);
    }

    fn check_limits(&self, report: &mut Report<'_>) {
        let Some(limits) = &self.limits else { return };
        if !self.kind.is_ordered() {
            return report(ProblemCode::Limits, format!("{} has no limits", self.kind.name()));
        }
        let mut below: Option<(&str, f64)> = None;
        for (name, limit) in limits.named() {
            let Some(limit) = limit else { continue };
            if !limit.is_finite() {
                report(ProblemCode::Limits, format!("{name} is {limit}, not a finite number"));
            }
            if let Some((lower, value)) = below.filter(|(_, value)| *value > limit) {
                report(ProblemCode::Limits, format!("{lower} ({value}) is above {name} ({limit})"));
            }
            below = Some((name, limit));
        }
    }

    /// The identity for people to read: `f64 in 1/min`, `enum (0 off, 1 on)`.
    fn identity(&self) -> String {
        let kind = self.kind.name();
        let labels = self.kind.labels().map_or_else(String::new, |labels| {
            let shown = labels.iter().take(LABELS_SHOWN);
            let shown: Vec<_> = shown.map(|(value, label)| format!("{value} {label}")).collect();
            let more = if labels.len() > LABELS_SHOWN { ", ..." } else { "" };
            format!(" ({}{more})", shown.join(", "))
        });
        let unit = self.unit.as_ref().map_or_else(String::new, |unit| format!(" in {unit}"));
        format!("{kind}{labels}{unit}")
    }

    /// Two identities in words that show the difference.
    pub(super) fn compared(&self, other: &Self) -> (String, String) {
        let (one, two) = (self.identity(), other.identity());
        let (Some(ours), Some(theirs)) = (self.kind.labels(), other.kind.labels()) else {
            return (one, two);
        };
        if one != two {
            return (one, two);
        }
        let same = ours.iter().zip(theirs.iter()).take_while(|(one, two)| one == two).count();
        let label = |labels: &Labels| match labels.iter().nth(same) {
            Some((value, label)) => format!("with {value} {label}"),
            None => format!("with {} labels", labels.len()),
        };
        (format!("{one} {}", label(ours)), format!("{two} {}", label(theirs)))
    }

    /// About the bytes of memory it uses.
    pub(super) fn bytes(&self) -> usize {
        let texts = [&self.unit, &self.description, &self.source];
        let texts: usize = texts.into_iter().flatten().map(String::len).sum();
        size_of::<Self>() + texts + self.kind.labels().map_or(0, Labels::bytes)
    }
}

impl AlarmLimits {
    /// The limits by name, the lowest first.
    pub fn named(&self) -> [(&'static str, Option<f64>); 4] {
        [
            ("low_critical", self.low_critical),
            ("low", self.low),
            ("high", self.high),
            ("high_critical", self.high_critical),
        ]
    }
}
