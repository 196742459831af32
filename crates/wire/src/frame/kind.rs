//! The kinds a value can be, as they travel in a frame.

/// What type a run's values have. An enumeration travels as its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// True or false; a bit in a frame.
    Bool = 1,
    /// Unsigned, 8 bits.
    U8 = 2,
    /// Unsigned, 16 bits.
    U16 = 3,
    /// Unsigned, 32 bits.
    U32 = 4,
    /// Unsigned, 64 bits.
    U64 = 5,
    /// Signed, 8 bits.
    I8 = 6,
    /// Signed, 16 bits.
    I16 = 7,
    /// Signed, 32 bits.
    I32 = 8,
    /// Signed, 64 bits.
    I64 = 9,
    /// Floating point, 32 bits.
    F32 = 10,
    /// Floating point, 64 bits.
    F64 = 11,
    /// UTF-8 text.
    Text = 12,
    /// Any bytes.
    Bytes = 13,
}

impl Kind {
    /// Every kind, in the order of their codes.
    pub const ALL: [Self; 13] = [
        Self::Bool,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F32,
        Self::F64,
        Self::Text,
        Self::Bytes,
    ];

    /// The kind with this code on the wire.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// Its code on the wire.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The kind that people call so.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// How people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "u8",
            Self::U16 => "u16",
            Self::U32 => "u32",
            Self::U64 => "u64",
            Self::I8 => "i8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Text => "text",
            Self::Bytes => "bytes",
        }
    }

    /// Bytes of one value where each has its own; none for bits, text and bytes.
    pub fn width(self) -> Option<usize> {
        match self {
            Self::U8 | Self::I8 => Some(1),
            Self::U16 | Self::I16 => Some(2),
            Self::U32 | Self::I32 | Self::F32 => Some(4),
            Self::U64 | Self::I64 | Self::F64 => Some(8),
            Self::Bool | Self::Text | Self::Bytes => None,
        }
    }
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_names_lead_back_to_their_kind() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_code(kind.code()), Some(kind));
            assert_eq!(Kind::from_name(kind.name()), Some(kind));
        }
    }

    #[test]
    fn other_codes_are_no_kind() {
        for code in [0, 14, 255] {
            assert_eq!(Kind::from_code(code), None);
        }
    }
}
