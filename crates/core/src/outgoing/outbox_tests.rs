//! Tests of the outbox: what stays of each priority, in which order it goes, and what a full outbox drops.

use proptest::prelude::*;

use super::*;
use crate::packets::CHUNK_BYTES;
use crate::{Expiry, Millis};

const LEVELS: [Priority; 3] = [Priority::Low, Priority::Normal, Priority::High];

/// A packet of `body` bytes behind its first two, or five.
fn packet(mark: u8, body: usize) -> Vec<u8> {
    let mut packet = vec![0x30];
    let mut rest = body;
    loop {
        packet.push((rest & 0x7f) as u8 | if rest > 0x7f { 0x80 } else { 0 });
        rest >>= 7;
        if rest == 0 {
            break;
        }
    }
    packet.resize(packet.len() + body, mark);
    packet
}

fn encoded(bytes: &[u8]) -> Encoded<'_> {
    Encoded { bytes, payload: None, expiry: None }
}

fn push(outbox: &mut Outbox, bytes: &[u8], bytes_max: usize, overflow: Overflow) -> Room {
    outbox.push(encoded(bytes), Priority::Normal, bytes_max, overflow)
}

fn push_at(outbox: &mut Outbox, priority: Priority, bytes: &[u8], bytes_max: usize) -> Room {
    outbox.push(encoded(bytes), priority, bytes_max, Overflow::DropOldest)
}

fn all(outbox: &mut Outbox) -> (u64, Vec<u8>) {
    let mut out = Packets::default();
    let mut messages = 0;
    while !outbox.is_empty() {
        messages += outbox.take(outbox.next(), &mut out, usize::MAX);
    }
    (messages, out.to_vec())
}

#[test]
fn a_message_larger_than_the_outbox_is_dropped_and_counted() {
    let mut outbox = Outbox::default();
    assert_eq!(push(&mut outbox, &packet(1, 5), 4, Overflow::DropOldest), Room::Dropped(1));
    assert!(outbox.is_empty());
}

#[test]
fn a_full_outbox_does_what_its_policy_says() {
    let (first, second) = (packet(1, 3), packet(2, 3));
    for (overflow, room, kept) in [
        (Overflow::DropOldest, Room::Dropped(1), &second),
        (Overflow::DropNewest, Room::Dropped(1), &first),
        (Overflow::Disconnect, Room::Overflow, &first),
    ] {
        let mut outbox = Outbox::default();
        push(&mut outbox, &first, 6, overflow);
        assert_eq!(push(&mut outbox, &second, 6, overflow), room);
        assert_eq!(all(&mut outbox), (1, kept.clone()));
    }
}

#[test]
fn a_full_outbox_drops_the_lowest_first_and_nothing_for_a_lower_one() {
    let mut outbox = Outbox::default();
    for (mark, priority) in [(1, Priority::High), (2, Priority::Low), (3, Priority::Normal)] {
        assert_eq!(push_at(&mut outbox, priority, &packet(mark, 3), 15), Room::Kept);
    }
    assert_eq!(push_at(&mut outbox, Priority::High, &packet(4, 3), 15), Room::Dropped(1));
    assert_eq!(push_at(&mut outbox, Priority::Low, &packet(5, 3), 15), Room::Dropped(1), "itself");
    assert_eq!(push_at(&mut outbox, Priority::High, &packet(6, 3), 15), Room::Dropped(1));
    assert_eq!(
        push_at(&mut outbox, Priority::Normal, &packet(7, 3), 15),
        Room::Dropped(1),
        "itself"
    );
    let kept = [packet(1, 3), packet(4, 3), packet(6, 3)].concat();
    assert_eq!(all(&mut outbox), (3, kept));
}

#[test]
fn with_drop_newest_only_lower_messages_make_room() {
    let mut outbox = Outbox::default();
    let mut push =
        |priority, mark| outbox.push(encoded(&packet(mark, 3)), priority, 10, Overflow::DropNewest);
    assert_eq!((push(Priority::Low, 1), push(Priority::Normal, 2)), (Room::Kept, Room::Kept));
    assert_eq!(push(Priority::Normal, 3), Room::Dropped(1), "the low one");
    assert_eq!(push(Priority::Normal, 4), Room::Dropped(1), "itself");
    assert_eq!(all(&mut outbox), (2, [packet(2, 3), packet(3, 3)].concat()));
}

