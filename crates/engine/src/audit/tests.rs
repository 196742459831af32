//! What becomes a record, what is counted instead, and what a record's JSON is.

use std::collections::HashMap;

use slipring_core::ConnectionKey;
use slipring_core::access::{AccessRule, Right};

use super::gathering::{FLOOD_RECORDS, OWNER_RECORDS_MAX, WINDOW_NS};
use super::*;
use crate::connection_handle::ConnectionHandle;
use crate::event::EventKind;
use crate::origin::Origin;

fn audit() -> Audit {
    let audit = Audit::new(Clock::start());
    audit.kinds.store(u32::MAX, Ordering::Relaxed);
    audit
}

fn deny(audit: &Audit, topic: &str) {
    let denied = Report::new(EventKind::Unauthorized, "192.0.2.1:5").right(Right::Publish);
    audit.see(1, &denied.topic(topic));
}

#[test]
fn repetitions_are_counted_and_the_count_is_a_record_when_the_window_ends() {
    let audit = audit();
    for _ in 0..1_000 {
        deny(&audit, "a");
    }
    deny(&audit, "b");
    let mut queue = lock(&audit.queue);
    assert_eq!(queue.waiting.len(), 2);
    let counted = queue.gathering.end(WINDOW_NS, false);
    let [more] = &counted[..] else { panic!("one record for all repetitions") };
    assert_eq!((more.record.count, more.record.topic.as_str()), (999, "a"));
    drop(queue);
    deny(&audit, "b");
    deny(&audit, "a");
    let mut queue = lock(&audit.queue);
    assert_eq!(queue.waiting.len(), 3, "b has stopped, a went on");
    assert!(queue.gathering.end(2 * WINDOW_NS, false).is_empty(), "which is told later");
    let counted = queue.gathering.end(5 * WINDOW_NS, false);
    assert_eq!((counted[0].record.count, &*counted[0].record.topic), (1, "a"));
    drop(queue);
    deny(&audit, "a");
    let mut queue = lock(&audit.queue);
    assert!(queue.gathering.end(6 * WINDOW_NS, false).is_empty());
    assert_eq!(queue.gathering.end(6 * WINDOW_NS, true).len(), 1, "all when the broker stops");
}

#[test]
fn a_flood_of_one_address_is_bounded_counted_and_takes_no_room_from_another() {
    let audit = audit();
    for number in 0..100_000 {
        deny(&audit, &number.to_string());
    }
    audit.see(1, &Report::new(EventKind::Refused, "192.0.2.2:5"));
    let mut queue = lock(&audit.queue);
    assert_eq!(queue.waiting.len(), OWNER_RECORDS_MAX + 1);
    let counted = queue.gathering.end(WINDOW_NS, false);
    let [lost] = &counted[..] else { panic!("one record for all that were not written") };
    assert_eq!(lost.record.kind, AuditKind::Lost);
    assert_eq!(lost.record.count, 100_000 - OWNER_RECORDS_MAX as u64);
}

#[test]
fn a_flood_that_does_not_end_gets_few_records_and_all_are_counted() {
    let audit = audit();
    let mut written = 0;
    let mut lost = 0;
    for window in 1..=100 {
        for _ in 0..1_000 {
            audit.see(1, &Report::new(EventKind::Refused, "192.0.2.1:5"));
        }
        let mut queue = lock(&audit.queue);
        written += queue.take().len();
        let counted = queue.gathering.end(window * WINDOW_NS, false);
        lost += counted.iter().map(|one| one.record.count).sum::<u64>();
    }
    assert_eq!(written, OWNER_RECORDS_MAX + 99 * FLOOD_RECORDS);
    assert_eq!(lost, 100_000 - written as u64);
}

