//! Plain subscriptions: the cost of one depends on the parameters it chooses, not on those the client reads already.

use slipring_core::SessionKey;
use slipring_core::table::{PlainTerms, ReaderId, Table};

use crate::growth;
use crate::requests::{LARGE, MOST, NOW, name, table};

const READER: ReaderId = ReaderId::Client(SessionKey::new(9));
const FEW: u32 = 100;
const MANY: u32 = 16 * FEW;

fn read(table: &mut Table, numbers: impl Iterator<Item = u32>) {
    for number in numbers {
        // Not in the order of the indices.
        let filter = name(number * 7_919 % LARGE);
        table.read(READER, &filter, &filter, PlainTerms::default(), None, NOW);
    }
}

/// A table with a reader of so many filters.
fn reading(filters: u32) -> Table {
    let mut table = table(LARGE);
    read(&mut table, 0..filters);
    table
}

#[test]
fn a_further_filter_of_a_reader_costs_the_same_however_many_it_has() {
    let grows = growth(reading(FEW), reading(MANY), |table, round| {
        read(table, 10_000 + 10 * round..10_010 + 10 * round);
    });
    assert!(grows < MOST, "{grows:.1} times as long");
}

#[test]
fn unsubscribing_from_many_filters_at_once_costs_each_filter_once() {
    let grows = growth((table(LARGE), FEW), (table(LARGE), MANY), |(table, filters), _| {
        read(table, 0..*filters);
        let gone: Vec<String> = (1..*filters).map(|number| name(number * 7_919 % LARGE)).collect();
        let gone: Vec<&str> = gone.iter().map(|filter| &**filter).collect();
        table.readers.stop(READER, &gone);
    });
    let times = f64::from(MANY / FEW);
    assert!(grows < 3.0 * times, "{grows:.1} times as long for {times} times as many");
}
