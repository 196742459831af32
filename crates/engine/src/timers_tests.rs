//! What happens by itself, in virtual time: each test takes milliseconds, whatever the clock says.

use std::time::Duration;

use slipring_core::Plan;
use slipring_wire::{Properties, PropertiesBuf, PropertyId, Reason, Value};
use tokio::time::{sleep, timeout};

use super::*;
use crate::event::EventKind;
use crate::test_peer::{Terms, TestPeer, Told, running};

const HOUR_S: u32 = 3_600;

fn dying(expiry_s: u32, delay_s: u32) -> Terms {
    Terms { expiry_s, will_delay_s: Some(delay_s), ..Terms::new("dying") }
}

fn has_session(broker: &Broker, name: &str) -> bool {
    broker.sessions.registry().sessions.contains_key(name)
}

async fn pass_ms(ms: Millis) {
    sleep(Duration::from_millis(ms)).await;
}

/// A subscriber that hears of the will.
async fn mourner(broker: &Arc<Broker>) -> TestPeer {
    let (mut mourner, _) = TestPeer::connect(broker, Terms::new("mourner")).await;
    mourner.subscribe("will", &[]).await;
    mourner
}

/// Whether a client is told nothing for so long.
async fn is_quiet(peer: &mut TestPeer, seconds: u32) -> bool {
    timeout(Duration::from_secs(seconds.into()), peer.next()).await.is_err()
}

