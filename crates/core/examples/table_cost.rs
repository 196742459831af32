//! What the table costs the broker: 20,000 parameters at 50 Hz, to groups of several shapes.
//!
//! `cargo run --release -p slipring-core --example table_cost`. Prints a line for each shape: nanoseconds for
//! each sample that was published, by step, and the part of a core that a million samples a second take. First
//! what it costs to look for silent parameters once.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use slipring_core::table::{
    Band, Choice, ClockReading, Current, Deadband, Deliver, GroupLimits, Groups, Names, Needs,
    Silence, TableState,
};
use slipring_core::{ParameterIndex, SessionKey};
use slipring_wire::frame::{
    FrameBounds, FrameBuf, FrameView, Header, Hops, Kind, Qualities, Quality, RangeSet,
};

const PARAMETERS: u32 = 20_000;
const PERIOD_MS: u64 = 20;
const FRAMES: u64 = 500;
/// Parameters of a full table, and how often it is looked for silent ones.
const FULL: u32 = 200_000;
const LOOKS: u64 = 600;
const BOUNDS: FrameBounds = FrameBounds { samples_max: 1 << 20, raw_bytes_max: 1 << 26 };
/// A wide aircraft: how many of each kind.
const KINDS: [(Kind, u32); 6] = [
    (Kind::Bool, 4_000),
    (Kind::U8, 1_000),
    (Kind::U16, 2_000),
    (Kind::I32, 1_000),
    (Kind::F32, 4_000),
    (Kind::F64, 8_000),
];
const ROOM: GroupLimits = GroupLimits { gathered_bytes: 1 << 30, remembered_bytes: 1 << 30 };
const FRAME: Needs =
    Needs { deliver: Deliver::Frame, rate_mhz: None, deadband: None, change: false, beat_ms: None };

/// A table that is full, of numbers that come this often.
struct Full {
    rate_hz: Option<f64>,
}

impl Names for Full {
    fn name(&self, _: ParameterIndex) -> Option<&str> {
        None
    }
    fn kind(&self, _: ParameterIndex) -> Option<Kind> {
        Some(Kind::F32)
    }
    fn is_enumeration(&self, _: ParameterIndex) -> bool {
        false
    }
    fn label(&self, _: ParameterIndex, _: u32) -> Option<&str> {
        None
    }
    fn rate_hz(&self, _: ParameterIndex) -> Option<f64> {
        self.rate_hz
    }
}

struct Aircraft;

impl Names for Aircraft {
    fn name(&self, _: ParameterIndex) -> Option<&str> {
        Some("gripen/39-7/engine/rpm")
    }
    fn kind(&self, index: ParameterIndex) -> Option<Kind> {
        let mut end = 0;
        KINDS
            .iter()
            .find(|(_, count)| {
                end += count;
                index < ParameterIndex::new(end)
            })
            .map(|(kind, _)| *kind)
    }
    fn is_enumeration(&self, _: ParameterIndex) -> bool {
        false
    }
    fn label(&self, _: ParameterIndex, _: u32) -> Option<&str> {
        None
    }
    fn rate_hz(&self, _: ParameterIndex) -> Option<f64> {
        Some(50.0)
    }
}

/// A frame with every parameter at one time.
fn frame(number: u64) -> Vec<u8> {
    let mut buf = FrameBuf::new();
    let mut start = 0;
    for (kind, count) in KINDS {
        let bytes = kind.width().map_or(count.div_ceil(8), |width| count * width as u32);
        let values: Vec<u8> = (0..bytes).map(|at| (u64::from(at) * 37 + number) as u8).collect();
        let time_ns = nanos(number * PERIOD_MS);
        let range = start..start + count;
        let good = Qualities::All(Quality::GOOD);
        buf.push_row(kind, &[range], time_ns, good, &values).expect("ranges and values agree");
        start += count;
    }
    let mut frame = Vec::new();
    buf.finish(&Header::default(), false, &mut frame);
    frame
}

