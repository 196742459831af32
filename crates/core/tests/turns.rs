//! Work that grows with the table is done in portions: first values, selections that are due, and parameters that become
//! stale.

use std::collections::{BTreeMap, HashMap};

use slipring_core::desk::{Desk, Requester};
use slipring_core::table::{
    ClockReading, Current, Deliver, Needs, Registry, Selection, Table, TableRequest, read_frame,
};
use slipring_core::{Limits, Plan, Principal, SessionKey};
use slipring_wire::frame::{FrameBuf, Header, Kind, Qualities, Quality};
use slipring_wire::{Packet, PacketSplit, Version, split_packet};

const JET: SessionKey = SessionKey::new(1);
const PARAMETERS: u32 = 20_000;
const ALL: std::ops::Range<u32> = 0..PARAMETERS;
const PORTION: usize = 256 << 10;
/// Parameters in one request.
const DECLARED: usize = 1_000;

struct World {
    table: Table,
    plan: Plan,
    at: ClockReading,
}

impl World {
    /// A table of `p/0`, `p/1` and so on, each with a value.
    fn new() -> Self {
        let plan = Plan::default();
        let at = ClockReading { now_ms: 1_000, now_ns: 1_000_000_000 };
        let table = Table::new(Registry::new(7), Current::default(), &plan);
        let mut world = Self { table, plan, at };
        for start in (0..PARAMETERS).step_by(DECLARED) {
            world.declare(start);
        }
        world.frame(1);
        world
    }

    fn declare(&mut self, start: u32) {
        let parameters: Vec<_> = (start..start + DECLARED as u32)
            .map(|number| format!("p/{number}"))
            .map(|name| serde_json::json!({"name": name, "type": "u32", "rate_hz": 50}))
            .collect();
        let body = serde_json::json!({"parameters": parameters}).to_string();
        let requester = Requester {
            from: Principal { session: JET, client_id: "jet", ..Principal::broker() },
            bounds: Table::bounds(&Limits::default()),
            is_taken: &|_| false,
            answer_bytes_max: usize::MAX,
            policy: slipring_core::access::AccessPolicy::open(),
        };
        let outcome =
            self.table.answer(TableRequest::parse("declare", body.as_bytes()), &requester);
        assert_eq!(outcome.refused, None);
        self.table.changed(&outcome.change, self.at);
    }

    fn frame(&mut self, value: u32) {
        let values = value.to_le_bytes().repeat(PARAMETERS as usize);
        let (mut buf, mut frame) = (FrameBuf::new(), Vec::new());
        let qualities = Qualities::All(Quality::GOOD);
        let all = std::slice::from_ref(&ALL);
        buf.push_row(Kind::U32, all, self.at.now_ns, qualities, &values).unwrap();
        let header = Header { table: 7, sequence: 0, sent_ns: self.at.now_ns, hops: None };
        buf.finish(&header, false, &mut frame);
        let mut inflated = Vec::new();
        let view = read_frame(&frame, &mut inflated).unwrap();
        self.table.take_frame(JET, &view, self.at, &self.plan).unwrap();
    }

    fn tick(&mut self, work_max: usize, send: &mut dyn FnMut(SessionKey, &[u8], u32)) {
        let (groups, state) = self.table.groups_at(self.at);
        groups.tick(work_max, &state, &mut |_| true, send);
    }

    fn mend(&mut self, session: SessionKey, send: &mut dyn FnMut(SessionKey, &[u8], u32)) -> bool {
        let (groups, state) = self.table.groups_at(self.at);
        groups.mend(session, PORTION, &state, send)
    }

    fn next_due_ms(&self) -> Option<u64> {
        self.table.groups.next_due_ms(&self.table.current)
    }

    fn later(&mut self, ms: u64) {
        self.at.now_ms += ms;
        self.at.now_ns += i64::try_from(ms).unwrap() * 1_000_000;
    }
}

fn text() -> Needs {
    Needs { deliver: Deliver::Text, ..Needs::default() }
}

