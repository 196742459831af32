//! What alarms cost: frames of 20,000 parameters through the table, with limits and without. Prints nanoseconds a frame;
//! `benches/alarms.py` runs it and records them.

#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::hint::black_box;
use std::time::Instant;

use slipring_core::access::AccessPolicy;
use slipring_core::desk::{Desk, Requester};
use slipring_core::table::{ClockReading, Current, Registry, Table, TableRequest, read_frame};
use slipring_core::{Limits, Plan, Principal, SessionKey};
use slipring_wire::frame::{FrameBuf, Header, Kind, Qualities, Quality};

const PARAMETERS: u32 = 20_000;
const TABLE: u32 = 7;
const FRAMES: u32 = 200;
const ROUNDS: usize = 15;
const SESSION: SessionKey = SessionKey::new(1);

/// Its name, which parameters have limits, and the frame.
type Case<'a> = (&'a str, &'a dyn Fn(u32) -> bool, &'a [u8]);

fn main() {
    let quiet = frame(50.0);
    let cases: [Case<'_>; 4] = [
        ("none", &|_| false, &quiet),
        ("others", &|index| index >= PARAMETERS, &quiet),
        ("quarter", &|index| index % 4 == 0, &quiet),
        ("all", &|_| true, &quiet),
    ];
    let mut tables = cases.map(|(_, is_limited, _)| table(is_limited));
    let mut best = [f64::INFINITY; 4];
    // Round by round, so that what disturbs the machine disturbs all cases.
    for _ in 0..ROUNDS {
        for ((table, (_, _, bytes)), best) in tables.iter_mut().zip(&cases).zip(&mut best) {
            *best = best.min(nanoseconds(table, bytes));
        }
    }
    for ((name, _, _), ns) in cases.iter().zip(best) {
        println!("{name} {ns:.0}");
    }
    let [.., mut all] = tables;
    println!("beyond {:.0}", nanoseconds(&mut all, &frame(500.0)));
}

/// The mean time of a frame, in nanoseconds.
fn nanoseconds(table: &mut Table, bytes: &[u8]) -> f64 {
    let (plan, mut scratch) = (Plan::default(), Vec::new());
    let begun = Instant::now();
    for number in 0..u64::from(FRAMES) {
        let at = ClockReading { now_ms: number, now_ns: 1_000_000_000 };
        let view = read_frame(bytes, &mut scratch).expect("a frame");
        table.take_frame(SESSION, &view, at, &plan).expect("it is taken");
    }
    black_box(&mut *table);
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(FRAMES)
}

/// A table with twice as many parameters; those of the frame come first.
fn table(is_limited: &dyn Fn(u32) -> bool) -> Table {
    let mut table = Table::new(Registry::new(TABLE), Current::default(), &Plan::default());
    let requester = Requester {
        from: Principal { session: SESSION, client_id: "jet", ..Principal::broker() },
        bounds: Table::bounds(&Limits::default()),
        is_taken: &|_| false,
        answer_bytes_max: 1 << 24,
        policy: AccessPolicy::open(),
    };
    for first in (0..2 * PARAMETERS).step_by(1_000) {
        let one = |index: u32| {
            let limits = if is_limited(index) { r#","limits":{"low":0,"high":100}"# } else { "" };
            format!(r#"{{"name":"p/{index}","type":"f32"{limits}}}"#)
        };
        let parameters: Vec<String> = (first..first + 1_000).map(one).collect();
        let body = format!(r#"{{"parameters":[{}]}}"#, parameters.join(","));
        let outcome = table.answer(TableRequest::parse("declare", body.as_bytes()), &requester);
        assert!(outcome.refused.is_none(), "{}", String::from_utf8_lossy(&outcome.answer));
        table.changed(&outcome.change, ClockReading::default());
    }
    table
}

fn frame(value: f32) -> Vec<u8> {
    let values: Vec<u8> = (0..PARAMETERS).flat_map(|_| value.to_le_bytes()).collect();
    let (mut buf, mut bytes) = (FrameBuf::new(), Vec::new());
    let all = std::slice::from_ref(&(0..PARAMETERS));
    buf.push_row(Kind::F32, all, 1_000_000_000, Qualities::All(Quality::GOOD), &values)
        .expect("a row");
    buf.finish(&Header { table: TABLE, ..Header::default() }, false, &mut bytes);
    bytes
}
