//! Samples as columns, a row each.

use crate::optional::{OptionalBytes, OptionalColumn};
use crate::order::order;

/// The columns that are filled beside index and source time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "one for each column")]
pub struct WantedColumns {
    /// `receive_ns`.
    pub receive: bool,
    /// `offset`.
    pub offset: bool,
    /// `quality`.
    pub quality: bool,
    /// `value`.
    pub value: bool,
    /// `integer`.
    pub integer: bool,
    /// `text`.
    pub text: bool,
    /// `bytes`.
    pub bytes: bool,
}

impl WantedColumns {
    /// Every column.
    pub const ALL: Self = Self {
        receive: true,
        offset: true,
        quality: true,
        value: true,
        integer: true,
        text: true,
        bytes: true,
    };
}

/// Samples. A column that is not wanted is empty; all others have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SampleColumns {
    /// The index of the parameter.
    pub index: Vec<i32>,
    /// When it was measured, nanoseconds since 1970.
    pub source_ns: Vec<i64>,
    /// When the broker received it, nanoseconds since 1970.
    pub receive_ns: Vec<i64>,
    /// The offset of its message.
    pub offset: Vec<i64>,
    /// Its quality, the byte of the frame.
    pub quality: Vec<i16>,
    /// Every number, truth (0 or 1) and enumeration as f64.
    pub value: OptionalColumn<f64>,
    /// The exact number of 64-bit integers.
    pub integer: OptionalColumn<i128>,
    /// Texts, and the labels of enumerations.
    pub text: OptionalBytes,
    /// Bytes.
    pub bytes: OptionalBytes,
}

impl SampleColumns {
    /// How many samples there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The bytes of texts and bytes.
    pub(crate) fn item_bytes(&self) -> usize {
        self.text.bytes().max(self.bytes.bytes())
    }

    /// Removes all samples; their memory is used again.
    pub(crate) fn clear(&mut self) {
        self.index.clear();
        self.source_ns.clear();
        self.receive_ns.clear();
        self.offset.clear();
        self.quality.clear();
        self.value.clear();
        self.integer.clear();
        self.text.clear();
        self.bytes.clear();
    }

    /// The samples by parameter, those of one parameter by source time; at the same time as they came.
    #[must_use]
    pub fn sorted(self) -> Self {
        let Some(positions) = order(&self.index, &self.source_ns) else { return self };
        self.take(&positions)
    }

    fn take(&self, positions: &[u32]) -> Self {
        Self {
            index: take(&self.index, positions),
            source_ns: take(&self.source_ns, positions),
            receive_ns: take(&self.receive_ns, positions),
            offset: take(&self.offset, positions),
            quality: take(&self.quality, positions),
            value: self.value.take(positions),
            integer: self.integer.take(positions),
            text: self.text.take(positions),
            bytes: self.bytes.take(positions),
        }
    }
}

fn take<T: Copy>(column: &[T], positions: &[u32]) -> Vec<T> {
    if column.is_empty() {
        return Vec::new();
    }
    positions.iter().map(|at| column[*at as usize]).collect()
}
