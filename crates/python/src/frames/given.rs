//! Samples as Python gives them: arrays of one kind, lists of text, or single values.

use std::ops::Range;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use slipring_client::Block;
use slipring_wire::frame::{Kind, OwnedValue, Qualities, Quality, Sample};

use super::FrameError;
use crate::buffer::Lent;

/// The kind with this code.
pub(crate) fn kind_of(code: u8) -> PyResult<Kind> {
    Kind::from_code(code).ok_or_else(|| FrameError::new_err(format!("there is no kind {code}")))
}

/// Qualities as Python gives them: one for all, or a buffer with a byte for each sample.
pub(crate) enum GivenQuality<'py> {
    Good,
    All(u8),
    Each(Lent<'py>),
}

impl<'py> FromPyObject<'_, 'py> for GivenQuality<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(quality) = object.extract::<u8>() {
            return Ok(Self::All(quality));
        }
        Lent::of(&object).map(Self::Each).map_err(|_| {
            PyTypeError::new_err("a quality is a number below 256, or a buffer of them")
        })
    }
}

impl GivenQuality<'_> {
    fn qualities(&self) -> Qualities<'_> {
        match self {
            Self::Good => Qualities::All(Quality::GOOD),
            Self::All(quality) => Qualities::All(Quality(*quality)),
            Self::Each(bytes) => Qualities::Each(bytes),
        }
    }
}

/// A sample with a value of its own.
pub(crate) struct Single {
    index: u32,
    time_ns: i64,
    quality: Quality,
    value: OwnedValue,
}

impl Single {
    pub fn sample(&self) -> Sample<'_> {
        let (index, time_ns, quality) = (self.index, self.time_ns, self.quality);
        Sample { index, time_ns, quality, value: self.value.view() }
    }
}

/// Samples from (kind, index, time, quality, value).
pub(crate) fn values_of(
    given: Vec<(Kind, u32, i64, u8, Bound<'_, PyAny>)>,
) -> PyResult<Vec<Single>> {
    let single = |(kind, index, time_ns, quality, value): (Kind, _, _, _, Bound<'_, PyAny>)| {
        if index == u32::MAX {
            return Err(FrameError::new_err(format!("{index} is no index")));
        }
        let value = value_of(kind, &value).map_err(|_| {
            FrameError::new_err(format!("{value} is not a value of {kind}, for index {index}"))
        })?;
        Ok(Single { index, time_ns, quality: Quality(quality), value })
    };
    given.into_iter().map(single).collect()
}

fn value_of(kind: Kind, value: &Bound<'_, PyAny>) -> PyResult<OwnedValue> {
    Ok(match kind {
        Kind::Bool => OwnedValue::Bool(value.extract()?),
        Kind::U8 => OwnedValue::U8(value.extract()?),
        Kind::U16 => OwnedValue::U16(value.extract()?),
        Kind::U32 => OwnedValue::U32(value.extract()?),
        Kind::U64 => OwnedValue::U64(value.extract()?),
        Kind::I8 => OwnedValue::I8(value.extract()?),
        Kind::I16 => OwnedValue::I16(value.extract()?),
        Kind::I32 => OwnedValue::I32(value.extract()?),
        Kind::I64 => OwnedValue::I64(value.extract()?),
        Kind::F32 => OwnedValue::F32(value.extract()?),
        Kind::F64 => OwnedValue::F64(value.extract()?),
        Kind::Text => OwnedValue::Text(value.extract()?),
        Kind::Bytes => OwnedValue::Bytes(value.extract()?),
    })
}

enum Values<'py> {
    /// Of a fixed width, or bits.
    Raw(Lent<'py>),
    /// Text or bytes, row by row.
    Items(Vec<OwnedValue>),
}

/// Values of one kind: the same parameters at one time or at several.
pub(crate) struct Row<'py> {
    kind: Kind,
    ranges: Vec<Range<u32>>,
    times: Vec<i64>,
    values: Values<'py>,
    quality: GivenQuality<'py>,
}

impl<'py> Row<'py> {
    /// All at one time.
    pub fn at(
        kind: u8,
        indices: &Bound<'py, PyAny>,
        time_ns: i64,
        values: &Bound<'py, PyAny>,
        quality: GivenQuality<'py>,
    ) -> PyResult<Self> {
        Self::new(kind, indices, vec![time_ns], values, quality)
    }

