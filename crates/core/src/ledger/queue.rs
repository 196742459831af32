//! The queue of one session as the journal knows it: places in the order they were delivered.

use std::collections::VecDeque;
use std::ops::Range;

use slipring_wire::QoS;

use super::run::Run;

/// What waits, the oldest first. An offset may be there more than once. Runs that can be one are one,
/// so that equal queues are equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Queue {
    runs: VecDeque<Run>,
}

impl Queue {
    pub fn push(&mut self, run: Run) {
        if !self.runs.back_mut().is_some_and(|last| last.extend(&run)) {
            self.runs.push_back(run);
        }
    }

    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter()
    }

    /// Takes out the first message of this quality at each of these offsets; what is not there is
    /// passed over. What was taken goes to `taken`.
    pub fn take(&mut self, offsets: Range<u64>, qos: QoS, mut taken: impl FnMut(Run)) {
        let (mut wanted, mut others) = (offsets, Vec::new());
        let mut at = 0;
        while at < self.runs.len() {
            let run = &self.runs[at];
            let hit = overlap(&wanted, &run.offsets()).filter(|_| run.manner.qos == qos);
            let Some(found) = hit else {
                // What is wanted after a first hit is in several parts, each looked for here.
                match others.iter().position(|other| overlap(other, &run.offsets()).is_some()) {
                    Some(other) if run.manner.qos == qos => {
                        std::mem::swap(&mut wanted, &mut others[other]);
                    }
                    _ => at += 1,
                }
                continue;
            };
            let before = wanted.start..found.start;
            wanted.start = found.end;
            others.extend((!before.is_empty()).then_some(before));
            taken(self.cut(at, &found));
            at = at.saturating_sub(1); // what was cut may have joined the run before
            if wanted.is_empty() {
                let Some(other) = others.pop() else { return };
                wanted = other;
            }
        }
    }

    /// Takes offsets out of a run.
    fn cut(&mut self, at: usize, found: &Range<u64>) -> Run {
        let run = &mut self.runs[at];
        let (start, end) = (run.first, run.offsets().end);
        let part = run.part(found.clone()).expect("within the run");
        let (before, after) = (run.part(start..found.start), run.part(found.end..end));
        match (before, after) {
            (None, None) => drop(self.runs.remove(at)),
            (Some(left), None) | (None, Some(left)) => *run = left,
            (Some(before), Some(after)) => {
                *run = before;
                self.runs.insert(at + 1, after);
            }
        }
        self.join(at);
        self.join(at.wrapping_sub(1));
        part
    }

    /// Makes one of a run and the next, if they have come to touch each other.
    fn join(&mut self, at: usize) {
        let Some(next) = self.runs.get(at.wrapping_add(1)).cloned() else { return };
        if self.runs.get_mut(at).is_some_and(|run| run.extend(&next)) {
            self.runs.remove(at + 1);
        }
    }
}

fn overlap(one: &Range<u64>, other: &Range<u64>) -> Option<Range<u64>> {
    let both = one.start.max(other.start)..one.end.min(other.end);
    (!both.is_empty()).then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Manner;
    use proptest::prelude::*;
    use std::sync::Arc;

    #[derive(Clone, Debug)]
    enum Step {
        Push { first: u64, count: u32, qos: QoS },
        Take { first: u64, count: u64, qos: QoS },
    }

    fn step() -> impl Strategy<Value = Step> {
        let qos = || prop_oneof![Just(QoS::AtLeastOnce), Just(QoS::ExactlyOnce)];
        prop_oneof![
            (0u64..20, 1u32..6, qos()).prop_map(|(first, count, qos)| Step::Push {
                first,
                count,
                qos
            }),
            (0u64..20, 1u64..8, qos()).prop_map(|(first, count, qos)| Step::Take {
                first,
                count,
                qos
            }),
        ]
    }

    fn run(first: u64, count: u32, qos: QoS) -> Run {
        let manner = Arc::new(Manner { qos, retain: false, identifiers: None });
        Run { first, count, bytes: 10, manner }
    }

    fn each(run: &Run) -> impl Iterator<Item = (u64, QoS)> {
        let qos = run.manner.qos;
        run.offsets().map(move |offset| (offset, qos))
    }

    proptest! {
        #[test]
        fn runs_equal_a_plain_list_of_messages(history in prop::collection::vec(step(), 0..60)) {
            let (mut queue, mut naive) = (Queue::default(), Vec::new());
            for step in history {
                match step {
                    Step::Push { first, count, qos } => {
                        queue.push(run(first, count, qos));
                        naive.extend(each(&run(first, count, qos)));
                    }
                    Step::Take { first, count, qos } => {
                        let (mut taken, mut expected) = (Vec::new(), Vec::new());
                        queue.take(first..first + count, qos, |run| taken.extend(each(&run)));
                        for offset in first..first + count {
                            if let Some(at) = naive.iter().position(|found| *found == (offset, qos)) {
                                expected.push(naive.remove(at));
                            }
                        }
                        taken.sort_unstable();
                        prop_assert_eq!(taken, expected);
                    }
                }
                prop_assert_eq!(queue.runs().flat_map(each).collect::<Vec<_>>(), naive.clone());
                let mut fresh = Queue::default();
                for (offset, qos) in &naive {
                    fresh.push(run(*offset, 1, *qos));
                }
                prop_assert_eq!(&queue, &fresh);
            }
        }
    }

    #[test]
    fn a_million_messages_in_turn_take_one_place_and_others_few_bytes_each() {
        let mut queue = Queue::default();
        for offset in 0..1_000_000 {
            queue.push(run(offset, 1, QoS::AtLeastOnce));
        }
        assert_eq!(queue.runs.len(), 1);
        assert_eq!(size_of::<Run>(), 24);
    }
}