#[derive(Default)]
struct Spent {
    decode: f64,
    apply: f64,
    offer: f64,
    send: f64,
    bytes: f64,
    messages: u64,
}

/// What this thread has used of a core; what others use does not count.
fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(now).expect("time used is not negative").as_secs_f64()
}

fn nanos(ms: u64) -> i64 {
    i64::try_from(ms).expect("a few seconds") * 1_000_000
}

/// Publishes for ten seconds of its own time to those who chose.
fn play(choices: &[(u64, Choice)]) -> Spent {
    let mut current = Current::default();
    let all: RangeSet = std::iter::once(0..PARAMETERS).collect();
    current.define(&all, &Aircraft);
    let mut groups = Groups::new(7, 20, ROOM);
    let frames: Vec<Vec<u8>> = (0..8).map(frame).collect();
    for (subscriber, choice) in choices {
        let state = TableState { now_ms: 1, now_ns: 1, names: &Aircraft, current: &current };
        groups.join(SessionKey::new(*subscriber), choice.clone(), &state);
    }
    let (mut spent, mut inflated, mut outbox) = (Spent::default(), Vec::new(), Vec::new());
    for number in 0..FRAMES {
        let now_ms = 1000 + number * PERIOD_MS;
        let arrival = ClockReading { now_ms, now_ns: nanos(now_ms) };
        let start = cpu();
        let bytes = &frames[number as usize % frames.len()];
        let view = FrameView::decode(bytes, &mut inflated, &BOUNDS).expect("made here");
        let decoded = cpu();
        for run in view.runs() {
            current.apply(&run, arrival);
        }
        let applied = cpu();
        let ClockReading { now_ns, .. } = arrival;
        let state = TableState { now_ms, now_ns, names: &Aircraft, current: &current };
        for run in view.runs() {
            groups.offer(&run, Some(Hops::default()), &state);
        }
        let offered = cpu();
        let state = TableState { now_ms: now_ms + PERIOD_MS, ..state };
        groups.tick(usize::MAX, &state, &mut |_| true, &mut |_, packets, messages| {
            outbox.clear();
            outbox.extend_from_slice(packets);
            spent.bytes += packets.len() as f64;
            spent.messages += u64::from(messages);
        });
        spent.send += cpu() - offered;
        spent.decode += decoded - start;
        spent.apply += applied - decoded;
        spent.offer += offered - applied;
    }
    spent
}

/// Plays a shape and prints what it cost, unless only others are asked for.
fn report(shape: &str, choices: &[(u64, Choice)]) {
    if std::env::args().nth(1).is_some_and(|part| !shape.contains(&part)) {
        return;
    }
    let spent = play(choices);
    let samples = FRAMES as f64 * f64::from(PARAMETERS);
    let each = |seconds: f64| seconds * 1e9 / samples;
    let all = each(spent.decode + spent.apply + spent.offer + spent.send);
    println!(
        "{shape:44} decode {:5.2}  apply {:5.2}  offer {:6.2}  send {:7.2}  all {all:7.2} ns/sample  \
         {:6.2} % of a core at 1M/s  {:6.1} MB  {} messages",
        each(spent.decode),
        each(spent.apply),
        each(spent.offer),
        each(spent.send),
        all / 10.0,
        spent.bytes / 1e6,
        spent.messages,
    );
}

fn choice(identifier: u32, chosen: RangeSet, needs: Needs) -> Choice {
    let filter = format!("gripen/{identifier}/#").into();
    Choice { filter, chosen, identifier, needs, packet_bytes_max: 1 << 24, rights: None }
}

fn everything() -> RangeSet {
    std::iter::once(0..PARAMETERS).collect()
}

/// Every so many parameters one.
fn scattered(first: u32, step: usize) -> RangeSet {
    (first..PARAMETERS).step_by(step).collect()
}

fn many(needs: Needs, chosen: impl Fn(u32) -> RangeSet) -> Vec<(u64, Choice)> {
    (0..100u32).map(|number| (number.into(), choice(number + 1, chosen(number), needs))).collect()
}