#[test]
fn what_finds_no_room_is_counted_and_changes_have_a_reserve() {
    let audit = audit();
    for number in 0..2 * QUEUE_MAX {
        let address = format!("10.{}.{}.1:5", number / 256 % 256, number % 256);
        audit.see(1, &Report::new(EventKind::Refused, &address));
    }
    assert!(audit.add(AuditRecord::new(AuditKind::Changed)));
    let queue = lock(&audit.queue);
    assert!(queue.waiting.len() < QUEUE_MAX);
    assert_eq!(queue.waiting.last().unwrap().record.kind, AuditKind::Changed);
    assert!(queue.lost + queue.gathering.unwritten() > 0);
}

#[test]
fn hostile_text_stays_text_in_json() {
    let client = "\u{1b}[2Jrm\n\"}".to_owned();
    let record = AuditRecord { client, ..AuditRecord::new(AuditKind::Connected) };
    let json = String::from_utf8(record.json()).unwrap();
    assert!(!json.chars().any(char::is_control), "{json}");
    assert!(json.contains(r#""client":"\u001b[2Jrm\n\"}""#), "{json}");
}

#[test]
fn a_kind_that_is_not_wanted_makes_no_record() {
    let audit = audit();
    audit.kinds.store(AuditKind::Refused.bit(), Ordering::Relaxed);
    deny(&audit, "a");
    assert!(lock(&audit.queue).waiting.is_empty());
}

#[test]
fn the_rule_is_that_of_the_whole_topic_also_if_the_record_has_only_its_beginning() {
    let audit = audit();
    let rule = AccessRule::parse(&["anyone"], true, &["publish"], &["a/+/b"]).unwrap();
    audit.policy.store(Arc::new(AccessPolicy::enforced(vec![rule], HashMap::new())));
    let long = format!("a/{}/b", "x".repeat(600));
    let by = connection();
    let told = Report::new(EventKind::Unauthorized, "c").by(&by).right(Right::Publish);
    audit.see(1, &told.topic(&long));
    let record = lock(&audit.queue).waiting.pop().unwrap().decided();
    assert_eq!(record.rule, Some(0));
    assert!(record.topic.len() < long.len());
}

#[test]
fn what_people_do_at_the_console_is_bounded_too_but_every_change_is_a_record() {
    let audit = audit();
    let by = |kind, address: String, outcome: &str| AuditRecord {
        user: "anna".into(),
        address,
        outcome: outcome.into(),
        ..AuditRecord::new(kind)
    };
    for number in 0..10_000 {
        let user = format!("guessed-{number}");
        let login = by(AuditKind::Login, "192.0.2.1".into(), "refused");
        audit.add(AuditRecord { user, ..login });
        let topic = format!("/api/{number}");
        audit.add(AuditRecord { topic, ..by(AuditKind::Denied, "192.0.2.2:1".into(), "refused") });
    }
    assert_eq!(lock(&audit.queue).waiting.len(), 2 * OWNER_RECORDS_MAX);
    for number in 0..2 * OWNER_RECORDS_MAX {
        let client = format!("client-{number}");
        audit.add(AuditRecord { client, ..by(AuditKind::Changed, "192.0.2.2:1".into(), "ok") });
    }
    let mut queue = lock(&audit.queue);
    assert_eq!(queue.waiting.len(), 4 * OWNER_RECORDS_MAX);
    let counted = queue.gathering.end(WINDOW_NS, false);
    let lost: u64 = counted.iter().map(|one| one.record.count).sum();
    assert_eq!(lost, 2 * (10_000 - OWNER_RECORDS_MAX as u64));
}

#[test]
fn what_log_servers_did_not_get_is_told_to_them() {
    let audit = audit();
    audit.want_told(true);
    for _ in 0..TOLD_MAX + 5 {
        audit.tell(b"{}");
    }
    let told = audit.take_told();
    assert_eq!(told.len(), TOLD_MAX + 1);
    let first = String::from_utf8(told[0].clone()).unwrap();
    assert!(first.contains(r#""kind":"lost""#) && first.contains(r#""count":5"#), "{first}");
}

fn connection() -> ConnectionHandle {
    let address = "192.0.2.1:5".into();
    let origin = Origin { address, listener: 0, user: None, certificates: None };
    ConnectionHandle::new(ConnectionKey::new(1), origin, 0)
}
