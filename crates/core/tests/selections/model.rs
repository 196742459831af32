//! A simple model of what subscribers should have received: lists of all samples.

use std::collections::HashMap;

use slipring_core::table::{Deadband, Needs};
use slipring_wire::frame::Quality;

use crate::packets::{Heard, Received};

/// One selection of one subscriber.
#[derive(Debug)]
pub struct Watch {
    pub subscriber: u64,
    pub filter: String,
    pub identifier: u32,
    pub needs: Needs,
    pub packet_bytes_max: usize,
    pub chosen: Vec<u32>,
    /// Every sample of the chosen parameters since the join, the first values first.
    pub due: HashMap<u32, Vec<Received>>,
}

#[derive(Debug, Default)]
pub struct Model {
    pub newest: HashMap<u32, Received>,
    pub watches: Vec<Watch>,
}

impl Model {
    pub fn sample(&mut self, sample: &Received) {
        self.newest.insert(sample.index, sample.clone());
        for watch in self.watches.iter_mut().filter(|watch| watch.chosen.contains(&sample.index)) {
            watch.due.entry(sample.index).or_default().push(sample.clone());
        }
    }

    /// Gives known parameters this quality of a stale value, if they have another one.
    pub fn stale(&mut self, indices: impl Iterator<Item = u32>, quality: Quality, time_ns: i64) {
        for index in indices {
            let Some(newest) = self.newest.get(&index) else { continue };
            if newest.quality != quality {
                let stale = Received { time_ns, quality, ..newest.clone() };
                self.sample(&stale);
            }
        }
    }

    pub fn leave(&mut self, subscriber: u64, filter: &str) {
        self.watches.retain(|watch| watch.subscriber != subscriber || watch.filter != filter);
    }

    /// Adds a selection; returns the first values it must get.
    pub fn join(&mut self, mut watch: Watch) -> Vec<Received> {
        self.leave(watch.subscriber, &watch.filter);
        let first: Vec<Received> =
            watch.chosen.iter().filter_map(|index| self.newest.get(index)).cloned().collect();
        for sample in &first {
            watch.due.insert(sample.index, vec![sample.clone()]);
        }
        self.watches.push(watch);
        first
    }

    /// Selections choose other parameters; the newest values of added ones are due.
    pub fn choose(&mut self, choose: impl Fn(&str) -> Vec<u32>) {
        for watch in &mut self.watches {
            let chosen = choose(&watch.filter);
            for index in chosen.iter().filter(|index| !watch.chosen.contains(index)) {
                if let Some(newest) = self.newest.get(index) {
                    watch.due.entry(*index).or_default().push(newest.clone());
                }
            }
            watch.chosen = chosen;
        }
    }
}

impl Watch {
    /// Checks what this selection has received, when nothing more is due. If messages were lost on their way, the
    /// received samples are a part of the due ones and end with the newest values.
    pub fn check(&self, heard: &[Heard], newest: &HashMap<u32, Received>, lost: bool) {
        let mine: Vec<&Heard> =
            heard.iter().filter(|heard| heard.identifier == self.identifier).collect();
        assert!(mine.iter().all(|heard| heard.bytes <= self.packet_bytes_max), "packet too large");
        let sequence = mine.iter().filter_map(|heard| heard.header).map(|header| header.sequence);
        if lost {
            assert!(sequence.is_sorted_by(|a, b| a < b), "a sequence goes on");
        } else {
            let frames = sequence.clone().count() as u32;
            assert!(sequence.eq(0..frames), "the sequence has a gap");
        }
        let mut got: HashMap<u32, Vec<Received>> = HashMap::new();
        for sample in mine.iter().flat_map(|heard| &heard.samples) {
            got.entry(sample.index).or_default().push(sample.clone());
        }
        let nothing = Vec::new();
        for (index, got) in &got {
            let due = self.due.get(index).unwrap_or(&nothing);
            let fits = if lost { goes_on(got, due) } else { is_part(got, due) };
            assert!(fits, "{self:?}: {index} was not due:\n{got:?}\n{due:?}");
        }
        for (index, due) in &self.due {
            let got = got.get(index).unwrap_or(&nothing);
            if self.needs.rate_mhz.is_none() && !self.needs.compares() && !lost {
                assert_eq!(got, due, "{self:?}");
            } else if self.chosen.contains(index) {
                let (end, newest) = (got.last().expect("a first value"), &newest[index]);
                assert!(self.is_near(end, newest), "{self:?}: {end:?} {newest:?}");
            }
        }
    }

    fn is_near(&self, last: &Received, newest: &Received) -> bool {
        if !self.needs.compares() {
            return last == newest;
        }
        let same = last.value == newest.value;
        let numbers = (last.value.parse::<f64>(), newest.value.parse::<f64>());
        let near = match (self.needs.deadband, numbers) {
            (Some(Deadband::Absolute(band)), (Ok(a), Ok(b))) => (a - b).abs() <= band.get(),
            (Some(Deadband::Percent(band)), (Ok(a), Ok(b))) => {
                (a - b).abs() <= band.get() / 100.0 * a.abs()
            }
            _ => false,
        };
        last.quality == newest.quality && (same || near)
    }
}

/// Whether `part` is a subsequence of `whole`.
fn is_part(part: &[Received], whole: &[Received]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|sample| whole.any(|other| other == sample))
}

/// Whether `part` is a subsequence of `whole` in which samples may repeat.
fn goes_on(part: &[Received], whole: &[Received]) -> bool {
    let mut rest = whole;
    part.iter().all(|sample| {
        let at = rest.iter().position(|other| other == sample);
        rest = &rest[at.unwrap_or(rest.len())..];
        at.is_some()
    })
}
