//! The inbox: order, bounds, and what is told.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};

use super::*;

const A: SubscriptionId = SubscriptionId(1);
const B: SubscriptionId = SubscriptionId(2);

fn message(text: &str) -> ReceivedMessage {
    let payload = text.as_bytes().into();
    let (topic, qos, user_properties) = ("t".into(), QoS::AtMostOnce, Box::default());
    ReceivedMessage {
        topic,
        payload,
        retain: false,
        qos,
        user_properties,
        properties: None,
        tag: None,
    }
}

fn push(inbox: &Inbox, to: &[SubscriptionId], text: &str) {
    let event = ProtocolEvent::Message { subscriptions: Arc::from(to), message: message(text) };
    assert!(inbox.push(&mut vec![event]).is_empty());
}

fn taken(inbox: &Inbox, id: SubscriptionId, count_max: usize) -> Vec<Vec<u8>> {
    let (messages, _) = inbox.take(id, count_max, usize::MAX);
    messages.into_iter().map(|message| message.payload.into()).collect()
}

#[test]
fn each_subscription_gets_its_messages_in_order() {
    let inbox = Inbox::new(1 << 20).unwrap();
    inbox.open(A, QoS::AtMostOnce, &["t"]);
    inbox.open(B, QoS::AtMostOnce, &["t"]);
    push(&inbox, &[A, B], "1");
    push(&inbox, &[A], "2");
    assert_eq!(taken(&inbox, A, 1), [b"1"]);
    assert_eq!(taken(&inbox, A, 9), [b"2"]);
    assert_eq!(taken(&inbox, B, 9), [b"1"]);
    assert_eq!(inbox.bytes(), 0);
}

#[test]
fn room_made_before_the_inbox_was_full_does_not_count() {
    let inbox = Inbox::new(1000).unwrap();
    inbox.open(A, QoS::AtMostOnce, &["t"]);
    let text = "x".repeat(600);
    push(&inbox, &[A], &text);
    taken(&inbox, A, 9);
    push(&inbox, &[A], &text);
    push(&inbox, &[A], &text);
    assert!(inbox.is_full());
    let mut context = Context::from_waker(Waker::noop());
    let mut room = pin!(inbox.room());
    assert!(room.as_mut().poll(&mut context).is_pending());
    taken(&inbox, A, 9);
    assert!(room.as_mut().poll(&mut context).is_ready());
}

#[test]
fn a_reader_that_found_nothing_gets_one_event() {
    let inbox = Inbox::new(1 << 20).unwrap();
    inbox.open(A, QoS::AtMostOnce, &["t"]);
    assert!(taken(&inbox, A, 9).is_empty());
    push(&inbox, &[A], "1");
    push(&inbox, &[A], "2");
    assert_eq!(inbox.events(), [ClientEvent::Readable(A)]);
    assert_eq!(taken(&inbox, A, 9).len(), 2);
    push(&inbox, &[A], "3");
    assert!(inbox.events().is_empty());
}

#[test]
fn a_batch_ends_soon_after_its_bytes_but_holds_one_message_at_least() {
    let inbox = Inbox::new(1 << 20).unwrap();
    inbox.open(A, QoS::AtMostOnce, &["t"]);
    push(&inbox, &[A], "large");
    push(&inbox, &[A], "next");
    assert_eq!(inbox.take(A, 9, 1).0.len(), 1);
}

#[tokio::test]
async fn a_full_inbox_has_room_again_at_half() {
    let inbox = Inbox::new(2 * message("x").bytes()).unwrap();
    inbox.open(A, QoS::AtMostOnce, &["t"]);
    push(&inbox, &[A], "x");
    assert!(!inbox.is_full());
    push(&inbox, &[A], "y");
    assert!(inbox.is_full());
    taken(&inbox, A, 1);
    inbox.room().await;
}

