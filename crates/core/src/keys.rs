//! Keys and indices: a type for each kind of number, so that the compiler tells them apart.
//!
//! Only the edges convert them from and to plain numbers: records, the journal, frames, and text for people.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};

use serde::{Deserialize, Serialize};

/// Hashes keys that nobody can choose: one multiplication.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// A map by a key that nobody can choose.
pub(crate) type KeyMap<K, V> = HashMap<K, V, BuildHasherDefault<KeyHasher>>;

/// A set of such keys.
pub(crate) type KeySet<K> = HashSet<K, BuildHasherDefault<KeyHasher>>;

macro_rules! key {
    ($(#[$note:meta])* $name:ident($number:ty)) => {
        $(#[$note])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[repr(transparent)]
        pub struct $name($number);

        impl $name {
            /// The key with this number.
            pub const fn new(number: $number) -> Self {
                Self(number)
            }

            /// The number of this key.
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
            $name(u32)
        }

        impl $name {
            /// The next index.
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
    /// A connection. The broker uses each number once between its start and its end.
    ConnectionKey(u64)
}

key! {
    /// A session. The broker uses each number once, also across restarts.
    SessionKey(u64)
}

key! {
    /// A message's position in the journal.
    Offset(u64)
}

index! {
    /// A parameter of the table, as frames name it. The table gives each index to one parameter only.
    ParameterIndex
}

index! {
    /// A stream. The broker gives each index to one stream only.
    StreamIndex
}

impl Offset {
    /// The offset `count` messages further on, at most the highest possible one.
    #[must_use]
    pub const fn plus(self, count: u32) -> Self {
        Self(self.0.saturating_add(count as u64))
    }
}

impl SessionKey {
    /// Stands for the broker itself, which has no session.
    pub const BROKER: Self = Self(0);
}
