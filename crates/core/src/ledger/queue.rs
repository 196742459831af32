//! The queue of one session as the records describe it: spans of offsets, in the order of delivery.

use std::collections::VecDeque;
use std::ops::Range;

use slipring_wire::QoS;

use super::span::DeliverySpan;
use crate::Offset;

/// The queued messages, the oldest first. An offset may be in it more than once. Spans that can be
/// joined are joined, so that equal queues compare equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeptQueue {
    pub spans: VecDeque<DeliverySpan>,
}

impl KeptQueue {
    pub(super) fn push(&mut self, span: DeliverySpan) {
        if !self.spans.back_mut().is_some_and(|last| last.extend(&span)) {
            self.spans.push_back(span);
        }
    }

    /// Takes out the first message of this QoS at each of these offsets, and gives it to `taken`.
    /// Offsets that are not queued are skipped.
    pub(super) fn take(
        &mut self,
        offsets: Range<Offset>,
        qos: QoS,
        mut taken: impl FnMut(DeliverySpan),
    ) {
        let (mut wanted, mut others) = (offsets, Vec::new());
        let mut at = 0;
        while at < self.spans.len() {
            let span = &self.spans[at];
            let hit = overlap(&wanted, &span.offsets()).filter(|_| span.manner.qos == qos);
            let Some(found) = hit else {
                // A hit in the middle splits the wanted range; this looks for the other parts.
                match others.iter().position(|other| overlap(other, &span.offsets()).is_some()) {
                    Some(other) if span.manner.qos == qos => {
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
            at = at.saturating_sub(1); // the rest may have joined the span before
            if wanted.is_empty() {
                let Some(other) = others.pop() else { return };
                wanted = other;
            }
        }
    }

    /// Takes offsets out of a span.
    fn cut(&mut self, at: usize, found: &Range<Offset>) -> DeliverySpan {
        let span = &mut self.spans[at];
        let (start, end) = (span.first, span.offsets().end);
        let part = span.part(found.clone()).expect("within the span");
        let (before, after) = (span.part(start..found.start), span.part(found.end..end));
        match (before, after) {
            (None, None) => drop(self.spans.remove(at)),
            (Some(left), None) | (None, Some(left)) => *span = left,
            (Some(before), Some(after)) => {
                *span = before;
                self.spans.insert(at + 1, after);
            }
        }
        self.join(at);
        self.join(at.wrapping_sub(1));
        part
    }

    /// Joins a span and the next one, if they now touch.
    fn join(&mut self, at: usize) {
        let Some(next) = self.spans.get(at.wrapping_add(1)).cloned() else { return };
        if self.spans.get_mut(at).is_some_and(|span| span.extend(&next)) {
            self.spans.remove(at + 1);
        }
    }
}

fn overlap(one: &Range<Offset>, other: &Range<Offset>) -> Option<Range<Offset>> {
    let both = one.start.max(other.start)..one.end.min(other.end);
    (!both.is_empty()).then_some(both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::DeliveryManner;
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

    fn span(first: u64, count: u32, qos: QoS) -> DeliverySpan {
        let manner = Arc::new(DeliveryManner::plain(qos));
        DeliverySpan { first: Offset::new(first), count, bytes: 10, manner }
    }

    fn each(span: &DeliverySpan) -> impl Iterator<Item = (u64, QoS)> {
        let qos = span.manner.qos;
        let offsets = span.offsets();
        (offsets.start.get()..offsets.end.get()).map(move |offset| (offset, qos))
    }

    proptest! {
        #[test]
        fn spans_equal_a_plain_list_of_messages(history in prop::collection::vec(step(), 0..60)) {
            let (mut queue, mut naive) = (KeptQueue::default(), Vec::new());
            for step in history {
                match step {
                    Step::Push { first, count, qos } => {
                        queue.push(span(first, count, qos));
                        naive.extend(each(&span(first, count, qos)));
                    }
                    Step::Take { first, count, qos } => {
                        let (mut taken, mut expected) = (Vec::new(), Vec::new());
                        let offsets = Offset::new(first)..Offset::new(first + count);
                        queue.take(offsets, qos, |span| taken.extend(each(&span)));
                        for offset in first..first + count {
                            if let Some(at) = naive.iter().position(|found| *found == (offset, qos)) {
                                expected.push(naive.remove(at));
                            }
                        }
                        taken.sort_unstable();
                        prop_assert_eq!(taken, expected);
                    }
                }
                prop_assert_eq!(queue.spans.iter().flat_map(each).collect::<Vec<_>>(), naive.clone());
                let mut fresh = KeptQueue::default();
                for (offset, qos) in &naive {
                    fresh.push(span(*offset, 1, *qos));
                }
                prop_assert_eq!(&queue, &fresh);
            }
        }
    }

    #[test]
    fn a_million_messages_in_turn_are_one_span_and_others_take_few_bytes_each() {
        let mut queue = KeptQueue::default();
        for offset in 0..1_000_000 {
            queue.push(span(offset, 1, QoS::AtLeastOnce));
        }
        assert_eq!(queue.spans.len(), 1);
        assert_eq!(size_of::<DeliverySpan>(), 24);
    }
}
