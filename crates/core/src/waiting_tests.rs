//! Tests of the waiting messages: against a naive model, and by example.

use super::*;
use proptest::prelude::*;
use slipring_wire::{PropertiesBuf, Publish, matches};

fn message(topic: &str, number: u32, expires_ms: Option<Millis>) -> Arc<Message> {
    let payload = number.to_be_bytes();
    let mut message = Message::new(&Publish::new(topic, &payload), topic.into(), 0);
    message.expires_ms = expires_ms;
    Arc::new(message)
}

fn number(message: &Message) -> u32 {
    u32::from_be_bytes(message.payload().try_into().unwrap())
}

fn numbers(waited: &[WaitingMessage]) -> Vec<u32> {
    waited.iter().map(|waited| number(&waited.message)).collect()
}

#[derive(Clone, Debug)]
enum Step {
    Push { topic: &'static str, priority: Priority, expires_ms: Option<Millis> },
    Take { filter: &'static str, most: usize },
    PutBack { filter: &'static str, most: usize },
    Expire,
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    let topic = prop::sample::select(vec!["a", "a/b", "b", "$x/b"]);
    let priority = (0u8..3).prop_map(|byte| Priority::from_byte(byte).unwrap());
    let push = (topic, priority, prop::option::of(0u64..20));
    let filter = prop::sample::select(vec!["a", "#", "+/b", "a/#", "+"]);
    prop_oneof![
        6 => push.prop_map(|(topic, priority, expires_ms)|
            Step::Push { topic, priority, expires_ms }),
        1 => (filter.clone(), 0usize..5).prop_map(|(filter, most)| Step::Take { filter, most }),
        1 => (filter, 0usize..5).prop_map(|(filter, most)| Step::PutBack { filter, most }),
        1 => Just(Step::Expire),
        1 => Just(Step::Wait),
    ]
}

/// The model: one list in the order of delivery.
#[derive(Default)]
struct Naive {
    list: Vec<WaitingMessage>,
}

impl Naive {
    fn push(&mut self, message: Arc<Message>, priority: Priority, most: usize) -> Option<Vec<u32>> {
        let mut victims = Vec::new();
        if self.list.len() >= most {
            self.list.last().filter(|last| last.priority < priority)?;
            victims.extend(self.list.pop().map(|last| number(&last.message)));
        }
        let at = self.list.partition_point(|other| other.priority >= priority);
        self.list.insert(at, WaitingMessage { message, priority, number: 0, owner: anna() });
        Some(victims)
    }

    fn take(&mut self, which: impl Fn(&WaitingMessage) -> bool, most: usize) -> Vec<u32> {
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for waited in self.list.drain(..) {
            let take = taken.len() < most && which(&waited);
            if take { &mut taken } else { &mut left }.push(waited);
        }
        self.list = left;
        numbers(&taken)
    }
}

fn anna() -> Owner {
    Owner::named("user:anna")
}

proptest! {
    #[test]
    fn waiting_messages_equal_a_sorted_list(history in prop::collection::vec(step(), 0..80)) {
        let limits = Limits { waiting_messages: 6, ..Limits::default() }.undivided();
        let (mut waiting, mut naive) = (Waiting::default(), Naive::default());
        let mut now_ms = 0;
        for (made, step) in (0..).zip(history) {
            match step {
                Step::Wait => now_ms += 1,
                Step::Push { topic, priority, expires_ms } => {
                    let message = message(topic, made, expires_ms);
                    let pushed = waiting.push(Arc::clone(&message), priority, &anna(), &limits);
                    let expected = naive.push(message, priority, 6);
                    prop_assert_eq!(pushed.ok().as_deref().map(numbers), expected);
                }
                Step::Take { filter, most } => {
                    let (taken, _) = waiting.take(filter, now_ms, most, &|_| true);
                    let expected = naive.take(|waited| {
                        matches(filter, waited.message.topic())
                            && !waited.message.is_expired(now_ms)
                    }, most);
                    prop_assert_eq!(numbers(&taken), expected);
                }
                Step::PutBack { filter, most } => {
                    let (taken, _) = waiting.take(filter, now_ms, most, &|_| true);
                    for waited in taken {
                        waiting.put_back(waited);
                    }
                }
                Step::Expire => {
                    let gone = waiting.expire(now_ms);
                    let expected =
                        naive.take(|waited| waited.message.is_expired(now_ms), usize::MAX);
                    prop_assert_eq!(numbers(&gone), expected);
                }
            }
            prop_assert_eq!(waiting.len(), naive.list.len());
            let bytes: usize = naive.list.iter().map(|waited| cost(&waited.message)).sum();
            prop_assert_eq!(waiting.bytes(), bytes);
        }
        waiting.take("#", 0, usize::MAX, &|_| true);
        waiting.take("$x/#", 0, usize::MAX, &|_| true);
        waiting.expire(Millis::MAX);
        let mut topics = 0;
        waiting.topics.matching("#", &mut |_| topics += 1);
        prop_assert_eq!((topics, waiting.bytes()), (0, 0), "nothing is left of messages that were taken out");
    }
}

#[test]
fn a_message_asks_to_wait_with_a_user_property() {
    let asked = |pairs: &[(&str, &str)]| {
        let mut properties = PropertiesBuf::new();
        for (name, value) in pairs {
            properties.push(PropertyId::UserProperty, Value::Pair(name, value));
        }
        asks_to_wait(properties.borrow(), Priority::Normal)
    };
    assert_eq!(asked(&[]), None);
    assert_eq!(asked(&[("slipring-priority", "high")]), None);
    assert_eq!(asked(&[("slipring-wait", "0")]), None);
    assert_eq!(asked(&[("slipring-wait", "1")]), Some(Priority::Normal));
    for (name, priority) in [("high", Priority::High), ("low", Priority::Low)] {
        let pairs = [("slipring-priority", name), ("slipring-wait", "1")];
        assert_eq!(asked(&pairs), Some(priority));
    }
    let mut properties = PropertiesBuf::new();
    properties.push(PropertyId::UserProperty, Value::Pair(WAIT_PROPERTY, "1"));
    assert_eq!(
        asks_to_wait(properties.borrow(), Priority::High),
        Some(Priority::High),
        "its topic"
    );
    assert!(Priority::Low < Priority::Normal && Priority::Normal < Priority::High);
}

#[test]
fn bytes_are_a_bound_too_and_an_urgent_message_may_replace_several() {
    let limits = Limits { waiting_bytes: 3 * (5 + ENTRY_BYTES), ..Limits::default() };
    let limits = limits.undivided();
    let mut waiting = Waiting::default();
    for made in 0..3 {
        waiting.push(message("a", made, None), Priority::Low, &anna(), &limits).unwrap();
    }
    let full = waiting.push(message("a", 3, None), Priority::Low, &anna(), &limits);
    assert_eq!(full.unwrap_err(), Limit::WaitingBytes);
    let large = "a".repeat(1 + ENTRY_BYTES);
    let victims = waiting.push(message(&large, 4, None), Priority::High, &anna(), &limits).unwrap();
    assert_eq!(numbers(&victims), [2, 1], "the ones that would be delivered last");
    let larger = "a".repeat(4 * ENTRY_BYTES);
    assert!(waiting.push(message(&larger, 5, None), Priority::High, &anna(), &limits).is_err());
    assert_eq!(waiting.len(), 2, "no message makes room in vain");
}

#[test]
fn one_owner_reaches_its_quota_and_newcomers_get_the_reserve() {
    let limits = Limits { waiting_messages: 100, reserve_percent: 10, ..Limits::default() };
    let (mut waiting, berta) = (Waiting::default(), Owner::named("user:berta"));
    let mut push = |made, priority, owner: &Owner| {
        waiting.push(message("a", made, None), priority, owner, &limits).map(|gone| gone.len())
    };
    for made in 0..75 {
        assert_eq!(push(made, Priority::Low, &anna()), Ok(0));
    }
    assert_eq!(push(75, Priority::High, &anna()), Err(Limit::OwnerWaiting));
    for made in 0..15 {
        assert_eq!(push(made, Priority::Low, &berta), Ok(0));
    }
    assert_eq!(push(90, Priority::Low, &berta), Err(Limit::ReservePercent));
    assert_eq!(push(90, Priority::High, &berta), Ok(1), "one of lower priority makes room");
    assert_eq!(push(91, Priority::Low, &Owner::named("user:carl")), Ok(0));
    let [counts, bytes] = waiting.shares();
    assert_eq!((counts.total(), counts.held(&berta)), (waiting.len(), 15));
    assert_eq!(bytes.total(), waiting.bytes());
    waiting.take("a", 0, 1_000, &|_| true);
    assert_eq!(waiting.shares().map(Shares::total), [0, 0]);
}

#[test]
fn of_a_priority_the_message_that_would_be_delivered_last_is_taken_out_first() {
    let mut waiting = Waiting::default();
    for (sent, priority) in
        [Priority::Low, Priority::Normal, Priority::Normal].into_iter().enumerate()
    {
        let message = message("t", sent as u32, None);
        waiting.push(message, priority, &anna(), &Limits::default()).unwrap();
    }
    let mut last = |priority| waiting.take_last(priority).map(|waited| number(&waited.message));
    assert_eq!((last(Priority::High), last(Priority::Normal)), (None, Some(2)));
    assert_eq!((last(Priority::Normal), last(Priority::Normal)), (Some(1), None));
    assert_eq!((waiting.len(), waiting.bytes() > 0), (1, true));
}