    /// At each time of a buffer of i64, little endian.
    pub fn grid(
        kind: u8,
        indices: &Bound<'py, PyAny>,
        times: &Bound<'py, PyAny>,
        values: &Bound<'py, PyAny>,
        quality: GivenQuality<'py>,
    ) -> PyResult<Self> {
        let times = numbers(&Lent::of(times)?, "times are", i64::from_le_bytes)?.collect();
        Self::new(kind, indices, times, values, quality)
    }

    fn new(
        kind: u8,
        indices: &Bound<'py, PyAny>,
        times: Vec<i64>,
        values: &Bound<'py, PyAny>,
        quality: GivenQuality<'py>,
    ) -> PyResult<Self> {
        let (kind, ranges) = (kind_of(kind)?, ranges_of(&Lent::of(indices)?)?);
        let values = match kind {
            Kind::Text | Kind::Bytes => {
                let items = values.try_iter()?.map(|item| value_of(kind, &item?));
                Values::Items(items.collect::<PyResult<_>>()?)
            }
            _ => Values::Raw(Lent::of(values)?),
        };
        let row = Self { kind, ranges, times, values, quality };
        row.check_items()?;
        Ok(row)
    }

    fn check_items(&self) -> PyResult<()> {
        let Values::Items(items) = &self.values else { return Ok(()) };
        let parameters: usize = self.ranges.iter().map(ExactSizeIterator::len).sum();
        let wanted = parameters * self.times.len();
        let qualities = match self.quality.qualities() {
            Qualities::All(_) => wanted,
            Qualities::Each(bytes) => bytes.len(),
        };
        if wanted == 0 || wanted != items.len() || wanted != qualities {
            let found = items.len();
            return Err(FrameError::new_err(format!(
                "{found} values and {qualities} qualities for {wanted} samples"
            )));
        }
        Ok(())
    }

    /// Calls `block`, or `samples` if the values have no fixed width.
    pub fn give<E>(
        &self,
        block: impl FnOnce(&Block<'_>) -> Result<(), E>,
        samples: impl FnOnce(&mut [Sample<'_>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let (kind, ranges, times) = (self.kind, &self.ranges, &self.times);
        let qualities = self.quality.qualities();
        match &self.values {
            Values::Raw(values) => block(&Block { kind, ranges, times, qualities, values }),
            Values::Items(items) => {
                let rows = times.iter().flat_map(|time_ns| {
                    ranges.iter().cloned().flatten().map(move |index| (*time_ns, index))
                });
                let all =
                    rows.zip(items).enumerate().map(|(position, ((time_ns, index), value))| {
                        let (quality, value) = (qualities.get(position), value.view());
                        Sample { index, time_ns, quality, value }
                    });
                samples(&mut all.collect::<Vec<_>>())
            }
        }
    }
}

/// Numbers of a fixed width, little endian.
fn numbers<'a, const WIDTH: usize, T: 'a>(
    bytes: &'a [u8],
    what: &str,
    read: fn([u8; WIDTH]) -> T,
) -> PyResult<impl Iterator<Item = T> + 'a> {
    let chunks = bytes.chunks_exact(WIDTH);
    if !chunks.remainder().is_empty() {
        let text = format!("{what} numbers of {WIDTH} bytes, not {} bytes", bytes.len());
        return Err(FrameError::new_err(text));
    }
    Ok(chunks.map(move |chunk| read(chunk.try_into().expect("as wide"))))
}

/// Indices of 32 bits, ascending, as ranges.
fn ranges_of(bytes: &[u8]) -> PyResult<Vec<Range<u32>>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    let mut open = 0..0;
    for index in numbers(bytes, "indices are", u32::from_le_bytes)? {
        if index == open.end && index < u32::MAX {
            open.end += 1;
            continue;
        }
        if index == u32::MAX {
            return Err(FrameError::new_err(format!("{index} is no index")));
        }
        if index < open.end {
            return Err(FrameError::new_err("indices must ascend, each once"));
        }
        ranges.extend(Some(open).filter(|open| !open.is_empty()));
        open = index..index + 1;
    }
    ranges.extend(Some(open).filter(|open| !open.is_empty()));
    Ok(ranges)
}
