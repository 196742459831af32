//! Durability: what a message survives once it is acknowledged. Each topic has a level.

use std::fmt;
use std::str::FromStr;

use slipring_wire::matches;

use crate::PlanError;

/// What an acknowledged message survives. A higher level includes the lower ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    #[default]
    /// Nothing: the broker acknowledges it at once.
    Memory,
    /// The end of the process: the broker acknowledges it when it is written.
    Process,
    /// A power cut: the broker acknowledges it when it is on the disk.
    Disk,
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Memory => "memory",
            Self::Process => "process",
            Self::Disk => "disk",
        })
    }
}

/// A name that is not a level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is not a durability: memory, process or disk")]
pub struct UnknownDurability {
    name: String,
}

impl FromStr for Durability {
    type Err = UnknownDurability;

    fn from_str(name: &str) -> Result<Self, UnknownDurability> {
        let mut levels = [Self::Memory, Self::Process, Self::Disk].into_iter();
        let found = levels.find(|level| level.to_string() == name);
        found.ok_or_else(|| UnknownDurability { name: name.into() })
    }
}

/// The level of each topic. The first filter that matches decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurabilityRule {
    rules: Vec<(String, Durability)>,
    otherwise: Durability,
}

impl Default for DurabilityRule {
    fn default() -> Self {
        Self { rules: Vec::new(), otherwise: Durability::Disk }
    }
}

impl DurabilityRule {
    /// Levels by filter, the first match wins; `otherwise` is the level of the rest.
    pub fn new(rules: Vec<(String, Durability)>, otherwise: Durability) -> Result<Self, PlanError> {
        rules.iter().try_for_each(|(filter, _)| PlanError::check(filter))?;
        Ok(Self { rules, otherwise })
    }

    /// The level of a topic.
    pub fn of(&self, topic: &str) -> Durability {
        let found = self.rules.iter().find(|(filter, _)| matches(filter, topic));
        found.map_or(self.otherwise, |(_, level)| *level)
    }

    /// The highest level that a topic can have.
    pub fn highest(&self) -> Durability {
        self.rules.iter().map(|(_, level)| *level).fold(self.otherwise, Durability::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Durability; 3] = [Durability::Memory, Durability::Process, Durability::Disk];

    #[test]
    fn a_level_is_read_back_from_its_name() {
        for level in ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        let unknown = "paper".parse::<Durability>().unwrap_err();
        assert_eq!(unknown.to_string(), "'paper' is not a durability: memory, process or disk");
    }

    #[test]
    fn a_higher_level_includes_the_lower_ones() {
        assert!(ALL.is_sorted());
    }

    #[test]
    fn the_first_filter_that_matches_decides() {
        let rules = vec![
            ("telemetry/alarm".into(), Durability::Disk),
            ("telemetry/#".into(), Durability::Memory),
        ];
        let rule = DurabilityRule::new(rules, Durability::Process).unwrap();
        assert_eq!(rule.of("telemetry/alarm"), Durability::Disk);
        assert_eq!(rule.of("telemetry/rpm"), Durability::Memory);
        assert_eq!(rule.of("orders"), Durability::Process);
        assert_eq!(rule.highest(), Durability::Disk);
        assert_eq!(DurabilityRule::default().of("orders"), Durability::Disk);
    }

    #[test]
    fn a_bad_filter_is_named() {
        let rules = vec![("a/#/b".into(), Durability::Disk)];
        let error = DurabilityRule::new(rules, Durability::Disk).unwrap_err();
        assert!(error.to_string().starts_with("'a/#/b' is not a topic filter"), "{error}");
    }
}
