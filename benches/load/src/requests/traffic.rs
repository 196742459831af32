//! Requests and answers of all pairs: as fast as windows allow, or each at its time.

use std::num::NonZeroU64;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mio::{Events, Token};

use super::arguments::RequestsArguments;
use super::pairs::ConnectedPairs;
use super::schedule::{RequestSchedule, WakeTimer};
use super::wire::RequestEnd;
use crate::Result;
use crate::dial::{PATIENCE, wait};
use crate::percentiles::Percentiles;
use crate::receive_buffer::scratch;
use crate::run_report::RunReport;
use crate::standard_input;
use crate::window::LoadWindow;

/// Silence after which requests count as lost, if some may be.
const SILENCE: Duration = Duration::from_secs(2);
/// How often to check for the end when nothing arrives.
const LOOK: Duration = Duration::from_millis(20);
/// When a request of the warm-up was asked: it is not timed.
pub const NOT_TIMED: u64 = 0;

/// How requests have ended so far.
#[derive(Default)]
struct EndTally {
    answered: u64,
    failed: u64,
    /// The broker's word for the first that failed.
    failure: String,
    times_ns: Vec<u64>,
}

impl EndTally {
    fn take(&mut self, asked_ns: u64, end: &RequestEnd<'_>, now_ns: u64) {
        match end {
            RequestEnd::Answered => {
                self.answered += 1;
                if asked_ns != NOT_TIMED {
                    self.times_ns.push(now_ns.saturating_sub(asked_ns));
                }
            }
            RequestEnd::Failed(word) => {
                self.failed += 1;
                if self.failure.is_empty() {
                    self.failure = (*word).into();
                }
            }
        }
    }
}

/// A run.
pub struct RequestTraffic {
    pairs: ConnectedPairs,
    clock: Instant,
    tally: EndTally,
    scratch: Vec<u8>,
    heard: Instant,
    may_miss: bool,
    late_ns: Vec<u64>,
}

impl RequestTraffic {
    pub fn new(pairs: ConnectedPairs, may_miss: bool) -> Self {
        let now = Instant::now();
        Self {
            pairs,
            clock: now,
            tally: EndTally::default(),
            scratch: scratch(),
            heard: now,
            may_miss,
            late_ns: Vec::new(),
        }
    }

    fn now_ns(&self) -> u64 {
        self.clock.elapsed().as_nanos() as u64
    }

    /// Every asker has as many requests open as its window allows, until all have ended.
    pub fn saturate(&mut self, arguments: &RequestsArguments) -> Result<()> {
        let (window, burst) = (u64::from(arguments.window), arguments.burst);
        let mut windows: Vec<LoadWindow> = self
            .pairs
            .askers
            .iter()
            .map(|_| LoadWindow::new(window, burst, arguments.requests))
            .collect();
        for (number, one) in windows.iter_mut().enumerate() {
            self.ask_more(number, one, window)?;
        }
        let mut events = Events::with_capacity(1_024);
        while windows.iter().any(|one| !one.is_finished()) {
            wait(&mut self.pairs.poll, &mut events, Some(LOOK))?;
            for event in &events {
                if let Some(asker) = self.attend(event.token(), event.is_readable())? {
                    self.ask_more(asker, &mut windows[asker], window)?;
                }
            }
            if self.is_silent()? {
                break;
            }
        }
        Ok(())
    }

    fn ask_more(&mut self, number: usize, window: &mut LoadWindow, most: u64) -> Result<()> {
        let now_ns = self.now_ns();
        let asker = &mut self.pairs.askers[number];
        window.set_returned(asker.open.ended())?;
        while asker.unacked() < most {
            let Some(burst) = window.take_burst() else { break };
            for _ in 0..burst {
                asker.ask(now_ns);
            }
        }
        asker.flush()
    }

