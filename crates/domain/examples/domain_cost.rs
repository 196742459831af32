//! What the domain costs: 20,000 filters cross a link, at once and one by one, and messages find their way among 12
//! brokers with 5,000 filters each: `cargo run --release -p slipring-domain --example domain_cost`. Asserts nothing about time.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::hint::black_box;
use std::time::Instant;

use slipring_domain::{
    BrokerDescription, BrokerId, Domain, DomainEvent, DomainSettings, MessageOrigin, WantedRate,
};

const EVERY: WantedRate = WantedRate::EVERY_SAMPLE;
const FILTERS: usize = 20_000;
const BROKERS: u8 = 12;
const FILTERS_OF_EACH: usize = 5_000;
const MESSAGES: u64 = 200_000;

fn timed<T>(what: &str, count: u64, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    let took = begun.elapsed();
    let each_us = took.as_secs_f64() * 1e6 / count as f64;
    println!("{what:<52} {:>9.3} ms {each_us:>9.3} us each", took.as_secs_f64() * 1e3);
    done
}

fn domain(number: u8) -> Domain {
    let id = BrokerId::from_bytes([number; BrokerId::BYTES]);
    Domain::new(id, 1, BrokerDescription::default(), DomainSettings::default())
}

/// Carries everything that waits between all brokers; returns how many bytes that were.
fn exchange(brokers: &mut [Domain], now_ms: u64) -> u64 {
    let mut carried = 0;
    let mut has_carried = true;
    while std::mem::take(&mut has_carried) {
        for at in 0..brokers.len() {
            brokers[at].handle_timeout(now_ms);
            let from = brokers[at].id();
            for to in brokers[at].to_send().collect::<Vec<_>>() {
                while let Some(bytes) = brokers[at].poll_transmit(to) {
                    has_carried = true;
                    carried += bytes.len() as u64;
                    let there = brokers.iter_mut().find(|other| other.id() == to);
                    let there = there.expect("links lead to brokers");
                    there.receive(from, &bytes, now_ms).expect("it makes sense");
                }
            }
        }
    }
    carried
}

fn connect(brokers: &mut [Domain], a: usize, b: usize) {
    let (first, second) = (brokers[a].id(), brokers[b].id());
    brokers[a].link_up(second, 1, 0).expect("there is room");
    brokers[b].link_up(first, 1, 0).expect("there is room");
}

fn cross_a_link() {
    let mut brokers = [domain(1), domain(2)];
    connect(&mut brokers, 0, 1);
    exchange(&mut brokers, 0);
    timed("20,000 subscriptions in a turn, known at the other end", FILTERS as u64, || {
        for at in 0..FILTERS {
            brokers[0].subscribe(&format!("plant/{}/value/{at}", at % 100), EVERY, 1);
        }
        exchange(&mut brokers, 1)
    });
    let events = std::iter::from_fn(|| brokers[0].poll_event());
    println!("  {} answered", events.filter(is_answer).count());
    timed("one more of them", 1, || {
        brokers[0].subscribe("one/more", EVERY, 100);
        exchange(&mut brokers, 100)
    });
}

/// Each subscription is known at the other end before the next one comes.
fn cross_a_link_one_by_one() {
    let mut brokers = [domain(1), domain(2)];
    connect(&mut brokers, 0, 1);
    let (mut bytes, mut now_ms) = (exchange(&mut brokers, 0), 0);
    timed("20,000 subscriptions one by one, both brokers", FILTERS as u64, || {
        for at in 0..FILTERS {
            brokers[0].subscribe(&format!("plant/{}/value/{at}", at % 100), EVERY, now_ms);
            while !std::iter::from_fn(|| brokers[0].poll_event()).any(|event| is_answer(&event)) {
                now_ms = now_ms.max(brokers[0].next_timeout_ms().unwrap_or(now_ms));
                bytes += exchange(&mut brokers, now_ms);
            }
        }
    });
    println!("  {bytes} bytes sent, {now_ms} ms waited");
}

fn is_answer(event: &DomainEvent) -> bool {
    matches!(event, DomainEvent::InterestKnown { .. })
}

fn find_the_way() {
    let mut brokers: Vec<Domain> = (1..=BROKERS).map(domain).collect();
    for a in 0..brokers.len() {
        for b in a + 1..brokers.len() {
            connect(&mut brokers, a, b);
        }
    }
    timed("12 brokers in a mesh agree", u64::from(BROKERS), || exchange(&mut brokers, 0));
    for (number, broker) in brokers.iter_mut().enumerate() {
        for at in 0..FILTERS_OF_EACH {
            broker.subscribe(&format!("site/{number}/value/{at}"), EVERY, 1);
        }
        broker.subscribe("alarms/#", EVERY, 1);
    }
    let filters = FILTERS_OF_EACH as u64 * u64::from(BROKERS);
    timed("their interest, known everywhere", filters, || exchange(&mut brokers, 1));
    for (what, topic) in [
        ("a message that one of them wants", "site/7/value/77"),
        ("a message that nobody wants", "site/7/other"),
        ("a message that all want", "alarms/engine"),
    ] {
        timed(what, MESSAGES, || {
            for _ in 0..MESSAGES {
                black_box(brokers[0].publish(topic));
            }
        });
    }
    let (from, origin) = (brokers[1].id(), brokers[1].id());
    timed("a message that arrives", MESSAGES, || {
        for number in 0..MESSAGES {
            let message = MessageOrigin { broker: origin, start: 1, number };
            black_box(brokers[0].forward(from, message, "site/0/value/7"));
        }
    });
}

fn main() {
    cross_a_link();
    cross_a_link_one_by_one();
    find_the_way();
}
