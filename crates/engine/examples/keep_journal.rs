//! Writes a journal with every kind of record, and the state it leads to, into the folder that is named.
//! The code before records had families wrote `tests/before` so; those files must stay as they are.

use std::path::PathBuf;
use std::time::Duration;
use std::{env, fs, process, thread};

use caller::{Caller, Extras, Opening, copy, engine, recovered};
use serde_json::json;
use slipring_engine::{Engine, SessionQuery};
use slipring_wire::frame::{FrameBuf, Header, Kind, Quality, Sample, ValueView};
use slipring_wire::{Packet, QoS, RetainHandling, Subscription};

#[path = "../tests/before/caller.rs"]
mod caller;
#[path = "../tests/before/state.rs"]
mod state;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/talk/mod.rs"]
mod talk;

/// Kinds of records there were.
const KINDS: u8 = 33;
/// A will that no test lives to see.
const CENTURY_S: u32 = 3_000_000_000;

fn main() {
    let kept = PathBuf::from(env::args().nth(1).expect("name the folder to write to"));
    let folder = env::temp_dir().join(format!("slipring-keep-journal-{}", process::id()));
    let first = engine(&folder);
    first_run(&first);
    first.stop().unwrap(); // with a snapshot
    let second = engine(&folder);
    second_run(&second);
    // A copy while the broker runs is what a killed broker leaves.
    copy(&folder, &kept.join("journal"));
    second.stop().unwrap();
    fs::remove_dir_all(&folder).unwrap();

    let journal = kept.join("journal");
    let kinds = state::kinds(&journal);
    assert!(kinds.keys().copied().eq(1..=KINDS), "{kinds:?}");
    let led_to = state::from_snapshot(&journal);
    assert_eq!(led_to, state::from_all_records(&journal));
    copy(&journal, &folder);
    let recovered = recovered(&engine(&folder));
    fs::remove_dir_all(&folder).unwrap();
    let json = json!({"kinds": kinds, "state": led_to, "recovered": recovered});
    fs::write(kept.join("state.json"), format!("{json:#}\n")).unwrap();
}

fn retained() -> Extras<'static> {
    Extras { retain: true, ..Extras::default() }
}

fn at(qos: QoS, filter: &str) -> Subscription<'_> {
    Subscription { qos, ..Subscription::new(filter) }
}

/// Waits until so many clients are connected: what others leave behind is in the journal then.
fn wait_for(engine: &Engine, connected: usize) {
    let query = SessionQuery { is_connected: Some(true), ..SessionQuery::default() };
    while engine.sessions(&query).total != connected {
        thread::sleep(Duration::from_millis(5));
    }
}

/// Everything that a journal can hold.
fn first_run(engine: &Engine) {
    declare(engine);
    let (mut tower, _) = Opening::kept("tower").connect(engine);
    retain(engine, &mut tower);
    order(engine, &mut tower);
    wait(engine, &mut tower);
    choose(engine);
    end(engine, &mut tower);
    // A QoS 2 message that is never released.
    tower.publish(2, "log", b"open", &Extras { packet_id: 30, ..Extras::default() });
    drop(tower);
    wait_for(engine, 0);
}

/// A session that declares, publishes and removes parameters and streams, and has a will.
fn declare(engine: &Engine) {
    let will = Some(("wills/pump", CENTURY_S));
    let (mut pump, _) = Opening { is_anna: true, will, ..Opening::kept("pump") }.connect(engine);
    pump.ask(
        "table/declare",
        r#"{"prefix": "engine", "parameters": [
            {"name": "rpm", "type": "f64", "unit": "1/min", "rate_hz": 50},
            {"name": "oil", "type": "f64", "unit": "kPa", "description": "pressure"},
            {"name": "mode", "type": "enum", "labels": {"0": "off", "1": "on"}},
            {"name": "note", "type": "text"}]}"#,
    );
    publish_frame(&mut pump, 1_500.0);
    pump.publish(1, "engine/oil", b"412.5", &Extras::default());
    pump.publish(1, "engine/note", b"warm", &Extras::default());
    pump.ask("table/remove", r#"{"names": ["engine/mode"]}"#);
    pump.ask(
        "streams/declare",
        r#"{"streams": [{"name": "cockpit/sound", "media": "audio/pcm"},
            {"name": "cockpit/eye", "media": "video/h264", "source": "left"}]}"#,
    );
    pump.ask("streams/remove", r#"{"names": ["cockpit/eye"]}"#);
    pump.publish(1, "cockpit/sound", b"chunk", &Extras::default());
    drop(pump);
    wait_for(engine, 0);
}

