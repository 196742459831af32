//! Messages that wait for their first subscriber (T3): by topic, in order of priority, bounded.

/// Which of the waiting messages are delivered first, and which have to make room last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Priority {
    /// After all others.
    Low = 0,
    /// When nothing is said.
    #[default]
    Normal = 1,
    /// Before all others.
    High = 2,
}

impl Priority {
    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        [Self::Low, Self::Normal, Self::High].into_iter().find(|known| *known as u8 == byte)
    }
}