/// How often each topic is among the packets.
fn topics(mut packets: &[u8], found: &mut HashMap<String, usize>) {
    while !packets.is_empty() {
        let Ok(PacketSplit::Whole(raw)) = split_packet(packets, usize::MAX) else {
            panic!("a packet is cut")
        };
        let Ok(Packet::Publish(publish)) = Packet::decode(&raw, Version::V5) else {
            panic!("only messages are sent")
        };
        *found.entry(publish.topic.to_owned()).or_default() += 1;
        packets = &packets[raw.length..];
    }
}

#[test]
fn first_values_of_many_parameters_are_sent_in_portions_each_once() {
    let mut world = World::new();
    let selection = Selection {
        filter: "#",
        identifier: 0,
        needs: text(),
        packet_bytes_max: 1 << 20,
        rights: None,
    };
    let first = world.table.choose(SessionKey::new(2), &selection, world.at);
    assert!(!first.is_whole && first.messages > 0 && first.packets.len() <= 2 << 20);
    let mut found = HashMap::new();
    topics(&first.packets, &mut found);
    let mut is_done = false;
    while !is_done {
        let mut sent = Vec::new();
        is_done = world.mend(SessionKey::new(2), &mut |_, _, _| panic!("text comes later"));
        world.tick(usize::MAX, &mut |_, packets, _| {
            sent.extend_from_slice(packets);
        });
        assert!(!sent.is_empty() && sent.len() <= PORTION);
        topics(&sent, &mut found);
    }
    assert_eq!(found.len(), PARAMETERS as usize);
    assert!(found.values().all(|times| *times == 1));
}

#[test]
fn first_values_of_few_parameters_are_sent_at_once() {
    let mut world = World::new();
    let needs = Needs { deliver: Deliver::Frame, ..Needs::default() };
    for (subscriber, needs, filter) in [(2, needs, "#"), (3, text(), "p/1")] {
        let selection =
            Selection { filter, identifier: 0, needs, packet_bytes_max: 1 << 20, rights: None };
        assert!(
            world.table.choose(SessionKey::new(subscriber), &selection, world.at).is_whole,
            "{filter}"
        );
    }
}

#[test]
fn text_of_many_samples_is_written_in_several_turns() {
    for rate_mhz in [None, Some(10_000)] {
        let mut world = World::new();
        for subscriber in 2..5 {
            let needs = Needs { rate_mhz, ..text() };
            let selection = Selection {
                filter: "#",
                identifier: 0,
                needs,
                packet_bytes_max: 1 << 20,
                rights: None,
            };
            world.table.choose(SessionKey::new(subscriber), &selection, world.at);
            while !world.mend(SessionKey::new(subscriber), &mut |_, _, _| {}) {
                world.tick(usize::MAX, &mut |_, _, _| {});
            }
        }
        world.tick(usize::MAX, &mut |_, _, _| {});
        world.later(500);
        world.frame(2);
        let mut found = vec![HashMap::new(); 3];
        let mut turns = 0;
        while world.next_due_ms().is_some_and(|due_ms| due_ms <= world.at.now_ms) {
            let mut messages = 0;
            world.tick(100_000, &mut |subscriber, packets, count| {
                topics(packets, &mut found[subscriber.get() as usize - 2]);
                messages += count;
            });
            assert!(messages <= 3 * 1_024, "{messages} messages in one turn");
            turns += 1;
        }
        assert!(turns > 10);
        for found in found {
            assert!(found.len() == PARAMETERS as usize && found.values().all(|times| *times == 1));
        }
    }
}