/// A frame with one sample of `engine/rpm` and one of `engine/oil`.
fn publish_frame(pump: &mut Caller, rpm: f64) {
    let found = pump.ask("table/find", r#"{"names": ["engine/rpm", "engine/oil"]}"#);
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    let number = |value: &serde_json::Value| value.as_u64().unwrap() as u32;
    let (mut buf, mut out) = (FrameBuf::new(), Vec::new());
    for (at, value) in [rpm, rpm / 5.0].into_iter().enumerate() {
        let (index, value) = (number(&found["indices"][at]), ValueView::F64(value));
        let sample = Sample { index, time_ns: rpm as i64, quality: Quality::GOOD, value };
        buf.push_samples(Kind::F64, &mut [sample]).unwrap();
    }
    let header = Header { table: number(&found["table"]), ..Header::default() };
    buf.finish(&header, false, &mut out);
    pump.publish(1, "frames", &out, &Extras { is_frame: true, ..Extras::default() });
}

/// Retained messages: kept, refused, forgotten; sent to one session in full and to another in part.
fn retain(engine: &Engine, tower: &mut Caller) {
    for topic in ["state/a", "state/b", "state/c"] {
        tower.publish(1, topic, topic.as_bytes(), &retained());
    }
    tower.publish(0, "state/d", b"no room", &retained());
    tower.publish(1, "state/c", b"", &retained());
    let (mut crew, _) = Opening { receive_max: 1, ..Opening::kept("crew") }.connect(engine);
    crew.subscribe(at(QoS::AtLeastOnce, "state/#"), 0, &[]);
    crew.expect("Publish");
    let (mut desk, _) = Opening::kept("desk").connect(engine);
    desk.subscribe(at(QoS::AtLeastOnce, "state/+"), 3, &[]);
    for packet_id in [1, 2] {
        desk.expect("Publish");
        desk.answer(Packet::PubAck, packet_id);
    }
    desk.subscribe(at(QoS::AtMostOnce, "given/up"), 0, &[]);
    desk.unsubscribe("given/up");
    drop((crew, desk));
    wait_for(engine, 1);
}

/// Messages at QoS 1 and 2 in every state that one can be in.
fn order(engine: &Engine, tower: &mut Caller) {
    let (mut desk, is_back) = Opening::kept("desk").connect(engine);
    assert!(is_back);
    let orders = Subscription { no_local: true, ..at(QoS::ExactlyOnce, "orders/#") };
    desk.subscribe(orders, 7, &[]);
    for number in 1..=4 {
        let packet_id = 10 + number;
        let topic = format!("orders/{number}");
        let qos = if number == 4 { 1 } else { 2 };
        tower.publish(qos, &topic, b"go", &Extras { packet_id, ..Extras::default() });
        if qos == 2 {
            tower.answer(Packet::PubRel, packet_id);
            tower.expect("PubComp");
        }
        let sent = desk.expect("Publish");
        assert!(sent.contains(&format!("packet_id: Some(PacketId({}))", number + 2)), "{sent}");
    }
    // The first is completed, the second received, the third and the fourth are only sent.
    for packet_id in [3, 4] {
        desk.answer(Packet::PubRec, packet_id);
        desk.expect("PubRel");
    }
    desk.answer(Packet::PubComp, 3);
    desk.unsubscribe("none"); // answered when the journal has what came before
    drop(desk);
    wait_for(engine, 1);
    tower.publish(1, "orders/5", b"away", &Extras::default());
    tower.publish(1, "orders/6", b"away", &Extras::default());
    tower.publish(2, "orders/7", b"away", &Extras { packet_id: 17, ..Extras::default() });
    tower.answer(Packet::PubRel, 17);
    tower.expect("PubComp");
    // A client that comes back takes what waits, and goes again without an answer.
    let (mut desk, _) = Opening::kept("desk").connect(engine);
    while !desk.0.next().unwrap().contains("orders/7") {}
    drop(desk);
    wait_for(engine, 1);
}

/// Messages that wait for a subscriber: with and without an end, and one that finds it.
fn wait(engine: &Engine, tower: &mut Caller) {
    let high = &[("slipring-wait", "1"), ("slipring-priority", "high")];
    let extras = || Extras { user_properties: high, ..Extras::default() };
    tower.publish(1, "later/1", b"urgent", &extras());
    tower.publish(1, "later/2", b"aging", &Extras { expiry_s: Some(CENTURY_S), ..extras() });
    tower.publish(1, "soon/1", b"claimed", &extras());
    let (mut early, _) = Opening::kept("early").connect(engine);
    early.subscribe(at(QoS::AtLeastOnce, "soon/#"), 0, &[]);
    early.expect("Publish");
    drop(early);
    wait_for(engine, 1);
}

/// Subscriptions with needs, with a list of parameters, and in a share.
fn choose(engine: &Engine) {
    let (mut scope, _) = Opening { is_anna: true, ..Opening::kept("scope") }.connect(engine);
    let quiet = |filter| Subscription {
        retain_as_published: true,
        retain_handling: RetainHandling::DoNotSend,
        ..Subscription::new(filter)
    };
    scope.subscribe(quiet("$share/gauges/jobs/#"), 0, &[]);
    let answer = scope.ask("table/select", r#"{"names": ["engine/rpm", "engine/note"]}"#);
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    let list = format!("$selection/{}", answer["selection"].as_str().unwrap());
    scope.subscribe(quiet(&list), 0, &[("deliver", "frame"), ("beat", "10000")]);
    let needs = &[("deliver", "json"), ("rate", "2.5"), ("deadband", "5%"), ("change", "true")];
    scope.subscribe(quiet("engine/+"), 12, needs);
    drop(scope);
    wait_for(engine, 1);
}

/// Sessions that end, and a will that is published.
fn end(engine: &Engine, tower: &mut Caller) {
    drop(Opening::kept("over").connect(engine));
    drop(Opening { client_id: "over", clean_start: true, ..Opening::default() }.connect(engine));
    tower.subscribe(at(QoS::AtMostOnce, "wills/#"), 0, &[]);
    let will = Some(("wills/patient", CENTURY_S));
    drop(Opening { will, ..Opening::kept("patient") }.connect(engine));
    let will = Some(("wills/brief", 1));
    drop(Opening { will, ..Opening::kept("brief") }.connect(engine));
    tower.expect("Publish");
    tower.unsubscribe("wills/#");
    tower.publish(1, "wills/brief", b"", &retained());
    wait_for(engine, 1);
}

/// What comes after the snapshot: sessions go on, and so does everything else.
fn second_run(engine: &Engine) {
    let will = Some(("wills/pump", CENTURY_S));
    let opening = Opening { is_anna: true, will, ..Opening::kept("pump") };
    let (mut pump, is_back) = opening.connect(engine);
    assert!(is_back);
    pump.publish(1, "engine/oil", b"415", &Extras::default());
    publish_frame(&mut pump, 1_800.0);
    pump.ask("table/declare", r#"{"parameters": [{"name": "fuel", "type": "u32"}]}"#);
    let (mut tower, _) = Opening::kept("tower").connect(engine);
    tower.publish(1, "state/a", b"newer", &retained());
    tower.publish(1, "orders/8", b"after", &Extras::default());
    tower.publish(1, "orders/9", b"last", &Extras::default());
    let more = &[("slipring-wait", "1")];
    tower.publish(1, "later/3", b"low", &Extras { user_properties: more, ..Extras::default() });
    // The last acknowledgement says that all of it is on the disk.
    tower.publish(1, "log", b"end", &Extras::default());
}
