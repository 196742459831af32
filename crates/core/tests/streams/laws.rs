//! The laws of streams: a reader that keeps up gets every chunk from its start on; a slow one sees each gap; buffers
//! stay within their limits; indices never change.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use slipring_core::desk::Desk;
use slipring_core::ledger::{BatchHead, Ledger};
use slipring_core::streams::Streams;
use slipring_core::table::ClockReading;
use slipring_core::{SessionKey, StreamIndex};

use crate::world::{PUBLISHER, asked, declare, follow, push, requester, streams, take};

const NAMES: [&str; 3] = ["a/sound", "a/video", "b/sound"];
const FILTERS: [&str; 4] = ["#", "a/#", "+/sound", "b/sound"];
/// The first session of a reader.
const READERS: u64 = 10;

#[derive(Clone, Debug)]
enum Step {
    Push { stream: usize, bytes: usize },
    Follow { reader: u64, filter: usize, newest: bool },
    Unfollow { reader: u64, filter: usize },
    Leave { reader: u64 },
    Take { reader: u64, room: usize },
    Resize { stream: usize, bytes: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let (reader, filter) = (READERS..READERS + 3, 0usize..FILTERS.len());
    prop_oneof![
        8 => (0usize..3, 0usize..900).prop_map(|(stream, bytes)| Step::Push { stream, bytes }),
        3 => (reader.clone(), filter.clone(), any::<bool>())
            .prop_map(|(reader, filter, newest)| Step::Follow { reader, filter, newest }),
        1 => (reader.clone(), filter).prop_map(|(reader, filter)| Step::Unfollow { reader, filter }),
        1 => reader.clone().prop_map(|reader| Step::Leave { reader }),
        4 => (reader, 0usize..3_000).prop_map(|(reader, room)| Step::Take { reader, room }),
        1 => (0usize..3, 1_024usize..4_096).prop_map(|(stream, bytes)| Step::Resize { stream, bytes }),
    ]
}

/// The position of one subscription.
#[derive(Debug, Default)]
struct Reading {
    /// The next chunk of each stream.
    next: BTreeMap<String, u64>,
}

#[derive(Debug, Default)]
struct Model {
    /// How many chunks each stream had.
    pushed: HashMap<String, u64>,
    readings: HashMap<(u64, &'static str), Reading>,
    lost: u64,
}

impl Model {
    /// Takes chunks for a reader and checks them; returns whether more wait for it.
    fn take(&mut self, streams: &mut Streams, reader: u64, room: usize) -> bool {
        let (served, all) = take(streams, reader, room);
        assert_eq!(served.chunks, all.len() as u64);
        let mut lost = 0;
        for got in &all {
            assert_eq!(got.identifier, Some(reader as u32));
            assert_eq!(got.time, got.sequence, "the chunk is another one");
            // Overlapping filters have the same identifier: each is served in order.
            let mine = self.readings.iter_mut().filter(|((session, filter), reading)| {
                *session == reader
                    && slipring_wire::matches(filter, &got.topic)
                    && reading.next.get(&got.topic).is_some_and(|next| *next <= got.sequence)
            });
            let next = mine.filter_map(|(_, reading)| reading.next.get_mut(&got.topic));
            let next = next.min_by_key(|next| **next).expect("nobody asked for it");
            lost += got.sequence - *next;
            *next = got.sequence + 1;
        }
        assert_eq!(served.lost, lost);
        self.lost += lost;
        served.has_more
    }