#[test]
fn selections_that_are_due_take_turns() {
    let mut world = World::new();
    for subscriber in 2..7 {
        let filter = format!("p/{subscriber}");
        let needs = Needs { deliver: Deliver::Frame, ..Needs::default() };
        let selection = Selection {
            filter: &filter,
            identifier: 0,
            needs,
            packet_bytes_max: 1 << 20,
            rights: None,
        };
        world.table.choose(SessionKey::new(subscriber), &selection, world.at);
    }
    let mut served: BTreeMap<u64, usize> = BTreeMap::new();
    for value in 2..4 {
        world.later(100);
        world.frame(value);
        for turn in 0..5 {
            let due_ms = world.next_due_ms();
            assert!(due_ms.is_some_and(|due_ms| due_ms <= world.at.now_ms), "turn {turn}");
            let mut sent = 0;
            world.tick(1, &mut |subscriber, _, _| {
                sent += 1;
                *served.entry(subscriber.get()).or_default() += 1;
            });
            assert_eq!(sent, 1, "a turn ends after the first group");
        }
        assert_eq!(world.next_due_ms(), None);
    }
    assert_eq!(served.into_iter().collect::<Vec<_>>(), [(2, 2), (3, 2), (4, 2), (5, 2), (6, 2)]);
}

#[test]
fn a_selection_of_frames_does_not_wait_for_selections_of_text() {
    let mut world = World::new();
    let frames = Needs { deliver: Deliver::Frame, ..Needs::default() };
    for (subscriber, needs) in [(2, text()), (3, frames)] {
        let selection = Selection {
            filter: "#",
            identifier: 0,
            needs,
            packet_bytes_max: 1 << 20,
            rights: None,
        };
        world.table.choose(SessionKey::new(subscriber), &selection, world.at);
    }
    let mut sent: BTreeMap<u64, usize> = BTreeMap::new();
    for value in 2..22 {
        world.later(50);
        world.frame(value);
        // Two turns are far too few for all the text.
        for _ in 0..2 {
            world.tick(100_000, &mut |subscriber, _, _| {
                *sent.entry(subscriber.get()).or_default() += 1;
            });
        }
    }
    assert!(sent[&3] >= 20, "{sent:?}");
    assert!(sent[&2] > 0, "{sent:?}");
}

#[test]
fn ending_one_of_two_equal_selections_of_text_loses_nothing_of_the_other() {
    let mut world = World::new();
    for filter in ["$selection/a/#", "$selection/b/#"] {
        let selection = Selection {
            filter,
            identifier: 0,
            needs: text(),
            packet_bytes_max: 1 << 20,
            rights: None,
        };
        world.table.choose(SessionKey::new(2), &selection, world.at);
        while !world.mend(SessionKey::new(2), &mut |_, _, _| {}) {
            world.tick(usize::MAX, &mut |_, _, _| {});
        }
    }
    world.tick(usize::MAX, &mut |_, _, _| {});
    world.later(500);
    world.frame(2);
    let mut found = HashMap::new();
    world.tick(1, &mut |_, packets, _| topics(packets, &mut found));
    assert!(found.len() < PARAMETERS as usize, "text of it waits");
    world.table.give_up(SessionKey::new(2), "$selection/a/#");
    for session in world.table.groups.take_overrun() {
        while !world.mend(session, &mut |_, _, _| {}) {
            world.tick(usize::MAX, &mut |_, packets, _| {
                topics(packets, &mut found);
            });
        }
    }
    world.tick(usize::MAX, &mut |_, packets, _| {
        topics(packets, &mut found);
    });
    assert_eq!(found.len(), PARAMETERS as usize);
}

#[test]
fn parameters_of_a_publisher_that_disconnected_become_stale_in_portions() {
    let mut world = World::new();
    world.table.leave(JET, false, world.at);
    let at_once = world.table.current.stale();
    assert!(at_once > 0 && at_once < PARAMETERS as usize);
    world.later(1);
    while {
        world.table.check_silent(&world.plan.table, world.at);
        world.table.is_going_stale
    } {}
    assert_eq!(world.table.current.stale(), PARAMETERS as usize);
}

#[test]
fn silent_parameters_become_stale_in_portions() {
    let mut world = World::new();
    world.later(10_000);
    let mut looks = 0;
    while {
        world.table.check_silent(&world.plan.table, world.at);
        looks += 1;
        world.table.is_going_stale
    } {}
    assert!(looks > 1);
    assert_eq!(world.table.current.stale(), PARAMETERS as usize);
}
