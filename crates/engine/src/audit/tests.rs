//! What becomes a record, what is counted instead, and what a record's JSON is.

use slipring_core::access::Right;

use super::gathering::{OWNER_RECORDS_MAX, WINDOW_NS};
use super::*;
use crate::event::EventKind;

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
    deny(&audit, "a");
    assert_eq!(lock(&audit.queue).waiting.len(), 3, "a new window");
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
fn what_finds_no_room_is_counted_and_people_have_a_reserve() {
    let audit = audit();
    for number in 0..2 * QUEUE_MAX {
        let address = format!("10.{}.{}.1:5", number / 256 % 256, number % 256);
        audit.see(1, &Report::new(EventKind::Refused, &address));
    }
    assert!(audit.add(AuditRecord::new(AuditKind::Login)));
    let queue = lock(&audit.queue);
    assert!(queue.waiting.len() < QUEUE_MAX);
    assert_eq!(queue.waiting.last().unwrap().record.kind, AuditKind::Login);
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
