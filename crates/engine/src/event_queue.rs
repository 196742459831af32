//! Events, kept for the control plane until it fetches them; bounded. A flood of one kind that can happen for each
//! message takes no room from events of other kinds.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use slipring_core::shortened;

use crate::event::{Event, EventKind, Report};
use crate::locks::lock;

/// Events kept of frequent kinds, and as many of the others. Of the others the oldest are dropped if nobody fetches
/// them; of the frequent ones the newest. Both are counted.
const EVENTS_MAX: usize = 10_000;
/// Longer texts, such as client identifiers and topics, are cut to this.
const TEXT_BYTES_MAX: usize = 1_024;

/// The events of one fetch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FetchedEvents {
    /// Each event that was kept, oldest first.
    pub events: Vec<Event>,
    /// How many were dropped because nobody fetched them.
    pub lost: u64,
    /// How many more there were of frequent kinds, beyond the wanted number.
    pub more: Vec<(EventKind, u64)>,
}

/// Which frequent kinds are wanted. Every message reads it and hardly anybody writes it, so it has cache lines of its
/// own (two: processors fetch pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Wanted {
    kinds: AtomicU64,
    /// Events of each kind that are kept between two fetches.
    each_max: AtomicU32,
}

/// The events not fetched yet.
#[derive(Debug)]
pub(crate) struct EventQueue {
    wanted: Wanted,
    // A lock: connections report rarely, the control plane fetches a few times a second.
    waiting: Mutex<(VecDeque<Event>, u64)>,
    // A lock of its own: a flood of messages does not delay connections that report.
    frequent: Mutex<VecDeque<Event>>,
    /// Events of frequent kinds that had no room.
    frequent_lost: AtomicU64,
    /// Events of each kind since the last fetch; only of frequent kinds.
    counts: [AtomicU32; EventKind::ALL.len()],
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            wanted: Wanted::default(),
            waiting: Mutex::default(),
            frequent: Mutex::default(),
            frequent_lost: AtomicU64::new(0),
            counts: std::array::from_fn(|_| AtomicU32::new(0)),
        }
    }
}

impl EventQueue {
    /// Sets the frequent kinds that are made, and how many of each are kept between two fetches.
    pub fn want(&self, kinds: impl IntoIterator<Item = EventKind>, each_max: u32) {
        let kinds = kinds.into_iter().fold(0, |set, kind| set | kind.bit());
        self.wanted.each_max.store(each_max, Relaxed);
        self.wanted.kinds.store(kinds, Relaxed);
    }

    /// Whether events of a frequent kind are made: one relaxed load.
    #[inline]
    pub fn wants(&self, kind: EventKind) -> bool {
        self.wanted.kinds.load(Relaxed) & kind.bit() != 0
    }

    /// Whether events of any of these kinds are made: one relaxed load.
    #[inline]
    pub fn wants_any(&self, kinds: u64) -> bool {
        self.wanted.kinds.load(Relaxed) & kinds != 0
    }

    pub fn add(&self, at_ns: i64, report: &Report<'_>) {
        if report.kind.is_frequent() {
            return self.add_frequent(at_ns, report);
        }
        let event = made(at_ns, report);
        let mut waiting = lock(&self.waiting);
        if waiting.0.len() >= EVENTS_MAX {
            waiting.0.pop_front();
            waiting.1 += 1;
        }
        waiting.0.push_back(event);
    }

    #[cold]
    fn add_frequent(&self, at_ns: i64, report: &Report<'_>) {
        if !self.wants(report.kind) {
            return;
        }
        let before = self.counts[report.kind as usize].fetch_add(1, Relaxed);
        if before >= self.wanted.each_max.load(Relaxed) {
            return;
        }
        let event = made(at_ns, report);
        let mut frequent = lock(&self.frequent);
        if frequent.len() < EVENTS_MAX {
            frequent.push_back(event);
        } else {
            self.frequent_lost.fetch_add(1, Relaxed);
        }
    }