    fn run(&mut self, streams: &mut Streams, step: &Step, overlap: bool) {
        match *step {
            Step::Push { stream, bytes } => {
                let next = self.pushed.entry(NAMES[stream].to_owned()).or_default();
                let index = streams.catalog().index_of(NAMES[stream]).unwrap();
                push(streams, index, *next, bytes);
                *next += 1;
            }
            Step::Follow { reader, filter, newest } => {
                let filter = FILTERS[filter];
                if !overlap {
                    streams.leave(SessionKey::new(reader), true, ClockReading::default());
                    self.readings.retain(|(session, _), _| *session != reader);
                }
                follow(streams, reader, filter, newest);
                let chosen = streams.catalog().iter_from(StreamIndex::new(0));
                let chosen =
                    chosen.filter(|(_, entry)| slipring_wire::matches(filter, &entry.name));
                let next = chosen.map(|(index, entry)| {
                    let ring = streams.ring(index).unwrap();
                    (entry.name.to_string(), if newest { ring.next() } else { ring.first() })
                });
                let reading = Reading { next: next.collect() };
                self.readings.insert((reader, filter), reading);
            }
            Step::Unfollow { reader, filter } => {
                let known = self.readings.remove(&(reader, FILTERS[filter])).is_some();
                assert_eq!(streams.unfollow(SessionKey::new(reader), FILTERS[filter]), known);
            }
            Step::Leave { reader } => {
                streams.leave(SessionKey::new(reader), true, ClockReading::default());
                self.readings.retain(|(session, _), _| *session != reader);
            }
            Step::Take { reader, room } => drop(self.take(streams, reader, room)),
            Step::Resize { stream, bytes } => drop(declare(streams, NAMES[stream], bytes)),
        }
        for (index, _) in streams.catalog().iter_from(StreamIndex::new(0)) {
            let ring = streams.ring(index).unwrap();
            assert!(ring.bytes() <= ring.bytes_max(), "a buffer is over its bound");
        }
    }

    fn is_up_to_date(&self) -> bool {
        let mut places = self.readings.values().flat_map(|reading| &reading.next);
        places.all(|(name, next)| *next == self.pushed.get(name).copied().unwrap_or_default())
    }
}

fn three_streams() -> Streams {
    let mut streams = streams();
    for name in NAMES {
        declare(&mut streams, name, 2_048);
    }
    streams
}

proptest! {
    #[test]
    fn a_reader_that_keeps_up_gets_everything_from_where_it_began(
        steps in prop::collection::vec(step(), 0..120),
    ) {
        let (mut streams, mut model) = (three_streams(), Model::default());
        for step in &steps {
            model.run(&mut streams, step, true);
            for reader in READERS..READERS + 3 {
                prop_assert!(!model.take(&mut streams, reader, usize::MAX));
            }
            prop_assert!(model.is_up_to_date());
        }
        prop_assert_eq!(model.lost, 0);
    }

    #[test]
    fn a_slow_reader_sees_each_gap_and_ends_with_the_newest(
        steps in prop::collection::vec(step(), 0..120),
    ) {
        let (mut streams, mut model) = (three_streams(), Model::default());
        for step in &steps {
            model.run(&mut streams, step, false);
        }
        for reader in READERS..READERS + 3 {
            while model.take(&mut streams, reader, 1) {}
        }
        prop_assert!(model.is_up_to_date());
    }

    #[test]
    fn an_index_stays_with_its_name_over_any_history_of_restarts(
        steps in prop::collection::vec((0u8..5, 0usize..6, any::<bool>()), 0..60),
    ) {
        let (mut streams, mut journal) = (streams(), Vec::new());
        let (mut known, mut given): (HashMap<String, StreamIndex>, Option<StreamIndex>) = (HashMap::new(), None);
        for (what, name, flag) in steps {
            let name = format!("name/{name}");
            match what {
                0..=2 => {
                    let size = if flag { 1_024 } else { 2_048 };
                    let (indices, change) =
                        streams.declare(&[asked(&name, size)], &requester(PUBLISHER)).unwrap();
                    streams.record(&change, None, &mut journal);
                    let expected = known.get(&name).copied();
                    prop_assert!(expected.is_none_or(|index| index == indices[0]));
                    prop_assert!(expected.is_some() || given.is_none_or(|last| indices[0] > last));
                    given = given.max(Some(indices[0]));
                    known.insert(name, indices[0]);
                }
                3 => {
                    let removed = streams.remove(PUBLISHER, std::slice::from_ref(&name));
                    prop_assert_eq!(removed.is_ok(), known.remove(&name).is_some());
                    streams.record(&removed.unwrap_or_default(), None, &mut journal);
                }
                _ => {
                    let mut ledger = Ledger::default();
                    ledger.apply(BatchHead::default(), &journal).unwrap();
                    if flag {
                        journal.clear();
                        ledger.snapshot(&mut journal);
                    }
                    streams = Streams::new(ledger.streams().clone(), 8);
                }
            }
            let there = streams.catalog().iter_from(StreamIndex::new(0));
            let there: HashMap<_, _> =
                there.map(|(index, entry)| (entry.name.to_string(), index)).collect();
            prop_assert_eq!(&there, &known);
        }
    }
}