fn expires(after_s: u32) -> PropertiesBuf {
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::MessageExpiryInterval, Value::Four(after_s));
    properties
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_expiry_is_over() {
    let broker = running(Plan::default());
    let terms = Terms { expiry_s: HOUR_S, ..Terms::new("away") };
    let (peer, _) = TestPeer::connect(&broker, terms).await;
    peer.lose(&broker).await;
    pass_ms(3_599_999).await;
    assert!(has_session(&broker, "away"));
    pass_ms(2).await;
    assert!(!has_session(&broker, "away"));
    let events = broker.monitor.take_events(broker.clock.now_ms()).events;
    assert!(events.iter().any(|one| one.kind == EventKind::Expired && one.client == "away"));
    let (_, session_present) = TestPeer::connect(&broker, terms).await;
    assert!(!session_present);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_in_time_keeps_its_session_for_another_expiry() {
    let broker = running(Plan::default());
    let terms = Terms { expiry_s: HOUR_S, ..Terms::new("away") };
    for _ in 0..3 {
        let (peer, _) = TestPeer::connect(&broker, terms).await;
        peer.lose(&broker).await;
        pass_ms(3_000_000).await;
    }
    let (_peer, session_present) = TestPeer::connect(&broker, terms).await;
    assert!(session_present);
    pass_ms(5_000_000).await;
    assert!(has_session(&broker, "away"), "it is connected");
}

#[tokio::test(start_paused = true)]
async fn a_delayed_will_is_published_when_its_delay_is_over_and_once() {
    let broker = running(Plan::default());
    let mut mourner = mourner(&broker).await;
    let (peer, _) = TestPeer::connect(&broker, dying(HOUR_S, 600)).await;
    peer.lose(&broker).await;
    let left_ms = broker.clock.now_ms();
    assert_eq!(mourner.next().await, Told::message("will", "gone"));
    assert_eq!(broker.clock.now_ms() - left_ms, 600_000);
    assert!(is_quiet(&mut mourner, HOUR_S).await);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_before_the_delay_has_its_will_published_then() {
    let broker = running(Plan::default());
    let mut mourner = mourner(&broker).await;
    let (peer, _) = TestPeer::connect(&broker, dying(60, 600)).await;
    peer.lose(&broker).await;
    let left_ms = broker.clock.now_ms();
    assert_eq!(mourner.next().await, Told::message("will", "gone"));
    assert_eq!(broker.clock.now_ms() - left_ms, 60_000);
    assert!(!has_session(&broker, "dying"));
    assert!(is_quiet(&mut mourner, HOUR_S).await);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_comes_back_before_the_delay_is_over_has_no_will_published() {
    let broker = running(Plan::default());
    let mut mourner = mourner(&broker).await;
    let (peer, _) = TestPeer::connect(&broker, dying(HOUR_S, 600)).await;
    peer.lose(&broker).await;
    assert!(is_quiet(&mut mourner, 599).await);
    let (_peer, session_present) = TestPeer::connect(&broker, dying(HOUR_S, 600)).await;
    assert!(session_present);
    assert!(is_quiet(&mut mourner, HOUR_S).await);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_expires_in_a_queue_is_not_sent_and_is_counted() {
    let broker = running(Plan::default());
    let kept = Terms { expiry_s: HOUR_S, ..Terms::new("reader") };
    let (mut reader, _) = TestPeer::connect(&broker, kept).await;
    reader.subscribe("t", &[]).await;
    reader.lose(&broker).await;
    let (mut writer, _) = TestPeer::connect(&broker, Terms::new("writer")).await;
    writer.publish("t", "short", false, expires(60).borrow()).await;
    writer.publish("t", "long", false, expires(62).borrow()).await;
    pass_ms(60_001).await;
    let (mut reader, _) = TestPeer::connect(&broker, kept).await;
    assert_eq!(reader.next().await, Told::message("t", "long"));
    assert!(is_quiet(&mut reader, 60).await);
    assert_eq!(broker.status().totals.traffic.expired, 1);
}

#[tokio::test(start_paused = true)]
async fn a_retained_message_is_sent_until_it_expires_and_then_removed() {
    let broker = running(Plan { sys_interval_s: 0, ..Plan::default() });
    let (mut writer, _) = TestPeer::connect(&broker, Terms::new("writer")).await;
    writer.publish("t", "kept", true, expires(90).borrow()).await;
    pass_ms(89_000).await;
    let (mut reader, _) = TestPeer::connect(&broker, Terms::new("in time")).await;
    reader.subscribe("t", &[]).await;
    assert_eq!(reader.next().await, Told::message("t", "kept"));
    pass_ms(1_001).await;
    let (mut reader, _) = TestPeer::connect(&broker, Terms::new("late")).await;
    reader.subscribe("t", &[]).await;
    assert!(is_quiet(&mut reader, 1).await);
    assert_eq!(broker.topics.retained().len(), 1, "nobody has looked for it yet");
    pass_ms(SWEEP_MS).await;
    assert_eq!(broker.topics.retained().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_waits_for_a_subscriber_waits_until_it_expires() {
    let broker = running(Plan::default());
    let (mut writer, _) = TestPeer::connect(&broker, Terms::new("writer")).await;
    for (payload, after_s) in [("short", 90), ("long", HOUR_S)] {
        let mut properties = expires(after_s);
        properties.push(PropertyId::UserProperty, Value::Pair("slipring-wait", "1"));
        writer.publish("t", payload, false, properties.borrow()).await;
    }
    assert_eq!(broker.topics.waiting().len(), 2);
    pass_ms(2 * SWEEP_MS + 1).await;
    assert_eq!(broker.topics.waiting().len(), 1);
    let (mut reader, _) = TestPeer::connect(&broker, Terms::new("reader")).await;
    reader.subscribe("t", &[]).await;
    assert_eq!(reader.next().await, Told::message("t", "long"));
    assert!(is_quiet(&mut reader, 60).await);
}

#[tokio::test(start_paused = true)]
async fn sys_topics_are_published_at_the_plans_interval() {
    let broker = running(Plan { sys_interval_s: 10, ..Plan::default() });
    let (mut reader, _) = TestPeer::connect(&broker, Terms::new("reader")).await;
    reader.subscribe("$SYS/broker/uptime", &[]).await;
    for uptime in ["0 seconds", "10 seconds", "20 seconds"] {
        assert_eq!(reader.next().await, Told::message("$SYS/broker/uptime", uptime));
    }
    broker.apply(Plan { sys_interval_s: 0, ..Plan::default() });
    assert!(is_quiet(&mut reader, HOUR_S).await);
    broker.apply(Plan { sys_interval_s: 10, ..Plan::default() });
    let applied_ms = broker.clock.now_ms();
    assert!(matches!(reader.next().await, Told::Message(..)));
    assert!(broker.clock.now_ms() - applied_ms <= SYS_OFF_MS);
}

#[tokio::test(start_paused = true)]
async fn a_silent_client_is_gone_after_one_and_a_half_keep_alives() {
    let broker = running(Plan::default());
    let mut mourner = mourner(&broker).await;
    let terms = Terms { keep_alive_s: 600, will_delay_s: Some(0), ..Terms::new("silent") };
    let (mut peer, _) = TestPeer::connect(&broker, terms).await;
    pass_ms(800_000).await;
    peer.publish("t", "a sign of life", false, Properties::NONE).await;
    let heard_ms = broker.clock.now_ms();
    assert_eq!(peer.next().await, Told::Goodbye(Reason::KeepAliveTimeout));
    assert_eq!(broker.clock.now_ms() - heard_ms, 900_000);
    assert_eq!(mourner.next().await, Told::message("will", "gone"));
    assert!(is_quiet(&mut mourner, HOUR_S).await);
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_connect_in_time_is_closed() {
    let broker = running(Plan::default());
    let mut peer = TestPeer::open(&broker, "nobody");
    assert_eq!(peer.next().await, Told::Closed);
    assert_eq!(broker.clock.now_ms(), broker.plan.load().limits.connect_ms);
}