    pub fn take(&self) -> FetchedEvents {
        let (mut events, mut lost) = std::mem::take(&mut *lock(&self.waiting));
        lost += self.frequent_lost.swap(0, Relaxed);
        let mut frequent = std::mem::take(&mut *lock(&self.frequent));
        let each_max = self.wanted.each_max.load(Relaxed);
        let more = EventKind::ALL.into_iter().filter_map(|kind| {
            let count = self.counts[kind as usize].swap(0, Relaxed);
            count.checked_sub(each_max).filter(|more| *more > 0).map(|more| (kind, more.into()))
        });
        let more = more.collect();
        if !frequent.is_empty() {
            events.append(&mut frequent);
            events.make_contiguous().sort_by_key(|event| event.at_ns);
        }
        FetchedEvents { events: events.into(), lost, more }
    }
}

fn made(at_ns: i64, report: &Report<'_>) -> Event {
    let Report { kind, client, topic, request, detail, .. } = *report;
    let detail = detail.to_string();
    let [client, topic, request, detail] =
        [client, topic, request, &detail].map(|text| shortened(text, TEXT_BYTES_MAX));
    Event { at_ns, kind, client, topic, request, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(queue: &EventQueue, kind: EventKind, detail: &dyn std::fmt::Display) {
        queue.add(1, &Report::new(kind, "client").detail(detail));
    }

    #[test]
    fn events_nobody_fetches_are_bounded_and_the_lost_ones_counted() {
        let queue = EventQueue::default();
        for number in 0..EVENTS_MAX + 3 {
            add(&queue, EventKind::Connected, &number);
        }
        let FetchedEvents { events, lost, more } = queue.take();
        assert_eq!((events.len(), lost, events[0].detail.as_str()), (EVENTS_MAX, 3, "3"));
        assert_eq!(more, []);
        assert_eq!(queue.take(), FetchedEvents::default());
    }

    #[test]
    fn a_long_name_is_cut_in_an_event() {
        let queue = EventQueue::default();
        let long = "ä".repeat(TEXT_BYTES_MAX);
        let detail = format!("a{long}");
        let report = Report::new(EventKind::Subscribed, &long).topic(&long).detail(&detail);
        queue.add(1, &report);
        let told = queue.take().events;
        let cut = format!("{}...", "ä".repeat(TEXT_BYTES_MAX / 2));
        assert_eq!((&told[0].client, &told[0].topic), (&cut, &cut));
        assert_eq!(told[0].detail, format!("a{}...", "ä".repeat(TEXT_BYTES_MAX / 2 - 1)));
        assert!(told[0].detail.capacity() < 2 * TEXT_BYTES_MAX);
    }

    #[test]
    fn an_event_for_each_message_is_made_only_while_its_kind_is_wanted() {
        let queue = EventQueue::default();
        add(&queue, EventKind::MessageReceived, &"");
        assert_eq!(queue.take(), FetchedEvents::default());
        queue.want([EventKind::MessageReceived], 10);
        add(&queue, EventKind::MessageReceived, &"");
        add(&queue, EventKind::RequestFailed, &"");
        let kinds: Vec<_> = queue.take().events.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [EventKind::MessageReceived]);
    }

    #[test]
    fn a_flood_of_one_kind_takes_no_room_from_others() {
        let queue = EventQueue::default();
        queue.want([EventKind::MessageReceived, EventKind::MessageDelivered], 5);
        add(&queue, EventKind::Connected, &"first");
        for number in 0..2 * EVENTS_MAX {
            add(&queue, EventKind::MessageReceived, &number);
        }
        add(&queue, EventKind::MessageDelivered, &"last");
        let FetchedEvents { events, lost, more } = queue.take();
        let details: Vec<_> = events.iter().map(|event| event.detail.as_str()).collect();
        assert_eq!(details, ["first", "0", "1", "2", "3", "4", "last"]);
        assert_eq!(
            (lost, more),
            (0, vec![(EventKind::MessageReceived, 2 * EVENTS_MAX as u64 - 5)])
        );
        assert_eq!(queue.take(), FetchedEvents::default(), "counts begin again");
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::of(kind.name()), Some(kind));
        }
        assert_eq!(EventKind::of("unheard of"), None);
    }
}
