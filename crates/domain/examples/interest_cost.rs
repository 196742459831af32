//! What interest costs: 20,000 exact filters subscribed one by one, then announced, merged and widened, written and
//! read: `cargo run --release -p slipring-domain --example interest_cost`. Asserts nothing about time.

#![expect(clippy::cast_precision_loss, reason = "figures for people")]

use std::hint::black_box;
use std::time::Instant;

use slipring_domain::{Interest, InterestBounds, WantedRate};

const FILTERS: usize = 20_000;

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    let took = begun.elapsed();
    let each_us = took.as_secs_f64() * 1e6 / FILTERS as f64;
    println!("{what:<44} {:>9.3} ms {each_us:>9.3} us a filter", took.as_secs_f64() * 1e3);
    done
}

fn measure(name: &str, filter: impl Fn(usize) -> String) {
    println!("{name}");
    let filters: Vec<String> = (0..FILTERS).map(filter).collect();
    let mut interest = Interest::default();
    timed("  subscribed", || {
        for filter in &filters {
            interest.subscribe(filter, WantedRate::EVERY_SAMPLE);
        }
    });
    let announced = timed("  announced", || interest.announce(InterestBounds::default()));
    println!("  {} filters announced", announced.filters().len());
    let narrow = InterestBounds { filters_max: FILTERS / 10, ..InterestBounds::default() };
    let widened = timed("  announced, a tenth of the room", || interest.announce(narrow));
    println!("  {} filters announced", widened.filters().len());
    timed("  unsubscribed", || {
        for filter in &filters {
            interest.unsubscribe(filter, WantedRate::EVERY_SAMPLE);
        }
    });
    black_box(interest);
}

fn main() {
    measure("exact", |at| format!("plant/{}/machine/{}/value/{at}", at % 10, at % 100));
    measure("a wildcard in each", |at| format!("plant/{}/machine/+/value/{at}", at % 10));
    measure("two wildcards in each", |at| format!("plant/+/{at}/+/value/{}", at % 10));
}