#[tokio::test]
async fn a_subscription_given_up_frees_what_it_held() {
    let inbox = Inbox::new(1).unwrap();
    inbox.open(A, QoS::AtMostOnce, &["t"]);
    push(&inbox, &[A], "x");
    inbox.close(A);
    inbox.room().await;
    push(&inbox, &[A], "late");
    assert_eq!(inbox.bytes(), 0);
}

fn kept(text: &str, tag: u64) -> ReceivedMessage {
    ReceivedMessage { qos: QoS::AtLeastOnce, tag: Some(DeliveryTag(tag)), ..message(text) }
}

fn push_kept(inbox: &Inbox, to: &[SubscriptionId], tag: u64) -> Vec<DeliveryTag> {
    let message = kept("x", tag);
    inbox.push(&mut vec![ProtocolEvent::Message { subscriptions: Arc::from(to), message }])
}

#[test]
fn a_reader_gives_receipts_back_when_it_is_done_and_the_rest_when_it_closes() {
    let inbox = Inbox::new(1 << 20).unwrap();
    inbox.open(A, QoS::AtLeastOnce, &["t"]);
    push(&inbox, &[A], "at QoS 0");
    for tag in 1..=4 {
        assert!(push_kept(&inbox, &[A], tag).is_empty());
    }
    let (messages, done) = inbox.take(A, 4, usize::MAX);
    assert_eq!((messages.len(), done.len()), (4, 0));
    assert_eq!(inbox.done(A, 2), [DeliveryTag(1)]);
    assert_eq!(inbox.close(A), [DeliveryTag(2), DeliveryTag(3), DeliveryTag(4)]);
    assert!(inbox.done(A, 1).is_empty());
}

#[test]
fn a_reader_at_qos_0_is_done_with_what_it_takes() {
    let inbox = Inbox::new(1 << 20).unwrap();
    inbox.open(A, QoS::AtMostOnce, &["t"]);
    assert!(push_kept(&inbox, &[A], 1).is_empty());
    assert_eq!(inbox.take(A, 9, usize::MAX).1, [DeliveryTag(1)]);
}

#[test]
fn messages_that_came_before_their_subscription_are_kept_for_it() {
    let inbox = Inbox::new(1 << 20).unwrap();
    for tag in 1..=2 {
        assert!(push_kept(&inbox, &[], tag).is_empty());
    }
    push(&inbox, &[], "at QoS 0, which nobody keeps");
    assert_eq!(inbox.events(), [ClientEvent::Unclaimed], "told once");
    assert_eq!(inbox.unclaimed(), (2, Some("t".into())));
    assert_eq!(inbox.bytes(), 0);
    inbox.open(B, QoS::AtLeastOnce, &["other"]);
    assert_eq!(inbox.take(B, 9, usize::MAX).0.len(), 0);
    inbox.open(A, QoS::AtLeastOnce, &["+"]);
    assert!(inbox.bytes() > 0);
    assert_eq!(inbox.take(A, 9, usize::MAX).0.len(), 2);
    assert_eq!(inbox.unclaimed(), (0, None));
}

#[test]
fn a_detached_subscription_keeps_the_messages_that_were_not_taken() {
    let inbox = Inbox::new(1 << 20).unwrap();
    inbox.open(A, QoS::AtLeastOnce, &["t"]);
    for tag in 1..=3 {
        assert!(push_kept(&inbox, &[A], tag).is_empty());
    }
    inbox.take(A, 1, usize::MAX);
    assert_eq!(inbox.detach(A), [DeliveryTag(1)]);
    assert_eq!((inbox.unclaimed().0, inbox.bytes()), (2, 0));
    assert_eq!(inbox.give_up(&["t"]), [DeliveryTag(2), DeliveryTag(3)]);
}

#[test]
fn unclaimed_messages_are_bounded_and_the_rest_stays_with_the_broker() {
    let inbox = Inbox::new(kept("x", 0).bytes()).unwrap();
    assert!(push_kept(&inbox, &[], 1).is_empty());
    assert_eq!(push_kept(&inbox, &[], 2), [DeliveryTag(2)]);
}
