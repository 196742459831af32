//! The kinds of values in a frame.

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $code:literal, $name:literal, $width:expr;)*) => {
        /// The kind of a value. An enumeration is sent as its number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $kind = $code,)*
        }

        impl Kind {
            /// Every kind, in the order of their codes.
            pub const ALL: [Self; 13] = [$(Self::$kind,)*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Bytes of one value; `None` for bool, text and bytes, which have no fixed width.
            pub fn width(self) -> Option<usize> {
                match self { $(Self::$kind => $width,)* }
            }
        }
    };
}

kinds! {
    /// True or false; a bit in a frame.
    Bool = 1, "bool", None;
    /// Unsigned, 8 bits.
    U8 = 2, "u8", Some(1);
    /// Unsigned, 16 bits.
    U16 = 3, "u16", Some(2);
    /// Unsigned, 32 bits.
    U32 = 4, "u32", Some(4);
    /// Unsigned, 64 bits.
    U64 = 5, "u64", Some(8);
    /// Signed, 8 bits.
    I8 = 6, "i8", Some(1);
    /// Signed, 16 bits.
    I16 = 7, "i16", Some(2);
    /// Signed, 32 bits.
    I32 = 8, "i32", Some(4);
    /// Signed, 64 bits.
    I64 = 9, "i64", Some(8);
    /// Floating point, 32 bits.
    F32 = 10, "f32", Some(4);
    /// Floating point, 64 bits.
    F64 = 11, "f64", Some(8);
    /// UTF-8 text.
    Text = 12, "text", None;
    /// Any bytes.
    Bytes = 13, "bytes", None;
}

impl Kind {
    /// The kind with this code on the wire.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// Its code on the wire.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
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