/// Looks for silence among the parameters of a full table for a minute, and prints what one look cost:
/// where all have a rate and are fresh, where nothing comes any more, and where none has a rate.
fn report_silence(shape: &str, rate_hz: Option<f64>, is_fresh: bool) {
    if std::env::args().nth(1).is_some_and(|part| !shape.contains(&part)) {
        return;
    }
    let whole = 0..FULL;
    let (all, table) = (std::iter::once(whole.clone()).collect(), Full { rate_hz });
    let mut current = Current::default();
    current.define(&all, &table);
    let mut buf = FrameBuf::new();
    let values = vec![1; FULL as usize * 4];
    let good = Qualities::All(Quality::GOOD);
    buf.push_row(Kind::F32, &[whole], 0, good, &values).expect("ranges and values agree");
    let (mut bytes, mut inflated, mut spent) = (Vec::new(), Vec::new(), 0.0);
    buf.finish(&Header::default(), false, &mut bytes);
    let view = FrameView::decode(&bytes, &mut inflated, &BOUNDS).expect("made here");
    let silence = Silence { periods: 5.0, least_ms: 200 };
    for look in 0..LOOKS {
        let now_ms = 1000 + look * 100;
        let arrival = ClockReading { now_ms, now_ns: nanos(now_ms) };
        if is_fresh || look == 0 {
            view.runs().for_each(|run| current.apply(&run, arrival));
        }
        let start = cpu();
        current.check_silent(silence, ClockReading { now_ms: now_ms + 15, ..arrival });
        spent += cpu() - start;
    }
    println!("{shape:44} {:.4} ms/look", spent * 1e3 / LOOKS as f64);
}

fn main() {
    report_silence("silence: 200,000 at 50 Hz", Some(50.0), true);
    report_silence("silence: 200,000 at 50 Hz, all went stale", Some(50.0), false);
    report_silence("silence: 200,000 at 0.1 Hz", Some(0.1), true);
    report_silence("silence: 200,000 without a rate", None, true);
    let rate = Needs { rate_mhz: Some(10_000), ..FRAME };
    let near = Band::new(10.0).map(Deadband::Absolute);
    let one = |needs| [(1, choice(1, everything(), needs))];
    report("nobody", &[]);
    report("1 group of 20, all, every sample", &{
        (0..20).map(|who| (who, choice(1, everything(), FRAME))).collect::<Vec<_>>()
    });
    report("1 group of 100 identifiers, all, every sample", &{
        let filter = Arc::from("gripen/#");
        let same = |choice| Choice { filter: Arc::clone(&filter), ..choice };
        let all = many(FRAME, |_| everything()).into_iter();
        all.map(|(who, choice)| (who, same(choice))).collect::<Vec<_>>()
    });
    report("100 groups, all, every sample", &many(FRAME, |_| everything()));
    report(
        "100 groups, 1,000 together, every sample",
        &many(FRAME, |number| std::iter::once(number * 190..number * 190 + 1000).collect()),
    );
    report("100 groups, 200 scattered, every sample", &many(FRAME, |n| scattered(n, 100)));
    report("1 group, 10,000 scattered, every sample", &[(1, choice(1, scattered(0, 2), FRAME))]);
    report("1 group, all, 10 Hz", &one(rate));
    report("1 group, 10,000 scattered, 10 Hz", &[(1, choice(1, scattered(0, 2), rate))]);
    report("100 groups, all, 10 Hz", &many(rate, |_| everything()));
    report("1 group, all, 10 Hz, dead-band", &one(Needs { deadband: near, ..rate }));
    report("1 group, all, every sample, dead-band", &one(Needs { deadband: near, ..FRAME }));
    report("1 group, all, every sample, change", &one(Needs { change: true, ..FRAME }));
    report("1 group, all, every sample, text", &one(Needs { deliver: Deliver::Text, ..FRAME }));
    report("1 group, all, 10 Hz, JSON", &one(Needs { deliver: Deliver::Json, ..rate }));
}
