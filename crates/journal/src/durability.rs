//! What a message survives before it is acknowledged. Three names, one order.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How safe a message is when its publisher hears that it arrived. A later one is safer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// It is in memory; a crash may lose it.
    Memory,
    /// It is written, and survives a kill of the process.
    Process,
    /// It is synced, and survives a power cut.
    #[default]
    Disk,
}

impl Durability {
    /// All of them, the least safe first.
    pub const ALL: [Self; 3] = [Self::Memory, Self::Process, Self::Disk];

    /// Its name in configuration and status.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Process => "process",
            Self::Disk => "disk",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// A word that names no durability.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("durability is memory, process or disk, not {0:?}")]
pub struct UnknownDurability(pub String);

impl FromStr for Durability {
    type Err = UnknownDurability;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|level| level.name() == text);
        named.ok_or_else(|| UnknownDurability(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_what_they_name() {
        for level in Durability::ALL {
            assert_eq!(level.to_string().parse(), Ok(level));
        }
        let error = "Disk".parse::<Durability>().unwrap_err();
        assert_eq!(error.to_string(), "durability is memory, process or disk, not \"Disk\"");
    }

    #[test]
    fn the_safer_one_is_the_greater() {
        assert!(Durability::ALL.is_sorted());
        assert_eq!(Durability::default(), Durability::Disk);
    }
}
