//! Keys and indices: a type for each kind of number, so that none is taken for another.
//!
//! They are made and read as numbers only at the edges: records, the journal, frames and people.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! key {
    ($(#[$note:meta])* $name:ident($number:ty)) => {
        $(#[$note])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[repr(transparent)]
        pub struct $name($number);

        impl $name {
            /// The key with this number.
            pub const fn new(number: $number) -> Self {
                Self(number)
            }

            /// Its number.
            pub const fn get(self) -> $number {
                self.0
            }
        }

        impl From<$name> for u64 {
            fn from(key: $name) -> Self {
                Self::from(key.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(out)
            }
        }
    };
}

macro_rules! index {
    ($(#[$note:meta])* $name:ident) => {
        key! {
            $(#[$note])*
            #[derive(Deserialize)]
            $name(u32)
        }

        impl $name {
            /// The index after it.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl From<$name> for u32 {
            fn from(index: $name) -> Self {
                index.0
            }
        }
    };
}

key! {
    /// A connection. No other connection to this run of the broker has had its number.
    ConnectionKey(u64)
}

key! {
    /// A session. No other session has had its number, in an earlier run neither.
    SessionKey(u64)
}

key! {
    /// A message's position in the journal.
    Offset(u64)
}

index! {
    /// A parameter of the table, as frames name it. No other parameter of the table has had it.
    ParameterIndex
}

index! {
    /// A stream. No other stream has had it.
    StreamIndex
}

impl Offset {
    /// The offset so many messages further on; the last one there can be has none after it.
    #[must_use]
    pub const fn plus(self, count: u32) -> Self {
        Self(self.0.saturating_add(count as u64))
    }
}

impl SessionKey {
    /// The broker itself, which has no session.
    pub const BROKER: Self = Self(0);
}
