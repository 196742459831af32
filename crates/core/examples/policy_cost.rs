//! What a policy of 100,000 rules costs: made, compared with the one before it, asked for each of 10,000 clients, and
//! asked for a topic: `cargo run --release -p slipring-core --example policy_cost`. Asserts nothing about time.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use slipring_core::access::{
    AccessPolicy, AccessRule, ClientRights, Identity, PolicyChange, Right, Subject,
};

const RULES: usize = 100_000;
const CLIENTS: usize = 10_000;
const TOPICS: usize = 100_000;

fn policy(who: impl Fn(usize) -> String, last: &str) -> AccessPolicy {
    let rules = (0..RULES).map(|at| {
        let topic = if at + 1 == RULES { last.into() } else { format!("site/{at}/%u/#") };
        AccessRule::parse(&[who(at)], true, &["subscribe".into()], &[topic]).expect("a rule")
    });
    AccessPolicy::enforced(rules.collect(), HashMap::new())
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = Instant::now();
    let done = work();
    let took = begun.elapsed();
    println!("  {what:<40} {:>9.3} ms", took.as_secs_f64() * 1e3);
    (done, took)
}

fn measure(name: &str, who: impl Fn(usize) -> String) {
    println!("{name}");
    let (before, _) = timed("made", || policy(&who, "a"));
    let now = policy(&who, "b");
    let (is_same, _) = timed("compared as a whole", || before == now);
    assert!(!is_same);
    let (change, _) =
        timed("compared for every user and role", || PolicyChange::new(&before, &now));
    let clients: Vec<Identity> =
        (0..CLIENTS).map(|at| Identity::named(&format!("u{at}"))).collect();
    timed("10,000 clients: what they lost", || {
        for identity in &clients {
            black_box(change.lost_by(Subject { identity, client_id: "c" }));
        }
    });
    let rights = ClientRights::new(&Arc::new(now), Arc::new(clients[1].clone()), "c");
    let topics: Vec<String> = (0..TOPICS).map(|at| format!("site/{at}/u1/x")).collect();
    let (_, took) = timed("100,000 topics: whether it is allowed", || {
        topics.iter().filter(|topic| rights.allow(Right::Subscribe, topic)).count()
    });
    println!("  {:<40} {:>9.0} ns", "a topic", took.as_secs_f64() * 1e9 / TOPICS as f64);
}

fn main() {
    measure("a rule for each user", |at| format!("user:u{at}"));
    measure("all rules for everybody", |_| "anyone".into());
}