#[test]
fn a_message_that_finds_no_room_drops_no_other() {
    let mut outbox = Outbox::default();
    push_at(&mut outbox, Priority::High, &packet(1, 12), 20);
    push_at(&mut outbox, Priority::Low, &packet(2, 2), 20);
    assert_eq!(push_at(&mut outbox, Priority::Normal, &packet(3, 10), 20), Room::Dropped(1));
    assert_eq!(all(&mut outbox).0, 2);
}

#[test]
fn a_full_outbox_uses_at_most_two_chunks_more_than_its_bound() {
    let (mut outbox, bytes_max) = (Outbox::default(), 10 * CHUNK_BYTES);
    for number in 0..100_000u32 {
        let length = number.wrapping_mul(2_654_435_761) as usize % 300;
        push(&mut outbox, &packet(1, length), bytes_max, Overflow::DropOldest);
        assert!(outbox.lanes.normal.chunks_bytes() <= bytes_max + 2 * CHUNK_BYTES);
    }
    assert!(outbox.queued_bytes() > bytes_max - 400);
    all(&mut outbox);
    assert!(outbox.lanes.normal.chunks_bytes() <= CHUNK_BYTES);
}

#[test]
fn a_slice_ends_with_a_complete_message() {
    let mut outbox = Outbox::default();
    let payload = SharedBytes::from(vec![7; 5_000]);
    let head = &packet(7, 5_000)[..3];
    for _ in 0..9 {
        let message = Encoded { bytes: head, payload: Some(&payload), expiry: None };
        outbox.push(message, Priority::Normal, 1 << 20, Overflow::DropOldest);
    }
    outbox.take_one(Priority::Normal, |first| assert_eq!(first.len(), 5_003));
    let mut out = Packets::default();
    assert_eq!(outbox.take(Priority::Normal, &mut out, 6_000), 2);
    assert_eq!(out.len(), 2 * 5_003);
    assert_eq!(all(&mut outbox), (6, packet(7, 5_000).repeat(6)));
}

#[test]
fn the_memory_of_expiry_times_is_counted_and_freed() {
    let mut outbox = Outbox::default();
    let bytes = packet(1, 3);
    let message = Encoded { bytes: &bytes, payload: None, expiry: Expiry::told(Some(9)) };
    for _ in 0..1_000 {
        outbox.push(message, Priority::Low, 10_000, Overflow::DropOldest);
        assert!(outbox.queued_bytes() <= 10_000);
    }
    assert_eq!(outbox.lanes.sum(Lane::len), 10_000 / message.cost());
    outbox.shrink(Priority::Low, 100);
    let counted = outbox.lanes.sum(Lane::expiry_bytes);
    assert!(outbox.queued_bytes() <= 100 && counted <= 100);
    assert!(outbox.shrink(Priority::Low, 0) > 0 && !outbox.is_empty(), "the newest message stays");
}

#[test]
fn lanes_of_other_priorities_exist_only_while_they_are_used() {
    let mut outbox = Outbox::default();
    push_at(&mut outbox, Priority::Normal, &packet(1, 3), 100);
    assert!(outbox.is_plain());
    push_at(&mut outbox, Priority::High, &packet(2, 3), 100);
    outbox.rest();
    assert!(!outbox.is_plain(), "it holds a message");
    assert_eq!(all(&mut outbox), (2, [packet(2, 3), packet(1, 3)].concat()));
    outbox.rest();
    assert!(outbox.is_plain());
}

/// What is taken of each level in so many steps, while none of them ever ends.
fn taken_of_endless(steps: usize, body: usize) -> [usize; 3] {
    let mut outbox = Outbox::default();
    let mut taken = [0; 3];
    for _ in 0..steps {
        for level in LEVELS {
            while outbox.lanes.at(level).len() < 2 {
                push_at(&mut outbox, level, &packet(level as u8, body), usize::MAX);
            }
        }
        let level = outbox.next();
        outbox.take_one(level, |_| taken[level as usize] += 1);
    }
    taken
}

#[test]
fn each_lower_level_gets_a_sixteenth_of_what_is_taken_and_no_more() {
    for body in [1, 1_000] {
        let taken = taken_of_endless(32_000, body);
        assert!(taken[0] >= 32_000 / 17 && taken[1] >= 30_000 / 17, "{taken:?}");
        assert!(taken[2] >= 32_000 / 8 * 7 - 100, "{taken:?}");
    }
}