    /// Every request is asked at its time, however many are open.
    pub fn pace(&mut self, arguments: &RequestsArguments) -> Result<()> {
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
        let closed = arguments.hold.then(standard_input::closed);
        let mut schedule = RequestSchedule::new(arguments, self.now_ns());
        let timer = WakeTimer::new(&self.pairs.poll)?;
        let mut events = Events::with_capacity(1_024);
        let mut is_told = closed.is_none();
        loop {
            let is_over =
                closed.as_ref().is_some_and(|flag| is_told && flag.load(Ordering::Relaxed));
            self.ask_due(&mut schedule, is_over)?;
            if !is_told && schedule.is_warm() {
                is_told = true;
                RunReport::default().number("warm_up", schedule.asked()).print();
            }
            if schedule.is_finished() && self.open() == 0 || self.is_silent()? {
                return Ok(());
            }
            timer.arm(schedule.next_due_ns().map(|due| due.saturating_sub(self.now_ns())))?;
            wait(&mut self.pairs.poll, &mut events, Some(LOOK))?;
            for event in &events {
                if event.token() == WakeTimer::TOKEN {
                    timer.clear();
                } else {
                    self.attend(event.token(), event.is_readable())?;
                }
            }
        }
    }

    fn ask_due(&mut self, schedule: &mut RequestSchedule, is_over: bool) -> Result<()> {
        if is_over {
            schedule.finish();
        }
        let (now_ns, pairs) = (self.now_ns(), self.pairs.askers.len());
        let first = schedule.asked() as usize;
        while let Some(due) = schedule.take_due(now_ns) {
            self.late_ns.push(now_ns - due.at_ns);
            let stamp_ns = if due.is_timed { due.at_ns } else { NOT_TIMED };
            self.pairs.askers[due.number as usize % pairs].ask(stamp_ns);
            self.heard = Instant::now();
        }
        for number in first..(schedule.asked() as usize).min(first + pairs) {
            self.pairs.askers[number % pairs].flush()?;
        }
        Ok(())
    }

    /// Reads and writes for one client. Returns the asker it is.
    fn attend(&mut self, token: Token, is_readable: bool) -> Result<Option<usize>> {
        let services = self.pairs.services.len();
        if token.0 < services {
            self.pairs.services[token.0].attend(is_readable, &mut self.scratch)?;
            return Ok(None);
        }
        let asker = &mut self.pairs.askers[token.0 - services];
        asker.flush()?;
        if is_readable {
            self.heard = Instant::now();
            let (tally, now_ns) = (&mut self.tally, self.clock.elapsed().as_nanos() as u64);
            asker.receive(&mut self.scratch, &mut |asked_ns, end| {
                tally.take(asked_ns, end, now_ns);
                Ok(())
            })?;
        }
        Ok(Some(token.0 - services))
    }

    fn open(&self) -> u64 {
        self.pairs.askers.iter().map(|asker| asker.open.open()).sum()
    }

    fn asked(&self) -> u64 {
        self.pairs.askers.iter().map(|asker| asker.open.asked()).sum()
    }

    /// Whether nothing more is to be expected. If every request must have an answer, that is an error.
    fn is_silent(&self) -> Result<bool> {
        let silence = self.heard.elapsed();
        if self.tally.failed > 0 && !self.may_miss {
            return Err(format!("a request ended without an answer: {}", self.tally.failure).into());
        }
        if silence > PATIENCE && !self.may_miss {
            let (answered, asked) = (self.tally.answered, self.asked());
            return Err(format!("nothing for {PATIENCE:?}: {answered} of {asked} answered").into());
        }
        Ok(self.may_miss && silence > SILENCE)
    }

    pub fn report(self, elapsed: Duration) -> RunReport {
        let (asked, open) = (self.asked(), self.open());
        let times = Percentiles::of(self.tally.times_ns);
        RunReport::default()
            .number("requests", asked)
            .number("answered", self.tally.answered)
            .number("failed", self.tally.failed)
            .number("lost", open)
            .text("failure", &self.tally.failure.replace(['"', '\\'], "'"))
            .seconds("seconds", elapsed)
            .rate("per_second", self.tally.answered, elapsed)
            .microseconds("mean_us", times.mean())
            .percentiles(&times)
            .microseconds("late_p99_us", Percentiles::of(self.late_ns).per_mille(990))
    }
}
