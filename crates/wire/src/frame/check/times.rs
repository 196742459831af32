//! Reads the times of a run, and so how many samples it has.

use super::{FaultAt, RunReader};
use crate::frame::Fault;
use crate::frame::run::{Layout, RunTimes};
use crate::frame::varint::{self, Varints};

/// How many samples a run has, and their times. A claimed number is checked against the limit before it is
/// used.
pub(super) fn read<'a>(
    reader: &mut RunReader<'a>,
    layout: Layout,
    time_ns: i64,
    parameters: usize,
    samples_max: usize,
) -> Result<(usize, RunTimes<'a>), FaultAt> {
    let one =
        RunTimes { rows: 1, counts: &[], deltas: &[], oldest_ns: time_ns, newest_ns: time_ns };
    let start = reader.at;
    let (samples, times) = match layout {
        Layout::One => (Some(parameters), one),
        Layout::Grid => read_rows(reader, one, parameters)?,
        Layout::Ragged => read_counts(reader, one, parameters)?,
    };
    let samples = samples.filter(|samples| *samples <= samples_max);
    let samples = samples.ok_or((Fault::Samples, start))?;
    match layout {
        Layout::One => Ok((samples, times)),
        Layout::Grid => Ok((samples, read_grid_times(reader, times, time_ns)?)),
        Layout::Ragged => Ok((samples, read_ragged_times(reader, times, time_ns, samples)?)),
    }
}

type Counted<'a> = (Option<usize>, RunTimes<'a>);

fn read_rows<'a>(
    reader: &mut RunReader<'a>,
    times: RunTimes<'a>,
    parameters: usize,
) -> Result<Counted<'a>, FaultAt> {
    let start = reader.at;
    let rows = reader.varint(u32::MAX.into())? as usize;
    if rows == 0 {
        return Err((Fault::Empty, start));
    }
    Ok((rows.checked_mul(parameters), RunTimes { rows, ..times }))
}

fn read_counts<'a>(
    reader: &mut RunReader<'a>,
    times: RunTimes<'a>,
    parameters: usize,
) -> Result<Counted<'a>, FaultAt> {
    let mut samples = Some(0usize);
    let counts = reader.varints(parameters, u32::MAX.into(), |count| {
        samples = samples.and_then(|sum| sum.checked_add(count as usize));
        if count == 0 { Err(Fault::Empty) } else { Ok(()) }
    })?;
    Ok((samples, RunTimes { rows: 0, counts, ..times }))
}

fn read_grid_times<'a>(
    reader: &mut RunReader<'a>,
    times: RunTimes<'a>,
    base_ns: i64,
) -> Result<RunTimes<'a>, FaultAt> {
    let mut clock = TimeCheck::new(base_ns);
    let deltas = reader.varints(times.rows, u64::MAX, |delta| clock.step(delta))?;
    Ok(RunTimes { deltas, oldest_ns: clock.oldest, newest_ns: clock.newest, ..times })
}

fn read_ragged_times<'a>(
    reader: &mut RunReader<'a>,
    times: RunTimes<'a>,
    base_ns: i64,
    samples: usize,
) -> Result<RunTimes<'a>, FaultAt> {
    let (mut counts, mut left) = (Varints::new(times.counts), 0);
    let mut clock = TimeCheck::new(base_ns);
    let deltas = reader.varints(samples, u64::MAX, |delta| {
        if left == 0 {
            left = counts.next().unwrap_or(1);
            clock.begin();
        }
        left -= 1;
        clock.step(delta)
    })?;
    Ok(RunTimes { deltas, oldest_ns: clock.oldest, newest_ns: clock.newest, ..times })
}

/// Checks that the times of a parameter do not go back.
struct TimeCheck {
    now_ns: i64,
    last: Option<i64>,
    oldest: i64,
    newest: i64,
}

impl TimeCheck {
    fn new(base_ns: i64) -> Self {
        Self { now_ns: base_ns, last: None, oldest: i64::MAX, newest: i64::MIN }
    }

    /// Begins another parameter, whose samples may be older than those of the one before.
    fn begin(&mut self) {
        self.last = None;
    }

    #[inline]
    fn step(&mut self, delta: u64) -> Result<(), Fault> {
        self.now_ns = self.now_ns.wrapping_add(varint::unfold(delta));
        if self.last.is_some_and(|last| self.now_ns < last) {
            return Err(Fault::Times);
        }
        self.last = Some(self.now_ns);
        self.oldest = self.oldest.min(self.now_ns);
        self.newest = self.newest.max(self.now_ns);
        Ok(())
    }
}
