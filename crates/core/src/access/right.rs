//! What a rule allows or denies.

use std::fmt;
use std::str::FromStr;

/// Something that a client does to a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Right {
    /// Publish messages and samples.
    Publish,
    /// Get messages, retained and stored ones too.
    Subscribe,
    /// Publish messages that the broker keeps as retained ones.
    Retain,
    /// Declare parameters.
    Declare,
    /// Read parameters: select them, list them, ask for their values.
    Select,
    /// Declare streams, send and follow them.
    Stream,
    /// Ask a service.
    Request,
    /// Be a service.
    Serve,
    /// Read the journal.
    Journal,
    /// Publish messages and samples as a client that plays a recording again.
    Replay,
    /// See values in the console, and metrics.
    Watch,
    /// Do what an operator does; the topics are areas, such as `clients` and `memory`.
    Administer,
}

impl Right {
    /// Every right, in the order of the documentation.
    pub const ALL: [Self; 12] = [
        Self::Publish,
        Self::Subscribe,
        Self::Retain,
        Self::Declare,
        Self::Select,
        Self::Stream,
        Self::Request,
        Self::Serve,
        Self::Journal,
        Self::Replay,
        Self::Watch,
        Self::Administer,
    ];

    /// The word for it in rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::Publish => "publish",
            Self::Subscribe => "subscribe",
            Self::Retain => "retain",
            Self::Declare => "declare",
            Self::Select => "select",
            Self::Stream => "stream",
            Self::Request => "request",
            Self::Serve => "serve",
            Self::Journal => "journal",
            Self::Replay => "replay",
            Self::Watch => "watch",
            Self::Administer => "administer",
        }
    }

    pub(super) fn bit(self) -> u16 {
        1 << self as u8
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Right {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|right| right.name() == name).ok_or(())
    }
}