#[test]
fn a_message_that_waits_is_overtaken_by_a_bounded_number_of_bytes() {
    for (body, overtaking) in [(1, 480), (9_488, 24), (1 << 20, 1)] {
        let mut outbox = Outbox::default();
        push_at(&mut outbox, Priority::Low, &packet(0, 10), usize::MAX);
        let mut overtaken = 0;
        while overtaken < 1_000 {
            push_at(&mut outbox, Priority::High, &packet(2, body), usize::MAX);
            let level = outbox.next();
            outbox.take_one(level, drop_encoded);
            if level == Priority::Low {
                break;
            }
            overtaken += 1;
        }
        assert!((overtaking - 2..=overtaking + 1).contains(&overtaken), "{body}: {overtaken}");
    }
}

fn drop_encoded(_: &Encoded<'_>) {}

#[test]
fn a_level_that_gets_its_share_is_not_owed_more() {
    let mut outbox = Outbox::default();
    for _ in 0..10_000 {
        push_at(&mut outbox, Priority::Normal, &packet(1, 1_000), usize::MAX);
    }
    for _ in 0..1_000 {
        push_at(&mut outbox, Priority::High, &packet(2, 1_000), usize::MAX);
        assert_eq!(outbox.next(), Priority::High);
        outbox.take_one(Priority::High, drop_encoded);
        outbox.take_one(Priority::Normal, drop_encoded);
    }
}

/// A message: its length, its level, whether its payload is shared, and whether it can expire.
type Pushed = (usize, usize, bool, bool);

fn pushes() -> impl Strategy<Value = Vec<Pushed>> {
    prop::collection::vec((1usize..20, 0usize..3, any::<bool>(), any::<bool>()), 1..60)
}

/// The numbers of the messages that a plain list of the same bound keeps.
fn naive(pushes: &[Pushed], bytes_max: usize) -> Vec<usize> {
    let cost = |number: usize| pushes[number].0 + 2 + if pushes[number].3 { 24 } else { 0 };
    let mut kept: Vec<usize> = Vec::new();
    for number in 0..pushes.len() {
        let level = pushes[number].1;
        let mut room = kept.clone();
        let sum = |kept: &[usize]| kept.iter().map(|number| cost(*number)).sum::<usize>();
        while sum(&room) + cost(number) > bytes_max {
            let lowest = room.iter().map(|number| pushes[*number].1).min();
            let Some(lowest) = lowest.filter(|lowest| *lowest <= level) else { break };
            let oldest = room.iter().position(|number| pushes[*number].1 == lowest).unwrap();
            room.remove(oldest);
        }
        if sum(&room) + cost(number) <= bytes_max {
            kept = room;
            kept.push(number);
        }
    }
    kept
}

proptest! {
    #[test]
    fn a_full_outbox_keeps_the_highest_and_newest_and_counts_the_rest(
        pushes in pushes(),
        sliced in any::<bool>(),
        now_ms in 0..60u64,
    ) {
        let mut outbox = Outbox::default();
        let mut dropped = 0;
        for (number, (length, level, is_shared, expires)) in pushes.iter().enumerate() {
            let message = packet(number as u8, *length);
            let payload = is_shared.then(|| SharedBytes::copied(&message[2..]));
            let bytes = if *is_shared { &message[..2] } else { &message[..] };
            let expiry = Expiry { at_ms: number as Millis, is_told: number % 3 == 0 };
            let expiry = expires.then_some(expiry);
            let encoded = Encoded { bytes, payload: payload.as_ref(), expiry };
            let room = outbox.push(encoded, LEVELS[*level], 96, Overflow::DropOldest);
            if let Room::Dropped(count) = room {
                dropped += count as usize;
            }
            prop_assert!(outbox.queued_bytes() <= 96);
        }
        let (mut bytes, mut taken) = (Vec::new(), 0);
        while !outbox.is_empty() {
            let level = outbox.next();
            if outbox.is_expiring(level, now_ms) {
                outbox.take_one(level, |first| {
                    let payload = first.payload.map_or(&[][..], |payload| payload);
                    bytes.extend([first.bytes, payload].concat());
                    if let Some(expiry) = first.expiry {
                        assert_eq!(expiry.at_ms, Millis::from(*bytes.last().unwrap()));
                    }
                });
                taken += 1;
            } else {
                let mut out = Packets::default();
                taken += outbox.take(level, &mut out, if sliced { 10 } else { usize::MAX });
                bytes.extend(out.to_vec());
            }
        }
        let mut kept = naive(&pushes, 96);
        prop_assert_eq!(dropped, pushes.len() - kept.len());
        prop_assert_eq!(taken as usize, kept.len());
        kept.sort_by_key(|number| std::cmp::Reverse(pushes[*number].1));
        let expected = kept.iter().flat_map(|number| packet(*number as u8, pushes[*number].0));
        prop_assert_eq!(bytes, expected.collect::<Vec<u8>>());
    }
}
