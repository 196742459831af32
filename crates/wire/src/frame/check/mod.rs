//! Decodes and checks one run. Work and memory are bounded by the number of bytes, never by what they claim.

mod times;
mod values;

use super::run::{Layout, Qualities, RunView};
use super::varint::{self, Unreadable};
use super::{Fault, Kind, Quality};

pub(in crate::frame) use values::take_values;

/// Bytes of a run before its ranges.
pub(in crate::frame) const RUN_HEAD: usize = 24;
/// Bytes of the smallest run.
pub(in crate::frame) const RUN_BYTES_MIN: usize = 40;

/// What is wrong, and at which byte from the start of what was read.
pub(in crate::frame) type FaultAt = (Fault, usize);

/// Reads the parts of one run.
struct RunReader<'a> {
    run: &'a [u8],
    at: usize,
}

impl<'a> RunReader<'a> {
    fn fault(&self, fault: Fault) -> FaultAt {
        (fault, self.at)
    }

    /// The parts of the run are longer than its length.
    fn short(&self) -> FaultAt {
        self.fault(Fault::RunBytes(self.run.len() as u32))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], FaultAt> {
        let taken = self.run[self.at..].get(..length).ok_or_else(|| self.short())?;
        self.at += length;
        Ok(taken)
    }

    #[inline]
    fn varint(&mut self, max: u64) -> Result<u64, FaultAt> {
        match varint::read(&self.run[self.at..]) {
            Ok((value, length)) if value <= max => {
                self.at += length;
                Ok(value)
            }
            Err(Unreadable::Cut) => Err(self.short()),
            Ok(_) | Err(Unreadable::Wrong) => Err(self.fault(Fault::Varint)),
        }
    }

    /// Reads consecutive numbers, and calls `see` with each. Returns their bytes.
    fn varints(
        &mut self,
        count: usize,
        max: u64,
        mut see: impl FnMut(u64) -> Result<(), Fault>,
    ) -> Result<&'a [u8], FaultAt> {
        let start = self.at;
        for _ in 0..count {
            let position = self.at;
            let number = self.varint(max)?;
            see(number).map_err(|fault| (fault, position))?;
        }
        Ok(&self.run[start..self.at])
    }

    fn pad(&mut self) -> Result<(), FaultAt> {
        let padding = self.take(self.at.next_multiple_of(8) - self.at)?;
        if padding.iter().any(|byte| *byte != 0) {
            return Err((Fault::NotZero, self.at - padding.len()));
        }
        Ok(())
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap_or_default())
}

pub(in crate::frame) fn i64_at(bytes: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

/// Decodes the run at the start of `body`. The bytes of faults count from there.
pub(in crate::frame) fn read_run(body: &[u8], samples_max: usize) -> Result<RunView<'_>, FaultAt> {
    let head = body.get(..RUN_HEAD).ok_or((Fault::Cut, body.len()))?;
    let kind = Kind::from_code(head[0]).ok_or((Fault::Kind(head[0]), 0))?;
    let layout = Layout::from_code(head[1]).ok_or((Fault::Layout(head[1]), 1))?;
    if head[3] != 0 {
        return Err((Fault::NotZero, 3));
    }
    let length = u32_at(head, 4);
    if length % 8 != 0 || (length as usize) < RUN_BYTES_MIN {
        return Err((Fault::RunBytes(length), 4));
    }
    let run = body.get(..length as usize).ok_or((Fault::Cut, body.len()))?;
    let time_ns = i64_at(head, 16);
    let mut reader = RunReader { run, at: RUN_HEAD };
    let (parameters, ranges) = read_ranges(&mut reader, u32_at(head, 8), u32_at(head, 12))?;
    let (samples, times) = times::read(&mut reader, layout, time_ns, parameters, samples_max)?;
    let qualities = read_qualities(&mut reader, head[2], samples)?;
    reader.pad()?;
    let rows = times.rows.max(1);
    let values = values::read(&mut reader, kind, rows, samples / rows)?;
    reader.pad()?;
    if reader.at != run.len() {
        return Err(reader.short());
    }
    Ok(RunView {
        kind,
        layout,
        time_ns,
        parameters,
        bytes: run,
        ranges,
        times,
        samples,
        qualities,
        values,
    })
}

/// Reads the ranges: they ascend, neither overlap nor touch, and add up to the run's number of parameters.
fn read_ranges<'a>(
    reader: &mut RunReader<'a>,
    parameters: u32,
    ranges: u32,
) -> Result<(usize, &'a [u8]), FaultAt> {
    if parameters == 0 || ranges == 0 {
        return Err((Fault::Empty, 8));
    }
    let (mut end, mut found, mut is_gap, mut is_first) = (0u32, 0u32, true, true);
    let numbers = (ranges as usize).saturating_mul(2);
    let bytes = reader.varints(numbers, u32::MAX.into(), |number| {
        let number = number as u32;
        let next = if is_gap {
            let touches = number == 0 && !is_first;
            end.checked_add(number).filter(|_| !touches)
        } else {
            found =
                number.checked_add(1).and_then(|n| found.checked_add(n)).ok_or(Fault::Ranges)?;
            number.checked_add(1).and_then(|length| end.checked_add(length))
        };
        end = next.filter(|_| found <= parameters).ok_or(Fault::Ranges)?;
        (is_gap, is_first) = (!is_gap, false);
        Ok(())
    })?;
    if found != parameters {
        return Err((Fault::Ranges, 8));
    }
    Ok((parameters as usize, bytes))
}

fn read_qualities<'a>(
    reader: &mut RunReader<'a>,
    form: u8,
    samples: usize,
) -> Result<Qualities<'a>, FaultAt> {
    match form {
        0 => Ok(Qualities::All(Quality::GOOD)),
        1 => Ok(Qualities::All(Quality(reader.take(1)?[0]))),
        2 => Ok(Qualities::Each(reader.take(samples)?)),
        _ => Err((Fault::Qualities(form), 2)),
    }
}
